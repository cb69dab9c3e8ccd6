import asyncio
from pathlib import Path

import pytest
from drafts import NOW, draft
from files import ACT, contents

from memory_mcp.errors import (
    StoreBusy,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)
from memory_mcp.storage import driver, memories, open_store
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


async def test_a_cancelled_write_is_wholly_there_or_wholly_absent_and_does_not_disturb_the_next(database: Database):
    together = [draft("first half"), draft("second half")]
    for _ in range(20):
        writing = asyncio.ensure_future(database.write(memories.write, together, ACT))
        await asyncio.sleep(0)
        writing.cancel()
    await database.write(memories.write, [draft("afterwards")], ACT)
    assert sorted(await contents(database)) in (["afterwards"], ["afterwards", "first half", "second half"])


async def test_a_closed_store_says_that_it_is_closed(path: Path):
    store = await open_store(path, now=lambda: NOW)
    await store.close()
    await store.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.write([draft("text")], door="cli")
