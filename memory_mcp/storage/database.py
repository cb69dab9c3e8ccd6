"""How the file is reached from asynchronous code: one writer and one reader, one thread hop for one whole transaction."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Concatenate, ParamSpec, TypeVar

import aiosqlite

from memory_mcp.errors import StoreUnavailable
from memory_mcp.storage import driver, place, schema
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.faults import translate

P = ParamSpec("P")
T = TypeVar("T")

CLOSING_SECONDS = 1.0
"""A log that cannot be emptied by then is left for the next start; nothing is lost by that."""


class _Threaded(aiosqlite.Connection):
    """A connection that lives in its own thread.

    The thread's queue is the lock: whole transactions come one after the other. A cancelled caller stops waiting, its
    transaction does not stop half-way. The thread is a daemon, so that a connection left open cannot keep the process.
    """

    def __init__(self, connector: Callable[[], Connection]) -> None:
        super().__init__(connector, iter_chunk_size=64)
        self._thread.daemon = True

    async def run(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `fn(connection, ...)` in the thread."""
        return await self._execute(fn, self._conn, *args, **kwargs)  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]


class Database:
    """One open file. `vector_problem` says why meaning cannot be searched here, '' when it can."""

    def __init__(
        self, path: Path, writer: _Threaded, reader: _Threaded, *, encrypted: bool, vector_problem: str
    ) -> None:
        self.path = path
        self.encrypted = encrypted
        self.vector_problem = vector_problem
        self._writer = writer
        self._reader = reader
        self._closed = False

    async def read(self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Call `fn` on the reader, which sees one state of the file throughout."""
        return await self._hop(self._reader, False, _transact, "begin", partial(fn, *args, **kwargs))  # pyright: ignore[reportCallIssue]

    async def write(
        self, fn: Callable[Concatenate[Connection, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> T:
        """Call `fn` in one transaction: wholly there, or, when it raises, wholly absent."""
        return await self._hop(self._writer, True, _transact, "begin immediate", partial(fn, *args, **kwargs))  # pyright: ignore[reportCallIssue]

    async def maintain(self, fn: Callable[[Connection], T]) -> T:
        """Call `fn` on the writer outside of any transaction, for what SQLite forbids inside one."""
        return await self._hop(self._writer, True, fn)

    async def close(self) -> None:
        """Empty the log if nobody else needs it, and close. Never waits long; nothing is lost by giving up."""
        if self._closed:
            return
        self._closed = True
        await self._reader.close()
        closing = asyncio.ensure_future(self._close_writer())
        await asyncio.wait({closing}, timeout=CLOSING_SECONDS)

    async def _close_writer(self) -> None:
        await self._writer.run(truncate_log)
        await self._writer.close()

    async def _hop(
        self,
        connection: _Threaded,
        saving: bool,
        fn: Callable[Concatenate[Connection, P], T],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> T:
        if self._closed:
            raise StoreUnavailable(f"The memory file {self.path} is closed.")
        try:
            return await connection.run(fn, *args, **kwargs)
        except driver.Error as error:
            raise translate(error, self.path, saving=saving) from error


async def open_database(
    path: Path,
    *,
    key: str = "",
    extension: str = "",
    migrations: Sequence[schema.Migration] = (),
) -> Database:
    """Open or create the file. `extension` replaces sqlite-vec's own binary, `migrations` those that came along.

    Raises `StoreForeign`, `StoreDamaged`, `StoreReadOnly`, `StoreBusy`, `StoreFull`.
    """
    connect = partial(driver.connect, path, key)
    opened: list[_Threaded] = []
    try:
        for connector in (
            partial(_writer, path, connect, migrations or schema.packaged_migrations()),
            partial(_reader, connect),
        ):
            opened.append(await _Threaded(connector))  # pyright: ignore[reportArgumentType]
        problems = [await connection.run(driver.load_vectors, extension) for connection in opened]
    except BaseException as error:
        for connection in opened:
            await connection.close()
        if isinstance(error, driver.Error):
            raise translate(error, path, saving=True) from error
        raise
    return Database(path, *opened, encrypted=bool(key), vector_problem=max(problems))


def truncate_log(connection: Connection) -> bool:
    """Move the log into the file and cut it to nothing; False while another program still reads or writes it."""
    connection.execute("pragma busy_timeout = 100")
    try:
        return connection.execute("pragma wal_checkpoint(truncate)").fetchone()[0] == 0
    finally:
        connection.execute(f"pragma busy_timeout = {driver.BUSY_TIMEOUT_MS}")


def _writer(
    path: Path, connect: Callable[[], Connection], migrations: Sequence[schema.Migration]
) -> Connection:
    place.prepare(path)
    connection = connect()
    try:
        schema.bring_up_to_date(connection, path, connect, migrations)
    except BaseException:
        connection.close()
        raise
    return connection


def _reader(connect: Callable[[], Connection]) -> Connection:
    connection = connect()
    connection.execute("pragma query_only = on")
    return connection


def _transact(connection: Connection, begin: str, fn: Callable[[Connection], T]) -> T:
    connection.execute(begin)
    try:
        result = fn(connection)
        connection.execute("commit")
    except BaseException:
        connection.rollback()
        raise
    return result
