"""When the memory is opened: behind the handshake, at the latest by the first call, and again after a failure."""

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio
import anyio.to_thread
from anyio.abc import TaskGroup

from memory_mcp.config import Settings
from memory_mcp.errors import MemoryMcpError, StoreBusy, StoreUnavailable
from memory_mcp.server.failures import report

if TYPE_CHECKING:
    from memory_mcp.service import MemoryService  # brings numpy, for which the handshake must not wait

PATIENCE = 20.0  # seconds a call waits for the file: twice what SQLite waits for a lock, a third of a host's limit


@dataclass
class _Attempt:
    done: anyio.Event = field(default_factory=anyio.Event)
    enough: anyio.Event = field(default_factory=anyio.Event)
    closed: anyio.Event = field(default_factory=anyio.Event)
    service: "MemoryService | None" = None
    error: MemoryMcpError | None = None

    @property
    def has_failed(self) -> bool:
        """Whether only another attempt can help."""
        return self.error is not None or (self.service is not None and self.service.db.is_lost)


@dataclass
class Opening:
    """A memory that is opened in the background and shared by every call.

    A host must see its handshake answered whatever state the file is in, so nothing here is waited for before a call
    needs it; a file that could not be opened, or was replaced since, is tried again at the next call. With a `problem`,
    a setting that cannot be used, nothing is opened and every call says so: some hosts do without any model when a
    server does not come up.
    """

    settings: Settings
    problem: MemoryMcpError | None = None
    _tasks: TaskGroup | None = None
    _opened: anyio.Event = field(default_factory=anyio.Event)
    _attempt: _Attempt | None = None

    @asynccontextmanager
    async def lifespan(self) -> AsyncGenerator[None]:
        """Close the memory at the end, if it was opened."""
        self._opened, self._attempt = anyio.Event(), None
        async with anyio.create_task_group() as tasks:
            self._tasks = tasks
            try:
                yield
            finally:
                self._tasks = None
                if self._attempt:
                    self._attempt.enough.set()

    async def until_open(self) -> None:
        """Wait until something else opened the memory, however long that takes."""
        await self._opened.wait()

    def begin(self) -> None:
        """Start to open the memory, unless that was done or the server is ending."""
        if self._attempt is None and self._tasks and not self.problem:
            self._start()

    async def service(self) -> "MemoryService":
        """Give the opened memory. Raises `StoreUnavailable` when there is none, and the `problem` if there is one."""
        if self.problem:
            raise self.problem
        attempt = self._attempt
        if attempt is None or attempt.has_failed:
            attempt = self._start()
        with anyio.move_on_after(PATIENCE):
            await attempt.done.wait()
        if attempt.error:
            raise attempt.error
        if attempt.service is None:
            raise StoreBusy("The memory file is still being opened. Try again in a moment.")
        return attempt.service

    def _start(self) -> _Attempt:
        if self._tasks is None:
            raise RuntimeError("The memory is opened only while the server runs.")
        before, self._attempt = self._attempt, _Attempt()
        self._tasks.start_soon(self._hold, self._attempt, before)
        return self._attempt

    async def _hold(self, attempt: _Attempt, before: _Attempt | None) -> None:
        # What was begun is ended in order even when the server is stopped; the runner bounds how long that may take.
        with anyio.CancelScope(shield=True):
            try:
                if before:  # in one process SQLite must not have a file's old and new log open at once
                    before.enough.set()
                    await before.closed.wait()
                app = await anyio.to_thread.run_sync(_import_app)
                async with app.open_memory(self.settings) as service:
                    attempt.service = service
                    attempt.done.set()
                    self._opened.set()
                    await attempt.enough.wait()
            except MemoryMcpError as error:
                attempt.error = error
            except Exception as error:  # noqa: BLE001 - an edge: every call says so, and the handshake works
                report(error, "opening the memory")
                attempt.error = StoreUnavailable(
                    "The memory could not be opened; the log on stderr says where it failed."
                )
            finally:
                attempt.done.set()
                attempt.closed.set()


def _import_app():
    from memory_mcp import app  # noqa: PLC0415 - numpy and the SQLite driver must not delay the handshake

    return app
