from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from drafts import NOW, draft, episode, healthy, turn
from files import FIRST

from memory_mcp.errors import StoreUnavailable
from memory_mcp.models import Action, Kind
from memory_mcp.storage import SqliteStore, driver, open_store_in_haste
from memory_mcp.storage.database import open_database
from memory_mcp.storage.values import Captured, CaptureResult, Coordinates, Draft, Reading, ToolUse

pytestmark = pytest.mark.anyio


def said(content: str, message_id: str, **fields) -> Draft:
    found = turn(content, **fields)
    return replace(found, vectors=None, coordinates=Coordinates("claude-code", "s1", message_id, "user"))


def captured(*turns: Draft, **fields) -> Captured:
    return Captured("claude-code", "s1", "user", turns, **fields)


def used(call_id: str, tool: str, after: float = 0, *, ok: bool = True, duration: float | None = 0.5) -> ToolUse:
    return ToolUse(call_id, Action(tool, ok, "digest", duration), NOW + timedelta(seconds=after))


async def test_new_turns_are_written_and_known_ones_stay_as_they_are(store: SqliteStore):
    first = said("one", "m1")
    assert await store.capture(captured(first), door="hook") == CaptureResult(1)
    before = await store.turns("s1", "")
    again = replace(said("one, told otherwise", "m1", importance=0.9, tags=("late",)))
    assert await store.capture(captured(again, said("two", "m2")), door="hook") == CaptureResult(1, known=1)
    assert (await store.turns("s1", ""))[:1] == before
    assert [one.content for one in await store.turns("s1", "")] == ["one", "two"]
    assert await healthy(store)


async def test_the_same_words_in_two_messages_are_two_turns(store: SqliteStore):
    assert await store.capture(captured(said("yes", "m1"), said("yes", "m2")), door="hook") == CaptureResult(2)
    assert [one.sequence for one in await store.turns("s1", "")] == [1, 2]


async def test_a_turn_that_was_forgotten_is_passed_over_and_counted(store: SqliteStore):
    """B40: coordinates stay behind, no text."""
    await store.capture(captured(said("one", "m1"), said("two", "m2")), door="hook")
    [first, _] = await store.turns("s1", "")
    await store.forget([first.id], now=NOW, door="cli")
    assert await store.capture(captured(said("one", "m1"), said("two", "m2")), door="hook") == CaptureResult(
        0, known=1, forgotten=1
    )


async def test_how_far_a_record_was_read_is_kept_by_host_and_session(store: SqliteStore):
    assert await store.reading("claude-code", "s1") is None
    await store.capture(captured(reading=Reading(10, b"mark")), door="hook")
    await store.capture(captured(said("one", "m1"), reading=Reading(20, b"later")), door="hook")
    assert await store.reading("claude-code", "s1") == Reading(20, b"later")
    assert await store.reading("gemini", "s1") is None


async def test_the_place_in_a_record_does_not_move_when_the_turns_are_not_written(store: SqliteStore):
    await store.capture(captured(said("one", "m1"), reading=Reading(10, b"mark")), door="hook")
    bad = captured(said("two", "m2"), said("bad", "m3", importance=7.0), reading=Reading(20, b"later"))
    with pytest.raises(StoreUnavailable, match="Nothing was saved"):
        await store.capture(bad, door="hook")
    assert await store.reading("claude-code", "s1") == Reading(10, b"mark")
    assert [one.content for one in await store.turns("s1", "")] == ["one"]


async def test_turns_that_come_after_its_end_open_a_session_again(store: SqliteStore):
    await store.capture(captured(said("one", "m1"), ended_at=NOW), door="hook")
    assert [one.ended_at for one in await store.pending_sessions((), 9)] == [NOW]
    await store.capture(captured(said("two", "m2")), door="hook")
    assert [one.ended_at for one in await store.pending_sessions((), 9)] == [None]


async def test_the_end_of_a_session_of_which_nothing_is_kept_makes_no_session(store: SqliteStore):
    await store.capture(captured(ended_at=NOW), door="hook")
    assert await store.pending_sessions((), 9) == []


async def test_uses_of_tools_become_the_actions_of_an_episode_that_has_none_of_its_own(store: SqliteStore):
    await store.capture(
        captured(uses=(used("b", "Bash", 2, ok=False), used("a", "Read", 1, duration=None))), door="hook"
    )
    await store.capture(captured(uses=(used("a", "told twice"),)), door="hook")
    kept, _ = await store.write_episode(episode("They read."), None, [], door="cli")
    assert kept.actions == (Action("Read", True, "digest"), Action("Bash", False, "digest", 0.5))
    own = replace(episode("They read twice."), actions=(Action("Own", True),))
    kept, _ = await store.write_episode(own, None, [], door="cli")
    assert kept.actions == own.actions


async def test_of_very_many_uses_the_newest_two_hundred_are_listed(store: SqliteStore):
    await store.capture(captured(uses=tuple(used(f"c{n}", f"tool {n}", n) for n in range(250))), door="hook")
    kept, _ = await store.write_episode(episode("Much was done."), None, [], door="cli")
    assert [one.tool for one in kept.actions] == [f"tool {n}" for n in range(50, 250)]


async def test_captured_turns_are_left_to_a_server_to_be_embedded(store: SqliteStore):
    await store.capture(captured(said("one", "m1")), door="hook")
    assert [one.content for one in await store.unembedded(9)] == ["one"]


# ---- a file that is opened while a host waits ------------------------------------------------------------------------


async def test_a_file_opened_in_haste_takes_turns_beside_a_server(store: SqliteStore, path: Path):
    await store.write([draft("a fact", kind=Kind.FACT)], door="mcp")
    hasty = await open_store_in_haste(path, now=lambda: NOW)
    assert await hasty.capture(captured(said("one", "m1")), door="hook") == CaptureResult(1)
    await hasty.close()
    assert [one.content for one in await store.turns("s1", "")] == ["one"]
    assert await healthy(store)


async def test_a_file_opened_in_haste_is_made_if_it_is_not_there(path: Path):
    hasty = await open_store_in_haste(path, now=lambda: NOW)
    await hasty.capture(captured(said("one", "m1")), door="hook")
    assert [one.content for one in await hasty.turns("s1", "")] == ["one"]
    await hasty.close()


async def test_a_file_of_an_earlier_version_is_left_to_somebody_who_has_the_time(path: Path):
    await (await open_database(path, migrations=FIRST)).close()
    with pytest.raises(StoreUnavailable, match="not yet of this version"):
        await open_store_in_haste(path, now=lambda: NOW)
    visitor = driver.connect(path)
    assert visitor.execute("pragma user_version").fetchone()[0] == 1
    visitor.close()
