"""Upkeep: what is due is said beforehand and done once, in batches, by one process; what faded can be taken back."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from memory_mcp.config import Settings
from memory_mcp.errors import Conflict
from memory_mcp.maintenance import BATCH, KEPT_AUDIT, MOST_AUDIT, Upkeep
from memory_mcp.models import Conversation, Kind, Query, Selection, State
from memory_mcp.service import MemoryService
from memory_mcp.storage import driver
from tests.conftest import Clock
from tests.memories import ask, keep, memory_with

pytestmark = pytest.mark.anyio

YEAR = 365


@pytest.fixture
async def memory(words_only: Settings, clock: Clock) -> AsyncIterator[MemoryService]:
    async with memory_with(words_only, None, clock) as opened:
        yield opened


# ---- fading --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "years"),
    [(Kind.PREFERENCE, 4), (Kind.DECISION, 4 * 180 / YEAR), (Kind.PATTERN, 4), (Kind.LESSON, 4), (Kind.METRIC, 1)],
)
async def test_what_nobody_used_for_four_half_lives_and_a_year_is_archived(
    words_only: Settings, clock: Clock, kind: Kind, years: float
):
    settings = words_only.model_copy(update={"ttl": {}})
    async with memory_with(settings, None, clock) as memory:
        kept = await keep(memory, "The shed is painted red", kind=kind)
        clock.turn(days=years * YEAR - 1)
        assert await memory.upkeep() == Upkeep()
        clock.turn(days=2)
        assert await memory.upkeep() == Upkeep(faded=(kept,))
        assert await ask(memory, "shed") == []


@pytest.mark.parametrize("kind", [Kind.FACT, Kind.INSTRUCTION, Kind.RELATIONSHIP])
async def test_what_does_not_fade_stays_for_good(memory: MemoryService, clock: Clock, kind: Kind):
    await keep(memory, "The shed is painted red", kind=kind)
    clock.turn(days=50 * YEAR)
    assert await memory.upkeep() == Upkeep()


async def test_what_is_pinned_recalled_rated_or_changed_does_not_fade(memory: MemoryService, clock: Clock):
    names = ("recalled", "rated", "told", "left")
    decisions = {name: await keep(memory, f"{name} decision", kind=Kind.DECISION) for name in names}
    await keep(memory, "A decision for good", kind=Kind.DECISION, pinned=True)
    clock.turn(days=1.5 * YEAR)
    await memory.recall(Query("recalled"))
    await memory.flush()
    await memory.rate([decisions["rated"]], useful=True)
    await keep(memory, "told decision", kind=Kind.DECISION)
    clock.turn(days=YEAR)
    assert (await memory.upkeep(dry_run=True)).faded == (decisions["left"],)


async def test_what_was_said_word_for_word_does_not_fade(words_only: Settings, clock: Clock):
    async with memory_with(words_only.model_copy(update={"ttl": {}}), None, clock) as memory:
        await keep(memory, "The shed is red", kind=Kind.TURN, session_id="s", speaker="user")
        clock.turn(days=50 * YEAR)
        assert await memory.upkeep() == Upkeep()


async def test_old_talk_taken_in_today_is_not_old(memory: MemoryService, clock: Clock):
    await keep(memory, "We chose oak", kind=Kind.DECISION, created_at=clock() - timedelta(days=9 * YEAR))
    assert await memory.upkeep() == Upkeep()


async def test_what_has_an_end_of_its_own_is_left_to_it(memory: MemoryService, clock: Clock):
    await keep(memory, "We chose oak", kind=Kind.DECISION, expires_in_days=5 * YEAR)
    clock.turn(days=4 * YEAR)
    assert await memory.upkeep() == Upkeep()


async def test_what_faded_is_listed_counted_in_the_briefing_and_can_be_taken_back(memory: MemoryService, clock: Clock):
    kept = await keep(memory, "We chose oak", kind=Kind.DECISION)
    clock.turn(days=3 * YEAR)
    await memory.maintain()
    assert "list --archived): 1." in (await memory.recall(Query())).notice
    assert [one.id for one in (await memory.page(Query(archived=True))).memories] == [kept]
    assert (await memory.restore(Selection(ids=(kept,)))).ids == (kept,)
    assert await memory.upkeep() == Upkeep()
    assert (await memory.get(kept)).state is State.ACTIVE


async def test_what_a_person_archives_is_not_counted_as_faded(memory: MemoryService):
    await memory.archive(Selection(ids=(await keep(memory, "We chose oak", kind=Kind.DECISION),)))
    assert "Archived" not in (await memory.recall(Query())).notice


# ---- what is due ---------------------------------------------------------------------------------------------------


async def test_a_dry_run_says_exactly_what_is_done_and_a_second_run_finds_nothing(memory: MemoryService, clock: Clock):
    expired = [await keep(memory, f"note {number}", expires_in_days=1) for number in range(BATCH + 5)]
    faded = [await keep(memory, f"choice {number}", kind=Kind.DECISION) for number in range(BATCH + 5)]
    await memory.summarize(Conversation("s", "We spoke of the garden."))
    clock.turn(days=3 * YEAR)
    foretold = await memory.upkeep(dry_run=True)
    assert await memory.upkeep(dry_run=True) == foretold
    assert set(foretold.expired) >= set(expired)
    assert set(foretold.faded) == set(faded)
    assert await memory.upkeep() == foretold
    assert (await memory.stats()).by_state == {"archived": BATCH + 5}
    assert await memory.upkeep() == Upkeep() == await memory.upkeep(dry_run=True)
    assert (await memory.check()).problems == ()


async def test_in_the_background_it_is_done_a_batch_at_a_time(memory: MemoryService, clock: Clock):
    for number in range(BATCH + 5):
        await keep(memory, f"choice {number}", kind=Kind.DECISION)
    clock.turn(days=3 * YEAR)
    await memory.maintain()
    assert len((await memory.upkeep(dry_run=True)).faded) == 5
    await memory.maintain()
    assert await memory.upkeep(dry_run=True) == Upkeep()


async def test_one_process_at_a_time_looks_after_a_file(memory: MemoryService, clock: Clock):
    kept = await keep(memory, "note", expires_in_days=1)
    clock.turn(days=2)
    await memory.db.lease("upkeep", "another process", now=clock(), duration=timedelta(minutes=1))
    await memory.maintain()
    with pytest.raises(Conflict, match="Nothing was changed"):
        await memory.upkeep()
    assert await memory.get(kept)
    clock.turn(minutes=2)
    assert (await memory.upkeep()).expired == (kept,)


async def test_the_lease_is_given_back(memory: MemoryService, clock: Clock):
    await keep(memory, "note", expires_in_days=1)
    clock.turn(days=2)
    await memory.maintain()
    await memory.upkeep()
    assert await memory.db.lease("upkeep", "another process", now=clock(), duration=timedelta(minutes=1))


async def test_the_audit_is_bounded_and_a_dry_run_says_by_how_much(memory: MemoryService, words_only: Settings):
    await keep(memory, "note")
    other = driver.connect(words_only.db)
    other.execute(
        """
        insert into audit (at, verb, door, count)
        with recursive n (i) as (select 1 union all select i + 1 from n where i <= :most) select i, 'x', 'cli', 1 from n
        """,
        {"most": MOST_AUDIT},
    )
    before = other.execute("select max(number) from audit").fetchone()[0]
    foretold = await memory.upkeep(dry_run=True)
    assert foretold.audit_lines == MOST_AUDIT + 2 - KEPT_AUDIT
    assert await memory.upkeep() == foretold
    left = other.execute("select count(*), max(number) from audit").fetchone()
    other.close()
    assert tuple(left) == (KEPT_AUDIT, before)
    assert await memory.upkeep() == Upkeep()
