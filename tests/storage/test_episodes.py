from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from drafts import NOW, draft, episode, found_by, healthy, turn, vectors

from memory_mcp.models import Action, Filter, Outcome, PendingSession, Source, State, Trust
from memory_mcp.storage import SqliteStore, driver

pytestmark = pytest.mark.anyio


async def test_an_episode_is_read_as_it_was_written(store: SqliteStore):
    told = replace(
        episode("We moved the database.", lessons=("back up first", "東京")),
        started_at=NOW - timedelta(hours=1),
        trigger="end of session",
        outcome=Outcome.PARTIAL,
        actions=(Action("bash", True, "d1", 1.5), Action("edit", False)),
        engine="extractive",
    )
    written, facts = await store.write_episode(
        told, vectors(1), [draft("The database is on host B")], turns=[turn("move it"), turn("done")], door="mcp"
    )
    assert written == replace(told, key_facts=(facts[0].id,), covered_through=2)
    assert await store.episode(told.memory.id) == written
    assert await store.episodes(Filter(), 10) == [written]
    assert await store.episode(facts[0].id) is None


async def test_the_same_summary_again_is_the_same_episode(store: SqliteStore):
    facts = [draft("a fact")]
    first, _ = await store.write_episode(episode("Summary."), vectors(1), facts, door="mcp")
    second, again = await store.write_episode(
        episode("Summary."), vectors(1), [draft("a fact"), draft("another")], turns=[turn("hello")], door="mcp"
    )
    assert (second.memory.id, second.version) == (first.memory.id, 1)
    assert [one.duplicate for one in again] == [True, False]
    assert second.key_facts == tuple(one.id for one in again)
    assert second.covered_through == 1
    assert await store.pending_sessions([], 10) == []


async def test_what_is_newly_said_of_the_same_summary_is_taken_over(store: SqliteStore):
    first, _ = await store.write_episode(episode("Summary."), None, [], door="mcp")
    actions = (Action("bash", True, "d1", 1.5),)
    again = episode("Summary.")
    again = replace(again, memory=replace(again.memory, tags=("harbour",)))
    told = replace(again, outcome=Outcome.FAILURE, trigger="end of session", actions=actions)
    second, _ = await store.write_episode(told, None, [], door="mcp")
    assert second.memory.id == first.memory.id
    assert (second.outcome, second.trigger, second.actions) == (Outcome.FAILURE, "end of session", actions)
    assert second.memory.tags == ("harbour",)
    assert await found_by(store, "harbour") == [first.memory.id]
    third, _ = await store.write_episode(
        replace(episode("Summary."), actions=(Action("edit", False),)), None, [], door="mcp"
    )
    assert third == second
    assert await healthy(store)


async def test_an_untrusted_telling_of_the_same_summary_changes_nothing_about_it(store: SqliteStore):
    first, _ = await store.write_episode(episode("Summary."), None, [], door="mcp")
    again = episode("Summary.")
    outside = replace(again.memory, tags=("new",), source=Source.TOOL, trust=Trust.UNTRUSTED)
    told = replace(again, memory=outside, outcome=Outcome.FAILURE, trigger="a page", actions=(Action("bash", True),))
    assert (await store.write_episode(told, None, [], door="mcp"))[0] == first


async def test_another_summary_of_the_session_replaces_the_earlier_one(store: SqliteStore):
    first, _ = await store.write_episode(episode("Early summary."), vectors(1), [], door="mcp")
    second, _ = await store.write_episode(episode("Later summary."), vectors(2), [], door="mcp")
    assert second.version == 2
    assert [one.memory.id for one in await store.episodes(Filter(), 10)] == [second.memory.id]
    [early] = await store.get([first.memory.id])
    assert (early.state, early.superseded_by) == (State.SUPERSEDED, second.memory.id)


async def test_sessions_with_turns_that_no_summary_covers_are_pending(store: SqliteStore):
    at = NOW + timedelta(hours=2)
    await store.write([turn("a"), turn("b"), turn("c", session_id="s2", created_at=at)], door="hook")
    assert await store.pending_sessions(["user"], 10) == [
        PendingSession("s2", "user", 1, at),
        PendingSession("s1", "user", 2, NOW),
    ]
    assert await store.pending_sessions(["project"], 10) == []
    assert (await store.stats()).pending_sessions == 2
    await store.write_episode(episode("Summary.", covered_through=2), None, [], door="mcp")
    assert [one.session_id for one in await store.pending_sessions([], 10)] == ["s2"]
    await store.write([turn("d")], door="hook")
    assert [one.turns for one in await store.pending_sessions([], 1)] == [1]


async def test_sessions_that_are_pending_are_counted_as_they_are_listed(store: SqliteStore):
    [only] = await store.write([turn("a")], door="hook")
    await store.write([draft("keeps the session", session_id="s1")], door="hook")
    await store.archive([only.id], now=NOW, door="cli")
    assert await store.pending_sessions([], 10) == []
    assert (await store.stats()).pending_sessions == 0


async def test_the_newest_episodes_come_first_and_filters_hold(store: SqliteStore):
    for number in range(3):
        told = episode(f"Summary {number}.", session_id=f"s{number}")
        later = replace(told.memory, created_at=NOW + timedelta(days=number))
        outcome = Outcome.SUCCESS if number else Outcome.FAILURE
        await store.write_episode(replace(told, memory=later, outcome=outcome), None, [], door="mcp")
    assert [one.memory.content for one in await store.episodes(Filter(), 2)] == ["Summary 2.", "Summary 1."]
    assert [one.memory.content for one in await store.episodes(Filter(outcome=Outcome.FAILURE), 9)] == ["Summary 0."]


async def test_a_key_fact_that_replaces_something_says_so(store: SqliteStore):
    [old] = await store.write([draft("lives in Rome", key="home")], door="mcp")
    _, [fact] = await store.write_episode(episode("Moved."), None, [draft("lives in Oslo", key="home")], door="mcp")
    assert fact.superseded == (old.id,)


async def test_a_damaged_episode_is_left_out_and_never_stops_the_others(store: SqliteStore, path: Path):
    """B09: broken JSON in one row."""
    bad, _ = await store.write_episode(episode("Bad."), None, [], door="mcp")
    good, _ = await store.write_episode(episode("Good.", session_id="s2"), None, [], door="mcp")
    other = driver.connect(path)
    other.execute("update episode set lessons = '[\"half' where session = 1")
    other.close()
    assert await store.episodes(Filter(), 10) == [good]
    assert await store.episode(bad.memory.id) is None
