"""What may change about a memory without its text: facets, state, use and ratings."""

import json
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from memory_mcp.answers import Changed
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


def archive(connection: Connection, ids: Sequence[str], act: Act) -> Changed:
    """Archive active memories."""
    rows = [row for row in rows_of(connection, ids) if _state(connection, row) is State.ACTIVE]
    return Changed(_put(connection, rows, State.ARCHIVED, act))


def restore(connection: Connection, ids: Sequence[str], act: Act) -> Changed:
    """Take archived memories back, and superseded ones: what replaced such a one is archived instead.

    Raises `Conflict` where a key slot is taken, the same text stands there already, or the later memory was itself
    replaced.
    """
    restored, aside = list[str](), list[str]()
    for row in rows_of(connection, ids):
        state = _state(connection, row)
        if state is State.ACTIVE:
            continue
        if state is State.SUPERSEDED:
            aside += _undo(connection, row, act)
        held = connection.execute("select * from memory where row = :row", {"row": row}).fetchone()
        _refuse_taken_slot(connection, held, held["namespace"])
        _refuse_twin(connection, held, act.now)
        restored += _put(connection, [row], State.ACTIVE, act)
    return Changed(tuple(restored), tuple(aside))


def _put(connection: Connection, rows: Sequence[int], state: State, act: Act) -> tuple[str, ...]:
    """Give memories a state; returns their ids."""
    for row in rows:
        connection.execute(
            "update memory set state = :state, updated_at = max(updated_at + 1, :now) where row = :row",
            {"state": state, "now": act.now, "row": row},
        )
        vectors.refresh(connection, row)
    changed = ids_of(connection, rows)
    if changed:
        record(connection, RESTORE if state is State.ACTIVE else ARCHIVE, changed, act)
    return changed


def _state(connection: Connection, row: int) -> State:
    return State(connection.execute("select state from memory where row = :row", {"row": row}).fetchone()[0])


# ---- undo of a supersede -------------------------------------------------------------------------------------------


def _undo(connection: Connection, row: int, act: Act) -> tuple[str, ...]:
    """Make a memory be as if nothing had replaced it, and archive what had; returns the ids of that.

    The end of its truth goes if it was the later memory that brought it.
    """
    newer = _replaced_by(connection, row)
    values = {"row": row, "newer": newer}
    connection.execute(
        """
        update memory set superseded_at = null, valid_to = case when valid_to = (
            select max(coalesce(n.valid_from, n.created_at), coalesce(memory.valid_from, n.valid_from, n.created_at))
            from memory n where n.row = :newer) then null else valid_to end
        where row = :row
        """,
        values,
    )
    connection.execute("delete from link where (newer, older, relation) = (:newer, :row, 'supersedes')", values)
    return _put(connection, [newer] if newer and _state(connection, newer) is State.ACTIVE else [], State.ARCHIVED, act)


def _replaced_by(connection: Connection, row: int) -> int | None:
    """Find what replaced a memory last. Raises `Conflict` if that was replaced in turn, or is a summary."""
    found = connection.execute(
        """
        select newer.row, newer.id, newer.state, newer.kind from link l join memory newer on newer.row = l.newer
        where l.older = :row and l.relation = 'supersedes' order by newer.row desc limit 1
        """,
        {"row": row},
    ).fetchone()
    if found and found["kind"] == Kind.EPISODE:
        raise Conflict("Nothing was changed: an earlier summary is not taken back. Summarize the session again.")
    if found and found["state"] == State.SUPERSEDED:
        raise Conflict(
            f"Nothing was changed: memory {found['id']}, which replaced it, was itself replaced. Restore that first."
        )
    return found["row"] if found else None


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
    if held["kind"] in BOUND_KINDS:
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
