"""Which memories use, age and ratings speak against."""

import json
from collections.abc import Mapping
from datetime import datetime

from memory_mcp.models import Filter, Memory
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.filters import Clause, clause, to_ms
from memory_mcp.storage.listing import by_rows

Doubted = tuple[int, list[Memory]]
"""How many there are, and the first of them."""

SEEN = "max(m.created_at, m.updated_at, coalesce(u.last_accessed_at, 0))"
"""When a memory was last learned, told again, changed, recalled or rated."""


def unhelpful(connection: Connection, where: Filter, shown: int, limit: int) -> Doubted:
    """Read what was recalled so often and never found useful, most shown first; nothing where nobody ever rates."""
    condition = "u.access_count >= :shown and u.useful = 0 and exists (select 1 from usage where useful > 0)"
    return _doubted(connection, where, (condition, {"shown": shown}), "u.useless desc, u.access_count desc", limit)


def unused(connection: Connection, where: Filter, before: datetime, limit: int) -> Doubted:
    """Read what was told before an instant and never recalled since, oldest first."""
    condition = f"coalesce(u.access_count, 0) = 0 and {SEEN} < :before"
    return _doubted(connection, where, (condition, {"before": to_ms(before)}), "m.created_at", limit)


def stale(connection: Connection, where: Filter, cutoffs: Mapping[str, datetime], now: datetime, limit: int) -> Doubted:
    """Read what was true only until some time ago, and what nobody told or used since its kind's cutoff."""
    condition = f"(m.valid_to <= :now or {SEEN} < :cutoffs ->> m.kind)"
    values = {"now": to_ms(now), "cutoffs": _as_json(cutoffs)}
    return _doubted(connection, where, (condition, values), "coalesce(m.valid_to, m.created_at)", limit)


def faded(connection: Connection, cutoffs: Mapping[str, datetime], limit: int) -> list[str]:
    """Name active memories that nobody told, recalled or rated since their kind's cutoff, oldest first.

    Not what is pinned, nor what has an end of its own.
    """
    found = connection.execute(
        f"""
        select m.id from memory m left join usage u on u.memory = m.row
        where m.state = 'active' and m.pinned = 0 and m.expires_at is null and {SEEN} < :cutoffs ->> m.kind
        order by m.row limit :limit
        """,
        {"cutoffs": _as_json(cutoffs), "limit": limit},
    ).fetchall()
    return [memory_id for (memory_id,) in found]


def _doubted(connection: Connection, where: Filter, more: Clause, order: str, limit: int) -> Doubted:
    condition, values = clause(where)
    found = connection.execute(
        f"""
        select m.row, count(*) over () as total from memory m left join usage u on u.memory = m.row
        where m.pinned = 0 and {condition} and {more[0]}
        order by {order}, m.row limit :limit
        """,
        values | more[1] | {"limit": limit},
    ).fetchall()
    return (found[0]["total"] if found else 0), by_rows(connection, [row["row"] for row in found])


def _as_json(cutoffs: Mapping[str, datetime]) -> str:
    return json.dumps({kind: to_ms(instant) for kind, instant in cutoffs.items()})
