from datetime import timedelta
from pathlib import Path

import pytest
from drafts import MODEL, NOW, draft, episode, healthy, turn, vectors, write

from memory_mcp.models import Filter
from memory_mcp.storage import SqliteStore, driver, open_store
from memory_mcp.storage.database import Database
from memory_mcp.storage.values import Probe

pytestmark = pytest.mark.anyio


async def test_a_lease_is_held_by_one_owner_until_it_ends(store: SqliteStore):
    minute = timedelta(minutes=1)
    assert await store.lease("upkeep", "first", now=NOW, duration=minute)
    assert not await store.lease("upkeep", "second", now=NOW, duration=minute)
    assert await store.lease("upkeep", "first", now=NOW + minute / 2, duration=minute)
    assert not await store.lease("upkeep", "second", now=NOW + minute, duration=minute)
    assert await store.lease("other", "second", now=NOW, duration=minute)
    assert await store.lease("upkeep", "second", now=NOW + 2 * minute, duration=minute)


async def test_a_lease_passes_from_an_owner_that_ended(store: SqliteStore):
    minute = timedelta(minutes=1)
    assert await store.lease("model", "first", now=NOW, duration=minute)
    assert not await store.lease("model", "second", now=NOW, duration=minute, has_ended={"third"}.__contains__)
    assert await store.lease("model", "second", now=NOW, duration=minute, has_ended={"first"}.__contains__)
    assert not await store.lease("model", "first", now=NOW, duration=minute)


async def test_only_what_is_past_its_time_and_needed_by_nobody_expires(store: SqliteStore):
    past = NOW - timedelta(days=1)
    drafts = [
        draft("past", expires_at=past),
        draft("pinned", expires_at=past, pinned=True),
        draft("future", expires_at=NOW + timedelta(days=1)),
        draft("never"),
        turn("not summarized", expires_at=past),
        turn("summarized", expires_at=past, session_id="s2"),
    ]
    ids = [one.id for one in await store.write(drafts, door="cli")]
    await store.write_episode(episode("Summary.", session_id="s2", covered_through=1), None, [], door="cli")
    assert set(await store.expired(NOW, 10)) == {ids[0], ids[5]}
    assert len(await store.expired(NOW, 1)) == 1


async def test_a_turn_that_waits_for_its_summary_is_found_though_its_time_is_up(store: SqliteStore):
    past = NOW - timedelta(days=1)
    [waiting, gone] = await write(
        store, turn("a kettle", expires_at=past), draft("another kettle", expires_at=past, seed=1)
    )
    where = Filter(now=NOW)
    for terms, seeds in ((("kettle",), ()), ((), (0,))):
        evidence = await store.search(Probe(vectors(*seeds) if seeds else None, terms, where))
        assert [one.id for one in (await store.rows(evidence.rows.tolist())).values()] == [waiting]
    assert [one.id for one in (await store.page(where, 9)).memories] == [waiting]
    await store.write_episode(episode("Summary.", covered_through=1), None, [], door="cli")
    assert set(await store.expired(NOW, 9)) == {waiting, gone}
    assert waiting not in [one.id for one in (await store.page(where, 9)).memories]


async def test_what_went_because_its_time_was_up_is_counted(store: SqliteStore):
    one, two, three = await write(store, draft("one"), draft("two"), draft("three"))
    hour = timedelta(hours=1)
    await store.forget([one], now=NOW, door="cli")
    await store.forget([two, three], now=NOW + hour, door="background", cascade=False)
    assert [await store.expired_since(at) for at in (NOW, NOW + hour)] == [2, 0]


async def test_a_check_of_the_whole_file_does_not_hold_up_a_write(database: Database):
    """On a big file it takes long, so the writer is asked about the words alone."""
    store = SqliteStore(database, lambda: NOW, timedelta())
    asked: list[str] = []
    await database.maintain(lambda at: at.set_trace_callback(asked.append))
    assert await healthy(store)
    assert "integrity-check" in " ".join(asked)
    assert "integrity_check" not in " ".join(asked)


async def test_the_secret_is_the_files_own_and_stays(store: SqliteStore, path: Path, tmp_path: Path):
    again = await open_store(path, now=lambda: NOW)
    other = await open_store(tmp_path / "other.db", now=lambda: NOW)
    assert len(await store.secret()) == 32
    assert await again.secret() == await store.secret() != await other.secret()
    await again.close()
    await other.close()


async def test_changes_moves_with_every_commit_of_anybody_and_not_otherwise(store: SqliteStore, path: Path):
    other = await open_store(path, now=lambda: NOW)
    seen = [await store.changes(), await store.changes()]
    await store.write([draft("ours")], door="cli")
    seen += [await store.changes(), await store.changes()]
    await other.write([draft("theirs")], door="cli")
    seen += [await store.changes()]
    await other.close()
    assert seen[0] == seen[1] != seen[2] == seen[3] != seen[4]


async def test_stats_count_what_is_there(store: SqliteStore, path: Path):
    await store.write(
        [draft("a"), draft("b", namespace="project", created_at=NOW + timedelta(1)), turn("c")], door="cli"
    )
    stats = await store.stats()
    assert (stats.memories, stats.by_kind, stats.by_state) == (3, {"fact": 2, "turn": 1}, {"active": 3})
    assert (stats.by_namespace, stats.sentences, stats.model) == ({"user": 2, "project": 1}, 3, MODEL.name)
    assert (stats.oldest, stats.newest) == (NOW, NOW + timedelta(1))
    assert stats.bytes_on_disk > 100_000
    assert stats.path == str(path)


async def test_every_write_leaves_a_line_in_the_audit_without_content(store: SqliteStore, path: Path):
    [written] = await store.write([draft("a secret garden")], door="web")
    await store.forget([written.id], now=NOW, door="cli")
    other = driver.connect(path)
    lines = [tuple(line) for line in other.execute("select verb, door, count, ids from audit order by number")]
    other.close()
    assert lines == [("store", "web", 1, f'["{written.id}"]'), ("forget", "cli", 1, f'["{written.id}"]')]


@pytest.mark.parametrize(
    ("harm", "problem"),
    [
        ("insert into fulltext (fulltext) values ('delete-all')", "2 memories are not in the words' index"),
        ("insert into fulltext (rowid, tokens) values (77, 'stray')", "1 entries of the words' index belong to no"),
        ("delete from vec_full where sentence = 1", "1 sentences have sign bits but no full vector"),
        ("pragma foreign_keys = off; delete from memory where row = 1", "1 sentences belong to no memory"),
        ("update vec_bits set namespace = 9 where memory = 1", "1 sentences are filed under another namespace"),
        (
            "update vec_bits set state = 1 where memory = 1",
            "1 sentences are filed under another namespace, kind, state",
        ),
        ("update vec_bits set kind = 9 where memory = 2", "1 sentences are filed under another"),
        ("update vec_bits set trust = 1 where memory = 2", "1 sentences are filed under another"),
        ("update vec_bits set created_at = created_at + 1", "2 sentences are filed under another"),
    ],
)
async def test_a_check_names_what_does_not_agree(store: SqliteStore, path: Path, harm: str, problem: str):
    await store.write([draft("one"), draft("two")], door="cli")
    assert (await store.check()).problems == ()
    other = driver.connect(path)
    other.executescript(harm)
    other.close()
    assert any(problem in one for one in (await store.check()).problems)


async def test_a_rebuild_mends_the_words_and_changes_nothing_else(store: SqliteStore, path: Path):
    await store.write([draft("the harbour", tags=("sea",)), draft("another")], door="cli")
    other = driver.connect(path)
    other.execute("insert into fulltext (fulltext) values ('delete-all')")
    before = other.execute("select row, content, tokens, updated_at from memory").fetchall()
    await store.rebuild()
    assert other.execute("select row, content, tokens, updated_at from memory").fetchall() == before
    other.close()
    assert (await store.check()).problems == ()
    assert (await store.search(Probe(None, ("sea",), Filter()))).counts.sum() == 1
