"""How an import is rehearsed: on a copy, in memory, of all that decides what becomes of a record."""

import asyncio
from collections.abc import Sequence
from contextlib import closing

from memory_mcp.storage import driver, schema
from memory_mcp.storage.audit import Act
from memory_mcp.storage.carried import Fate, Record
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.taking_in import Into, take_in

COPIED = ("namespace", "session", "memory", "link", "episode", "turn", "document", "tool_use", "blocked")
LEFT_BLANK = {"content": "''", "title": "''", "embedded_by": "null", "lessons": "'[]'"}
"""Columns that decide nothing: a memory is told from another by its digest."""


class Rehearsal:
    """Takes records in as a file would, and keeps nothing."""

    def __init__(self, copy: Connection, into: Into, act: Act) -> None:
        self._copy = copy
        self._into = into
        self._act = act

    async def put(self, records: Sequence[Record]) -> list[Fate]:
        """Say what would become of records."""
        return await asyncio.to_thread(self._put, records)

    async def drop_empty(self, sessions: Sequence[tuple[str, str]]) -> None:
        """Nothing of a rehearsal stays."""

    def close(self) -> None:
        """Let go of the copy."""
        self._copy.close()

    def _put(self, records: Sequence[Record]) -> list[Fate]:
        self._copy.execute("begin")
        fates = take_in(self._copy, records, self._into, self._act)
        self._copy.execute("commit")
        return fates


def copy_of(connection: Connection) -> Connection:
    """Copy what decides, in one state of the file, into a database in memory."""
    copy = driver.scratch()
    schema.build(copy, schema.packaged_migrations())
    copy.row_factory = driver.Row
    copy.execute("begin")
    for table in COPIED:
        names: list[str] = [row["name"] for row in connection.execute(f"pragma table_info({table})")]
        chosen = ", ".join(LEFT_BLANK.get(name, name) for name in names)
        marks = ", ".join("?" * len(names))
        with closing(connection.execute(f"select {chosen} from {table}")) as found:
            copy.executemany(f"insert into {table} ({', '.join(names)}) values ({marks})", map(tuple, found))
    copy.execute("commit")
    return copy
