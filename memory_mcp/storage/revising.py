"""What may change about a memory without its text: facets, state, use and ratings."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from memory_mcp.errors import Conflict
from memory_mcp.models import Kind, Memory, Revision, State
from memory_mcp.storage import vectors
from memory_mcp.storage.audit import ARCHIVE, RESTORE, Act, record
from memory_mcp.storage.driver import Connection, Row
from memory_mcp.storage.filters import to_ms
from memory_mcp.storage.listing import by_rows
from memory_mcp.storage.memories import add_tags, ids_of, rows_of
from memory_mcp.storage.sessions import namespace_number
from memory_mcp.storage.twins import TextIn, same_text
from memory_mcp.storage.words import add_words, remove_words

BOUND_KINDS = frozenset({Kind.EPISODE, Kind.TURN, Kind.DOCUMENT})
"""Kinds with structure of their own: they stay what they are, and where they are."""

ALLOWED = {State.ARCHIVED: State.ACTIVE, State.ACTIVE: State.ARCHIVED}
"""Which state an archive or a restore starts from."""


def revise(connection: Connection, memory_id: str, change: Revision, expires_at: datetime | None, act: Act) -> Memory:
    """Change one memory's facets in rows and indexes.

    Raises `NotFound`; `Conflict` when a kind with a structure of its own would change or a key slot is taken.
    """
    [row] = rows_of(connection, [memory_id])
    held = connection.execute("select * from memory where row = :row", {"row": row}).fetchone()
    _refuse(connection, held, change)
    remove_words(connection, row)
    if change.tags is not None:
        connection.execute("delete from tag where memory = :row", {"row": row})
        add_tags(connection, row, change.tags)
    connection.execute(
        """
        update memory
        set importance = coalesce(:importance, importance), confidence = coalesce(:confidence, confidence),
            kind = coalesce(:kind, kind), namespace = coalesce(:namespace, namespace),
            pinned = coalesce(:pinned, pinned), updated_at = max(updated_at + 1, :now),
            flagged = iif(:vouched and flagged = 1, 2, flagged),
            expires_at = case when :expires then :expires_at else expires_at end
        where row = :row
        """,
        _values(connection, change) | {"row": row, "now": act.now, "expires_at": expires_at and to_ms(expires_at)},
    )
    add_words(connection, row)
    vectors.refresh(connection, row)
    record(connection, "revise", [memory_id], act)
    return by_rows(connection, [row])[0]


def set_state(connection: Connection, ids: Sequence[str], state: State, act: Act) -> list[str]:
    """Archive active memories or restore archived ones; returns the ids that changed."""
    changed: list[str] = []
    for memory_id, row in zip(ids, rows_of(connection, ids), strict=True):
        held = connection.execute("select * from memory where row = :row", {"row": row}).fetchone()
        if held["state"] != ALLOWED.get(state):
            continue
        if state is State.ACTIVE:
            _refuse_taken_slot(connection, held, held["namespace"])
            _refuse_twin(connection, held, act.now)
        connection.execute(
            "update memory set state = :state, updated_at = max(updated_at + 1, :now) where row = :row",
            {"state": state, "now": act.now, "row": row},
        )
        vectors.refresh(connection, row)
        changed.append(memory_id)
    record(connection, RESTORE if state is State.ACTIVE else ARCHIVE, changed, act)
    return changed


def count_access(connection: Connection, ids: Sequence[str], now: int) -> None:
    """Count one recall for each mention of an id; unknown ids are left out."""
    connection.execute(
        """
        insert into usage (memory, access_count, last_accessed_at)
        select m.row, count(*), :now from json_each(:ids) asked join memory m on m.id = asked.value group by m.row
        on conflict (memory) do update
        set access_count = access_count + excluded.access_count, last_accessed_at = excluded.last_accessed_at
        """,
        {"ids": json.dumps(ids), "now": now},
    )


def rate(connection: Connection, ids: Sequence[str], now: int, *, useful: bool) -> list[str]:
    """Count one rating for each id; returns those that exist."""
    found = connection.execute(
        "select id, row from memory where id in (select value from json_each(:ids))", {"ids": json.dumps(ids)}
    ).fetchall()
    connection.executemany(
        """
        insert into usage (memory, last_accessed_at, useful, useless) values (:row, :now, :useful, :useless)
        on conflict (memory) do update
        set useful = useful + excluded.useful, useless = useless + excluded.useless,
            last_accessed_at = excluded.last_accessed_at
        """,
        [{"row": row, "now": now, "useful": int(useful), "useless": int(not useful)} for _, row in found],
    )
    return [memory_id for memory_id, _ in found]


def _values(connection: Connection, change: Revision) -> dict[str, Any]:
    return {
        "importance": change.importance,
        "confidence": change.confidence,
        "kind": change.kind,
        "namespace": None if change.namespace is None else namespace_number(connection, change.namespace),
        "pinned": None if change.pinned is None else int(change.pinned),
        "vouched": change.flagged is False,
        "expires": change.expires_in_days is not None,
    }


def _refuse(connection: Connection, held: Row, change: Revision) -> None:
    kinds = {Kind(held["kind"]), change.kind or Kind(held["kind"])}
    if len(kinds) > 1 and kinds & BOUND_KINDS:
        raise Conflict(
            "Nothing was changed: an episode, a turn or a document cannot become another kind, nor be made so."
        )
    if change.namespace is None:
        return
    number = namespace_number(connection, change.namespace)
    if number != held["namespace"] and kinds & BOUND_KINDS:
        raise Conflict("Nothing was changed: an episode, a turn or a document stays in the namespace of its session.")
    if held["state"] == State.ACTIVE:
        _refuse_taken_slot(connection, held, number)


def _refuse_twin(connection: Connection, held: Row, now: int) -> None:
    if held["kind"] in (Kind.TURN, Kind.EPISODE):
        return
    twin = same_text(connection, held["namespace"], TextIn(held["digest"], held["kind"], held["key"]), now)
    if twin:
        raise Conflict(
            f"Nothing was changed: memory {ids_of(connection, [twin])[0]} holds the same text as memory {held['id']}."
            " Archive or forget it first, or leave this one where it is."
        )


def _refuse_taken_slot(connection: Connection, held: Row, namespace: int) -> None:
    holder = connection.execute(
        """
        select id from memory
        where namespace = :namespace and key = :key and key <> '' and state = 'active' and row <> :row
        """,
        {"namespace": namespace, "key": held["key"], "row": held["row"]},
    ).fetchone()
    if holder:
        raise Conflict(
            f"Nothing was changed: the key {held['key']!r} is held by memory {holder[0]} there."
            " Archive or forget that one first."
        )
