"""A filter as SQL: which memories a question is about."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from memory_mcp.models import Filter, Kind, State, Trust

Clause = tuple[str, dict[str, Any]]
"""An SQL condition and its named parameters."""

AS_OF = """
    m.created_at <= :f_as_of and (m.superseded_at is null or m.superseded_at > :f_as_of)
    and (m.valid_from is null or m.valid_from <= :f_as_of) and (m.valid_to is null or m.valid_to > :f_as_of)
"""
"""Held true at that instant, as it was known then."""

OF_FILE = """
    m.row in (select memory from document
        where origin = :f_file or substr(origin, 1, length(:f_file) + 1) in (:f_file || '/', :f_file || char(92)))
"""
"""A part of this file, or of a file in this folder."""

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
KINDS, STATES, TRUSTS = tuple(Kind), tuple(State), tuple(Trust)


def to_ms(instant: datetime) -> int:
    """Turn an aware instant into the file's milliseconds since 1970."""
    return (instant - EPOCH) // timedelta(milliseconds=1)


def time_is_up(now: str) -> str:
    """Write the condition over `memory m`: past its time to live by the instant of this parameter.

    What is pinned never is, nor a turn of a session that is still to be summarized.
    """
    return f"""m.expires_at <= {now} and m.pinned = 0 and (m.kind <> 'turn' or m.session is null or m.sequence <= (
        select case when s.stale then 0 else s.summarized_through end from session s where s.number = m.session))"""


def in_time(now: str) -> str:
    """Write the opposite of `time_is_up`."""
    return f"(m.expires_at is null or not ({time_is_up(now)}))"


def place_in(column: str, order: Sequence[str]) -> str:
    """Write the expression for the place of a text within its enumeration, as it stands beside the sign bits."""
    cases = " ".join(f"when '{name}' then {place}" for place, name in enumerate(order))
    return f"case {column} {cases} end"


def clause(where: Filter) -> Clause:
    """Write the condition over `memory m`, whole."""
    conditions: list[tuple[str, str, Any]] = [
        (
            "m.namespace in (select number from namespace where name in (select value from json_each(:f_namespaces)))",
            "f_namespaces",
            json.dumps(where.namespaces) if where.namespaces else None,
        ),
        (
            "m.kind in (select value from json_each(:f_kinds))",
            "f_kinds",
            json.dumps(where.kinds) if where.kinds else None,
        ),
        (
            "m.state in (select value from json_each(:f_states))",
            "f_states",
            json.dumps(where.states) if where.states else None,
        ),
        ("m.session in (select number from session where id = :f_session)", "f_session", where.session_id or None),
        (OF_FILE, "f_file", where.file or None),
        ("m.source = :f_source", "f_source", where.source),
        ("m.trust = :f_trust", "f_trust", where.trust),
        ("(m.flagged = 1) = :f_flagged", "f_flagged", None if where.flagged is None else int(where.flagged)),
        ("m.row in (select memory from episode where outcome = :f_outcome)", "f_outcome", where.outcome),
        ("m.confidence >= :f_confidence", "f_confidence", where.min_confidence or None),
        ("m.created_at >= :f_since", "f_since", to_ms(where.since) if where.since else None),
        ("m.created_at < :f_until", "f_until", to_ms(where.until) if where.until else None),
        (
            in_time(":f_now"),
            "f_now",
            to_ms(where.now) if where.now else None,
        ),
        (AS_OF, "f_as_of", to_ms(where.as_of) if where.as_of else None),
    ]
    parts = [sql for sql, _, value in conditions if value is not None]
    values = {name: value for _, name, value in conditions if value is not None}
    if where.tags:
        parts.append(
            "(select count(*) from tag t where t.memory = m.row"
            " and t.name in (select value from json_each(:f_tags))) = :f_tag_count"
        )
        tags = sorted({tag.casefold() for tag in where.tags})
        values |= {"f_tags": json.dumps(tags), "f_tag_count": len(tags)}
    return " and ".join(parts) or "1", values


def needs_rows(where: Filter) -> bool:
    """Whether it takes a look at a memory's row to know that a filter lets it through.

    Not where what stands beside the sign bits answers (`Signs.passing`), and an index does the rest (`sought`).
    """
    return where.flagged is not None or any((where.file, where.source, where.min_confidence, where.as_of, where.now))


def sought(where: Filter) -> list[Clause]:
    """Write, for each part of a filter to which an index leads, the statement that names the rows it lets through."""
    statements: list[Clause] = []
    if where.tags:
        tags = sorted({tag.casefold() for tag in where.tags})
        with_tags = """
            select memory from tag where name in (select value from json_each(:tags))
            group by memory having count(*) = :count
        """
        statements.append((with_tags, {"tags": json.dumps(tags), "count": len(tags)}))
    if where.session_id:
        of_session = "select row from memory where session in (select number from session where id = :session)"
        statements.append((of_session, {"session": where.session_id}))
    if where.outcome:
        statements.append(("select memory from episode where outcome = :outcome", {"outcome": where.outcome}))
    return statements
