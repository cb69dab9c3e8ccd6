"""What listings and pages bring back, and what is said when something is missing or damaged."""

from collections.abc import AsyncIterator

import pytest

from memory_mcp.answers import Recall
from memory_mcp.app import open_memory
from memory_mcp.config import Settings
from memory_mcp.errors import NotFound
from memory_mcp.models import Conversation, Filter, Message, NewMemory, Query, State
from memory_mcp.service import MemoryService
from memory_mcp.storage import driver
from tests.conftest import Clock
from tests.memories import GatedLoader, WordsEmbedder, ask, contents, keep, memory_with, universal

pytestmark = pytest.mark.anyio


@pytest.fixture
async def memory(settings: Settings, clock: Clock) -> AsyncIterator[MemoryService]:
    async with memory_with(settings, WordsEmbedder, clock) as opened:
        yield opened


async def pages(memory: MemoryService, query: Query) -> list[Recall]:
    """Follow the cursor to the end."""
    found = [await memory.recall(query)]
    while found[-1].next_cursor:
        assert len(found) < 100, "the cursor leads in a circle"
        found.append(await memory.recall(Query(**(vars(query) | {"cursor": found[-1].next_cursor}))))
    return found


# ---- pages ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 3, 8, 40])
async def test_the_pages_of_an_answer_hold_every_match_once(by_words: MemoryService, limit: int):
    """Also with near-copies, which move, and with history, which comes later."""
    stored = [await keep(by_words, f"Lantern {n % 7} hangs in the garden of house {n % 5}, row {n}") for n in range(55)]
    stored += [await keep(by_words, f"The garden lantern, copy {n} of the same old words") for n in range(20)]
    for number in range(3):
        stored.append(await keep(by_words, f"Lantern garden {number}", supersedes=(stored[number],)))
    found = await pages(by_words, Query("garden lantern", limit=limit, include_history=True))
    ids = [hit.memory.id for page in found for hit in page.hits]
    assert len(ids) == len(set(ids))
    assert set(ids) == set(stored)
    assert all(len(page.hits) <= limit for page in found)


async def test_what_does_not_fit_the_budget_is_counted_and_comes_on_the_next_page(by_words: MemoryService):
    stored = [await keep(by_words, f"Lantern {n} " + "swings in the evening wind " * 20) for n in range(30)]
    found = await pages(by_words, Query("lantern", limit=30))
    assert found[0].omitted == 30 - len(found[0].hits) > 0
    assert sorted(hit.memory.id for page in found for hit in page.hits) == sorted(stored)


async def test_the_pages_of_a_listing_hold_every_memory_once(by_words: MemoryService):
    """B49, through the budget: long labels make shorter pages."""
    tags = tuple(f"a-tag-as-long-as-they-come-{n:03}-" + "x" * 30 for n in range(15))
    stored = [await keep(by_words, f"Jar {n}", tags=("jar", *(tags if n % 3 else ()))) for n in range(45)]
    found = await pages(by_words, Query(tags=("jar",), limit=20))
    assert [hit.memory.id for page in found for hit in page.hits] == stored[::-1]
    assert len(found) > 3
    assert {page.mode for page in found} == {"list"}


async def test_a_listing_that_finds_nothing_says_so(by_words: MemoryService):
    await keep(by_words, "text")
    assert "No memory passes" in (await by_words.recall(Query(tags=("unused",)))).notice


# ---- by id ---------------------------------------------------------------------------------------------------------


async def test_memories_are_read_by_id_in_the_order_asked(by_words: MemoryService):
    first, second = await keep(by_words, "first"), await keep(by_words, "second")
    found = await by_words.recall(Query(ids=(second, "no-such-id", first, second)))
    assert contents(found) == ["second", "first"]
    assert "no-such-id" in found.notice


async def test_a_superseded_or_archived_memory_can_be_read_by_id(by_words: MemoryService):
    old = await keep(by_words, "old")
    await keep(by_words, "new", supersedes=(old,))
    assert await ask(by_words, ids=(old,)) == ["old"]


async def test_unknown_ids_alone_are_an_error(by_words: MemoryService):
    with pytest.raises(NotFound, match="Recall again"):
        await by_words.recall(Query(ids=("no-such-id", "\ud800")))


# ---- degraded states -----------------------------------------------------------------------------------------------


async def test_without_a_model_recall_goes_by_words_and_says_why(by_words: MemoryService):
    await keep(by_words, "The kettle is blue")
    found = await by_words.recall(Query("kettle"))
    assert (found.mode, contents(found)) == ("keyword", ["The kettle is blue"])
    assert "MEMORY_MCP_MODEL=none" in found.notice


async def test_while_the_model_loads_nothing_waits_and_the_reply_says_so(settings: Settings, clock: Clock):
    """B04: stored and recalled by words meanwhile; by meaning once it is there."""
    loader = GatedLoader()
    async with memory_with(settings, loader, clock, patient=False) as memory:
        memory.embeddings.start()
        stored = await memory.store(NewMemory("The kettle is blue"))
        found = await memory.recall(Query("kettle"))
        summarized = await memory.summarize(
            Conversation("s1", messages=(Message("user", "My kettle broke on Monday and I ordered a blue one."),))
        )
        assert "still loading" in stored.notice
        assert (found.mode, contents(found)) == ("keyword", ["The kettle is blue"])
        assert "still loading" in found.notice
        assert "still loading" in summarized.notice
        loader.gate.set()
        assert await memory.embeddings.ready()
        assert await memory.embed_pending() > 0
        assert (await memory.recall(Query("kettle"))).mode == "hybrid"


async def test_where_vectors_cannot_be_searched_recall_says_so(settings: Settings, clock: Clock, tmp_path):
    """B02: the package is there, its binary is garbage."""
    garbage = tmp_path / "vec0.so"
    garbage.write_bytes(b"not a library")
    async with memory_with(settings, WordsEmbedder, clock, extension=str(garbage)) as memory:
        stored = await memory.store(NewMemory("The kettle is blue"))
        found = await memory.recall(Query("kettle"))
        assert (found.mode, contents(found)) == ("keyword", ["The kettle is blue"])
        assert "sqlite-vec cannot be loaded" in found.notice
        assert "sqlite-vec cannot be loaded" in stored.notice
        assert any("sqlite-vec" in problem for problem in await memory.problems())


async def test_recall_writes_nothing_and_counts_later(memory: MemoryService):
    """Recall does not write on its path (docs/architecture.md)."""
    kept = await keep(memory, "The kettle is blue")
    before = await memory.changes()
    for _ in range(3):
        await memory.recall(Query("kettle"))
    await memory.recall(Query())
    await memory.recall(Query(tags=("a",)))
    assert await memory.changes() == before
    assert (await memory.get(kept)).access_count == 0
    await memory.flush()
    assert await memory.changes() != before
    assert (await memory.get(kept)).access_count == 3


@pytest.mark.parametrize("load", [WordsEmbedder, universal, None])
async def test_recall_does_not_wait_for_another_process_that_writes(settings: Settings, clock: Clock, load):
    """B10: also when the file's vectors are another model's, and when there are none yet."""
    async with memory_with(settings, WordsEmbedder, clock) as memory:
        await keep(memory, "The kettle is blue")
    other = driver.connect(settings.db)
    async with memory_with(settings, load, clock) as memory:
        other.execute("begin immediate")
        other.execute("update memory set importance = 0")
        assert await ask(memory, "kettle") == ["The kettle is blue"]
        assert await ask(memory) == ["The kettle is blue"]
        other.execute("rollback")
    other.close()


async def test_a_damaged_memory_never_stops_the_others(memory: MemoryService, settings: Settings):
    """B09: in recall, listing, briefing, by id, and in the next store."""
    kept = [await keep(memory, f"The kettle {n} is blue", importance=0.9) for n in range(6)]
    other = driver.connect(settings.db)
    other.execute("pragma ignore_check_constraints = on")
    for number, damage in enumerate(
        ("kind = 'unheard-of'", "created_at = 9223372036854775807", "state = 'lost'", "content = cast(x'41ff' as text)",
         "source = 'x'")
    ):  # fmt: skip
        other.execute(f"update memory set {damage} where id = :id", {"id": kept[number]})
    other.close()
    whole = "The kettle 5 is blue"
    for query in (Query("kettle"), Query("kettle", include_history=True), Query(min_confidence=0.1), Query(),
                  Query(ids=tuple(kept))):  # fmt: skip
        assert whole in contents(await memory.recall(query))
    assert (await memory.store(NewMemory("The kettle 6 is blue"))).status == "stored"


async def test_a_damaged_episode_never_stops_the_others(memory: MemoryService, settings: Settings):
    """B09."""
    for number in range(2):
        await memory.summarize(Conversation(f"s{number}", summary=f"Kettle {number} was bought."))
    other = driver.connect(settings.db)
    other.execute("update episode set lessons = '[\"half' where session = 1")
    other.close()
    assert "Kettle 1 was bought." in contents(await memory.recall(Query()))
    assert len(await ask(memory, "kettle bought")) == 2
    assert [one.memory.content for one in await memory.recent_episodes()] == ["Kettle 1 was bought."]


async def test_a_filter_of_everything_reads_every_state(by_words: MemoryService):
    old = await keep(by_words, "old")
    await keep(by_words, "new", supersedes=(old,))
    page = await by_words.db.page(Filter(states=()), 10)
    assert {one.state for one in page.memories} == {State.ACTIVE, State.SUPERSEDED}


async def test_an_answered_recall_stands_although_it_cannot_be_counted(words_only: Settings):
    async with open_memory(words_only, door="cli") as memory:
        await keep(memory, "The spare key hangs behind the clock")
        assert await ask(memory, "spare key") == ["The spare key hangs behind the clock"]
        await memory.db._database.maintain(lambda at: at.execute("pragma query_only = on"))
    async with open_memory(words_only, door="cli") as memory:
        assert await ask(memory, "spare key") == ["The spare key hangs behind the clock"]


async def test_memories_without_vectors_are_told_of(words_only: Settings, clock: Clock):
    async with memory_with(words_only, None, clock) as memory:
        await keep(memory, "The ferry leaves at nine")
    async with memory_with(words_only, WordsEmbedder, clock) as memory:
        found = await memory.recall(Query("When does the boat go?"))
        assert "found by words only: 1 of 1" in found.notice
        await memory.embed_pending()
        assert "found by words only" not in (await memory.recall(Query("ferry"))).notice
