"""Where the assistants are, and a person who uses one of them."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import NO_SKIPS
from tests.hosts.person import ROOT, Person
from tests.hosts.sealed import HOSTS

FOLDER = ROOT / (os.environ.get("MEMORY_MCP_HOSTS") or ".hosts")
INSTALLED = (FOLDER / "ready").is_file()

collect_ignore_glob = [] if INSTALLED or NO_SKIPS else ["test_*.py"]
"""Whoever has not installed the assistants runs the other tests; where nothing may be skipped, these fail without."""


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if collect_ignore_glob:
        terminalreporter.line("Left out: the trials in real assistants. scripts/install_hosts installs those (1.4 GB).")
    elif not can_be_cut_off():
        terminalreporter.line("The network could not be cut off: only a dead proxy kept the assistants from it.")


def can_be_cut_off() -> bool:
    trial = "import sys; from tests.hosts.network import cut_off; sys.exit(not cut_off())"
    return subprocess.run([sys.executable, "-c", trial], cwd=ROOT, check=False).returncode == 0


@pytest.fixture
def hosts() -> Path:
    assert INSTALLED, f"There are no assistants in {FOLDER}: run scripts/install_hosts."
    return FOLDER


@pytest.fixture(params=HOSTS)
def person(request: pytest.FixtureRequest, own_place: Path, hosts: Path) -> Person:
    return Person(request.param, own_place, hosts)
