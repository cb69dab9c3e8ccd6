"""How episodes are written and read: one summary of one session, with what was distilled from it."""

import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

from memory_mcp.errors import Conflict
from memory_mcp.models import OWN_WORDS, Action, Episode, Filter, Memory, ModelIdentity, Outcome
from memory_mcp.storage.audit import FORGET, SUMMARIZE, Act, record
from memory_mcp.storage.driver import Connection, Row
from memory_mcp.storage.erasure import Erased, erase
from memory_mcp.storage.filters import clause, to_ms
from memory_mcp.storage.memories import add_tags, ids_of, insert, link, may_change, retire, rows_of, touch, write_all
from memory_mcp.storage.records import LOG, from_ms, select_memories
from memory_mcp.storage.sessions import find_session, namespace_number, session_number
from memory_mcp.storage.twins import as_told
from memory_mcp.storage.values import Draft, Vectors, Written
from memory_mcp.storage.words import add_words, remove_words
from memory_mcp.tokens import digest

MAX_USED = 200
"""Uses of tools that an episode of a captured session lists."""

EPISODES = """
    select e.*, m.id, (
        select json_group_array(fact.id) from link l join memory fact on fact.row = l.newer
        where l.older = e.memory and l.relation = 'key_fact_of'
    ) as key_facts
    from episode e join memory m on m.row = e.memory
"""


@dataclass(frozen=True)
class Told:
    """A session as it is written: an episode with its vectors, the turns it adds, the facts distilled from it."""

    episode: Episode
    vectors: Vectors | None
    turns: Sequence[Draft]
    facts: Sequence[Draft]
    model: ModelIdentity | None = None


@dataclass(frozen=True)
class Kept:
    """What became of a session: its episode, its facts, and the erasure of a summary that had lost a source."""

    episode: Episode
    facts: list[Written]
    erased: Erased | None


def write_episode(connection: Connection, told: Told, act: Act) -> Kept:
    """Write a session's new turns, its summary and its facts; the same summary again is the same episode."""
    episode, memory = told.episode, told.episode.memory
    namespace = namespace_number(connection, memory.namespace)
    session = session_number(connection, namespace, memory.session_id, to_ms(episode.started_at))
    assert session is not None, "an episode is about a session"
    if write_all(connection, told.turns, act.now):
        episode = replace(episode, covered_through=_last_turn(connection, session))
    outdated = _outdated(connection, session)
    row = _same_text(connection, session, memory)
    _refuse_as_before(row, outdated, episode)
    if row:
        _take_over(connection, session, row, episode, act.now)
    else:
        row = _insert(connection, session, episode, Draft(memory, told.vectors, model=told.model), act.now)
    _cover(connection, session, row, episode)
    connection.execute("delete from attempt where session = :session", {"session": session})
    written = write_all(connection, told.facts, act.now)
    for fact in rows_of(connection, [one.id for one in written]):
        link(connection, fact, [row], "key_fact_of")
    ids = ids_of(connection, [row])
    record(connection, SUMMARIZE, [*ids, *(one.id for one in written)], act)
    erased = _erase_outdated(connection, outdated - {row}, act)
    stands = read_episode(connection, ids[0])
    assert stands is not None, "it was written a moment ago"
    return Kept(stands, written, erased)


def settle(connection: Connection, session_id: str, namespace: str, act: Act) -> Erased | None:
    """Count the turns of a session as summarized: there is nothing in them to summarize.

    A summary that lost a source is erased: none will take its place.
    """
    session = find_session(connection, namespace_number(connection, namespace), session_id)
    if session is None:
        return None
    outdated = _outdated(connection, session)
    connection.execute(
        "update session set summarized_through = turns, stale = 0 where number = :session", {"session": session}
    )
    return _erase_outdated(connection, outdated, act)


def read_episode(connection: Connection, memory_id: str) -> Episode | None:
    """Read one episode; None when there is none, or when its row is damaged."""
    found = connection.execute(EPISODES + " where m.id = :id", {"id": memory_id}).fetchall()
    return next(iter(_decode(connection, found)), None)


def newest_episodes(connection: Connection, where: Filter, limit: int) -> list[Episode]:
    """Read the newest episodes that the filter lets through."""
    condition, values = clause(where)
    found = connection.execute(
        f"""
        {EPISODES} where m.row in (select memory from episode) and {condition}
        order by m.created_at desc, m.row desc limit :limit
        """,
        values | {"limit": limit},
    ).fetchall()
    return _decode(connection, found)


def turns(connection: Connection, session_id: str, namespace: str, limit: int) -> list[Memory]:
    """Read the kept turns of a session in order; of every namespace when none is named."""
    return select_memories(
        connection,
        """
        where m.session in (select number from session where id = :session)
          and (:namespace = '' or n.name = :namespace) and m.kind = 'turn' and m.state = 'active'
        order by m.namespace, m.sequence limit :limit
        """,
        {"session": session_id, "namespace": namespace, "limit": limit},
    )


def _last_turn(connection: Connection, session: int) -> int:
    return connection.execute("select turns from session where number = :session", {"session": session}).fetchone()[0]


def _outdated(connection: Connection, session: int) -> set[int]:
    """Find the standing summaries of a session that lost a source: once replaced, they must not stay as history."""
    found = connection.execute(
        """
        select m.row from memory m join session s on s.number = m.session
        where s.number = :session and s.stale and m.kind = 'episode' and m.state <> 'superseded'
        """,
        {"session": session},
    ).fetchall()
    return {row for (row,) in found}


def _erase_outdated(connection: Connection, outdated: Collection[int], act: Act) -> Erased | None:
    lost = ids_of(connection, sorted(outdated))
    connection.executemany(  # as history, which it is: it must not bar what it told of from the summaries to come
        "update memory set state = 'superseded' where row = :row", [{"row": row} for row in outdated]
    )
    return erase(connection, lost, act, cascade=False, verb=FORGET) if lost else None


def _refuse_as_before(row: int | None, outdated: Collection[int], episode: Episode) -> None:
    """Refuse the same words again for a summary that lost a source; an engine's were made of what is left."""
    if row in outdated and episode.engine == OWN_WORDS:
        raise Conflict(
            "Nothing was saved: this summary was made of something that was forgotten since. Word it anew, without it."
        )


def _same_text(connection: Connection, session: int, memory: Memory) -> int | None:
    found = connection.execute(
        """
        select row from memory
        where session = :session and kind = 'episode' and state = 'active' and digest = :digest
        """,
        {"session": session, "digest": digest(memory.content)},
    ).fetchone()
    return found[0] if found else None


def _take_over(connection: Connection, session: int, row: int, episode: Episode, now: int) -> None:
    """Let a summary that is told again know what is said of it now; actions only if it had none."""
    touch(connection, row, now)
    if not may_change(connection, row, episode.memory):
        return
    remove_words(connection, row)
    add_tags(connection, row, episode.memory.tags)
    add_words(connection, row)
    connection.execute(
        "update memory set flagged = max(flagged, :flagged) where row = :row",
        {"flagged": int(episode.memory.flagged), "row": row},
    )
    connection.execute(
        """
        update episode set outcome = coalesce(:outcome, outcome),
               trigger = case when :trigger <> '' then :trigger else trigger end
        where memory = :row
        """,
        {"outcome": episode.outcome, "trigger": episode.trigger, "row": row},
    )
    if not actions_of(connection, row):
        add_actions(connection, row, episode.actions or _used(connection, session))


def _insert(connection: Connection, session: int, episode: Episode, draft: Draft, now: int) -> int:
    """Write a new summary; an earlier one of the session becomes history."""
    earlier = connection.execute(
        "select row from memory where session = :session and kind = 'episode' and state = 'active'",
        {"session": session},
    ).fetchall()
    older = [row for (row,) in earlier]
    retire(connection, older, episode.memory, now)
    row = insert(connection, replace(draft, memory=as_told(connection, draft.memory)), now)
    link(connection, row, older, "supersedes")
    _add_episode(connection, session, row, episode)
    add_actions(connection, row, episode.actions or _used(connection, session))
    return row


def _add_episode(connection: Connection, session: int, row: int, episode: Episode) -> None:
    connection.execute(
        """
        insert into episode (memory, session, version, covered_through, started_at, ended_at, trigger, outcome,
                             lessons, engine)
        values (:row, :session, (select coalesce(max(version), 0) + 1 from episode where session = :session),
                :covered_through, :started_at, :ended_at, :trigger, :outcome, :lessons, :engine)
        """,
        {
            "row": row,
            "session": session,
            "covered_through": episode.covered_through,
            "started_at": to_ms(episode.started_at),
            "ended_at": to_ms(episode.ended_at),
            "trigger": episode.trigger,
            "outcome": episode.outcome,
            "lessons": json.dumps(episode.lessons, ensure_ascii=False),
            "engine": episode.engine,
        },
    )


def add_actions(connection: Connection, row: int, actions: Sequence[Action]) -> None:
    """List uses of tools in an episode that has none."""
    connection.executemany(
        "insert into action values (:episode, :position, :tool, :input_digest, :ok, :duration_ms)",
        [_action(row, position, action) for position, action in enumerate(actions)],
    )


def _used(connection: Connection, session: int) -> list[Action]:
    """Read the tools that a captured session used, in their order; the newest, if there are many."""
    found = connection.execute(
        """
        select tool, ok, input_digest, duration_ms from (
            select * from tool_use where session = :session order by at desc, call_id desc limit :limit)
        order by at, call_id
        """,
        {"session": session, "limit": MAX_USED},
    ).fetchall()
    return [as_action(row) for row in found]


def as_action(row: Row) -> Action:
    """Make the use of a tool that a row tells of."""
    return Action(row["tool"], bool(row["ok"]), row["input_digest"], row["duration_ms"] and row["duration_ms"] / 1000)


def _action(episode: int, position: int, action: Action) -> dict[str, Any]:
    duration = None if action.duration is None else round(action.duration * 1000)
    own = {"tool": action.tool, "input_digest": action.input_digest, "ok": int(action.ok)}
    return own | {"episode": episode, "position": position, "duration_ms": duration}


def _cover(connection: Connection, session: int, row: int, episode: Episode) -> None:
    """Count the turns of a session as summarized, also when the same summary covers more of them now."""
    values = {"covered": episode.covered_through, "ended_at": to_ms(episode.ended_at), "session": session, "row": row}
    connection.execute(
        "update episode set covered_through = max(covered_through, :covered) where memory = :row", values
    )
    connection.execute(
        """
        update session set summarized_through = max(summarized_through, :covered), stale = 0,
               last_at = max(last_at, :ended_at)
        where number = :session
        """,
        values,
    )


def _decode(connection: Connection, records: Sequence[Row]) -> list[Episode]:
    """Turn rows into episodes; a damaged one is left out and logged by its id."""
    memories = select_memories(
        connection,
        " where m.row in (select value from json_each(:rows))",
        {"rows": json.dumps([row["memory"] for row in records])},
    )
    by_id = {memory.id: memory for memory in memories}
    episodes: list[Episode] = []
    for row in records:
        try:
            if row["id"] in by_id:
                episode = _episode(row, by_id[row["id"]])
                episodes.append(replace(episode, actions=actions_of(connection, row["memory"])))
        except (ValueError, TypeError, OverflowError):
            LOG.warning("episode %s is damaged and was left out", row["id"])
    return episodes


def _episode(row: Row, memory: Memory) -> Episode:
    return Episode(
        memory=memory,
        started_at=from_ms(row["started_at"]),
        ended_at=from_ms(row["ended_at"]),
        trigger=row["trigger"],
        outcome=Outcome(row["outcome"]) if row["outcome"] else None,
        lessons=tuple(json.loads(row["lessons"])),
        key_facts=tuple(json.loads(row["key_facts"])),
        engine=row["engine"],
        version=row["version"],
        covered_through=row["covered_through"],
    )


def actions_of(connection: Connection, episode: int) -> tuple[Action, ...]:
    """Read what tools an episode lists, in their order."""
    found = connection.execute(
        "select tool, ok, input_digest, duration_ms from action where episode = :episode order by position",
        {"episode": episode},
    ).fetchall()
    return tuple(map(as_action, found))
