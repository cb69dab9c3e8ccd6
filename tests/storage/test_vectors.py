from dataclasses import replace

import pytest
from drafts import MODEL, NOW, draft, episode, found_by, healthy, memory, vectors, write

from memory_mcp.models import Filter, ModelIdentity
from memory_mcp.storage import SqliteStore
from memory_mcp.storage.values import Rewriting

pytestmark = pytest.mark.anyio


async def test_a_memory_without_vectors_is_found_by_words_and_waits_for_them(store: SqliteStore):
    """B32: a missing vector is visible, mended, and does not hide the text."""
    ids = await write(store, draft("one harbour"), replace(draft("two harbours"), vectors=None))
    assert set(await found_by(store, "harbour")) == set(ids)
    assert (await store.stats()).awaiting_vectors == 1
    [waiting] = await store.unembedded(10)
    assert waiting.id == ids[1]
    assert await store.put_vectors([(waiting, vectors(5)), (memory("gone"), vectors(6))]) == 1
    assert await store.unembedded(10) == []
    assert (await store.similar(vectors(5), Filter(), 0.9, 10))[0][0] == waiting.id
    assert await healthy(store)


async def test_vectors_of_another_model_are_refused_and_nothing_is_lost(store: SqliteStore):
    """B13: a change of model never mixes vectors."""
    [memory_id] = await write(store, draft("kept"))
    assert not await store.use_model(ModelIdentity("wider", "1" * 64, 128), now=NOW)
    assert not await store.use_model(ModelIdentity("same width", "2" * 64, MODEL.dimension), now=NOW)
    wide = vectors(1).repeat(2, axis=1)
    [other] = await write(store, replace(draft("stored meanwhile"), vectors=wide))
    [waiting] = await store.unembedded(10)
    assert waiting.id == other
    assert await store.put_vectors([(waiting, wide)]) == 0
    assert (await store.get([memory_id]))[0].content == "kept"
    assert (await store.check()).counts["sentences"] == 1


async def test_vectors_of_another_model_of_the_same_width_are_left_out(store: SqliteStore):
    """B13: between the embedding and the write, another process may have begun with another model."""
    stranger = ModelIdentity("same width", "2" * 64, MODEL.dimension)
    ids = await write(store, replace(draft("theirs"), model=stranger), replace(draft("ours", seed=1), model=MODEL))
    told, _ = await store.write_episode(episode("Summary."), vectors(2), [], model=stranger, door="mcp")
    theirs, summary = await store.unembedded(9)
    assert [theirs.id, summary.id] == [ids[0], told.memory.id]
    assert await store.put_vectors([(theirs, vectors(0))], stranger) == 0
    assert (await store.check()).counts["sentences"] == 1
    assert await store.put_vectors([(theirs, vectors(0))], MODEL) == 1
    assert await healthy(store)


async def test_another_model_may_come_while_there_are_no_vectors(store: SqliteStore):
    await write(store, replace(draft("text"), vectors=None))
    assert await store.use_model(ModelIdentity("another", "3" * 64, 128), now=NOW)
    assert (await store.stats()).model == "another"


async def test_a_text_that_is_rewritten_while_it_is_embedded_gets_no_vector_of_the_old_one(store: SqliteStore):
    """A secret that was taken out of a text must not live on in its vectors."""
    old, new = "the password is pear", "the password is [redacted]"
    await write(store, replace(draft(old), vectors=None))
    [read] = await store.unembedded(10)
    await store.rewrite([Rewriting(read.id, "content", old, new)], now=NOW, door="cli")
    assert await store.put_vectors([(read, vectors(1))]) == 0
    assert [one.content for one in await store.unembedded(10)] == [new]
    assert (await store.check()).counts["sentences"] == 0
