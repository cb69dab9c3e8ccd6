from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from drafts import NOW, draft, episode, write
from files import KNOWN
from remains import ENGLISH, SEARCHED, remains, traces

from memory_mcp.models import Action
from memory_mcp.storage import SqliteStore, driver, memories, open_store, scan, schema
from memory_mcp.storage.audit import Act
from memory_mcp.storage.database import open_database

pytestmark = pytest.mark.anyio


async def test_an_erasure_that_a_reader_blocks_is_pending_and_finished_later(store: SqliteStore, path: Path):
    [memory_id] = await write(store, draft(ENGLISH, seed=901))
    reading = driver.connect(path)
    reading.execute("begin")
    reading.execute("select count(*) from memory").fetchone()
    forgotten = await store.forget([memory_id], now=NOW, door="cli")
    assert forgotten.verification == "pending"
    assert "another program is using" in forgotten.detail
    assert await store.get([memory_id]) == []
    assert remains(path, "zanzibarian") > 0
    assert await store.finish_erasure() == "pending"
    assert "not verified yet" in " ".join(await store.warnings())
    reading.close()
    assert await store.finish_erasure() == "clean"
    assert remains(path, "zanzibarian", "xylotom", *traces(901)) == 0
    assert await store.finish_erasure() == ""
    assert "not verified yet" not in " ".join(await store.warnings())


async def test_a_pending_erasure_is_finished_by_the_next_process(store: SqliteStore, path: Path):
    memory_id, _ = await write(store, draft(ENGLISH, seed=901), draft("kept"))
    reading = driver.connect(path)
    reading.execute("begin")
    reading.execute("select count(*) from memory").fetchone()
    assert (await store.forget([memory_id], now=NOW, door="cli")).verification == "pending"
    reading.close()
    later = await open_store(path, now=lambda: NOW)
    assert await later.finish_erasure() == "clean"
    assert remains(path, "zanzibarian", "xylotom", *traces(901)) == 0
    assert (await later.check()).problems == ()
    await later.close()


async def test_traces_that_are_found_are_removed_by_writing_the_file_anew(store: SqliteStore, path: Path):
    [memory_id] = await write(store, draft(ENGLISH))
    careless = driver.connect(path)
    careless.execute("pragma secure_delete = off")
    careless.execute("insert into lease values ('careless', :text, 0)", {"text": ENGLISH})
    careless.execute("delete from lease")
    careless.execute("pragma wal_checkpoint(truncate)")
    careless.close()
    assert remains(path, ENGLISH) > 1
    assert (await store.forget([memory_id], now=NOW, door="cli")).verification == "clean"
    assert remains(path, ENGLISH, "zanzibarian") == 0


async def test_an_encrypted_file_cannot_be_looked_through_and_says_so(path: Path):
    store = await open_store(path, key="ab" * 32, now=lambda: NOW)
    [memory_id] = await write(store, draft(ENGLISH))
    forgotten = await store.forget([memory_id], now=NOW, door="cli")
    assert forgotten.verification == "unverified"
    assert "the file is encrypted" in forgotten.detail
    assert await store.finish_erasure() == ""
    await store.close()


@pytest.mark.parametrize("others", [(), ("日本に住んでいる",)])
async def test_what_cannot_be_told_from_chance_is_not_said_to_be_looked_for(
    store: SqliteStore, others: tuple[str, ...]
):
    [memory_id, *_] = await write(store, *(replace(draft(text), vectors=None) for text in ("日本", *others)))
    forgotten = await store.forget([memory_id], now=NOW, door="cli")
    assert forgotten.verification == "unverified"
    assert "too short to be told from chance" in forgotten.detail
    assert "encrypted" not in forgotten.detail
    assert await store.finish_erasure() == ""


async def test_how_an_episode_began_and_its_tools_are_looked_for_among_the_traces(store: SqliteStore, path: Path):
    told = replace(
        episode("Summary."), trigger="zanzibarian request", actions=(Action("xylotomous", True, "quixotic-digest"),)
    )
    written, _ = await store.write_episode(told, None, [], door="mcp")
    careless = driver.connect(path)
    careless.execute("pragma secure_delete = off")
    for text in ("zanzibarian request", "xylotomous", "quixotic-digest"):
        careless.execute("insert into lease values (:text, '', 0)", {"text": text})
    careless.execute("delete from lease")
    careless.execute("pragma wal_checkpoint(truncate)")
    careless.close()
    assert (await store.forget([written.memory.id], now=NOW, door="cli")).verification == "clean"
    assert remains(path, "zanzibarian", "xylotomous", "quixotic") == 0


async def test_backups_that_hold_a_forgotten_memory_are_removed_and_others_kept(path: Path):
    later = schema.Migration(len(KNOWN) + 1, "create table later (a text) strict;")
    old = await open_database(path, migrations=KNOWN)
    [early] = await old.write(memories.write, [draft(ENGLISH)], Act("cli", 0))
    await old.close()
    database = await open_database(path, migrations=[*KNOWN, later])
    [late] = await database.write(memories.write, [draft("written after the backup")], Act("cli", 0))
    store = SqliteStore(database, lambda: NOW, timedelta(seconds=1))
    [backup] = schema.backups(path)
    assert (await store.forget([late.id], now=NOW, door="cli")).detail == SEARCHED
    assert schema.backups(path) == [backup]
    assert backup.name in (await store.forget([early.id], now=NOW, door="cli")).detail
    assert schema.backups(path) == []
    assert remains(path, "zanzibarian") == 0
    await store.close()


def test_a_scan_counts_across_the_edges_of_its_windows(tmp_path: Path):
    edge = scan.WINDOW
    content = bytearray(edge + 100)
    content[edge - 3 : edge + 4] = b"pattern"
    content[10:17] = b"pattern"
    content[edge - 20 : edge - 13] = b"pattern"
    (tmp_path / "file").write_bytes(content)
    assert scan.count(tmp_path / "file", [b"pattern", b"a longer one than that"]) == 3
