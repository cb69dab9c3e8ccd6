"""How everything is erased: in place, for others may have the file open, and then the file itself if nobody has."""

import asyncio
import os
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path

from memory_mcp.answers import Wiped
from memory_mcp.errors import Conflict
from memory_mcp.storage import driver, schema
from memory_mcp.storage.audit import Act, record
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.eraser import Eraser
from memory_mcp.storage.erasure import Erased, remember
from memory_mcp.storage.place import parts
from memory_mcp.storage.traces import SHORTEST_BYTES, Traces, traces_of

SAMPLED = 300
"""Memories of which traces are looked for afterwards, spread over all."""

NAMED = 100
"""Names of each sort that are looked for, too."""

NAMES = (
    ("turn", "message_id"),
    ("session", "id"),
    ("tool_use", "tool"),
    ("tool_use", "call_id"),
    ("reading", "session_id"),
    ("blocked", "message_id"),
    ("blocked", "memory_id"),
    ("document", "origin"),
)

LAST = ("memory", "session", "namespace", "embedding_model")
"""What others point to, emptied after them."""


class Wiper(Eraser):
    """An eraser that can also erase everything."""

    async def wipe(self, expected: int, act: Act) -> Wiped:
        """Erase everything, if it is so many memories as expected, and remove the backups. Raises `Conflict`."""
        erased = await self._database.erase(erase_all, expected, act)
        removed, stuck = _removed(schema.backups(self._database.path))
        self._unverified = erased.traces
        outcome = await self._verify(erased.token, anew=True)
        return Wiped(expected, outcome.verification, outcome.detail, tuple(removed), tuple(stuck))


def erase_all(connection: Connection, expected: int, act: Act) -> Erased:
    """Empty every table and begin as a new file does, with another secret; the first line of the audit says so.

    Numbers of rows go on, so that nobody who read one before takes it for another memory. Raises `Conflict`.
    """
    _require_as_told(connection, expected)
    _require_nobody_summarizes(connection, act.now)
    traces = _traces(connection)
    connection.execute("pragma defer_foreign_keys = on")
    for table in _tables(connection):
        connection.execute(f"delete from {table}")
    connection.execute("insert into fulltext (fulltext) values ('delete-all')")
    schema.set_up(connection)
    record(connection, "wipe", [], act, count=expected)
    return Erased((), (), (), (), remember(connection), traces)


async def remove_unused(path: Path, key: str) -> bool:
    """Remove a file that holds no memory, with its log, if nobody else has it open; says whether it is gone."""
    return await asyncio.to_thread(_remove_unused, path, key)


def _require_as_told(connection: Connection, expected: int) -> None:
    kept = connection.execute("select count(*) from memory").fetchone()[0]
    if kept != expected:
        raise Conflict(f"The file holds {kept:,} memories, not {expected:,}. Nothing was erased.")


def _require_nobody_summarizes(connection: Connection, now: int) -> None:
    """What was read of a session before would be written after everything was erased."""
    busy = connection.execute(
        "select exists (select 1 from lease where name like 'summary/%' and expires_at > :now)", {"now": now}
    ).fetchone()[0]
    if busy:
        raise Conflict("A session is being summarized just now. Nothing was erased: try again in three minutes.")


def _tables(connection: Connection) -> list[str]:
    """Name all tables but those that SQLite and the words' index keep for themselves, in a quick order."""
    found = connection.execute(
        """
        select name from sqlite_master
        where type = 'table' and sql not like 'create virtual%' and name not glob 'sqlite_*'
          and name not glob 'fulltext_*' and name <> 'corpus'
        """
    ).fetchall()
    names: list[str] = [name for (name,) in found]
    return [*(name for name in names if name not in LAST), *LAST]


def _traces(connection: Connection) -> Traces:
    rows = [row for (row,) in connection.execute("select row from memory order by row").fetchall()]
    step = max(1, len(rows) // SAMPLED)
    told = traces_of(connection, rows[::step])
    return Traces((*told.texts, *_names(connection)), told.vectors)


def _names(connection: Connection) -> Iterator[str]:
    """Read names that belong to no memory, or to more than one."""
    asked = " union ".join(f"select * from (select {column} from {table} limit {NAMED})" for table, column in NAMES)
    found = connection.execute(f"{asked} union select value from setting where name = 'secret'").fetchall()
    return (name for (name,) in found if len(name) >= SHORTEST_BYTES)


def _removed(copies: list[Path]) -> tuple[list[str], list[str]]:
    """Remove files; gives those that are gone, and sentences about those that are not."""
    gone: list[str] = []
    stuck: list[str] = []
    for copy in copies:
        try:
            copy.unlink(missing_ok=True)
            gone.append(str(copy))
        except OSError as error:
            stuck.append(f"{copy} cannot be removed ({error.strerror}): delete it yourself.")
    return gone, stuck


def _remove_unused(path: Path, key: str) -> bool:
    if not path.exists():  # to connect would make it
        return True
    with closing(driver.connect(path, key, busy_ms=driver.HOOK_TIMEOUT_MS)) as connection:
        if not _is_ours_alone(connection):
            return False
        if os.name != "nt":  # while it is locked, nobody can begin to write to it
            return _unlink(path)
    return _unlink(path)  # Windows removes no file that anybody has open


def _is_ours_alone(connection: Connection) -> bool:
    """Whether nobody else has the file open, and nothing was stored in it; if so, it is locked from now on."""
    with suppress(driver.Error):
        connection.execute("pragma journal_mode = delete").fetchone()  # SQLite refuses while anybody else is there
        connection.execute("begin exclusive")
        return not connection.execute("select exists (select 1 from memory)").fetchone()[0]
    return False


def _unlink(path: Path) -> bool:
    with suppress(OSError):
        for part in parts(path):
            part.unlink(missing_ok=True)
        return True
    return False
