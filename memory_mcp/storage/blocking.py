"""Which places were forgotten and do not come back by themselves: coordinates, neither text nor a digest of it."""

import json
import secrets
from collections.abc import Collection, Sequence
from datetime import datetime

from memory_mcp.models import FILE
from memory_mcp.storage.audit import Act, record
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.records import from_ms
from memory_mcp.storage.values import Block, Coordinates, Draft


def block(connection: Connection, gone: Collection[int], now: int, *, asked: bool) -> None:
    """Note where memories come from that are about to be erased. Without `asked`, their time was up.

    What a person had us forget is not imported again either, and nothing is concluded again from what it came from.
    """
    values = {"gone": json.dumps(sorted(gone)), "now": now, "asked": int(asked)}
    values |= {"file": FILE, "unknown": f"{secrets.token_hex(16)} "}
    for statement in (
        _MESSAGES,
        _MARKS,
        _VERSIONS,
        *((_FILES, _MEMORIES, _ORIGINS, _FACTS, _SUMMARIES, _COVERED) if asked else ()),
    ):
        connection.execute(statement, values)


ANYWHERE = "????????-????-????-????-????????????*"
"""A message id that is a UUID is the same message in whatever session: a fork takes its messages along."""

_BLOCK = "insert or ignore into blocked (what, host, namespace, session_id, message_id, memory_id, asked, forgotten_at)"
_GONE = "(select value from json_each(:gone))"

_MESSAGES = f"""
    {_BLOCK}
    select 'message', t.host, '', t.session_id, t.message_id, '', :asked, :now from turn t where t.memory in {_GONE}
    union all
    select 'message', '', n.name, s.id, m.sequence, '', :asked, :now
    from memory m join session s on s.number = m.session join namespace n on n.number = m.namespace
    where m.kind = 'turn' and m.row in {_GONE} and m.row not in (select memory from turn)
"""
"""A captured message by its host's names; a told one by its place in its session."""

_MEMORIES = f"{_BLOCK} select 'memory', '', '', '', '', id, 1, :now from memory where row in {_GONE}"

_ORIGINS = f"""
    {_BLOCK}
    select 'conclusion', '', '', '', '', older.id, 1, :now
    from link l join memory older on older.row = l.older
    where l.relation = 'derived_from' and l.newer in {_GONE} and l.older not in {_GONE}
"""

_FACTS = f"""
    {_BLOCK}
    select 'conclusion', '', n.name, s.id, '', '', 1, :now
    from link l join episode e on e.memory = l.older
    join session s on s.number = e.session join namespace n on n.number = s.namespace
    where l.relation = 'key_fact_of' and l.newer in {_GONE} and l.older not in {_GONE}
"""
"""A session whose summary stays and loses a fact."""

_SUMMARIES = f"""
    {_BLOCK}
    select 'conclusion', '', n.name, s.id, '', '', 1, :now
    from episode e join memory m on m.row = e.memory
    join session s on s.number = e.session join namespace n on n.number = s.namespace
    where m.state <> 'superseded' and m.row in {_GONE}
"""

_COVERED = f"""
    {_BLOCK}
    select 'conclusion', '', '', '', '', t.id, 1, :now
    from episode e join memory m on m.row = e.memory join memory t on t.session = e.session
    where m.state <> 'superseded' and m.row in {_GONE} and t.kind = 'turn' and t.sequence <= e.covered_through
      and t.row not in {_GONE}
"""
"""The turns that a forgotten summary told of."""


_MARKS = f"""
    update reading set mark = x''
    where (host, session_id) in (select host, session_id from turn where memory in {_GONE})
"""
"""The mark of how far a host's record was read is a digest of its last lines, perhaps of what goes."""


_FILES = f"""
    {_BLOCK}
    select 'message', :file, n.name, d.origin, '', '', 1, :now
    from document d join memory m on m.row = d.memory join namespace n on n.number = m.namespace
    where d.memory in {_GONE}
"""
"""A file of which something goes is not taken in again as it is: which part that was, no digest may tell."""

_VERSIONS = f"""
    update document set version = :unknown || (select namespace from memory where row = document.memory)
    where (origin, version) in (select origin, version from document where memory in {_GONE}) and memory not in {_GONE}
"""
"""The version of a file is a digest of all of it, what goes included: what stays of it is of an unknown one."""


def is_blocked(connection: Connection, draft: Draft) -> bool:
    """Whether a draft's id or its message was forgotten."""
    where = draft.coordinates or Coordinates("", "", "", "")
    return connection.execute(
        """
        select exists (select 1 from blocked where what = 'memory' and memory_id = :id)
            or exists (select 1 from blocked where what = 'message' and host <> '' and host = :host
                       and message_id = :message_id and (session_id = :session_id or message_id glob :anywhere))
        """,
        {"id": draft.memory.id, "anywhere": ANYWHERE} | vars(where),
    ).fetchone()[0]


def blocked_for_conclusions(connection: Connection, ids: Sequence[str]) -> set[str]:
    """Name those of these memories from which nothing is concluded by itself: what was, had to be forgotten."""
    found = connection.execute(
        "select memory_id from blocked where what = 'conclusion' and memory_id in (select value from json_each(:ids))",
        {"ids": json.dumps(ids)},
    ).fetchall()
    return {memory_id for (memory_id,) in found}


def forgotten_places(connection: Connection, session_id: str, namespace: str) -> dict[int, datetime]:
    """Give the places in a session of told turns that were forgotten, or whose time was up, and when."""
    found = connection.execute(
        """
        select cast(message_id as integer), forgotten_at from blocked
        where what = 'message' and host = '' and (session_id, namespace) = (:session_id, :namespace)
        """,
        {"session_id": session_id, "namespace": namespace},
    ).fetchall()
    return {place: from_ms(at) for place, at in found}


def was_forgotten_in(connection: Connection, session_id: str, namespace: str) -> bool:
    """Whether a person had us forget something of a session."""
    return connection.execute(
        """
        select exists (select 1 from blocked where asked and session_id = :session_id and namespace in ('', :namespace))
        """,
        {"session_id": session_id, "namespace": namespace},
    ).fetchone()[0]


def blocks(connection: Connection, limit: int, after: int) -> list[Block]:
    """List what a person had us forget, in its order, after a number."""
    found = connection.execute(
        "select * from blocked where number > :after order by number limit :limit",
        {"after": after, "limit": limit},
    ).fetchall()
    return [
        Block(
            number=row["number"],
            what=row["what"],
            host=row["host"],
            namespace=row["namespace"],
            session_id=row["session_id"],
            message_id=row["message_id"],
            memory_id=row["memory_id"],
            forgotten_at=from_ms(row["forgotten_at"]),
        )
        for row in found
    ]


def lift(connection: Connection, numbers: Sequence[int], act: Act) -> list[int]:
    """Lift blocks; returns the numbers of those that stood."""
    found = connection.execute(
        "delete from blocked where number in (select value from json_each(:numbers)) returning number",
        {"numbers": json.dumps(numbers)},
    ).fetchall()
    lifted = sorted(number for (number,) in found)
    record(connection, "lift", list(map(str, lifted)), act)
    return lifted
