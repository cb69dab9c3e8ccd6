"""What happens to memories after they are stored: revised, rated, embedded later or by another model."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from memory_mcp.config import Settings
from memory_mcp.errors import Conflict, InvalidInput, NotFound
from memory_mcp.models import Kind, ModelIdentity, NewMemory, Query, Revision, Selection
from memory_mcp.service import MemoryService
from tests.conftest import Clock
from tests.memories import WordsEmbedder, ask, contents, keep, memory_with, universal

pytestmark = pytest.mark.anyio


@pytest.fixture
async def memory(settings: Settings, clock: Clock) -> AsyncIterator[MemoryService]:
    async with memory_with(settings, WordsEmbedder, clock) as opened:
        yield opened


async def count(memory: MemoryService) -> int:
    return (await memory.stats()).memories


# ---- revising ------------------------------------------------------------------------------------------------------


async def test_everything_but_the_text_can_be_revised(memory: MemoryService, clock: Clock):
    kept = await keep(memory, "The kiln is fired on Fridays", tags=("old",))
    clock.turn(hours=1)
    revised = await memory.revise(
        kept,
        Revision(
            importance=0.9, confidence=0.4, tags=("New", "new"), kind=Kind.DECISION, namespace="pottery", pinned=True,
            expires_in_days=3,
        ),
    )  # fmt: skip
    assert revised == await memory.get(kept)
    assert (revised.importance, revised.confidence, revised.tags, revised.kind) == (0.9, 0.4, ("new",), Kind.DECISION)
    assert (revised.namespace, revised.pinned) == ("pottery", True)
    assert (revised.expires_at, revised.updated_at) == (clock() + timedelta(days=3), clock())
    assert await ask(memory, "kiln", namespace="pottery", tags=("new",), kinds=(Kind.DECISION,)) == [revised.content]
    assert await ask(memory, "kiln") == []
    assert await ask(memory, "old", namespace="pottery") == []


async def test_what_a_revision_does_not_name_stays(memory: MemoryService, clock: Clock):
    kept = await memory.get(await keep(memory, "text", tags=("a",), kind=Kind.METRIC, importance=0.7))
    revised = await memory.revise(kept.id, Revision(pinned=True))
    assert (revised.tags, revised.importance, revised.expires_at) == (kept.tags, kept.importance, kept.expires_at)
    assert (await memory.revise(kept.id, Revision(expires_in_days=0))).expires_at is None


@pytest.mark.parametrize(
    "wrong",
    [
        Revision(importance=2),
        Revision(confidence=-1),
        Revision(kind=Kind.EPISODE),
        Revision(kind=Kind.TURN),
        Revision(tags=("x" * 65,)),
        Revision(namespace="n" * 201),
        Revision(expires_in_days=-1),
    ],
)
async def test_a_revision_out_of_bounds_is_refused_and_changes_nothing(memory: MemoryService, wrong: Revision):
    kept = await memory.get(await keep(memory, "text"))
    with pytest.raises((InvalidInput, Conflict)):
        await memory.revise(kept.id, wrong)
    assert await memory.get(kept.id) == kept


async def test_only_a_memory_that_exists_can_be_revised(memory: MemoryService):
    with pytest.raises(NotFound, match="no-such-id"):
        await memory.revise("no-such-id", Revision(pinned=True))


async def test_ratings_count_and_unknown_ids_are_left_out(memory: MemoryService):
    kept = await keep(memory, "text")
    assert await memory.rate([kept, "no-such-id"], useful=True) == [kept]
    assert await memory.rate([kept], useful=False) == [kept]
    rated = await memory.get(kept)
    assert (rated.useful, rated.useless) == (1, 1)


# ---- vectors that come later ---------------------------------------------------------------------------------------


async def test_a_text_that_cannot_be_embedded_is_kept_found_by_words_and_mended(settings: Settings, clock: Clock):
    """B32: the third of four; status shows it, and repair reaches zero."""
    embedder = WordsEmbedder(hates={"three"})
    async with memory_with(settings, lambda: embedder, clock) as memory:
        stored = [
            await memory.store(NewMemory(f"Parcel {n} is in the cellar")) for n in ("one", "two", "three", "four")
        ]
        assert [bool(one.notice) for one in stored] == [False, False, True, False]
        assert (await memory.stats()).awaiting_vectors == 1
        assert any("wait" in one for one in await memory.problems())
        assert len(await ask(memory, "parcel cellar")) == 4
        embedder.hates.clear()
        assert await memory.embed_pending() == 1
        assert (await memory.stats()).awaiting_vectors == 0
        assert (await memory.check()).problems == ()


async def test_one_text_that_cannot_be_embedded_does_not_hold_up_the_others(settings: Settings, clock: Clock):
    """B32: one bad item of a batch."""
    async with memory_with(settings, None, clock) as memory:
        for number in range(10):
            await keep(memory, "a poisonous text" if number == 3 else f"text {number}")
    async with memory_with(settings, lambda: WordsEmbedder(hates={"poison"}), clock) as memory:
        assert await memory.embed_pending(batch=4) == 9
        assert (await memory.stats()).awaiting_vectors == 1
        assert await memory.embed_pending(batch=1) == 0


async def test_another_model_never_meets_the_vectors_of_the_first(settings: Settings, clock: Clock):
    """B13: other dimension, then other weights of the same dimension: by keyword, said, and no text is lost."""
    others = [
        WordsEmbedder(ModelIdentity("wide", "b" * 64, dimension=512)),
        WordsEmbedder(ModelIdentity("words", "c" * 64, dimension=256)),
    ]
    async with memory_with(settings, WordsEmbedder, clock) as memory:
        for number in range(10):
            await keep(memory, f"Box {number} holds cables")
    for other in others:
        async with memory_with(settings, lambda other=other: other, clock) as memory:
            found = await memory.recall(Query("cables"))
            assert (found.mode, len(found.hits)) == ("keyword", 8)
            assert repr(other.identity.name) in found.notice
            stored = await memory.store(NewMemory(f"Stored beside {other.identity.checksum[0]}"))
            assert "keyword" in stored.notice
    async with memory_with(settings, WordsEmbedder, clock) as memory:
        await memory.embed_pending()
        stats = await memory.stats()
        assert (stats.memories, stats.awaiting_vectors, stats.model) == (12, 0, "words")
        found = await memory.recall(Query("cables"))
        assert (found.mode, found.notice) == ("hybrid", "")


async def test_two_processes_that_begin_with_different_models_never_mix_their_vectors(settings: Settings, clock: Clock):
    """B13: of the same dimension, on a file that is still empty when both open it."""
    first, second = WordsEmbedder(), WordsEmbedder(ModelIdentity("words", "c" * 64, dimension=256))
    async with (
        memory_with(settings, lambda: first, clock) as here,
        memory_with(settings, lambda: second, clock) as there,
    ):
        assert (await here.recall(Query("kettle"))).mode == "hybrid"
        await keep(there, "The kettle is blue")
        stored = await here.store(NewMemory("The kettle is red"))
        found = await here.recall(Query("kettle"))
        assert "another model" in stored.notice
        assert (found.mode, len(found.hits)) == ("keyword", 2)
        assert await here.embed_pending() == 0
        assert await there.embed_pending() == 1
        assert (await there.check()).problems == ()


async def test_names_are_one_line_and_tags_fold_blanks(memory: MemoryService):
    kept = await memory.get(
        await keep(memory, "text", session_id="a\nb", speaker=" Ann\tLee ", key="x  y", tags=("Two\n words",))
    )
    assert (kept.session_id, kept.speaker, kept.key, kept.tags) == ("a b", "Ann Lee", "x y", ("two words",))
    assert await ask(memory, session_id="a\nb", tags=("two  WORDS",)) == ["text"]


async def test_memories_stored_without_a_model_get_their_vectors_when_there_is_one(settings: Settings, clock: Clock):
    async with memory_with(settings, None, clock) as memory:
        await keep(memory, "My sister plays the cello")
    async with memory_with(settings, universal, clock) as memory:
        await memory.embed_pending()
        found = await memory.recall(Query("Which instrument does a member of my family play?"))
        assert (found.mode, contents(found)) == ("hybrid", ["My sister plays the cello"])


async def test_what_expired_is_counted_in_the_next_briefing(memory: MemoryService, clock: Clock):
    await keep(memory, "The gate code is on the fridge", expires_in_days=1)
    clock.turn(days=2)
    await memory.maintain()
    assert "at the end of their time to live: 1." in (await memory.recall(Query())).notice
    clock.turn(days=2)
    assert "time to live" not in (await memory.recall(Query())).notice


async def test_what_changes_after_a_confirmed_preview_is_not_forgotten(memory: MemoryService, settings: Settings):
    kept = await keep(memory, "The ferry leaves at nine", tags=("boat",))
    preview = await memory.forget(Selection(tags=("boat",)))
    await memory.revise(kept, Revision(importance=0.9))
    with pytest.raises(Conflict):
        await memory.forget(Selection(tags=("boat",), confirm=preview.confirm))
    assert await ask(memory, "ferry") == ["The ferry leaves at nine"]
