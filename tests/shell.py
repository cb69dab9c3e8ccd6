"""The command line, as tests use it: in this process on one file, or in a process of its own."""

import json
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import memory_mcp.cli
from memory_mcp.cli.entry import main

CHECKOUT = Path(memory_mcp.cli.__file__).parents[2]

COFFEE = "I take my coffee without milk"


@dataclass(frozen=True)
class Ran:
    """How a command ended."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Shell:
    """Runs commands on one file, by keyword only: the model is loaded in the tests that are about meaning."""

    file: Path
    captured: pytest.CaptureFixture[str]

    def __call__(self, *words: str, model: str = "none") -> Ran:
        self.captured.readouterr()
        code = main(["--db", str(self.file), "--model", model, *words])
        return Ran(code, *self.captured.readouterr())

    def store(self, *words: str, model: str = "none") -> str:
        """Store one text and give its id."""
        return self("store", "--json", *words, model=model).json["id"]


def process(*words: str, stdin: bytes | None = b"", **environ: str) -> subprocess.CompletedProcess[bytes]:
    """Run a command in a process of its own."""
    return subprocess.run(
        [sys.executable, "-m", "memory_mcp", *words],
        input=stdin,
        capture_output=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), **environ},
        timeout=120,
        check=False,
    )


def at_a_terminal(*words: str, typed: str, asked: str = "Type yes to go on:") -> tuple[int, str]:
    """Run a command for somebody who sits at a terminal and answers the question that is asked, or presses Ctrl-C."""
    pty = pytest.importorskip("pty", reason="pseudo-terminals are a Unix matter")
    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "memory_mcp", *words]
    environ = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    with subprocess.Popen(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environ, start_new_session=True
    ) as child:
        os.close(theirs)
        shown = ""
        while asked not in shown:
            shown += os.read(ours, 1024).decode()
        if typed:
            os.write(ours, typed.encode())
        else:
            child.send_signal(signal.SIGINT)
        code = child.wait(60)
    os.close(ours)
    return code, shown
