"""How a memory of an export is written: in order with what it meets, and with all that hangs on it."""

import json
from collections.abc import Collection
from dataclasses import asdict, replace

from memory_mcp.errors import Conflict
from memory_mcp.models import Kind, Memory, State, Trust
from memory_mcp.storage import slots
from memory_mcp.storage.carried import CarriedEpisode, CarriedMemory
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.episodes import add_actions
from memory_mcp.storage.filters import to_ms
from memory_mcp.storage.memories import insert, known_rows, link, retire
from memory_mcp.storage.porting import FIELDS
from memory_mcp.storage.recognising import at_place
from memory_mcp.storage.records import from_ms
from memory_mcp.storage.values import Draft


def settle(connection: Connection, one: CarriedMemory, before: int, now: int) -> bool:
    """Write a memory; False if the file has it already, as the past of the one that holds its key.

    It collides only with what stood there `before` the import began, by rows. Raises `Conflict`.
    """
    row = _insert(connection, one, before, now)
    if row is None:
        return False
    _add_parts(connection, row, one)
    _relate(connection, row, one, before)
    return True


def _insert(connection: Connection, one: CarriedMemory, before: int, now: int) -> int | None:
    """Write a memory's row, in the right order with the one that holds its key or sums up its session.

    None: the file has it already, as the past of that one. Raises `Conflict`.
    """
    memory = replace(one.memory, derived_from=())
    if memory.kind is Kind.TURN and at_place(connection, memory):
        memory = replace(memory, sequence=None)  # another turn stands there: this one comes after the last
    holder = slots.holder_of(connection, memory) or _summary_of(connection, memory, before)
    changed_at = to_ms(memory.updated_at)
    if holder is None:
        return insert(connection, Draft(memory, coordinates=one.message), changed_at)
    if memory.created_at < holder.learned:
        if slots.told_before(connection, memory, holder):
            return None
        row = insert(connection, Draft(slots.as_past(memory, holder), coordinates=one.message), changed_at)
        link(connection, holder.row, [row], "supersedes")
        return row
    _require_no_less_trust(connection, memory, holder)
    retire(connection, [holder.row], memory, now)
    row = insert(connection, Draft(memory, coordinates=one.message), changed_at)
    link(connection, row, [holder.row], "supersedes")
    return row


def _summary_of(connection: Connection, memory: Memory, before: int) -> slots.Holder | None:
    """Find the summary that stands for the session of an episode."""
    if memory.kind is not Kind.EPISODE or memory.state is not State.ACTIVE:
        return None
    found = connection.execute(
        """
        select m.row, m.created_at from memory m
        join session s on s.number = m.session join namespace n on n.number = s.namespace
        where n.name = :namespace and s.id = :session_id and m.kind = 'episode' and m.state = 'active'
          and m.row <= :before
        order by m.created_at desc limit 1
        """,
        {"namespace": memory.namespace, "session_id": memory.session_id, "before": before},
    ).fetchone()
    return slots.Holder(found[0], from_ms(found[1]), from_ms(found[1])) if found else None


def _require_no_less_trust(connection: Connection, memory: Memory, holder: slots.Holder) -> None:
    held = connection.execute("select id, trust from memory where row = :row", {"row": holder.row}).fetchone()
    if memory.trust is Trust.UNTRUSTED and held["trust"] == Trust.TRUSTED:
        raise Conflict(f"memory {held['id']}, which stands in its place, is trusted, and it is not")


def _add_parts(connection: Connection, row: int, one: CarriedMemory) -> None:
    memory = one.memory
    if memory.access_count or memory.last_accessed_at or memory.useful or memory.useless:
        connection.execute(
            "insert into usage values (:row, :access_count, :last_accessed_at, :useful, :useless)",
            {
                "row": row,
                "access_count": memory.access_count,
                "last_accessed_at": memory.last_accessed_at and to_ms(memory.last_accessed_at),
                "useful": memory.useful,
                "useless": memory.useless,
            },
        )
    if one.document:
        connection.execute(
            "insert into document values (:row, :origin, :version, :position)", asdict(one.document) | {"row": row}
        )
    if one.episode:
        _add_episode(connection, row, one.episode)


def _add_episode(connection: Connection, row: int, episode: CarriedEpisode) -> None:
    """Write what an episode knows; where another summary of its session has its number, it takes the next."""
    connection.execute(
        """
        insert into episode (memory, session, version, covered_through, started_at, ended_at, trigger, outcome,
                             lessons, engine)
        select row, session,
               case when exists (select 1 from episode e where (e.session, e.version) = (memory.session, :version))
                    then (select max(version) + 1 from episode e where e.session = memory.session) else :version end,
               :covered_through, :started_at, :ended_at, :trigger, :outcome, :lessons, :engine
        from memory where row = :row
        """,
        {
            "row": row,
            "version": episode.version,
            "covered_through": episode.covered_through,
            "started_at": to_ms(episode.started_at),
            "ended_at": to_ms(episode.ended_at),
            "trigger": episode.trigger,
            "outcome": episode.outcome,
            "lessons": json.dumps(episode.lessons, ensure_ascii=False),
            "engine": episode.engine,
        },
    )
    add_actions(connection, row, episode.actions)


def _relate(connection: Connection, row: int, one: CarriedMemory, before: int) -> None:
    """Write the relations of a memory to those that are here by now; the others find it when they come."""
    for relation, (own, others) in FIELDS.items():
        older = set(known_rows(connection, getattr(one.links, own)).values()) - {row}
        if relation == "supersedes" and one.memory.trust is Trust.UNTRUSTED:
            older -= _trusted_before(connection, older, before)
        link(connection, row, older, relation)
        newer = set(known_rows(connection, getattr(one.links, others)).values()) - {row}
        if relation == "supersedes" and one.memory.trust is Trust.UNTRUSTED:
            newer -= _trusted_before(connection, newer, before)
        for other in sorted(newer):
            link(connection, other, [row], relation)


def _trusted_before(connection: Connection, rows: Collection[int], before: int) -> set[int]:
    """Find what an untrusted text must not claim to replace: to forget it would take these along."""
    found = connection.execute(
        """
        select row from memory
        where trust = 'trusted' and row <= :before and row in (select value from json_each(:rows))
        """,
        {"before": before, "rows": json.dumps(sorted(rows))},
    ).fetchall()
    return {row for (row,) in found}
