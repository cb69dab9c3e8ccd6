"""What was done, by which door: ids and counts, never content."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from memory_mcp.storage.driver import Connection

IDS_KEPT = 50

FORGET, EXPIRE = "forget", "expire"
"""Verbs of an erasure: somebody asked for it, or a memory's time was up."""


ARCHIVE, RESTORE = "archive", "restore"

STORE, SUMMARIZE = "store", "summarize"
"""Verbs by which memories come in that somebody worded."""

BACKGROUND = "background"
"""The door of what nobody asked for."""


class Act(NamedTuple):
    """By which door something is done, and when, in milliseconds."""

    door: str
    now: int


def record(connection: Connection, verb: str, ids: Sequence[str], act: Act) -> None:
    """Write down an act, in the transaction that does it."""
    connection.execute(
        "insert into audit (at, verb, door, count, ids) values (:at, :verb, :door, :count, :ids)",
        {"at": act.now, "verb": verb, "door": act.door, "count": len(ids), "ids": json.dumps(list(ids[:IDS_KEPT]))},
    )


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
