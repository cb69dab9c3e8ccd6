"""What a new conversation is told unasked: what stands, what was done, what matters, what waits; within its budget."""

from datetime import UTC, datetime

import pytest

from memory_mcp.config import Settings
from memory_mcp.context import render_briefing
from memory_mcp.models import Conversation, Kind, Memory, Message, Outcome, Query, Selection, Source, Trust, new_id
from memory_mcp.service import MemoryService
from memory_mcp.storage.values import Draft
from memory_mcp.working import estimate
from tests.conftest import Clock
from tests.memories import contents, keep, memory_with

pytestmark = pytest.mark.anyio


async def test_the_briefing_tells_what_stands_then_recent_episodes_then_the_weightiest(
    by_words: MemoryService, clock: Clock
):
    for number in range(5):
        await by_words.summarize(Conversation(f"s{number}", summary=f"Session {number} planned the garden."))
        clock.turn(hours=1)
    await keep(by_words, "Minor", importance=0.1)
    await keep(by_words, "Major", importance=0.9)
    await keep(by_words, "Likes short answers", kind=Kind.PREFERENCE, importance=0.1)
    await keep(by_words, "Pinned", importance=0.1, pinned=True)
    await keep(by_words, "Said in passing", kind=Kind.TURN, session_id="s4", speaker="user")
    briefing = await by_words.recall(Query(limit=1))
    assert (briefing.mode, briefing.omitted) == ("briefing", 0)
    assert contents(briefing) == [
        "Pinned", "Likes short answers", *(f"Session {number} planned the garden." for number in (4, 3, 2, 1, 0)),
        "Major", "Minor",
    ]  # fmt: skip


async def test_where_there_is_room_for_a_part_no_group_crowds_out_another(by_words: MemoryService, clock: Clock):
    for number in range(30):
        await keep(by_words, f"Rule {number}: cut once", kind=Kind.INSTRUCTION, importance=1.0)
        await keep(by_words, f"Decision {number}: use oak", kind=Kind.DECISION)
        await by_words.summarize(Conversation(f"s{number}", summary=f"Session {number} built a shelf."))
        clock.turn(hours=1)
    briefing = await by_words.recall(Query(max_tokens=500))
    told = [content.partition(" ")[0] for content in contents(briefing)]
    assert {"Rule", "Session", "Decision"} == set(told)
    assert briefing.omitted == 90 - len(told) > 50
    assert "Session 29 built a shelf." in contents(briefing)


async def test_lessons_of_a_failure_outlast_newer_episodes_and_survive_a_short_excerpt(
    by_words: MemoryService, clock: Clock
):
    await by_words.summarize(
        Conversation(
            "old", summary="The release was rolled back. " + "It took long to see why. " * 25,
            outcome=Outcome.FAILURE, lessons=("Freeze the schema before a release.",),
        )
    )  # fmt: skip
    for number in range(12):
        clock.turn(hours=1)
        await by_words.summarize(
            Conversation(f"s{number}", summary=f"Session {number} went well. " + "So it did. " * 50)
        )
    briefing = await by_words.recall(Query())
    assert briefing.omitted > 0
    text = render_briefing(briefing, limit=by_words.room(), zone=by_words.zone)
    assert "The release was rolled back." in text
    assert "Freeze the schema before a release." in text


async def test_the_briefing_leaves_out_what_is_not_trusted(by_words: MemoryService):
    await keep(by_words, "Said by the user", source=Source.USER)
    await keep(by_words, "Printed by a tool", source=Source.TOOL, importance=1.0, pinned=True)
    assert contents(await by_words.recall(Query())) == ["Said by the user"]


async def test_the_briefing_says_which_sessions_wait_for_a_summary_and_how_to_call(by_words: MemoryService):
    await keep(by_words, "We began", kind=Kind.TURN, session_id="s1", speaker="user", namespace="proj")
    notice = (await by_words.recall(Query(namespace="proj"))).notice
    assert "summarize(session_id='s1', namespace='proj')" in notice
    assert (await by_words.recall(Query())).notice == "Nothing is stored yet."
    await by_words.summarize(Conversation("s1", summary="They began.", namespace="proj"))
    assert (await by_words.recall(Query(namespace="proj"))).notice == ""


@pytest.mark.parametrize(("days", "said"), [(0, "today"), (1, "yesterday"), (3, "2026-05-04")])
async def test_the_day_of_a_session_that_waits_is_named_as_on_the_person_s_calendar(
    words_only: Settings, clock: Clock, days: int, said: str
):
    clock.at = datetime(2026, 5, 3, 15, 30, tzinfo=UTC)  # half past midnight in Tokyo
    async with memory_with(words_only.model_copy(update={"tz": "Asia/Tokyo"}), None, clock) as memory:
        await keep(memory, "We began", kind=Kind.TURN, session_id="s1", speaker="user")
        clock.turn(days=days)
        assert (await memory.recall(Query())).notice == (
            f"1 session of {said} is not summarized: call summarize(session_id='s1')."
        )


async def test_many_sessions_that_wait_are_one_bounded_sentence_without_the_one_that_asks(
    by_words: MemoryService, clock: Clock
):
    for number in range(105):
        await keep(by_words, "We began", kind=Kind.TURN, session_id=f"{number} " + "s" * 190, speaker="user")
        clock.turn(minutes=1)
    latest = f"104 {'s' * 190}"
    notice = (await by_words.recall(Query(asked_in=latest))).notice
    assert notice.startswith("100 sessions, the last of today, are not summarized: call ")
    assert notice.count("summarize(session_id='10") == 3
    assert latest not in notice
    assert notice.endswith("; then recall again for the others.")
    assert "Over 100 sessions" in (await by_words.recall(Query())).notice


async def test_a_summary_that_lost_its_source_is_asked_for_anew(by_words: MemoryService):
    told = Conversation("s1", summary="They planned a pond.", messages=(Message("user", "Let us plan a pond."),))
    await by_words.summarize(told)
    turns, _, _ = await by_words.session("s1")
    await by_words.forget(Selection(ids=(turns[0].id,)))
    assert (await by_words.recall(Query())).notice == (
        "1 summary lost a source and must be written anew: call summarize(session_id='s1', summary=...)."
    )


async def test_five_thousand_memories_some_of_them_long_make_no_long_briefing(by_words: MemoryService):
    """B72: a hard budget, the weightiest first, what was left out is counted."""
    long = "A long story about the harbour. " * 499
    now = by_words.now()
    drafts = [
        Draft(
            Memory(
                new_id(now), f"{number} {long if number % 50 == 0 else 'A short note about tea.'}", now, now,
                kind=(Kind.FACT, Kind.PREFERENCE)[number % 2], importance=number % 100 / 100,
                trust=Trust.UNTRUSTED if number % 5 == 1 else Trust.TRUSTED,
            )
        )
        for number in range(5_000)
    ]  # fmt: skip
    await by_words.db.write(drafts, door="cli")
    for tokens in (None, 1_500, 50_000):
        briefing = await by_words.recall(Query(max_tokens=tokens))
        text = render_briefing(briefing, limit=by_words.room(tokens), zone=by_words.zone)
        budget = min(tokens or 1_000, by_words.settings.context_tokens // 10)
        assert estimate(text) <= budget
        assert len(text) <= 4 * budget
        assert len(briefing.hits) + briefing.omitted == 4_000
        assert f"{briefing.omitted} more left out." in text
        assert text.count("\n- ") == len(briefing.hits) >= 8
        weights = [hit.memory.importance for hit in briefing.hits if hit.memory.kind is Kind.FACT]
        assert weights == sorted(weights, reverse=True)
        assert weights[0] == 0.98


async def test_the_briefing_keeps_to_its_budget_and_counts_the_rest(by_words: MemoryService):
    for number in range(20):
        await keep(by_words, f"Rule {number}: " + "measure twice and cut once, " * 30)
    briefing = await by_words.recall(Query(limit=20, max_tokens=500))
    assert 1 <= len(briefing.hits) < 20
    assert briefing.omitted == 20 - len(briefing.hits)
