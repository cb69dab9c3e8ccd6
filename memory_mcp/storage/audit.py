"""What was done, by which door: ids and counts, never content."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from memory_mcp.answers import AuditLine, AuditPage
from memory_mcp.config import QUOTED
from memory_mcp.errors import InvalidInput
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.records import from_ms

IDS_KEPT = 50
CURSOR_DIGITS = 18

FORGET, EXPIRE = "forget", "expire"
"""Verbs of an erasure: somebody asked for it, or a memory's time was up."""


ARCHIVE, RESTORE = "archive", "restore"

REDACT = "redact"
"""The verb of taking secrets out of what was kept."""

REPLACE = "replace"
"""The verb of erasing what a file given as reference no longer holds; it may come again."""

STORE, SUMMARIZE = "store", "summarize"
"""Verbs by which memories come in that somebody worded."""

BACKGROUND = "background"
"""The door of what nobody asked for."""


class Act(NamedTuple):
    """By which door something is done, and when, in milliseconds."""

    door: str
    now: int


def record(connection: Connection, verb: str, ids: Sequence[str], act: Act, *, count: int | None = None) -> None:
    """Write down an act, in the transaction that does it. `count` is that of the ids where none is given."""
    connection.execute(
        "insert into audit (at, verb, door, count, ids) values (:at, :verb, :door, :count, :ids)",
        {
            "at": act.now,
            "verb": verb,
            "door": act.door,
            "count": len(ids) if count is None else count,
            "ids": json.dumps(list(ids[:IDS_KEPT])),
        },
    )


def page(connection: Connection, limit: int, *, since: int | None, verb: str, cursor: str) -> AuditPage:
    """Read one page, newest first: of a verb only, or since an instant. Raises `InvalidInput` for a foreign cursor."""
    if cursor and not (cursor.isascii() and cursor.isdecimal() and len(cursor) <= CURSOR_DIGITS):
        raise InvalidInput(f"cursor {cursor[:QUOTED]!r} is not one of ours. Leave it out to start at the newest.")
    found = connection.execute(
        """
        select * from audit
        where (:verb = '' or verb = :verb) and (:since is null or at >= :since) and (:before = 0 or number < :before)
        order by number desc limit :limit
        """,
        {"verb": verb, "since": since, "before": int(cursor or 0), "limit": limit + 1},
    ).fetchall()
    shown = [
        AuditLine(from_ms(row["at"]), row["door"], row["verb"], row["count"], tuple(json.loads(row["ids"])))
        for row in found[:limit]
    ]
    return AuditPage(tuple(shown), str(found[limit - 1]["number"]) if len(found) > limit else "")


def lines(connection: Connection) -> int:
    """Count the lines."""
    return connection.execute("select count(*) from audit").fetchone()[0]


def trim(connection: Connection, keep: int) -> None:
    """Drop the oldest lines but so many."""
    connection.execute(
        "delete from audit where number <= (select number from audit order by number desc limit 1 offset :keep)",
        {"keep": keep},
    )


def archived_unasked(connection: Connection, since: int) -> int:
    """Count what was archived in the background, after an instant."""
    return connection.execute(
        "select coalesce(sum(count), 0) from audit where verb = :verb and door = :door and at > :since",
        {"verb": ARCHIVE, "door": BACKGROUND, "since": since},
    ).fetchone()[0]
