"""What is doubtful is named with its reason and with a command that settles it; the rest is left alone."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from memory_mcp.config import Settings
from memory_mcp.models import Conversation, Kind, Memory, Query, Selection, new_id
from memory_mcp.relevance import AT_MOST, SHOWN, Doubted
from memory_mcp.service import MemoryService
from memory_mcp.storage.values import Draft
from tests.conftest import Clock
from tests.memories import keep, memory_with, universal

pytestmark = pytest.mark.anyio


@pytest.fixture
async def memory(settings: Settings, clock: Clock) -> AsyncIterator[MemoryService]:
    async with memory_with(settings, universal, clock) as opened:
        yield opened


async def doubted(memory: MemoryService, doubt: str) -> Doubted:
    [found] = [one for one in (await memory.review()).doubted if one.doubt == doubt]
    return found


async def ids(memory: MemoryService, doubt: str) -> list[str]:
    return [one.id for finding in (await doubted(memory, doubt)).findings for one in finding.memories]


async def recalled(memory: MemoryService, text: str, times: int) -> None:
    for _ in range(times):
        await memory.recall(Query(text))
    await memory.flush()


# ---- use and ratings -----------------------------------------------------------------------------------------------


async def test_what_is_shown_often_and_never_useful_is_useless_where_others_are_rated(by_words: MemoryService):
    often = await keep(by_words, "The kettle is blue")
    await recalled(by_words, "kettle", SHOWN)
    assert (await doubted(by_words, "useless")).count == 0
    await by_words.rate([await keep(by_words, "The gate code is 1234")], useful=True)
    [finding] = (await doubted(by_words, "useless")).findings
    assert [one.id for one in finding.memories] == [often]
    assert f"recalled {SHOWN} times" in finding.why
    assert finding.settle == f"memory-mcp edit {often} --importance 0.2"
    await by_words.rate([often], useful=True)
    assert (await doubted(by_words, "useless")).count == 0


async def test_what_is_rated_useless_comes_first_and_it_is_said(by_words: MemoryService):
    shown, useless = await keep(by_words, "A blue kettle"), await keep(by_words, "A red kettle")
    await recalled(by_words, "kettle", SHOWN)
    await by_words.rate([useless], useful=False)
    await by_words.rate([await keep(by_words, "The gate code is 1234")], useful=True)
    assert await ids(by_words, "useless") == [useless, shown]
    assert "1 times rated useless" in (await doubted(by_words, "useless")).findings[0].why


async def test_what_was_never_recalled_in_half_a_year_is_unused(by_words: MemoryService, clock: Clock):
    never = await keep(by_words, "The kettle is blue")
    await keep(by_words, "The gate is green")
    await keep(by_words, "Answer in short sentences", kind=Kind.INSTRUCTION)
    await keep(by_words, "The rake is pinned to the wall", pinned=True)
    await keep(by_words, "Hello there", kind=Kind.TURN, session_id="s", speaker="user")
    clock.turn(days=100)
    await recalled(by_words, "gate", 1)
    clock.turn(days=81)
    await keep(by_words, "The hose is new")
    found = await doubted(by_words, "unused")
    assert [one.id for finding in found.findings for one in finding.memories] == [never]
    assert "181 days" in found.findings[0].why
    assert found.findings[0].settle == f"memory-mcp archive {never}"


async def test_findings_are_bounded_and_all_are_counted(by_words: MemoryService, clock: Clock):
    for number in range(AT_MOST + 3):
        await keep(by_words, f"box {number}")
    clock.turn(days=200)
    found = await doubted(by_words, "unused")
    assert (found.count, len(found.findings)) == (AT_MOST + 3, AT_MOST)


# ---- time ----------------------------------------------------------------------------------------------------------


async def test_what_nobody_told_or_used_for_two_half_lives_is_stale(by_words: MemoryService, clock: Clock):
    decision = await keep(by_words, "We chose oak for the shelf", kind=Kind.DECISION)
    used = await keep(by_words, "We chose birch for the door", kind=Kind.DECISION)
    await keep(by_words, "The shelf is two metres wide")
    clock.turn(days=300)
    await recalled(by_words, "birch door", 1)
    clock.turn(days=61)
    found = await ids(by_words, "stale")
    assert found == [decision]
    await by_words.rate([decision], useful=True)
    assert used not in await ids(by_words, "stale")
    assert await ids(by_words, "stale") == []


async def test_what_is_active_though_its_time_of_truth_is_over_is_stale(by_words: MemoryService, clock: Clock):
    fields = {"created_at": clock(), "updated_at": clock(), "valid_to": clock() + timedelta(days=10)}
    summer = Memory(new_id(clock()), "The office is in Bergen for the summer", **fields)
    await by_words.db.write([Draft(summer)], door="cli")
    assert await ids(by_words, "stale") == []
    clock.turn(days=10)
    [finding] = (await doubted(by_words, "stale")).findings
    assert finding.memories == (await by_words.get(summer.id),)
    assert (finding.why, finding.settle) == ("true only until 2026-05-14", f"memory-mcp archive {summer.id}")


# ---- contradictions ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("before", "after", "differs"),
    [
        ("The office has 12 desks.", "The office has 14 desks.", "number"),
        ("Ken drinks coffee in the morning.", "Ken does not drink coffee in the morning.", "negation"),
        ("The main server is called Falcon.", "The main server is called Heron.", "name"),
        ("会議は水曜日の3時に始まる。", "会議は水曜日の4時に始まる。", "number"),
    ],
)
async def test_two_that_say_nearly_the_same_and_differ_are_contradictory(
    memory: MemoryService, clock: Clock, before: str, after: str, differs: str
):
    earlier = await keep(memory, before)
    await keep(memory, "The cat was vaccinated in June.")
    clock.turn(days=1)
    later = await keep(memory, after)
    [finding] = (await doubted(memory, "contradictory")).findings
    assert [one.id for one in finding.memories] == [later, earlier]
    assert differs in finding.why
    assert f"--supersedes {earlier}" in finding.settle


async def test_what_was_superseded_archived_or_lies_elsewhere_contradicts_nothing(memory: MemoryService):
    first = await keep(memory, "The office has 12 desks.")
    second = await keep(memory, "The office has 14 desks.", supersedes=(first,))
    await keep(memory, "The office has 15 desks.", namespace="shop")
    await memory.archive(Selection(ids=(await keep(memory, "The office has 16 desks."),)))
    assert (await memory.get(first)).superseded_by == second
    assert await ids(memory, "contradictory") == []


async def test_occurrences_of_one_pattern_and_what_merely_happened_do_not_contradict(memory: MemoryService):
    runs = [await keep(memory, f"Ran {km} km before work.", session_id=f"s{km}") for km in (5, 6, 7)]
    assert (await doubted(memory, "contradictory")).count == 3
    await keep(memory, "Runs 5 to 7 km before work.", kind=Kind.PATTERN, derived_from=tuple(runs))
    for number in (1, 2):
        await memory.summarize(Conversation(f"talk {number}", f"We planted {number} rows of beans in the garden."))
    assert await ids(memory, "contradictory") == []


async def test_without_a_model_the_rest_is_looked_for_and_it_is_said(by_words: MemoryService):
    found = await by_words.review()
    assert [one.doubt for one in found.doubted] == ["commanding", "useless", "unused", "stale"]
    assert "no model" in found.notice
