"""A person with a home folder of their own who uses one host."""

import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.hosts.script import Step
from tests.hosts.talk import GRACE, PATIENCE, Run, Talk

ROOT = Path(__file__).parents[2]
COMMAND = Path(sys.executable).with_name("memory-mcp")


@dataclass(frozen=True)
class Person:
    """`hosts` is the folder that scripts/install_hosts filled."""

    host: str
    home: Path
    hosts: Path

    def tries(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Run a command of ours in a shell of theirs, however it ends."""
        environment = {"HOME": str(self.home), "PATH": os.defpath}
        command = [str(COMMAND), *words]
        return subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=False)

    def runs(self, *words: str) -> str:
        """Run a command that must succeed; gives what it says."""
        done = self.tries(*words)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def installs(self, *options: str) -> None:
        self.runs("install", self.host, *options)

    def says(self, prompt: str, *script: Step, plugin: bool = False, **settings: str) -> Run:
        """Hold a conversation of one prompt, in which the model follows the script."""
        talk = Talk(self.host, self.hosts, self.home, prompt, script, plugin, settings)
        done = subprocess.run(
            [sys.executable, "-m", "tests.hosts.sealed"],
            cwd=ROOT,
            input=pickle.dumps(talk),
            stdout=subprocess.PIPE,
            check=True,
            timeout=PATIENCE + 10 * GRACE,
        )
        return pickle.loads(done.stdout)
