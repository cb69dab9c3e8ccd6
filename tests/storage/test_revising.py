from dataclasses import replace
from datetime import timedelta

import pytest
from drafts import NOW, draft, found_by, healthy, turn, vectors, write

from memory_mcp.answers import Changed
from memory_mcp.errors import Conflict, NotFound
from memory_mcp.models import Filter, Kind, Revision, new_id
from memory_mcp.storage import SqliteStore
from memory_mcp.storage.values import Draft

pytestmark = pytest.mark.anyio


async def test_a_revision_reaches_rows_words_and_vectors(store: SqliteStore):
    [memory_id] = await write(store, draft("text", tags=("old",), expires_at=NOW + timedelta(days=1)))
    change = Revision(0.9, 0.2, ("New",), Kind.DECISION, "project", True, 0.0)
    revised = await store.revise(memory_id, change, expires_at=None, now=NOW + timedelta(hours=1), door="cli")
    assert revised == (await store.get([memory_id]))[0]
    assert (revised.importance, revised.confidence, revised.tags, revised.kind) == (0.9, 0.2, ("new",), Kind.DECISION)
    assert (revised.namespace, revised.pinned, revised.expires_at) == ("project", True, None)
    assert revised.updated_at > NOW
    assert (await found_by(store, "old"), await found_by(store, "new")) == ([], [memory_id])
    narrow = Filter(namespaces=("project",), kinds=(Kind.DECISION,))
    assert [name for name, _ in await store.similar(vectors(0), narrow, 0.9, 10)] == [memory_id]
    assert await healthy(store)


async def test_a_revision_leaves_alone_what_it_does_not_name(store: SqliteStore):
    given = draft("text", tags=("a",), kind=Kind.METRIC, pinned=True, expires_at=NOW + timedelta(days=1))
    [memory_id] = await write(store, given)
    revised = await store.revise(memory_id, Revision(importance=0.7), expires_at=None, now=NOW, door="cli")
    assert revised == replace(given.memory, importance=0.7, updated_at=revised.updated_at)


@pytest.mark.parametrize(
    ("given", "change"),
    [
        (turn("said"), Revision(kind=Kind.FACT)),
        (turn("said"), Revision(namespace="project")),
        (draft("fact"), Revision(kind=Kind.EPISODE)),
        (draft("blue", key="colour"), Revision(namespace="taken")),
    ],
)
async def test_a_revision_that_would_break_something_is_refused(store: SqliteStore, given: Draft, change: Revision):
    [memory_id, _] = await write(store, given, draft("red", key="colour", namespace="taken"))
    with pytest.raises(Conflict, match="Nothing was changed"):
        await store.revise(memory_id, change, expires_at=None, now=NOW, door="cli")
    assert await store.get([memory_id]) == [replace(given.memory, sequence=1 if given.memory.session_id else None)]


async def test_a_revision_of_an_unknown_memory_names_it(store: SqliteStore):
    with pytest.raises(NotFound, match="no memory 'nowhere'"):
        await store.revise("nowhere", Revision(importance=1.0), expires_at=None, now=NOW, door="cli")


async def test_archiving_hides_a_memory_and_restoring_brings_it_back(store: SqliteStore):
    ids = await write(store, draft("one"), draft("two", seed=2))
    assert await store.archive(ids[:1], now=NOW, door="cli") == Changed(tuple(ids[:1]))
    assert await store.archive(ids[:1], now=NOW, door="cli") == Changed(())
    assert [one.id for one in (await store.page(Filter(), 10)).memories] == ids[1:]
    assert await store.similar(vectors(0), Filter(), 0.9, 10) == []
    assert await store.restore(ids, now=NOW, door="cli") == Changed(tuple(ids[:1]))
    assert [name for name, _ in await store.similar(vectors(0), Filter(), 0.9, 10)] == ids[:1]


async def test_a_restore_into_a_key_that_is_taken_is_refused(store: SqliteStore):
    [old] = await write(store, draft("blue", key="colour"))
    await store.archive([old], now=NOW, door="cli")
    [holder] = await write(store, draft("green", key="colour"))
    with pytest.raises(Conflict, match=f"held by memory {holder}"):
        await store.restore([old], now=NOW, door="cli")


async def test_a_restore_beside_the_same_text_is_refused_and_names_it(store: SqliteStore):
    [old] = await write(store, draft("blue"))
    await store.archive([old], now=NOW, door="cli")
    [new] = await write(store, draft("blue"))
    with pytest.raises(Conflict, match=f"Nothing was changed: memory {new} holds the same text"):
        await store.restore([old], now=NOW, door="cli")
    await store.archive([new], now=NOW, door="cli")
    assert await store.restore([old], now=NOW, door="cli") == Changed((old,))


async def test_an_archived_memory_moves_on_in_version(store: SqliteStore):
    ids = await write(store, draft("one"))
    [(_, before)] = await store.versions(ids)
    await store.archive(ids, now=NOW, door="cli")
    [(_, after)] = await store.versions([*ids, new_id()])
    assert after > before


async def test_recalls_and_ratings_are_counted(store: SqliteStore):
    [one, two] = await write(store, draft("one"), draft("two"))
    await store.count_access([one, one, new_id()], now=NOW)
    await store.count_access([one], now=NOW + timedelta(days=1))
    assert await store.rate([two, new_id()], useful=True, now=NOW, door="cli") == [two]
    assert await store.rate([two], useful=False, now=NOW, door="cli") == [two]
    first, second = await store.get([one, two])
    assert (first.access_count, first.last_accessed_at) == (3, NOW + timedelta(days=1))
    assert (second.access_count, second.useful, second.useless) == (0, 1, 1)
