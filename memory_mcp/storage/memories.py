"""How memories are written: new ones, repeated ones, and those that replace others."""

import json
from collections.abc import Collection, Sequence
from dataclasses import replace

from memory_mcp.errors import Conflict, NotFound
from memory_mcp.models import Kind, Memory, Trust
from memory_mcp.storage import slots, vectors
from memory_mcp.storage.audit import STORE, Act, record
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.filters import to_ms
from memory_mcp.storage.pace import require_slow_stores
from memory_mcp.storage.sessions import give_place, namespace_number, session_number
from memory_mcp.storage.twins import as_told, find_twin, told_again
from memory_mcp.storage.values import Draft, Written
from memory_mcp.storage.words import add_words, remove_words
from memory_mcp.tokens import digest


def write(connection: Connection, drafts: Sequence[Draft], act: Act, most_a_minute: int | None = None) -> list[Written]:
    """Write drafts with their words and vectors. Raises `NotFound`, `Conflict`, `TooFast`."""
    if most_a_minute is not None:
        require_slow_stores(connection, most_a_minute, act)
    written = write_all(connection, drafts, act.now)
    record(connection, STORE, [one.id for one in written], act)
    return written


def write_all(connection: Connection, drafts: Sequence[Draft], now: int) -> list[Written]:
    """Write drafts as part of a larger act."""
    known = told_again(connection, drafts)
    return [_write_one(connection, draft, now, known.get(place)) for place, draft in enumerate(drafts)]


def _write_one(connection: Connection, draft: Draft, now: int, twin: int | None) -> Written:
    """Write one draft, or reinforce its twin.

    A twin that is history or archived stays as it is; a trusted one that untrusted text repeats was seen, and no more.
    """
    twin = twin or find_twin(connection, draft, now)
    if twin is None or _trust_of(connection, twin) is Trust.UNTRUSTED:
        draft = replace(draft, memory=as_told(connection, draft.memory))
    named = rows_of(connection, draft.supersedes)
    if twin and not _is_active(connection, twin):
        return Written(*ids_of(connection, [twin]), duplicate=True)
    if twin and not may_change(connection, twin, draft.memory):
        touch(connection, twin, now)
        return Written(*ids_of(connection, [twin]), duplicate=True)
    holder = slots.holder_of(connection, draft.memory)
    if holder and holder.row not in (twin, *named) and draft.memory.created_at < holder.learned:
        return _write_past(connection, draft, holder, now)
    older = sorted({*named, *([holder.row] if holder else [])} - {twin})
    _retire_for(connection, older, draft.memory, now)
    row = _reinforce(connection, twin, draft, now) if twin else insert(connection, draft, now)
    link(connection, row, older, "supersedes")
    return Written(*ids_of(connection, [row]), duplicate=twin is not None, superseded=ids_of(connection, older))


def _write_past(connection: Connection, draft: Draft, holder: slots.Holder, now: int) -> Written:
    """Write what was learned before the memory that holds its key: as history, which that one replaced."""
    told = slots.told_before(connection, draft.memory, holder)
    older = rows_of(connection, draft.supersedes)
    _retire_for(connection, older, draft.memory, now)
    row = told or insert(connection, replace(draft, memory=slots.as_past(draft.memory, holder)), now)
    link(connection, holder.row, [row], "supersedes")
    link(connection, row, older, "supersedes")
    return Written(*ids_of(connection, [row]), duplicate=told is not None, superseded=ids_of(connection, older))


def _retire_for(connection: Connection, older: Sequence[int], newer: Memory, now: int) -> None:
    """Retire memories for one that is new, unless it is third-party text and one of them is trusted (`Conflict`)."""
    trusted = connection.execute(
        "select id from memory where trust = 'trusted' and row in (select value from json_each(:older))",
        {"older": json.dumps(older)},
    ).fetchone()
    if trusted and newer.trust is Trust.UNTRUSTED:
        raise Conflict(
            f"Nothing was saved: text from an untrusted source cannot replace memory {trusted[0]}, which is trusted."
            " Store it without key and supersedes, or ask the user."
        )
    retire(connection, older, newer, now)


def insert(connection: Connection, draft: Draft, now: int) -> int:
    """Write a new memory with tags, place, words and vectors; returns its row."""
    memory, host = draft.memory, draft.coordinates.host if draft.coordinates else ""
    namespace, created_at = namespace_number(connection, memory.namespace), to_ms(memory.created_at)
    session = session_number(connection, namespace, memory.session_id, created_at)
    sequence = memory.sequence
    if session is not None and memory.kind is Kind.TURN:
        sequence = give_place(connection, session, memory, created_at, host)
    row = connection.execute(
        """
        insert into memory (id, namespace, kind, state, content, key, title, speaker, session, sequence, pinned,
                            importance, confidence, source, trust, created_at, updated_at, valid_from, valid_to,
                            expires_at, superseded_at, flagged, digest, tokens)
        values (:id, :namespace, :kind, :state, :content, :key, :title, :speaker, :session, :sequence, :pinned,
                :importance, :confidence, :source, :trust, :created_at, :updated_at, :valid_from, :valid_to,
                :expires_at, :superseded_at, :flagged, :digest, 0)
        returning row
        """,
        _columns(memory) | {"namespace": namespace, "session": session, "sequence": sequence, "updated_at": now},
    ).fetchone()[0]
    add_tags(connection, row, memory.tags)
    link(connection, row, rows_of(connection, memory.derived_from), "derived_from")
    if draft.coordinates:
        connection.execute(
            "insert into turn values (:row, :host, :session_id, :message_id, :role)",
            vars(draft.coordinates) | {"row": row},
        )
    add_words(connection, row)
    vectors.put(connection, row, draft.vectors, draft.model)
    return row


def retire(connection: Connection, rows: Sequence[int], newer: Memory, now: int) -> None:
    """Turn memories into history because a newer one replaces them. What is history already stays as it was."""
    learned = to_ms(newer.created_at)
    for row in rows:
        connection.execute(
            """
            update memory
            set state = 'superseded', superseded_at = max(created_at, :learned), updated_at = :now,
                valid_to = coalesce(valid_to, max(:true_from, coalesce(valid_from, :true_from)))
            where row = :row and state <> 'superseded'
            """,
            {
                "row": row,
                "learned": learned,
                "now": now,
                "true_from": to_ms(newer.valid_from) if newer.valid_from else learned,
            },
        )
        vectors.refresh(connection, row)


def link(connection: Connection, newer: int, older: Collection[int], relation: str) -> None:
    """Relate one memory to others; repeating it is harmless."""
    connection.executemany(
        "insert or ignore into link (newer, older, relation) values (:newer, :older, :relation)",
        [{"newer": newer, "older": row, "relation": relation} for row in older],
    )


def add_tags(connection: Connection, row: int, tags: Sequence[str]) -> None:
    """Label a memory, casefolded."""
    connection.executemany(
        "insert or ignore into tag (memory, name) values (:row, :name)",
        [{"row": row, "name": tag.casefold()} for tag in tags],
    )


def may_change(connection: Connection, row: int, memory: Memory) -> bool:
    """Whether a text told again may change the memory that stands: an untrusted one never changes a trusted one."""
    return memory.trust is Trust.TRUSTED or _trust_of(connection, row) is Trust.UNTRUSTED


def _trust_of(connection: Connection, row: int) -> Trust:
    return Trust(connection.execute("select trust from memory where row = :row", {"row": row}).fetchone()[0])


def touch(connection: Connection, row: int, now: int) -> None:
    """Note that a memory was told again."""
    connection.execute(
        "update memory set updated_at = max(updated_at, :now) where row = :row", {"now": now, "row": row}
    )


def rows_of(connection: Connection, ids: Sequence[str]) -> list[int]:
    """Find the rows of ids, in their order. Raises `NotFound` that names the first that is unknown."""
    found = known_rows(connection, ids)
    for memory_id in ids:
        if memory_id not in found:
            raise NotFound(f"Nothing was changed: there is no memory {memory_id!r}. Recall again for current ids.")
    return [found[memory_id] for memory_id in ids]


def known_rows(connection: Connection, ids: Sequence[str]) -> dict[str, int]:
    """Find the row of each of these ids that is known."""
    if not ids:
        return {}
    return dict(
        connection.execute(
            "select id, row from memory where id in (select value from json_each(:ids))", {"ids": json.dumps(ids)}
        ).fetchall()
    )


def ids_of(connection: Connection, rows: Sequence[int]) -> tuple[str, ...]:
    """Name the memories at these rows, oldest first."""
    if not rows:
        return ()
    found = connection.execute(
        "select id from memory where row in (select value from json_each(:rows)) order by row",
        {"rows": json.dumps(rows)},
    ).fetchall()
    return tuple(memory_id for (memory_id,) in found)


def _reinforce(connection: Connection, row: int, draft: Draft, now: int) -> int:
    """Let a repeated text count: tags and links are added, what is stronger or explicit takes effect.

    Its time to live never gets shorter, and its source and trust stay: who repeats a text does not vouch for it.
    """
    memory = draft.memory
    _take_over(connection, row, memory, now)
    if connection.execute("select embedded_by is null from memory where row = :row", {"row": row}).fetchone()[0]:
        vectors.put(connection, row, draft.vectors, draft.model)
    return row


def _take_over(connection: Connection, row: int, memory: Memory, now: int) -> None:
    remove_words(connection, row)
    add_tags(connection, row, memory.tags)
    connection.execute(
        """
        update memory
        set importance = max(importance, :importance), confidence = max(confidence, :confidence),
            pinned = max(pinned, :pinned), flagged = max(flagged, :flagged),
            kind = case when :kind in ('fact', 'turn') then kind else :kind end,
            valid_from = coalesce(:valid_from, valid_from), valid_to = coalesce(:valid_to, valid_to),
            key = case when :key <> '' then :key else key end, updated_at = max(updated_at, :now),
            expires_at = case when expires_at is null or :expires_at is null then null
                              else max(expires_at, :expires_at) end
        where row = :row
        """,
        _columns(memory) | {"row": row, "now": now},
    )
    add_words(connection, row)
    link(connection, row, [other for other in rows_of(connection, memory.derived_from) if other != row], "derived_from")
    vectors.refresh(connection, row)


def _is_active(connection: Connection, row: int) -> bool:
    return connection.execute("select state = 'active' from memory where row = :row", {"row": row}).fetchone()[0]


def _columns(memory: Memory) -> dict[str, object]:
    """Give a memory's own columns; instants as milliseconds."""
    instants = ("created_at", "valid_from", "valid_to", "expires_at", "superseded_at")
    own: dict[str, object] = {
        "id": memory.id,
        "kind": memory.kind,
        "state": memory.state,
        "content": memory.content,
        "key": memory.key,
        "title": memory.title,
        "speaker": memory.speaker,
        "pinned": int(memory.pinned),
        "importance": memory.importance,
        "confidence": memory.confidence,
        "source": memory.source,
        "trust": memory.trust,
        "flagged": int(memory.flagged),
        "digest": digest(memory.content),
    }
    for name in instants:
        instant = getattr(memory, name)
        own[name] = None if instant is None else to_ms(instant)
    return own
