import asyncio
import os
import sys
import threading
from datetime import timedelta
from pathlib import Path

import pytest
from drafts import NOW, draft, found_by, healthy
from files import ACT, contents, grow, move

from memory_mcp.errors import (
    StoreBusy,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from memory_mcp.models import Filter
from memory_mcp.storage import SqliteStore, driver, memories, open_store
from memory_mcp.storage.database import Database

pytestmark = pytest.mark.anyio


async def test_a_full_disk_says_that_nothing_was_saved_and_the_next_write_works(database: Database):
    await database.maintain(lambda at: at.execute("pragma max_page_count = 70").fetchone())
    with pytest.raises(StoreFull, match="Nothing was saved: the disk, or the size allowed"):
        await database.write(memories.write, [draft(f"long text {number} " * 500) for number in range(100)], ACT)
    assert await contents(database) == []
    await database.maintain(lambda at: at.execute("pragma max_page_count = 100000").fetchone())
    await database.write(memories.write, [draft("now there is room")], ACT)
    assert await contents(database) == ["now there is room"]


async def test_a_file_that_is_full_can_be_read_and_what_is_forgotten_makes_room(database: Database):
    store = SqliteStore(database, lambda: NOW, timedelta(seconds=0.1))
    texts = [f"Long text {number}, and so on. " * 50 for number in range(40)]
    written = await store.write([draft(text) for text in texts], door="cli")
    await database.maintain(lambda at: at.execute("pragma max_page_count = 1").fetchone())
    more = draft("And one that needs room. " * 500)
    with pytest.raises(StoreFull, match="forget what is not needed any more"):
        await store.write([more], door="cli")
    assert len(await contents(database)) == 40
    await store.forget([one.id for one in written[:20]], now=NOW, door="cli")
    await store.write([more], door="cli")
    assert len(await contents(database)) == 21


@pytest.mark.skipif(sys.platform == "win32", reason="a file with a hole in it would take 8 GB there")
async def test_a_file_of_eight_gigabytes_takes_nothing_more_and_can_be_read(path: Path):
    before = await open_store(path, now=lambda: NOW)
    await before.write([draft("Written before.")], door="cli")
    await before.close()
    grow(path, pages=8 * 2**30 // 4096)
    store = await open_store(path, now=lambda: NOW)
    [warning] = await store.warnings()
    with pytest.raises(StoreFull, match=r"Nothing was saved: .* \(8 GB\), is used up"):
        await store.write([draft("Written after. " * 1_000)], door="cli")
    found = await found_by(store, "written")
    await store.close()
    assert "larger than 2 GB; at 8 GB nothing more can be saved" in warning
    assert len(found) == 1


async def test_a_forget_that_fails_says_that_nothing_was_forgotten(database: Database):
    store = SqliteStore(database, lambda: NOW, timedelta(seconds=0.1))
    [written] = await store.write([draft("text")], door="cli")
    await database.maintain(lambda at: at.execute("pragma query_only = on"))
    with pytest.raises(StoreReadOnly, match="Nothing was forgotten: "):
        await store.forget([written.id], now=NOW, door="cli")
    assert await contents(database) == ["text"]


async def test_a_file_that_cannot_be_written_can_be_read(database: Database):
    await database.write(memories.write, [draft("written before")], ACT)
    await database.maintain(lambda at: at.execute("pragma query_only = on"))
    with pytest.raises(StoreReadOnly, match=r"Nothing was saved: .* cannot be opened for writing"):
        await database.write(memories.write, [draft("written after")], ACT)
    assert await contents(database) == ["written before"]


async def test_a_file_that_another_program_holds_says_to_try_again(database: Database):
    other = driver.connect(database.path)
    other.execute("begin immediate")
    await database.maintain(lambda at: at.execute("pragma busy_timeout = 20"))
    with pytest.raises(StoreBusy, match=r"Nothing was saved: .* Try again"):
        await database.write(memories.write, [draft("text")], ACT)
    other.rollback()
    other.close()
    await database.write(memories.write, [draft("text")], ACT)
    assert await contents(database) == ["text"]


async def test_a_write_that_fails_leaves_nothing_and_holds_no_lock(database: Database):
    """B16: the transaction is rolled back before the error is told."""
    with pytest.raises(StoreUnavailable, match="Nothing was saved"):
        await database.write(memories.write, [draft("fine"), draft("not fine", importance=7.0)], ACT)
    other = driver.connect(database.path)
    other.execute("pragma busy_timeout = 0")
    other.execute("begin immediate")
    other.rollback()
    other.close()
    assert await contents(database) == []


async def test_a_write_that_is_cancelled_half_way_is_wholly_there(database: Database):
    inside, go_on = threading.Event(), threading.Event()

    def held(at: driver.Connection) -> None:
        memories.write(at, [draft("first half")], ACT)
        inside.set()
        go_on.wait()
        memories.write(at, [draft("second half")], ACT)

    writing = asyncio.ensure_future(database.write(held))
    await asyncio.to_thread(inside.wait)
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    assert await contents(database) == []
    go_on.set()
    await database.write(memories.write, [draft("afterwards")], ACT)
    assert await contents(database) == ["afterwards", "second half", "first half"]


async def test_a_write_that_is_cancelled_before_it_begins_is_wholly_absent(database: Database):
    writing = asyncio.ensure_future(database.write(memories.write, [draft("never")], ACT))
    writing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await writing
    await database.write(memories.write, [draft("afterwards")], ACT)
    assert await contents(database) == ["afterwards"]


async def test_a_closed_store_says_that_it_is_closed(path: Path):
    store = await open_store(path, now=lambda: NOW)
    await store.close()
    await store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.write([draft("text")], door="cli")


# ---- a file that is there no longer ----------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="Windows does not let go of files that are open")
@pytest.mark.parametrize(
    "gone", [["memory.db"], ["memory.db-wal"], ["memory.db-shm"], ["memory.db-wal", "memory.db-shm"]]
)
async def test_a_file_that_is_removed_while_it_is_open_takes_no_more_writes(path: Path, gone: list[str]):
    """B11: what is acknowledged is in a file that somebody can open."""
    store = await open_store(path, now=lambda: NOW)
    await store.write([draft("before")], door="cli")
    for name in gone:
        path.with_name(name).unlink()
    for _ in range(2):
        with pytest.raises(StoreUnavailable, match=r"Nothing was saved: .* replaced or removed"):
            await store.write([draft("after")], door="cli")
    with pytest.raises(StoreUnavailable, match=r"Nothing could be read: .* replaced or removed"):
        await store.stats()
    assert store.is_lost
    await store.close()
    again = await open_store(path, now=lambda: NOW)
    assert [one.content for one in (await again.page(Filter(), 9)).memories] == (
        [] if path.name in gone else ["before"]
    )
    assert await healthy(again)
    await again.close()


@pytest.mark.skipif(os.name == "nt", reason="Windows does not let go of files that are open")
async def test_a_file_that_is_replaced_while_it_is_open_is_whole_and_so_is_the_new_one(path: Path, tmp_path: Path):
    """B11: a log must not be read into a file that it does not belong to."""
    other, moved = tmp_path / "other.db", tmp_path / "moved.db"
    await _with(other, "of the other file")
    store = await open_store(path, now=lambda: NOW)
    await store.write([draft("before")], door="cli")
    move(path, moved)
    move(other, path)
    with pytest.raises(StoreUnavailable, match=r"Nothing was forgotten: .* replaced or removed"):
        await store.forget([], now=NOW, door="cli")
    await store.close()
    assert await _with(path, "later") == ["later", "of the other file"]
    assert await _with(moved, "later") == ["before", "later"]


async def _with(path: Path, content: str) -> list[str]:
    """Store a text in a file; gives all that is there then."""
    store = await open_store(path, now=lambda: NOW)
    await store.write([draft(content)], door="cli")
    assert await healthy(store)
    found = sorted(one.content for one in (await store.page(Filter(), 9)).memories)
    await store.close()
    return found


async def test_what_other_programs_and_upkeep_do_to_the_log_is_no_loss(path: Path):
    store = await open_store(path, now=lambda: NOW)
    for number in range(3):
        other = await open_store(path, now=lambda: NOW)
        [written] = await other.write([draft(f"text {number}")], door="cli")
        await other.forget([written.id], now=NOW, door="cli")
        visitor = driver.connect(path)
        visitor.execute("vacuum")
        visitor.execute("pragma wal_checkpoint(truncate)")
        visitor.close()
        await other.close()
        await store.write([draft(f"own text {number}")], door="cli")
    assert not store.is_lost
    assert (await store.stats()).memories == 3
    await store.close()
