"""Namespaces and sessions as numbers, and what a session counts."""

from memory_mcp.models import Memory
from memory_mcp.storage.driver import Connection


def namespace_number(connection: Connection, name: str) -> int:
    """Find a namespace, or make it."""
    found = connection.execute("select number from namespace where name = :name", {"name": name}).fetchone()
    if found:
        return found[0]
    return connection.execute(
        "insert into namespace (name) values (:name) returning number", {"name": name}
    ).fetchone()[0]


def find_session(connection: Connection, namespace: int, session_id: str) -> int | None:
    """Find a session."""
    found = connection.execute(
        "select number from session where namespace = :namespace and id = :id",
        {"namespace": namespace, "id": session_id},
    ).fetchone()
    return found[0] if found else None


def session_number(connection: Connection, namespace: int, session_id: str, at: int) -> int | None:
    """Find a session, or make one that started at this instant; None when there is no session.

    One that was forgotten counts on from the last place it had: its turns are known by their places if told again.
    """
    if not session_id:
        return None
    return connection.execute(
        """
        insert into session (namespace, id, started_at, last_at, turns, summarized_through)
        select :namespace, :id, :at, :at, counted.turns, counted.turns from (
            select coalesce(max(cast(message_id as integer)), 0) as turns from blocked
            where what = 'message' and host = '' and session_id = :id
              and namespace = (select name from namespace where number = :namespace)) counted
        where true
        on conflict (namespace, id) do update set started_at = min(started_at, excluded.started_at)
        returning number
        """,
        {"namespace": namespace, "id": session_id, "at": at},
    ).fetchone()[0]


def give_place(connection: Connection, session: int, turn: Memory, at: int, host: str) -> int:
    """Count a turn in its session, which goes on with it unless its place was given out before.

    Returns the turn's place: the next free one, unless it has one already.
    """
    return connection.execute(
        """
        update session
        set turns = max(turns, coalesce(:sequence, turns + 1)), last_at = max(last_at, :at),
            ended_at = case when :sequence <= turns then ended_at end,
            host = case when host = '' then :host else host end
        where number = :session
        returning coalesce(:sequence, turns)
        """,
        {"session": session, "sequence": turn.sequence, "at": at, "host": host},
    ).fetchone()[0]


def drop_unused_namespaces(connection: Connection) -> None:
    """Drop the namespaces to which neither a memory nor a session belongs."""
    connection.execute(
        """
        delete from namespace where not exists (select 1 from memory where memory.namespace = namespace.number)
          and not exists (select 1 from session where session.namespace = namespace.number)
        """
    )
