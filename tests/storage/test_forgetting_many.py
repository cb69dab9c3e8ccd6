"""Many memories are forgotten one batch after the other: B69."""

import asyncio
from pathlib import Path

import pytest
from drafts import NOW, draft, episode, healthy, turn, write

from memory_mcp.models import Filter, Revision, new_id
from memory_mcp.storage import SqliteStore, open_store
from memory_mcp.storage.eraser import AT_ONCE

pytestmark = pytest.mark.anyio

EVERYTHING = Filter(states=())
MANY = 3 * AT_ONCE


async def until_it_began(store: SqliteStore, kept: int) -> None:
    """Wait until the first batch is gone."""
    while await store.count(EVERYTHING) >= kept:
        pass


async def test_what_is_forgotten_in_batches_is_told_as_one(store: SqliteStore):
    [old] = await write(store, draft("an earlier home", key="home"))
    ids = await write(store, *(draft(f"text {number}") for number in range(2 * AT_ONCE)), draft("home", key="home"))
    [kept] = await write(store, draft("kept"))
    nowhere = new_id()
    forgotten = await store.forget([nowhere, *ids], now=NOW, door="cli")
    assert (forgotten.ids, forgotten.cascaded, forgotten.missing) == (tuple(ids), (old,), (nowhere,))
    assert forgotten.verification == "clean"
    assert [one.id for one in (await store.page(EVERYTHING, 5)).memories] == [kept]
    assert await healthy(store)


async def test_whoever_stores_meanwhile_comes_between_two_batches(store: SqliteStore, path: Path):
    other = await open_store(path, now=lambda: NOW)
    ids = await write(store, *(draft(f"text {number}") for number in range(MANY)))
    forgetting = asyncio.create_task(store.forget(ids, now=NOW, door="cli"))
    await until_it_began(store, MANY)
    [stored] = await write(other, draft("said meanwhile"))
    assert await store.count(EVERYTHING) > 1
    assert (await forgetting).ids == tuple(ids)
    assert [one.id for one in (await store.page(EVERYTHING, 5)).memories] == [stored]
    await other.close()


async def test_an_interrupted_forget_leaves_the_rest_as_it_was_and_goes_on_when_asked_again(store: SqliteStore):
    ids = await write(store, *(draft(f"text {number}") for number in range(MANY)))
    forgetting = asyncio.create_task(store.forget(ids, now=NOW, door="cli"))
    await until_it_began(store, MANY)
    forgetting.cancel()
    await asyncio.wait([forgetting])
    left = [memory_id for memory_id, _ in await store.versions(ids)]
    assert 0 < len(left) < MANY
    assert await healthy(store)
    again = await store.forget(ids, now=NOW, door="cli")
    assert (again.ids, again.verification) == (tuple(left), "clean")
    assert await store.count(EVERYTHING) == 0


async def test_what_changed_since_it_was_confirmed_stands_also_when_others_are_gone_already(
    store: SqliteStore, path: Path
):
    other = await open_store(path, now=lambda: NOW)
    ids = await write(store, *(draft(f"text {number}") for number in range(MANY)))
    expected = await store.versions(ids)
    forgetting = asyncio.create_task(store.forget(ids, now=NOW, door="cli", expected=expected))
    await until_it_began(store, MANY)
    later = NOW.replace(year=NOW.year + 1)
    await other.revise(ids[-1], Revision(importance=1.0), expires_at=None, now=later, door="cli")
    forgotten = await forgetting
    assert forgotten.detail.startswith("Only a part was forgotten: ask again for the rest, which stands as it was.")
    assert 0 < len(forgotten.ids) < MANY
    assert forgotten.missing == ()
    assert ids[-1] in [memory_id for memory_id, _ in await store.versions(ids)]
    await other.close()


async def test_no_summary_is_asked_for_of_a_session_whose_summary_goes_in_another_batch(store: SqliteStore):
    said = [turn(f"turn {number}", session_id="s") for number in range(AT_ONCE + 5)]
    ids = await write(store, *said)
    kept, _ = await store.write_episode(
        episode("all of it", session_id="s", covered_through=len(ids)), None, [], door="cli"
    )
    forgotten = await store.forget([*ids[:-1], kept.memory.id], now=NOW, door="cli")
    assert len(forgotten.ids) == len(ids)
    assert forgotten.resummarize == ()
