"""Sessions that are still to be summarized, and summaries of them that failed."""

import json
from collections.abc import Sequence

from memory_mcp.models import PendingSession
from memory_mcp.storage.driver import Connection, Row
from memory_mcp.storage.records import from_ms, from_ms_or_none

PENDING = """
    select s.number, s.id, n.name as namespace, count(m.row) as turns, s.last_at, s.ended_at
    from session s
    join namespace n on n.number = s.namespace
    left join memory m on m.session = s.number and m.kind = 'turn' and m.state = 'active'
         and (s.stale or m.sequence > s.summarized_through)
    where s.stale or s.turns > s.summarized_through
    group by s.number
    having count(m.row) or s.stale and exists (
        select 1 from memory e where e.session = s.number and e.kind = 'episode' and e.state = 'active')
"""
"""The sessions with turns that no summary covers, or whose summary lost a source."""

WITH_ATTEMPTS = f"""
    select p.*, coalesce(a.failures, 0) as failures, a.failed_at, coalesce(a.reason, '') as reason
    from ({PENDING}) p left join attempt a on a.session = p.number and a.failed_at >= p.last_at
"""
"""The same, with the failures since their last turn."""


def sessions(connection: Connection, namespaces: Sequence[str], limit: int) -> list[PendingSession]:
    """Read the sessions with turns that no summary covers, or whose summary lost a source; newest first."""
    found = connection.execute(
        f"""
        {WITH_ATTEMPTS}
        where :everywhere or p.namespace in (select value from json_each(:namespaces))
        order by p.last_at desc limit :limit
        """,
        {"everywhere": not namespaces, "namespaces": json.dumps(list(namespaces)), "limit": limit},
    ).fetchall()
    return [_pending(row) for row in found]


def one(connection: Connection, session_id: str, namespace: str) -> PendingSession | None:
    """Read one session, if it is such a one."""
    found = connection.execute(
        f"{WITH_ATTEMPTS} where p.id = :session_id and p.namespace = :namespace",
        {"session_id": session_id, "namespace": namespace},
    ).fetchone()
    return _pending(found) if found else None


def note_failure(connection: Connection, session_id: str, namespace: str, reason: str, now: int) -> None:
    """Note that a summary failed; those before the session's last turn do not count any more."""
    connection.execute(
        """
        insert into attempt (session, failures, failed_at, reason)
        select s.number, 1, :now, :reason from session s join namespace n on n.number = s.namespace
        where s.id = :session_id and n.name = :namespace
        on conflict (session) do update set
            failures = 1 + case when failed_at >= (select last_at from session where number = excluded.session)
                                then failures else 0 end,
            failed_at = excluded.failed_at, reason = excluded.reason
        """,
        {"session_id": session_id, "namespace": namespace, "reason": reason, "now": now},
    )


def _pending(row: Row) -> PendingSession:
    return PendingSession(
        row["id"],
        row["namespace"],
        row["turns"],
        from_ms(row["last_at"]),
        from_ms_or_none(row["ended_at"]),
        row["failures"],
        from_ms_or_none(row["failed_at"]),
        row["reason"],
    )
