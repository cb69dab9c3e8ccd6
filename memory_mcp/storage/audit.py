"""What was done, by which door: ids and counts, never content."""

import json
from collections.abc import Sequence
from typing import NamedTuple

from memory_mcp.storage.driver import Connection

IDS_KEPT = 50

FORGET, EXPIRE = "forget", "expire"
"""Verbs of an erasure: somebody asked for it, or a memory's time was up."""


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
