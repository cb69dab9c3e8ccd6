"""How the file is reached from asynchronous code: a writer and a reader, one thread hop a transaction."""

import asyncio
import logging
import threading
from collections.abc import Callable, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar, cast

import aiosqlite

from memory_mcp.errors import StoreReadOnly, StoreUnavailable
from memory_mcp.storage import driver, place, schema
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.faults import translate

LOG = logging.getLogger(__name__)

P = ParamSpec("P")
T = TypeVar("T")

SAVED, FORGOTTEN, READ = "Nothing was saved", "Nothing was forgotten", "Nothing could be read"
"""What a failure leaves behind: every hop is wholly done or not at all."""

CLOSING_SECONDS = 1.0
"""A log that cannot be emptied by then is left for the next start; nothing is lost by that."""


class _Threaded(aiosqlite.Connection):
    """A connection that lives in its own thread.

    The thread's queue is the lock: whole transactions come one after the other, and a cancelled caller stops
    waiting without stopping its transaction half-way. The thread is a daemon, so that a connection left open
    cannot keep the process alive.
    """

    def __init__(self, connector: Callable[[], Connection]) -> None:
        super().__init__(connector, iter_chunk_size=64)
        self._thread.daemon = True

    async def run(self, fn: Callable[[Connection], T]) -> T:
        """Call `fn(connection)` in the thread."""
        return cast("T", await self._execute(fn, self._conn))  # pyright: ignore[reportUnknownMemberType]

    async def end(self) -> None:
        """Close the connection, if it is open, and see the thread out while its event loop is still there."""
        await self.close()
        if self._thread.is_alive():
            await asyncio.to_thread(self._thread.join)


class Database:
    """One open file. `vector_problem` says why meaning cannot be searched here, '' when it can."""

    def __init__(
        self,
        path: Path,
        writer: _Threaded,
        reader: _Threaded,
        vector_problem: str,
        *,
        encrypted: bool,
        leaves_log: bool = False,
    ) -> None:
        self.path = path
        self.encrypted = encrypted
        self.leaves_log = leaves_log
        self.vector_problem = vector_problem
        self._writer = writer
        self._reader = reader
        self._closed = False
        self._files = place.identities(path)
        self._lost = threading.Event()
        if not path.exists():  # it was removed while it was being opened
            self._lost.set()

    @property
    def is_lost(self) -> bool:
        """Whether the file was found replaced or removed while it was open."""
        return self._lost.is_set()

    async def read(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `fn` on the reader, which sees one state of the file throughout."""
        return await self._hop(self._reader, READ, lambda at: _transact(at, "begin", lambda: fn(at, *args, **kwargs)))

    async def write(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `fn` in one transaction: wholly there, or, when it raises, wholly absent."""
        return await self._write(SAVED, lambda at: fn(at, *args, **kwargs))

    async def erase(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `fn` as `write` does; a failure says that nothing was forgotten."""
        return await self._write(FORGOTTEN, lambda at: fn(at, *args, **kwargs))

    async def maintain(self, fn: Callable[[Connection], T]) -> T:
        """Call `fn` on the writer outside of any transaction, for what SQLite forbids inside one."""
        return await self._hop(self._writer, SAVED, fn)

    async def close(self) -> None:
        """Empty the log if nobody else needs it, and close; gives up after a second, and loses nothing by that."""
        if not self._closed:
            self._closed = True
            await asyncio.wait({asyncio.ensure_future(self._end())}, timeout=CLOSING_SECONDS)

    async def _end(self) -> None:
        await self._reader.end()
        # A file that was moved gets what is in its log, which then cannot spoil the file that took its place. Where the
        # log alone is lost, SQLite saves what it may: when closing, it takes our log only if nobody else has the file.
        moved = self.is_lost and not place.are_there(self.path, self._files[:1])
        if not self.leaves_log and (moved or not self.is_lost):
            with suppress(driver.Error):  # whoever opens the file next empties the log
                await self._writer.run(truncate_log)
        await self._writer.end()

    async def _write(self, outcome: str, work: Callable[[Connection], T]) -> T:
        return await self._hop(self._writer, outcome, lambda at: _transact(at, "begin immediate", lambda: work(at)))

    async def _hop(self, connection: _Threaded, outcome: str, fn: Callable[[Connection], T]) -> T:
        if self._closed:
            raise StoreUnavailable(f"The memory file {self.path} is closed.")

        def guarded(at: Connection) -> T:
            self._require_same_file(outcome)
            return fn(at)

        try:
            return await connection.run(guarded)
        except driver.Error as error:
            raise translate(error, self.path, outcome) from error

    def _require_same_file(self, outcome: str) -> None:
        """Refuse to work on what nobody else can see: it would be gone when we close it."""
        if not self.is_lost and not place.are_there(self.path, self._files):
            LOG.warning("%s was replaced or removed while it was open", self.path)
            self._lost.set()
        if self.is_lost:
            raise StoreUnavailable(
                f"{outcome}: the memory file {self.path}, or its log, was replaced or removed while it was open."
                " Try again: it is opened anew."
            )


async def open_database(
    path: Path,
    *,
    key: str = "",
    reads_only: bool = False,
    extension: str = "",
    migrations: Sequence[schema.Migration] = (),
) -> Database:
    """Open or create the file. `extension` and `migrations` replace sqlite-vec's binary and the packaged scripts.

    With `reads_only` nothing is made, brought up to date or written, and a lock is waited for only briefly. Raises
    `StoreForeign`, `StoreDamaged`, `StoreReadOnly`, `StoreBusy`, `StoreFull`.
    """
    scripts = migrations or schema.packaged_migrations()
    if reads_only:
        connect = partial(driver.connect, path, key, busy_ms=driver.HOOK_TIMEOUT_MS)
        writer = reader = _Threaded(partial(_open_reader, partial(_open_current, path, connect, scripts)))
    else:
        connect = partial(driver.connect, path, key)
        writer = _Threaded(partial(_open_writer, path, connect, scripts))
        reader = _Threaded(partial(_open_reader, connect))
    problem = ""
    try:
        for connection in dict.fromkeys((writer, reader)):
            await connection
            problem = await connection.run(partial(driver.load_vectors, extension=extension))
    except BaseException as error:
        await writer.end()
        await reader.end()
        if isinstance(error, driver.Error):
            raise translate(error, path, READ if reads_only else SAVED) from error
        raise
    return Database(path, writer, reader, problem, encrypted=bool(key), leaves_log=reads_only)


async def open_in_haste(path: Path, *, key: str = "") -> Database:
    """Open the file to write a little while a host waits: without vectors, and a lock is waited for only briefly.

    A file that is not there is made; one of an earlier version is left to somebody who has the time. Raises
    `StoreUnavailable` and its kinds.
    """
    connect = partial(driver.connect, path, key, busy_ms=driver.HOOK_TIMEOUT_MS)
    connection = _Threaded(partial(_open_or_make, path, connect, schema.packaged_migrations()))
    try:
        await connection
    except BaseException as error:
        await connection.end()
        if isinstance(error, driver.Error):
            raise translate(error, path, SAVED) from error
        raise
    return Database(path, connection, connection, "", encrypted=bool(key), leaves_log=True)


def truncate_log(connection: Connection) -> bool:
    """Move the log into the file and cut it to nothing; False while another program still uses it."""
    connection.execute("pragma busy_timeout = 100")
    try:
        return connection.execute("pragma wal_checkpoint(truncate)").fetchone()[0] == 0
    finally:
        connection.execute(f"pragma busy_timeout = {driver.BUSY_TIMEOUT_MS}")


def _open_writer(path: Path, connect: Callable[[], Connection], migrations: Sequence[schema.Migration]) -> Connection:
    place.prepare(path)
    return _opened(connect, lambda at: schema.bring_up_to_date(at, path, connect, migrations))


def _open_reader(connect: Callable[[], Connection]) -> Connection:
    connection = connect()
    connection.execute("pragma query_only = on")
    return connection


def _open_current(path: Path, connect: Callable[..., Connection], migrations: Sequence[schema.Migration]) -> Connection:
    """Open a file to be read; where SQLite can put nothing beside it, as it stands, if it is whole without a log."""

    def require_current(connection: Connection) -> None:
        schema.require_current(connection, path, migrations)

    try:
        return _opened(connect, require_current)
    except driver.Error as error:
        name: str = getattr(error, "sqlite_errorname", None) or ""
        if not name.startswith(("SQLITE_CANTOPEN", "SQLITE_READONLY")) or not path.is_file():
            raise
        if place.has_log(path):
            raise StoreReadOnly(
                f"Nothing could be read: the log of {path} holds what the file does not, and cannot be read where"
                " nothing can be written. Copy both to a folder of your own and read them there."
            ) from error
        return _opened(partial(connect, frozen=True), require_current)


def _open_or_make(path: Path, connect: Callable[[], Connection], migrations: Sequence[schema.Migration]) -> Connection:
    def make_ready(connection: Connection) -> None:
        if schema.version(connection):
            schema.require_current(connection, path, migrations)
        else:
            schema.bring_up_to_date(connection, path, connect, migrations)

    place.prepare(path)
    return _opened(connect, make_ready)


def _opened(connect: Callable[[], Connection], make_ready: Callable[[Connection], None]) -> Connection:
    """Connect and make the connection ready; one that cannot be made ready is closed again."""
    connection = connect()
    try:
        make_ready(connection)
    except BaseException:
        connection.close()
        raise
    return connection


def _transact(connection: Connection, begin: str, work: Callable[[], T]) -> T:
    connection.execute(begin)
    try:
        result = work()
        connection.execute("commit")
    except BaseException:
        connection.rollback()
        raise
    return result
