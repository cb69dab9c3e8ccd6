"""What a rebuild of the words may cost: nothing."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from drafts import draft, found_by, healthy, write

from memory_mcp.storage import SqliteStore, driver, words
from memory_mcp.storage.database import Database

pytestmark = pytest.mark.anyio

REBUILDER = """
import sys
from pathlib import Path
from memory_mcp.storage import driver, words
connection = driver.connect(Path(sys.argv[1]))
connection.execute("begin immediate")
words.rebuild_words(connection)
print("everything is written, nothing is committed", flush=True)
sys.stdin.read()
"""


class StumbledError(Exception):
    """What ends a rebuild half-way."""


async def test_a_rebuild_that_is_killed_loses_nothing_and_can_be_repeated(store: SqliteStore, path: Path):
    """B12: kill -9 while it works."""
    ids = await write(store, *(draft(f"kettle n{number}", seed=number) for number in range(600)))
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", REBUILDER, str(path), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline()
    process.kill()
    await process.communicate()
    for _ in range(2):
        assert (await store.check()).counts["indexed"] == (await store.stats()).memories == 600
        assert await found_by(store, "n599") == ids[-1:]
        assert await healthy(store)
        await store.rebuild()


async def test_a_rebuild_that_fails_half_way_changes_nothing(store: SqliteStore, path: Path, database: Database):
    """B12."""
    ids = await write(store, *(draft(f"kettle {number}", seed=number) for number in range(20)))

    def stumble(connection: driver.Connection) -> None:
        words.rebuild_words(connection)
        raise StumbledError

    with pytest.raises(StumbledError):
        await database.write(stumble)
    assert await found_by(store, "kettle") == ids
    assert await healthy(store)


async def test_a_lost_index_is_made_again_from_the_texts(store: SqliteStore, path: Path):
    """B12: counts before and after agree."""
    ids = await write(store, *(draft(f"kettle {number}", seed=number) for number in range(20)))
    other = driver.connect(path)
    other.execute("insert into fulltext (fulltext) values ('delete-all')")
    other.close()
    assert await found_by(store, "kettle") == []
    assert not await healthy(store)
    before = (await store.check()).counts["memories"]
    await store.rebuild()
    after = (await store.check()).counts
    assert after["memories"] == after["indexed"] == before
    assert await found_by(store, "kettle") == ids
    assert await healthy(store)
