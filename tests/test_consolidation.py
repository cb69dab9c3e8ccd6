"""What recurs over time is proposed as a pattern or a lesson, with its provenance; what does not is left alone."""

from collections.abc import AsyncIterator

import pytest

from memory_mcp.app import open_memory
from memory_mcp.config import Settings
from memory_mcp.consolidation import Proposal
from memory_mcp.models import Conversation, Kind, Outcome, Revision, Selection, Source, State, Trust
from memory_mcp.service import MemoryService
from tests.conftest import Clock
from tests.fake_anthropic import Answer, fake_anthropic, summary
from tests.memories import ask, keep, memory_with, universal

pytestmark = pytest.mark.anyio

BULLETS = (
    "Mia asked for the summary as bullet points.",
    "Mia wanted the answer in bullet points instead of prose.",
    "Mia prefers bullet points to running text.",
)
BULLETS_AGAIN = (
    "Mia asked again for bullet points instead of a text.",
    "Mia wants her answers in bullet points.",
    "The answer to Mia had to be in bullet points.",
)
LUNCHES = (
    "昼食会では菜食の料理が選ばれた。",
    "チームの昼食にはベジタリアンメニューを注文した。",
    "チームランチで野菜中心のメニューを頼んだ。",
)
OTHERS = (
    "The cat was vaccinated in June.",
    "The printer needs toner.",
    "Mia's birthday is in March.",
    "ロゴは濃い緑にする。",
    "The roof was repaired after the storm.",
)
LESSONS = (
    "Run the database migration before the deploy.",
    "Always run the migration of the database before deploying.",
    "Before a deploy, apply the database migration first.",
)


@pytest.fixture
async def memory(settings: Settings, clock: Clock) -> AsyncIterator[MemoryService]:
    async with memory_with(settings, universal, clock) as opened:
        yield opened


async def kept_on_days(memory: MemoryService, clock: Clock, texts: tuple[str, ...], **fields) -> list[str]:
    ids: list[str] = []
    for text in texts:
        clock.turn(days=7)
        ids.append(await keep(memory, text, **fields))
    return ids


async def proposed(memory: MemoryService, namespace: str = "") -> list[Proposal]:
    found = await memory.proposals(namespace)
    assert (found.omitted, found.notice) == (0, "")
    return list(found.proposals)


# ---- what is proposed ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("texts", [BULLETS, LUNCHES])
async def test_what_is_told_three_times_in_other_words_is_proposed_as_a_pattern(
    memory: MemoryService, clock: Clock, texts: tuple[str, ...]
):
    ids = await kept_on_days(memory, clock, texts)
    await kept_on_days(memory, clock, OTHERS)
    [one] = await proposed(memory)
    assert set(one.ids) == set(ids)
    assert (one.kind, one.times, one.namespace, one.replaces) == (Kind.PATTERN, 3, "user", "")
    assert one.content.startswith(one.occurrences[0].sentence.rstrip("。."))
    assert "3×, 2026-05-11 – 2026-05-25" in one.content


async def test_twice_is_no_pattern_nor_is_three_times_on_one_day(memory: MemoryService, clock: Clock):
    await kept_on_days(memory, clock, BULLETS[:2])
    await keep(memory, BULLETS[2])
    for text in LUNCHES:
        await keep(memory, text)
    assert await proposed(memory) == []


async def test_three_sessions_of_one_day_are_three_times(memory: MemoryService):
    for number, text in enumerate(BULLETS):
        await keep(memory, text, session_id=f"s{number}")
    [one] = await proposed(memory)
    assert one.times == 3


async def test_what_says_the_opposite_does_not_count(memory: MemoryService, clock: Clock):
    await kept_on_days(memory, clock, ("The backup runs every night.", "The backup ran this night, as every night."))
    await kept_on_days(memory, clock, ("The backup does not run every night.",))
    assert await proposed(memory) == []


async def test_namespaces_are_not_mixed_and_history_does_not_count(memory: MemoryService, clock: Clock):
    first, second = BULLETS[:2], BULLETS[2:]
    await kept_on_days(memory, clock, first)
    await kept_on_days(memory, clock, second, namespace="shop")
    [old] = await kept_on_days(memory, clock, BULLETS_AGAIN[:1])
    await keep(memory, "The printer needs toner.", supersedes=(old,))
    assert await proposed(memory, "shop") == []


async def test_a_pattern_of_a_project_is_found_where_that_is_looked_into(memory: MemoryService, clock: Clock):
    await kept_on_days(memory, clock, BULLETS, namespace="shop")
    assert await proposed(memory) == []
    [one] = await proposed(memory, "shop")
    assert one.namespace == "shop"


async def test_a_lesson_of_several_failures_is_proposed_as_a_lesson(memory: MemoryService, clock: Clock):
    for number, (lesson, what) in enumerate(zip(LESSONS, ("shop", "blog", "wiki"), strict=True)):
        clock.turn(days=3)
        told = Conversation(
            f"s{number}",
            f"We released the {what} and it came down at once.",
            outcome=Outcome.FAILURE,
            lessons=(lesson,),
        )
        await memory.summarize(told)
    lessons = [one for one in await proposed(memory) if one.kind is Kind.LESSON]
    assert [len(one.ids) for one in lessons] == [3]
    stored = await memory.get((await memory.accept(lessons[0])).id)
    assert stored.kind is Kind.LESSON
    assert "migration" in stored.content
    assert {(await memory.episode(one)).outcome for one in stored.derived_from} == {Outcome.FAILURE}


async def test_without_a_model_it_is_said_why_nothing_is_found(words_only: Settings, clock: Clock):
    async with memory_with(words_only, None, clock) as memory:
        await kept_on_days(memory, clock, BULLETS)
        found = await memory.proposals()
        assert found.proposals == ()
        assert "no model" in found.notice


# ---- what becomes of it --------------------------------------------------------------------------------------------


async def test_an_accepted_pattern_has_its_sources_and_their_weight_and_is_not_proposed_again(
    memory: MemoryService, clock: Clock
):
    ids = await kept_on_days(memory, clock, BULLETS, importance=0.4, confidence=0.9)
    await memory.revise(ids[0], Revision(importance=0.8))
    [one] = await proposed(memory)
    pattern = await memory.get((await memory.accept(one)).id)
    assert set(pattern.derived_from) == set(ids)
    assert (pattern.kind, pattern.importance, pattern.confidence) == (Kind.PATTERN, 0.8, 0.7)
    assert [(await memory.get(memory_id)).kind for memory_id in ids] == [Kind.FACT] * 3
    assert await proposed(memory) == []
    assert pattern.content in await ask(memory, "How does Mia like her answers?", kinds=(Kind.PATTERN,))


async def test_a_pattern_can_be_put_into_other_words(memory: MemoryService, clock: Clock):
    await kept_on_days(memory, clock, BULLETS)
    [one] = await proposed(memory)
    pattern = await memory.get((await memory.accept(one, "Mia reads bullet points")).id)
    assert (pattern.content, len(pattern.derived_from)) == ("Mia reads bullet points", 3)


async def test_where_anthropic_is_set_it_puts_the_pattern_into_words_in_one_call(
    settings: Settings, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    with fake_anthropic() as api:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "a key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        api.answer(summary("Mia wants bullet points, not prose."))
        async with open_memory(
            settings.model_copy(update={"summarizer": "anthropic"}), door="cli", now=clock
        ) as memory:
            await kept_on_days(memory, clock, BULLETS)
            [one] = await proposed(memory)
            pattern = await memory.get((await memory.accept(one)).id)
            assert (pattern.content, len(pattern.derived_from)) == ("Mia wants bullet points, not prose.", 3)
            [request] = api.requests
            assert all(text in request["messages"][0]["content"] for text in BULLETS)


async def test_where_anthropic_fails_the_pattern_is_stored_in_its_memories_words_and_it_is_said(
    settings: Settings, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    with fake_anthropic() as api:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "a key")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        api.answer(Answer(status=401))
        async with open_memory(
            settings.model_copy(update={"summarizer": "anthropic"}), door="cli", now=clock
        ) as memory:
            await kept_on_days(memory, clock, BULLETS)
            [one] = await proposed(memory)
            stored = await memory.accept(one)
            assert "401" in stored.notice
            assert (await memory.get(stored.id)).content == one.content


async def test_a_pattern_that_the_hosts_model_stored_is_not_proposed_again(memory: MemoryService, clock: Clock):
    ids = await kept_on_days(memory, clock, BULLETS)
    await keep(memory, "Mia reads bullet points", kind=Kind.PATTERN, derived_from=tuple(ids))
    assert await proposed(memory) == []


async def test_a_pattern_that_grew_by_several_is_proposed_anew_and_supersedes_the_one_before(
    memory: MemoryService, clock: Clock
):
    await kept_on_days(memory, clock, BULLETS)
    [before] = await proposed(memory)
    old = (await memory.accept(before)).id
    await kept_on_days(memory, clock, BULLETS_AGAIN[:2])
    assert await proposed(memory) == []
    await kept_on_days(memory, clock, BULLETS_AGAIN[2:])
    [grown] = await proposed(memory)
    assert (grown.replaces, grown.times) == (old, 6)
    assert grown.confidence > before.confidence
    assert (await memory.accept(grown)).superseded == (old,)
    assert (await memory.get(old)).state is State.SUPERSEDED
    assert await proposed(memory) == []


async def test_the_number_of_a_proposal_stays_while_its_memories_stay(memory: MemoryService, clock: Clock):
    await kept_on_days(memory, clock, BULLETS)
    [first] = await proposed(memory)
    await kept_on_days(memory, clock, LUNCHES)
    second = await proposed(memory)
    assert [one.number for one in second if set(one.ids) == set(first.ids)] == [first.number]
    assert len({one.number for one in second}) == 2


async def test_a_pattern_of_third_party_text_is_not_trusted_and_does_not_taint_one_of_the_persons(
    memory: MemoryService, clock: Clock
):
    await kept_on_days(memory, clock, LUNCHES, source=Source.IMPORT)
    await kept_on_days(memory, clock, BULLETS)
    await kept_on_days(memory, clock, BULLETS_AGAIN[:1], source=Source.TOOL)
    trusts = {}
    for one in await proposed(memory):
        trusts[len(one.ids), "Mia" in one.content] = (await memory.get((await memory.accept(one)).id)).trust
    assert trusts == {(3, False): Trust.UNTRUSTED, (3, True): Trust.TRUSTED}


async def test_a_pattern_outlives_its_sources_time_but_not_their_forgetting(memory: MemoryService, clock: Clock):
    await kept_on_days(memory, clock, BULLETS, expires_in_days=60)
    forgotten = await kept_on_days(memory, clock, LUNCHES)
    ids = [(await memory.accept(one)).id for one in await proposed(memory)]
    clock.turn(days=90)
    assert len((await memory.upkeep()).expired) == 3
    assert len(await memory.db.get(ids)) == 2
    gone = await memory.forget(Selection(ids=tuple(forgotten)))
    assert len(gone.cascaded) == 1
    assert len(await memory.db.get(ids)) == 1
