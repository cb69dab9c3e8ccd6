"""How memories are read without a question: by name, page by page, by weight, as a selection."""

import base64
import binascii
import json
from collections.abc import Sequence
from datetime import datetime

from memory_mcp.config import QUOTED
from memory_mcp.errors import InvalidInput
from memory_mcp.models import Filter, Memory
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.filters import clause, to_ms
from memory_mcp.storage.records import MEMORIES, decode, select_memories
from memory_mcp.storage.values import Page

LATEST = (1 << 63) - 1
"""The end of a listing that starts at the newest."""

_BY_ROW = " join json_each(:rows) asked on asked.value = m.row order by asked.key"

_NOT_OURS = "cursor {cursor!r} is not one of ours. Leave it out to start at the newest."


def by_ids(connection: Connection, ids: Sequence[str]) -> list[Memory]:
    """Read memories in the order asked; unknown ids are left out."""
    return select_memories(
        connection, " join json_each(:ids) asked on asked.value = m.id order by asked.key", {"ids": json.dumps(ids)}
    )


def by_rows(connection: Connection, rows: Sequence[int]) -> list[Memory]:
    """Read memories by row number in the order asked; unknown ones are left out."""
    return select_memories(connection, _BY_ROW, {"rows": json.dumps(rows)})


def numbered(connection: Connection, rows: Sequence[int]) -> dict[int, Memory]:
    """Read memories by row number, with it; unknown and damaged ones are left out."""
    records = connection.execute(MEMORIES + _BY_ROW, {"rows": json.dumps(rows)}).fetchall()
    return {record["row"]: memory for record in records for memory in decode([record])}


def contents(connection: Connection, rows: Sequence[int]) -> dict[int, str]:
    """Read only the texts of memories, by row number; unknown ones are left out."""
    return dict(
        connection.execute(
            "select row, content from memory where row in (select value from json_each(:rows))",
            {"rows": json.dumps(rows)},
        ).fetchall()
    )


def neighbours(connection: Connection, ids: Sequence[str], where: Filter) -> dict[str, list[Memory]]:
    """Read the turns just before and after each of these turns, in order, those that the filter lets through."""
    condition, values = clause(where)
    found = connection.execute(
        f"""
        select turn.id, m.row from json_each(:ids) asked join memory turn on turn.id = asked.value
        join memory m on m.session = turn.session and m.sequence in (turn.sequence - 1, turn.sequence + 1)
        where {condition} order by m.sequence
        """,
        values | {"ids": json.dumps(ids)},
    ).fetchall()
    memories = numbered(connection, [row for _, row in found])
    turns: dict[str, list[Memory]] = {}
    for memory_id, row in found:
        turns.setdefault(memory_id, []).extend([memories[row]] if row in memories else [])
    return turns


def page(connection: Connection, where: Filter, limit: int, cursor: str) -> Page:
    """Read one page, newest first."""
    condition, values = clause(where)
    at, row = _position(cursor)
    found = connection.execute(
        f"""
        select m.created_at, m.row from memory m where {condition} and (m.created_at, m.row) < (:cursor_at, :cursor_row)
        order by m.created_at desc, m.row desc limit :limit
        """,
        values | {"cursor_at": at, "cursor_row": row, "limit": limit + 1},
    ).fetchall()
    shown = found[:limit]
    following = _cursor(*shown[-1]) if shown and len(found) > limit else ""
    return Page(tuple(by_rows(connection, [row for _, row in shown])), following)


def weightiest(connection: Connection, where: Filter, limit: int) -> list[Memory]:
    """Read what matters most: pinned, then important, then used and found useful, then new."""
    condition, values = clause(where)
    found = connection.execute(
        f"""
        select m.row from memory m left join usage u on u.memory = m.row
        where m.kind not in ('turn', 'episode') and {condition}
        order by m.pinned desc, m.importance desc,
                 coalesce(u.access_count, 0) + 3 * coalesce(u.useful - u.useless, 0) desc,
                 m.created_at desc, m.row desc
        limit :limit
        """,
        values | {"limit": limit},
    ).fetchall()
    return by_rows(connection, [row for (row,) in found])


def count(connection: Connection, where: Filter) -> int:
    """Count everything the filter lets through."""
    condition, values = clause(where)
    return connection.execute(f"select count(*) from memory m where {condition}", values).fetchone()[0]


def select(connection: Connection, where: Filter, before: datetime | None, limit: int) -> list[tuple[str, int]]:
    """Name everything the filter lets through with its version, oldest first."""
    condition, values = clause(where)
    found = connection.execute(
        f"""
        select m.id, m.updated_at from memory m
        where {condition} and m.created_at < :before order by m.created_at, m.row limit :limit
        """,
        values | {"before": to_ms(before) if before else LATEST, "limit": limit},
    ).fetchall()
    return [(memory_id, version) for memory_id, version in found]


def versions(connection: Connection, ids: Sequence[str]) -> list[tuple[str, int]]:
    """Give the versions of exact ids, in the order asked; unknown ones are left out."""
    found = connection.execute(
        """
        select m.id, m.updated_at from memory m join json_each(:ids) asked on asked.value = m.id order by asked.key
        """,
        {"ids": json.dumps(ids)},
    ).fetchall()
    return [(memory_id, version) for memory_id, version in found]


def _cursor(created_at: int, row: int) -> str:
    return base64.urlsafe_b64encode(f"{created_at}.{row}".encode()).decode().rstrip("=")


def _position(cursor: str) -> tuple[int, int]:
    if not cursor:
        return LATEST, LATEST
    try:
        at, row = base64.b64decode(cursor + "=" * (-len(cursor) % 4), altchars=b"-_", validate=True).split(b".")
        position = int(at), int(row)
    except (binascii.Error, ValueError) as error:
        raise InvalidInput(_NOT_OURS.format(cursor=cursor[:QUOTED])) from error
    if any(abs(number) > LATEST for number in position):
        raise InvalidInput(_NOT_OURS.format(cursor=cursor[:QUOTED]))
    return position
