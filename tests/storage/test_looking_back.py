"""What the store tells whoever looks back over all memories: sentences, what went into patterns, what is doubted."""

from datetime import timedelta

import numpy as np
import pytest
from drafts import NOW, draft, memory, turn, vectors, write

from memory_mcp.models import Filter, Kind
from memory_mcp.storage import SqliteStore
from memory_mcp.storage.values import Draft

pytestmark = pytest.mark.anyio

DAY = timedelta(days=1)
EVERYTHING = Filter()


async def test_sentences_come_newest_memory_first_in_the_order_of_its_text(store: SqliteStore):
    [old, new] = await write(
        store, Draft(memory("old"), vectors(1, 2)), Draft(memory("new", created_at=NOW + DAY), vectors(3))
    )
    found = await store.sentences(EVERYTHING, 9, 9)
    assert found.ids == (new, old)
    assert found.owners.tolist() == [0, 1, 1]
    assert found.places.tolist() == [0, 0, 1]
    assert np.linalg.norm(found.vectors, axis=1) == pytest.approx(1, abs=1e-6)
    assert (found.vectors * vectors(3, 1, 2)).sum(axis=1).min() > 0.999


async def test_sentences_are_filtered_and_bounded(store: SqliteStore):
    ids = await write(
        store, *(Draft(memory(f"text {n}", created_at=NOW + n * DAY), vectors(n, n + 50)) for n in range(4))
    )
    await write(store, draft("elsewhere", namespace="shop", seed=9), Draft(memory("not embedded")))
    here = Filter(namespaces=("user",))
    assert (await store.sentences(here, 9, 99)).ids == tuple(reversed(ids))
    assert (await store.sentences(here, 2, 99)).ids == (ids[3], ids[2])
    assert len((await store.sentences(here, 9, 3)).vectors) == 3
    assert (await store.sentences(Filter(namespaces=("nowhere",)), 9, 9)).ids == ()


async def test_what_went_into_a_pattern_is_known_by_the_latest_and_turns_are_not_sources(store: SqliteStore):
    [one, two, said] = await write(store, draft("one"), draft("two", seed=1), turn("said"))
    [pattern] = await write(store, draft("p", kind=Kind.PATTERN, derived_from=(one, two), seed=2))
    [lesson] = await write(store, draft("l", kind=Kind.LESSON, derived_from=(two, said), seed=3))
    await write(store, draft("f", kind=Kind.FACT, derived_from=(one,), seed=4))
    assert await store.consolidated() == {one: pattern, two: lesson}


async def test_what_nobody_used_since_its_cutoff_has_faded_unless_it_has_an_end_or_a_pin(store: SqliteStore):
    drafts = [
        draft("left", kind=Kind.DECISION),
        draft("recalled", kind=Kind.DECISION),
        draft("pinned", kind=Kind.DECISION, pinned=True),
        draft("ends", kind=Kind.DECISION, expires_at=NOW + 99 * DAY),
        draft("fact"),
    ]
    ids = await write(store, *drafts)
    later = NOW + 10 * DAY
    await store.count_access([ids[1]], now=later)
    assert await store.faded({Kind.DECISION: NOW}, 9) == []
    assert await store.faded({Kind.DECISION: NOW + DAY}, 9) == [ids[0]]
    assert await store.faded({Kind.DECISION: later + DAY}, 9) == ids[:2]
    assert await store.faded({Kind.DECISION: later + DAY}, 1) == ids[:1]


async def test_what_is_doubted_is_counted_beyond_what_is_read(store: SqliteStore):
    ids = await write(store, *(draft(f"text {n}", created_at=NOW + n * DAY) for n in range(3)))
    count, first = await store.unused(EVERYTHING, NOW + 5 * DAY, 2)
    assert (count, [one.id for one in first]) == (3, ids[:2])
    await store.count_access([ids[0]] * 4 + [ids[1]] * 5, now=NOW)
    await store.rate([ids[2]], useful=True, now=NOW, door="cli")
    count, first = await store.unhelpful(EVERYTHING, 4, 1)
    assert (count, [one.id for one in first]) == (2, [ids[1]])
    count, first = await store.stale(EVERYTHING, {Kind.FACT: NOW + 5 * DAY}, NOW, 9)
    assert (count, [one.id for one in first]) == (3, ids)


async def test_the_audit_is_cut_to_its_newest_lines(store: SqliteStore):
    for number in range(5):
        await write(store, draft(f"text {number}", seed=number))
    assert await store.audit_lines() == 5
    await store.trim_audit(2)
    assert await store.audit_lines() == 2
    await store.trim_audit(2)
    assert await store.audit_lines() == 2
