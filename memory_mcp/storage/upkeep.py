"""What a file needs besides its memories: leases, expiry, its own key, counts, and a check of its health."""

from collections import Counter
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from pathlib import Path

from memory_mcp.answers import Stats
from memory_mcp.storage.audit import EXPIRE
from memory_mcp.storage.changing import ACTIVE, NEXT
from memory_mcp.storage.driver import Connection, Error
from memory_mcp.storage.filters import KINDS, STATES, TRUSTS, place_in, time_is_up, to_ms
from memory_mcp.storage.pending import PENDING
from memory_mcp.storage.place import parts
from memory_mcp.storage.records import from_ms_or_none
from memory_mcp.storage.schema import version
from memory_mcp.storage.values import NO_MODEL, Check, nobody_ended

PROBLEMS = (
    (
        "memories are not in the words' index",
        "select count(*) from memory where row not in (select id from fulltext_docsize)",
    ),
    (
        "entries of the words' index belong to no memory",
        "select count(*) from fulltext_docsize where id not in (select row from memory)",
    ),
    (
        "sentences have sign bits but no full vector, or the reverse",
        """
        select (select count(*) from vec_bits where sentence not in (select sentence from vec_full))
             + (select count(*) from vec_full where sentence not in (select sentence from vec_bits))
        """,
    ),
    (
        "sentences belong to no memory",
        "select count(*) from vec_bits where memory not in (select row from memory)",
    ),
    (
        "sentences were made by another model than their memory says",
        f"""
        select (select count(*) from vec_bits v join memory m on m.row = v.memory
                 where v.model is not m.embedded_by and v.model is not {NEXT}
                   and (v.model is {ACTIVE} or not exists (select 1 from setting where name = 'stray_vectors')))
             + (select count(*) from memory where embedded_by is not null and embedded_by is not {ACTIVE})
        """,
    ),
    (
        "sentences are filed under another namespace, kind, state, trust or time than their memory",
        f"""
        select count(*) from vec_bits v join memory m on m.row = v.memory
        where (v.namespace, v.kind, v.state, v.trust, v.created_at)
           is not (m.namespace, {place_in("m.kind", KINDS)}, {place_in("m.state", STATES)},
                   {place_in("m.trust", TRUSTS)}, m.created_at)
        """,
    ),
)
"""Sentences about a count that should be 0, and how to count."""


def lease(
    connection: Connection,
    name: str,
    owner: str,
    now: datetime,
    duration: timedelta,
    has_ended: Callable[[str], bool] = nobody_ended,
) -> bool:
    """Take or renew a lease; False while another owner holds it who has not ended, as far as that is known."""
    holder = connection.execute("select owner from lease where name = :name", {"name": name}).fetchone()
    ended = holder[0] if holder and has_ended(holder[0]) else None
    taken = connection.execute(
        """
        insert into lease (name, owner, expires_at) values (:name, :owner, :until)
        on conflict (name) do update set owner = excluded.owner, expires_at = excluded.expires_at
        where lease.owner = excluded.owner or lease.expires_at <= :now or lease.owner = :ended
        """,
        {"ended": ended, "name": name, "owner": owner, "until": to_ms(now + duration), "now": to_ms(now)},
    )
    return taken.rowcount > 0


def release(connection: Connection, name: str, owner: str) -> None:
    """Give a lease back before its time."""
    connection.execute("delete from lease where name = :name and owner = :owner", {"name": name, "owner": owner})


def expired(connection: Connection, now: datetime, limit: int) -> list[str]:
    """Name what is past its time: not pinned, and no turn of a session that is still to be summarized."""
    found = connection.execute(
        f"select m.id from memory m where {time_is_up(':now')} order by m.expires_at limit :limit",
        {"now": to_ms(now), "limit": limit},
    ).fetchall()
    return [memory_id for (memory_id,) in found]


def expired_since(connection: Connection, since: int) -> int:
    """Count what went because its time was up, after an instant."""
    return connection.execute(
        "select coalesce(sum(count), 0) from audit where verb = :verb and at > :since",
        {"verb": EXPIRE, "since": since},
    ).fetchone()[0]


def secret(connection: Connection) -> bytes:
    """Read the file's own key for confirmation handles."""
    return bytes.fromhex(connection.execute("select value from setting where name = 'secret'").fetchone()[0])


def changes(connection: Connection) -> int:
    """Read a number that moves when another connection, ours or not, commits to the file; for the reader."""
    return connection.execute("pragma data_version").fetchone()[0]


def stats(connection: Connection, path: Path) -> Stats:
    """Count what is there."""
    totals = connection.execute(
        f"""
        select (select memories from corpus) as memories, min(oldest) as oldest, max(newest) as newest,
               (select count(*) from memory where embedded_by is null and not exists (
                   select 1 from setting where name = 'model' and value = '{NO_MODEL}')) as awaiting,
               (select count(*) from vec_bits where model = {ACTIVE}) as sentences,
               (select count(*) from ({PENDING})) as pending,
               (select name from embedding_model
                 where number = {ACTIVE}) as model
        from (select (select min(created_at) from memory where namespace = number) as oldest,
                     (select max(created_at) from memory where namespace = number) as newest from namespace)
        """
    ).fetchone()
    counted = _counts(connection, "select kind || '/' || state, count(*) from memory group by 1")
    return Stats(
        path=str(path),
        schema_version=version(connection),
        memories=totals["memories"],
        by_kind=_summed(counted, 0),
        by_state=_summed(counted, 1),
        by_namespace=_counts(
            connection,
            "select n.name, count(*) from memory m join namespace n on n.number = m.namespace group by n.number",
        ),
        sentences=totals["sentences"],
        awaiting_vectors=totals["awaiting"],
        pending_sessions=totals["pending"],
        bytes_on_disk=sum(part.stat().st_size for part in parts(path) if part.exists()),
        model=totals["model"] or "",
        oldest=from_ms_or_none(totals["oldest"]),
        newest=from_ms_or_none(totals["newest"]),
    )


def check(connection: Connection, *, words_are_sound: bool) -> Check:
    """Compare indexes with rows and ask SQLite about the file; on a big file that takes long, so not on the writer."""
    lines = [line for (line,) in connection.execute("pragma integrity_check(20)").fetchall()]
    strays = connection.execute("pragma foreign_key_check").fetchall()
    found = [(connection.execute(sql).fetchone()[0], sentence) for sentence, sql in PROBLEMS]
    problems = [f"{count} {sentence}." for count, sentence in found if count]
    if not words_are_sound:
        problems.append("The words' index is damaged.")
    if strays:
        problems.append(f"{len(strays)} rows point to rows that do not exist.")
    if lines != ["ok"]:
        problems.append("SQLite reports damage: keep a copy of the file and restore a backup.")
    counts = _counts(
        connection,
        """
        select 'memories', count(*) from memory union all select 'indexed', count(*) from fulltext_docsize union all
        select 'sentences', count(*) from vec_bits union all select 'vectors', count(*) from vec_full union all
        select 'awaiting vectors', count(*) from memory where embedded_by is null
        """,
    )
    return Check("; ".join(lines), counts, tuple(problems))


def words_are_sound(connection: Connection) -> bool:
    """Let the words' index check itself; FTS5 takes that for a write."""
    try:
        connection.execute("insert into fulltext (fulltext) values ('integrity-check')")
    except Error as error:
        if getattr(error, "sqlite_errorname", "").startswith("SQLITE_CORRUPT"):
            return False
        raise
    return True


def _summed(counted: Mapping[str, int], part: int) -> dict[str, int]:
    """Add up by one part of names such as `fact/active`."""
    sums: Counter[str] = Counter()
    for name, count in counted.items():
        sums[name.split("/")[part]] += count
    return dict(sorted(sums.items()))


def _counts(connection: Connection, sql: str) -> dict[str, int]:
    return dict(connection.execute(sql).fetchall())
