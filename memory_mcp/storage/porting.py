"""How all that a file holds is read out, record by record, in one state of it."""

import json
import logging
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace

from memory_mcp.models import Memory, Outcome
from memory_mcp.storage.carried import (
    CarriedBlock,
    CarriedDocument,
    CarriedEpisode,
    CarriedMemory,
    CarriedSession,
    CarriedUse,
    Links,
    Outlet,
    Record,
)
from memory_mcp.storage.driver import Connection, Row
from memory_mcp.storage.episodes import actions_of, as_action
from memory_mcp.storage.listing import numbered
from memory_mcp.storage.records import from_ms, from_ms_or_none
from memory_mcp.storage.values import Coordinates, ToolUse

LOG = logging.getLogger(__name__)

BATCH = 500
"""Records that are in memory at once."""

FIELDS = {
    "supersedes": ("supersedes", "superseded_by"),
    "derived_from": ("derived_from", "origin_of"),
    "key_fact_of": ("key_fact_of", "key_facts"),
}
"""For each relation, what the newer memory calls it, and what the older one does."""


def carry_out(connection: Connection, outlet: Outlet) -> int:
    """Read out everything but what can be made anew or belongs to this file alone; returns how much was damaged.

    Places that were forgotten come first, then sessions, then memories in the order in which they were written.
    """
    outlet.begin(connection.execute("select count(*) from memory").fetchone()[0])
    damaged = 0
    for asked, make in _SMALL[:2]:
        damaged += _each(connection.execute(asked), make, outlet)
    after = 0
    while rows := _next_rows(connection, after):
        found = list(_whole(connection, numbered(connection, rows)))
        outlet.put(found)
        damaged += len(rows) - len(found)
        after = rows[-1]
    for asked, make in _SMALL[2:]:
        damaged += _each(connection.execute(asked), make, outlet)
    return damaged


def _each(found: Iterable[Row], make: Callable[[Row], Record], outlet: Outlet) -> int:
    """Hand on the records of a small table; one that makes no sense is left out and counted."""
    damaged = 0
    batch: list[Record] = []
    for row in found:
        try:
            batch.append(make(row))
        except (ValueError, TypeError, OverflowError):
            damaged += 1
        if len(batch) == BATCH:
            outlet.put(batch)
            batch = []
    outlet.put(batch)
    return damaged


def _next_rows(connection: Connection, after: int) -> list[int]:
    found = connection.execute(
        "select row from memory where row > :after order by row limit :limit", {"after": after, "limit": BATCH}
    ).fetchall()
    return [row for (row,) in found]


# ---- a memory with all that hangs on it ----------------------------------------------------------------------------


def _whole(connection: Connection, found: dict[int, Memory]) -> Iterator[CarriedMemory]:
    """Put memories together in the order of their rows; one of which a part is damaged is left out."""
    rows = sorted(found)
    links = _links(connection, rows)
    messages = {row["memory"]: row for row in _parts(connection, "turn", rows)}
    documents = {row["memory"]: row for row in _parts(connection, "document", rows)}
    episodes = {row["memory"]: row for row in _parts(connection, "episode", rows)}
    for row in rows:
        memory = replace(found[row], tags=tuple(sorted(found[row].tags)), derived_from=(), superseded_by="")
        try:
            yield CarriedMemory(
                memory,
                links[row],
                _message(messages[row]) if row in messages else None,
                _episode(connection, episodes[row]) if row in episodes else None,
                _document(documents[row]) if row in documents else None,
            )
        except (ValueError, TypeError, OverflowError):
            LOG.warning("memory %s is damaged and was left out", memory.id)


def _parts(connection: Connection, table: str, rows: Sequence[int]) -> list[Row]:
    return connection.execute(
        f"select * from {table} where memory in (select value from json_each(:rows))", {"rows": json.dumps(rows)}
    ).fetchall()


def _links(connection: Connection, rows: Sequence[int]) -> dict[int, Links]:
    """Read the relations of memories, each from both of its ends, in the order of ids."""
    related: dict[int, dict[str, set[str]]] = {row: defaultdict(set) for row in rows}
    found = connection.execute(
        """
        with asked as (select value as row from json_each(:rows))
        select l.newer as own, o.id as other, l.relation, 0 as place from link l join memory o on o.row = l.older
        where l.newer in asked
        union all
        select l.older, n.id, l.relation, 1 from link l join memory n on n.row = l.newer where l.older in asked
        """,
        {"rows": json.dumps(rows)},
    )
    for own, other, relation, place in found:
        related[own][FIELDS[relation][place]].add(other)
    return {row: Links(**{name: tuple(sorted(ids)) for name, ids in own.items()}) for row, own in related.items()}


def _message(row: Row) -> Coordinates:
    return Coordinates(row["host"], row["session_id"], row["message_id"], row["role"])


def _document(row: Row) -> CarriedDocument:
    return CarriedDocument(row["origin"], row["version"], row["position"])


def _episode(connection: Connection, row: Row) -> CarriedEpisode:
    return CarriedEpisode(
        version=row["version"],
        covered_through=row["covered_through"],
        started_at=from_ms(row["started_at"]),
        ended_at=from_ms(row["ended_at"]),
        engine=row["engine"],
        trigger=row["trigger"],
        outcome=Outcome(row["outcome"]) if row["outcome"] else None,
        lessons=tuple(json.loads(row["lessons"])),
        actions=actions_of(connection, row["memory"]),
    )


# ---- the small tables ----------------------------------------------------------------------------------------------


def _block(row: Row) -> CarriedBlock:
    return CarriedBlock(
        what=row["what"],
        asked=bool(row["asked"]),
        forgotten_at=from_ms(row["forgotten_at"]),
        host=row["host"],
        namespace=row["namespace"],
        session_id=row["session_id"],
        message_id=row["message_id"],
        memory_id=row["memory_id"],
    )


def _session(row: Row) -> CarriedSession:
    return CarriedSession(
        namespace=row["name"],
        id=row["id"],
        started_at=from_ms(row["started_at"]),
        last_at=from_ms(row["last_at"]),
        host=row["host"],
        turns=row["turns"],
        summarized_through=row["summarized_through"],
        stale=bool(row["stale"]),
        ended_at=from_ms_or_none(row["ended_at"]),
    )


def _use(row: Row) -> CarriedUse:
    return CarriedUse(row["name"], row["id"], ToolUse(row["call_id"], as_action(row), from_ms(row["at"])))


_SMALL: tuple[tuple[str, Callable[[Row], Record]], ...] = (
    ("select * from blocked order by number", _block),
    ("select s.*, n.name from session s join namespace n on n.number = s.namespace order by s.number", _session),
    (
        """
        select u.*, s.id, n.name from tool_use u join session s on s.number = u.session
        join namespace n on n.number = s.namespace order by u.session, u.at, u.call_id
        """,
        _use,
    ),
)
"""What is asked of each, and how a row becomes a record; the first two come before the memories."""
