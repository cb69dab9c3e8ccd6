"""How captured conversations are written: turns that are new, uses of tools, and how far the host's record was read."""

import json
from collections.abc import Sequence

from memory_mcp.storage.audit import Act, record
from memory_mcp.storage.blocking import ANYWHERE
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.filters import to_ms
from memory_mcp.storage.memories import write_all
from memory_mcp.storage.sessions import find_session, namespace_number, session_number
from memory_mcp.storage.values import Captured, CaptureResult, Draft, Reading, ToolUse


def capture(connection: Connection, captured: Captured, act: Act) -> CaptureResult:
    """Write what is new of a conversation; what is known or was forgotten is passed over."""
    drafts, known, forgotten = _sorted_out(connection, captured.turns)
    written = write_all(connection, drafts, act.now)
    new = [one.id for one in written if not one.duplicate]
    if new:
        record(connection, "capture", new, act)
    _note_uses(connection, captured, act.now)
    if captured.ended_at:
        _end(connection, captured)
    if captured.reading:
        _note_reading(connection, captured, captured.reading)
    return CaptureResult(len(new), known + len(written) - len(new), forgotten)


def reading(connection: Connection, host: str, session_id: str) -> Reading | None:
    """Read how far a host's record of a conversation was read."""
    found = connection.execute(
        "select place, mark from reading where host = :host and session_id = :session_id",
        {"host": host, "session_id": session_id},
    ).fetchone()
    return Reading(found["place"], found["mark"]) if found else None


def texts(connection: Connection, host: str, session_id: str) -> dict[str, str]:
    """Read what is kept of a conversation, by the names of its messages."""
    found = connection.execute(
        """
        select t.message_id, m.content from turn t join memory m on m.row = t.memory
        where t.host = :host and t.session_id = :session_id
        """,
        {"host": host, "session_id": session_id},
    ).fetchall()
    return {row["message_id"]: row["content"] for row in found}


def _sorted_out(connection: Connection, drafts: Sequence[Draft]) -> tuple[list[Draft], int, int]:
    """Leave out what is known, which stays as it is, and what somebody had us forget; gives how many of each."""
    where = [vars(one.coordinates) if one.coordinates else {} for one in drafts]
    found = connection.execute(
        """
        select exists (select 1 from turn t where (t.host, t.session_id, t.message_id)
                       = (d.value ->> 'host', d.value ->> 'session_id', d.value ->> 'message_id')),
               exists (select 1 from blocked b where b.what = 'message' and b.host = d.value ->> 'host'
                       and b.message_id = d.value ->> 'message_id'
                       and (b.session_id = d.value ->> 'session_id' or b.message_id glob :anywhere))
        from json_each(:where) d order by d.key
        """,
        {"where": json.dumps(where), "anywhere": ANYWHERE},
    ).fetchall()
    new = [one for one, (known, gone) in zip(drafts, found, strict=True) if not known and not gone]
    return new, sum(known for known, _ in found), sum(gone for _, gone in found)


def _note_uses(connection: Connection, captured: Captured, now: int) -> None:
    if not captured.uses:
        return
    namespace = namespace_number(connection, captured.namespace)
    session = session_number(
        connection, namespace, captured.session_id, min(to_ms(one.at) if one.at else now for one in captured.uses)
    )
    connection.executemany(
        """
        insert or ignore into tool_use (session, call_id, at, tool, input_digest, ok, duration_ms)
        values (:session, :call_id, :at, :tool, :input_digest, :ok, :duration_ms)
        """,
        [{"session": session, **_columns(one, now)} for one in captured.uses],
    )


def _columns(use: ToolUse, now: int) -> dict[str, object]:
    action = use.action
    return {
        "call_id": use.call_id,
        "at": to_ms(use.at) if use.at else now,
        "tool": action.tool,
        "input_digest": action.input_digest,
        "ok": int(action.ok),
        "duration_ms": None if action.duration is None else round(action.duration * 1000),
    }


def _end(connection: Connection, captured: Captured) -> None:
    """Mark that a conversation is over; one of which nothing is kept needs no mark."""
    assert captured.ended_at is not None, "only what ended is marked"
    session = find_session(connection, namespace_number(connection, captured.namespace), captured.session_id)
    connection.execute(
        "update session set ended_at = :at where number = :session",
        {"at": to_ms(captured.ended_at), "session": session},
    )


def _note_reading(connection: Connection, captured: Captured, reading: Reading) -> None:
    connection.execute(
        """
        insert into reading (host, session_id, place, mark) values (:host, :session_id, :place, :mark)
        on conflict (host, session_id) do update set place = excluded.place, mark = excluded.mark
        """,
        {"host": captured.host, "session_id": captured.session_id} | vars(reading),
    )
