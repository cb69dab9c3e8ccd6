"""Which memory a text already is: only identical text in the same place is the same memory."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby
from typing import NamedTuple

from memory_mcp.errors import Conflict
from memory_mcp.models import Kind, Memory, Trust
from memory_mcp.storage.blocking import is_blocked
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.filters import in_time, to_ms
from memory_mcp.storage.sessions import find_session, namespace_number
from memory_mcp.storage.values import Coordinates, Draft
from memory_mcp.tokens import digest

RETRY_MS = 10 * 60 * 1000
"""A host that lost the reply tries again within minutes; later, the same words are said anew."""


class TextIn(NamedTuple):
    """A text, with what else decides whether another memory is the same."""

    digest: bytes
    kind: str
    key: str


class _Said(NamedTuple):
    digest: bytes
    speaker: str
    at: int


def find_twin(connection: Connection, draft: Draft, now: int) -> int | None:
    """Give the row of the memory that this draft already is, or None.

    Raises `Conflict` for what was forgotten, and for a place in a session that holds another text.
    """
    return _by_name(connection, draft) or _by_text(connection, draft, now)


def same_text(connection: Connection, namespace: int, memory: TextIn, now: int) -> int | None:
    """Give the row of the active memory that says the same, or None.

    Under two keys the same words are two memories, and one whose time is up is none any more.
    """
    found = connection.execute(
        f"""
        select m.row from memory m
        where m.namespace = :namespace and m.digest = :digest and m.state = 'active'
          and m.kind not in ('turn', 'episode') and (m.kind = 'document') = (:kind = 'document')
          and (m.key = :key or m.key = '' or :key = '') and {in_time(":now")}
        order by m.key = :key desc, m.row limit 1
        """,
        memory._asdict() | {"namespace": namespace, "now": now},
    ).fetchone()
    return found[0] if found else None


def _by_name(connection: Connection, draft: Draft) -> int | None:
    """Look for the same id (an import repeated) and the same message of a host."""
    if is_blocked(connection, draft):
        raise Conflict("Nothing was saved: this was forgotten on request and does not come back by itself.")
    where = draft.coordinates or Coordinates("", "", "", "")
    found = connection.execute(
        """
        select row from memory where id = :id union all
        select memory from turn where (host, session_id, message_id) = (:host, :session_id, :message_id)
        """,
        {"id": draft.memory.id} | vars(where),
    ).fetchone()
    return found[0] if found else None


def _by_text(connection: Connection, draft: Draft, now: int) -> int | None:
    memory = draft.memory
    if draft.coordinates is not None or memory.kind is Kind.EPISODE:
        return None
    namespace = namespace_number(connection, memory.namespace)
    if memory.kind is Kind.TURN:
        return _by_place(connection, draft, namespace)
    return same_text(connection, namespace, TextIn(digest(memory.content), memory.kind, memory.key), now)


def _by_place(connection: Connection, draft: Draft, namespace: int) -> int | None:
    """Look for a turn at the same place of its session, or for the retry of one that has no session."""
    turn, said = draft.memory, _said(draft)
    if not turn.session_id:
        found = connection.execute(
            """
            select row from memory where namespace = :namespace and digest = :digest and kind = 'turn'
               and session is null and speaker = :speaker and abs(created_at - :at) <= :retry
            """,
            said._asdict() | {"namespace": namespace, "retry": RETRY_MS},
        ).fetchone()
        return found[0] if found else None
    held = connection.execute(
        "select row, digest, speaker from memory where session = :session and sequence = :sequence",
        {"session": find_session(connection, namespace, turn.session_id), "sequence": turn.sequence},
    ).fetchone()
    if held and (held["digest"], held["speaker"]) != (said.digest, said.speaker):
        raise Conflict(
            f"Nothing was saved: session {turn.session_id!r} already has another turn {turn.sequence}."
            " Leave the sequence out to append."
        )
    return held["row"] if held else None


def as_told(connection: Connection, memory: Memory) -> Memory:
    """Give a memory no more trust than another, in whatever namespace, that says the same word for word.

    Who repeats what a tool printed does not vouch for it. A turn is what it is: a "Yes." of the user stays the user's.
    """
    if memory.kind is Kind.TURN or memory.trust is Trust.UNTRUSTED:
        return memory
    untrusted = connection.execute(
        """
        select exists (select 1 from memory where namespace in (select number from namespace) and digest = :digest
                       and trust = 'untrusted')
        """,
        {"digest": digest(memory.content)},
    ).fetchone()[0]
    return replace(memory, trust=Trust.UNTRUSTED) if untrusted else memory


def told_again(connection: Connection, drafts: Sequence[Draft]) -> dict[int, int]:
    """Recognise turns without a number by the end of their session; gives rows by the places of the drafts.

    A batch that begins with what its session ended with a moment ago is a retry; within a batch, the same words twice
    were said twice.
    """
    known: dict[int, int] = {}
    unnumbered = [(index, draft) for index, draft in enumerate(drafts) if _is_unnumbered(draft)]
    for (name, session_id), group in groupby(unnumbered, lambda pair: _session_of(pair[1])):
        batch = list(group)
        session = find_session(connection, namespace_number(connection, name), session_id)
        tail = _tail(connection, session, len(batch))
        size = _overlap([said for _, said in tail], [_said(draft) for _, draft in batch])
        known |= {index: row for (index, _), (row, _) in zip(batch, tail[len(tail) - size :], strict=False)}
    return known


def _is_unnumbered(draft: Draft) -> bool:
    turn = draft.memory
    return turn.kind is Kind.TURN and bool(turn.session_id) and turn.sequence is None and draft.coordinates is None


def _session_of(draft: Draft) -> tuple[str, str]:
    return draft.memory.namespace, draft.memory.session_id


def _said(draft: Draft) -> _Said:
    return _Said(digest(draft.memory.content), draft.memory.speaker, to_ms(draft.memory.created_at))


def _tail(connection: Connection, session: int | None, limit: int) -> list[tuple[int, _Said]]:
    """Read the last turns of a session in order."""
    found = connection.execute(
        """
        select row, digest, speaker, created_at from memory
        where session = :session and sequence is not null order by sequence desc limit :limit
        """,
        {"session": session, "limit": limit},
    ).fetchall()
    return [(row, _Said(mark, speaker, at)) for row, mark, speaker, at in reversed(found)]


def _overlap(tail: list[_Said], batch: list[_Said]) -> int:
    """Measure how many of the last turns the batch begins with."""
    for size in range(min(len(tail), len(batch)), 0, -1):
        if all(_is_retry(old, new) for old, new in zip(tail[-size:], batch, strict=False)):
            return size
    return 0


def _is_retry(old: _Said, new: _Said) -> bool:
    return old[:2] == new[:2] and abs(old.at - new.at) <= RETRY_MS
