"""Who holds a key, and how what was learned before that memory comes after it into the history."""

from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from memory_mcp.models import Memory, State
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.filters import to_ms
from memory_mcp.storage.records import from_ms
from memory_mcp.tokens import digest


class Holder(NamedTuple):
    """The active memory of a key: its row, when it was learned, since when it is true."""

    row: int
    learned: datetime
    true_from: datetime


def holder_of(connection: Connection, memory: Memory) -> Holder | None:
    """Find who holds the key that a memory asks for."""
    if not memory.key or memory.state is not State.ACTIVE:
        return None
    found = connection.execute(
        """
        select m.row, m.created_at, coalesce(m.valid_from, m.created_at)
        from memory m join namespace n on n.number = m.namespace
        where n.name = :namespace and m.key = :key and m.state = 'active'
        """,
        {"namespace": memory.namespace, "key": memory.key},
    ).fetchone()
    return Holder(found[0], from_ms(found[1]), from_ms(found[2])) if found else None


def told_before(connection: Connection, memory: Memory, holder: Holder) -> int | None:
    """Find the row of the same piece of the past, if the holder has it as its history already."""
    found = connection.execute(
        """
        select m.row from link l join memory m on m.row = l.older
        where l.newer = :holder and l.relation = 'supersedes'
          and (m.digest, m.key, m.created_at) = (:digest, :key, :created_at)
        """,
        {
            "holder": holder.row,
            "digest": digest(memory.content),
            "key": memory.key,
            "created_at": to_ms(memory.created_at),
        },
    ).fetchone()
    return found[0] if found else None


def as_past(memory: Memory, holder: Holder) -> Memory:
    """Give a memory as it stands once the holder of its key replaced it."""
    return replace(
        memory,
        state=State.SUPERSEDED,
        superseded_at=holder.learned,
        valid_to=memory.valid_to or max(holder.true_from, memory.valid_from or holder.true_from),
    )
