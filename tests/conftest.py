"""What most tests need: a place of their own, a clock they can turn, a memory, a client of either protocol era."""

import os
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from mcp.client import Client

from memory_mcp.app import open_memory
from memory_mcp.config import Settings
from memory_mcp.server.server import MemoryServer, build_server
from memory_mcp.service import MemoryService
from tests.memories import memory_with, universal
from tests.rawstdio import ERAS

NO_SKIPS = os.environ.get("MEMORY_MCP_NO_SKIPS") == "1"
"""Set where everything is installed: there a skipped test is a failure."""


@dataclass
class Clock:
    """A clock that stands still until it is turned."""

    at: datetime = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def turn(self, **by: float) -> datetime:
        """Move on, as in `clock.turn(days=3)`."""
        self.at += timedelta(**by)
        return self.at


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(autouse=True)
def own_place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Keep every test away from the memories of whoever runs it: no setting of theirs, no folder of theirs."""
    for name in [name for name in os.environ if name.startswith("MEMORY_MCP_")]:
        monkeypatch.delenv(name)
    home = tmp_path / "home"
    home.mkdir()
    for name in ("HOME", "USERPROFILE", "XDG_DATA_HOME", "LOCALAPPDATA", "APPDATA"):
        monkeypatch.setenv(name, str(home))
    return home


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(db=tmp_path / "memory.db")


@pytest.fixture
def words_only(settings: Settings) -> Settings:
    """The same file without a model: quick, and the same at every run."""
    return settings.model_copy(update={"model": "none"})


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def by_words(words_only: Settings, clock: Clock) -> AsyncIterator[MemoryService]:
    """A memory without a model."""
    async with memory_with(words_only, None, clock) as opened:
        yield opened


@pytest.fixture
async def real(settings: Settings, clock: Clock) -> AsyncIterator[MemoryService]:
    """The same with the default model."""
    async with memory_with(settings, universal, clock) as opened:
        yield opened


@pytest.fixture
async def service(settings: Settings, clock: Clock) -> AsyncIterator[MemoryService]:
    """A memory with the real default model, which every call waits for."""
    async with open_memory(settings, door="cli", now=clock) as memory:
        yield memory


@pytest.fixture
def server(words_only: Settings) -> MemoryServer:
    """A server that no test has to store slowly for."""
    return build_server(words_only.model_copy(update={"stores_a_minute": 10_000}))


@pytest.fixture(params=ERAS)
async def client(request: pytest.FixtureRequest, server: MemoryServer) -> AsyncIterator[Client]:
    """A client of either era, connected to `server`."""
    async with Client(server, mode=request.param) as connected:
        yield connected


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Iterator[None]:
    report = yield
    return _strict(report)


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report() -> Iterator[None]:
    report = yield
    return _strict(report)


def _strict(report):
    if NO_SKIPS and report.skipped and not hasattr(report, "wasxfail"):
        report.outcome = "failed"
        report.longrepr = f"skipped where nothing may be: {report.longrepr}"
    return report
