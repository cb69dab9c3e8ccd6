"""What goes when something is forgotten, and its removal from every table in one transaction."""

import json
import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from memory_mcp.errors import Conflict
from memory_mcp.storage.audit import EXPIRE, FORGET, REPLACE, Act, record
from memory_mcp.storage.blocking import block
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.listing import versions
from memory_mcp.storage.memories import ids_of, known_rows
from memory_mcp.storage.sessions import drop_unused_namespaces
from memory_mcp.storage.traces import Traces, traces_of
from memory_mcp.storage.words import remove_words, rewrite_last_words


@dataclass(frozen=True)
class Erased:
    """What was erased, the token under which the file remembers that it is not yet verified, what to look for.

    `origins` are the memories that what was erased had been learned from, and that still stand; `beside` the parts of
    documents that lay next to it under the same headings, and repeat a sentence of it perhaps; `files` those of which
    something went.
    """

    ids: tuple[str, ...]
    cascaded: tuple[str, ...]
    resummarize: tuple[str, ...]
    missing: tuple[str, ...]
    token: str
    traces: Traces
    origins: tuple[str, ...] = ()
    beside: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


Versions = Sequence[tuple[str, int]]
"""Ids with the instants, in milliseconds, at which they last changed."""


@dataclass(frozen=True)
class Asked:
    """What is to be forgotten, whether what hangs on it goes too, and what all of it was when that was confirmed."""

    ids: Sequence[str]
    cascade: bool
    expected: Versions | None = None


def forget(connection: Connection, ids: Sequence[str], act: Act, *, cascade: bool) -> Erased:
    """Erase what somebody asked for, or what is past its time (without `cascade`)."""
    return erase(connection, ids, act, cascade=cascade, verb=FORGET if cascade else EXPIRE)


def forget_first(connection: Connection, batch: Sequence[str], asked: Asked, act: Act) -> Erased:
    """Erase the first of what was asked for. Raises `Conflict` if all, with what goes along, is not as expected."""
    if asked.expected is not None:
        _require_as_confirmed(connection, asked.ids, asked.expected)
    return forget(connection, batch, act, cascade=asked.cascade)


def forget_next(connection: Connection, batch: Sequence[str], asked: Asked, act: Act) -> Erased:
    """Erase more of it. Raises `Conflict` if what still stands of these changed since."""
    expected = dict(asked.expected or ())
    changed = [name for name, version in versions(connection, batch) if expected.get(name, version) != version]
    if changed:
        raise Conflict(f"Memory {changed[0]} changed meanwhile.")
    return forget(connection, batch, act, cascade=asked.cascade)


def batches(connection: Connection, ids: Sequence[str], size: int) -> list[list[str]]:
    """Divide what is to be forgotten. Summaries come first: what is left of a session is then not marked for them."""
    if len(ids) <= size:
        return [[*ids]]
    found = connection.execute(
        "select id from memory where id in (select value from json_each(:ids)) and kind = 'episode'",
        {"ids": json.dumps(ids)},
    ).fetchall()
    summaries = {name for (name,) in found}
    order = sorted(dict.fromkeys(ids), key=lambda name: name not in summaries)
    return [order[start : start + size] for start in range(0, len(order), size)]


def joined(ids: Sequence[str], parts: Sequence[Erased]) -> Erased:
    """Put together what was erased of these ids, part by part."""
    if len(parts) == 1:
        return parts[0]
    gone = {name: None for part in parts for name in (*part.ids, *part.cascaded)}
    asked = set(ids)
    return Erased(
        ids=tuple(name for name in dict.fromkeys(ids) if name in gone),
        cascaded=tuple(name for name in gone if name not in asked),
        resummarize=tuple(sorted({session for part in parts for session in part.resummarize})),
        missing=tuple(dict.fromkeys(name for part in parts for name in part.missing if name not in gone)),
        token=next((part.token for part in reversed(parts) if part.token), ""),
        traces=Traces(
            tuple(text for part in parts for text in part.traces.texts),
            tuple(pair for part in parts for pair in part.traces.vectors),
        ),
        origins=tuple(dict.fromkeys(name for part in parts for name in part.origins if name not in gone)),
        files=tuple(dict.fromkeys(name for part in parts for name in part.files)),
    )


def erase(connection: Connection, ids: Sequence[str], act: Act, *, cascade: bool, verb: str) -> Erased:
    """Delete memories and what depends on them alone. Without `cascade` exactly these, as when their time is up."""
    asked = known_rows(connection, ids)
    gone = _with_dependents(connection, set(asked.values())) if cascade else set(asked.values())
    names = ids_of(connection, sorted(gone))
    token = remember(connection) if gone else ""
    erased = Erased(
        ids=tuple(memory_id for memory_id in ids if memory_id in asked),
        cascaded=tuple(name for name in names if name not in asked),
        resummarize=_mark_summaries(connection, gone) if cascade else (),
        missing=tuple(memory_id for memory_id in ids if memory_id not in asked),
        token=token,
        traces=traces_of(connection, gone),
        origins=_standing_origins(connection, gone) if cascade else (),
        beside=_parts_beside(connection, gone) if cascade else (),
        files=_files(connection, gone) if cascade else (),
    )
    if gone:
        if verb != REPLACE:
            block(connection, gone, act.now, asked=verb == FORGET)
        _hand_over_facts(connection, gone)
        _delete(connection, gone)
        rewrite_last_words(connection)
        record(connection, verb, names, act)
    return erased


def remember(connection: Connection) -> str:
    """Note that what this transaction erases is not verified yet; gives the token under which the file knows it."""
    token = secrets.token_hex(8)
    connection.execute("insert or replace into setting (name, value) values ('erasure', :token)", {"token": token})
    return token


def carried_along(connection: Connection, ids: Sequence[str]) -> tuple[str, ...]:
    """Name what a forget of these would take with it, oldest first."""
    asked = known_rows(connection, ids)
    gone = _with_dependents(connection, set(asked.values()))
    return tuple(name for name in ids_of(connection, sorted(gone)) if name not in asked)


def _require_as_confirmed(connection: Connection, ids: Sequence[str], expected: Versions) -> None:
    now = versions(connection, [*dict.fromkeys(ids), *carried_along(connection, ids)])
    if sorted(now) != sorted(expected):
        raise Conflict(
            "The memories changed since the preview. Nothing was forgotten. Ask without confirm for a new preview."
        )


def _with_dependents(connection: Connection, gone: set[int]) -> set[int]:
    """Add, until nothing more comes, the older versions of what goes and what has no evidence but what goes.

    Then the replaced summaries that told of it. The other key facts of those stay.
    """
    while more := (_older_versions(connection, gone) | _without_evidence(connection, gone)) - gone:
        gone = gone | more
    return gone | _summaries_that_told(connection, gone, "m.state = 'superseded'").keys()


def _older_versions(connection: Connection, gone: Collection[int]) -> set[int]:
    found = connection.execute(
        "select older from link where relation = 'supersedes' and newer in (select value from json_each(:gone))",
        {"gone": json.dumps(sorted(gone))},
    ).fetchall()
    return {row for (row,) in found}


def _without_evidence(connection: Connection, gone: Collection[int]) -> set[int]:
    """Find what was made from what goes and from nothing else.

    The evidence of a key fact are the turns that it was taken from, and only where nobody knows them the summary. A
    memory older than its origin was known before, and so has evidence of its own.
    """
    found = connection.execute(
        """
        with gone as (select value as row from json_each(:gone))
        select distinct l.newer from link l
        where l.relation in ('derived_from', 'key_fact_of') and l.older in gone and l.newer > l.older
          and not exists (
              select 1 from link other
              where other.newer = l.newer and other.older not in gone
                and (other.relation = 'derived_from' or other.relation = 'key_fact_of' and not exists (
                    select 1 from link turn where turn.newer = l.newer and turn.relation = 'derived_from')))
        """,
        {"gone": json.dumps(sorted(gone))},
    ).fetchall()
    return {row for (row,) in found}


def _summaries_that_told(connection: Connection, gone: Collection[int], condition: str) -> dict[int, int]:
    """Find the summaries that cover a turn that goes, or whose session loses a key fact; gives rows and sessions."""
    found = connection.execute(
        f"""
        with gone as (select value as row from json_each(:gone))
        select e.memory, e.session from episode e cross join memory m on m.row = e.memory
        where {condition} and e.memory not in gone and (
            exists (select 1 from memory t where t.session = e.session and t.row in gone
                      and t.kind = 'turn' and t.sequence <= e.covered_through)
            or e.session in (select told.session from gone
                      join link l on l.newer = gone.row and l.relation = 'key_fact_of'
                      join episode told on told.memory = l.older))
        """,
        {"gone": json.dumps(sorted(gone))},
    ).fetchall()
    return dict(found)


def _mark_summaries(connection: Connection, gone: Collection[int]) -> tuple[str, ...]:
    """Mark the sessions whose standing summary loses a turn or a key fact; returns their ids."""
    standing = _summaries_that_told(connection, gone, "m.state <> 'superseded'")
    found = connection.execute(
        "update session set stale = 1 where number in (select value from json_each(:sessions)) returning id",
        {"sessions": json.dumps(sorted(standing.values()))},
    ).fetchall()
    return tuple(sorted({session_id for (session_id,) in found}))


def _standing_origins(connection: Connection, gone: Collection[int]) -> tuple[str, ...]:
    found = connection.execute(
        """
        with gone as (select value as row from json_each(:gone))
        select distinct older.id from gone join link l on l.newer = gone.row and l.relation = 'derived_from'
        join memory older on older.row = l.older where older.row not in gone order by older.row
        """,
        {"gone": json.dumps(sorted(gone))},
    ).fetchall()
    return tuple(memory_id for (memory_id,) in found)


def _parts_beside(connection: Connection, gone: Collection[int]) -> tuple[str, ...]:
    found = connection.execute(
        """
        with gone as (select value as row from json_each(:gone))
        select distinct m.id from gone join document d on d.memory = gone.row join memory lost on lost.row = gone.row
        join document other on (other.origin, other.version) = (d.origin, d.version)
          and other.position in (d.position - 1, d.position + 1)
        join memory m on m.row = other.memory and m.title = lost.title
        where m.row not in gone order by m.row
        """,
        {"gone": json.dumps(sorted(gone))},
    ).fetchall()
    return tuple(memory_id for (memory_id,) in found)


def _files(connection: Connection, gone: Collection[int]) -> tuple[str, ...]:
    found = connection.execute(
        "select distinct origin from document where memory in (select value from json_each(:gone)) order by origin",
        {"gone": json.dumps(sorted(gone))},
    ).fetchall()
    return tuple(origin for (origin,) in found)


def _hand_over_facts(connection: Connection, gone: Collection[int]) -> None:
    """Let key facts that outlive their summary belong to the one that stands, so that it is done again after them."""
    connection.execute(
        """
        with gone as (select value as row from json_each(:gone))
        insert or ignore into link (newer, older, relation)
        select l.newer, stands.memory, l.relation
        from gone
        join episode lost on lost.memory = gone.row
        join link l on l.older = lost.memory and l.relation = 'key_fact_of'
        join episode stands on stands.session = lost.session
        join memory m on m.row = stands.memory and m.state = 'active'
        where l.newer not in gone and stands.memory not in gone
        """,
        {"gone": json.dumps(sorted(gone))},
    )


def _delete(connection: Connection, gone: Collection[int]) -> None:
    """Delete rows with everything that hangs on them, and the names to which nothing belongs any more."""
    for row in sorted(gone):
        remove_words(connection, row)
        connection.execute("delete from memory where row = :row", {"row": row})
    connection.execute(
        """
        delete from session where not exists (select 1 from memory where memory.session = session.number)
          and not exists (select 1 from episode where episode.session = session.number)
        """
    )
    drop_unused_namespaces(connection)
