"""The command line, as tests use it: in this process on one file, or in a process of its own."""

import json
import os
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
