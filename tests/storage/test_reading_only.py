"""A file that is opened to be read only is left as it is, whatever is asked."""

from pathlib import Path

import pytest

from memory_mcp.errors import StoreUnavailable
from memory_mcp.models import Filter, Memory, new_id, utc_now
from memory_mcp.storage import open_store
from memory_mcp.storage.values import Draft

pytestmark = pytest.mark.anyio


def held(path: Path) -> dict[str, bytes]:
    """All that lies in the file's folder."""
    return {one.name: one.read_bytes() for one in path.parent.iterdir() if one.is_file()}


def kettle() -> Memory:
    now = utc_now()
    return Memory(new_id(), "The kettle is blue", now, now)


@pytest.fixture
async def path(tmp_path: Path) -> Path:
    store = await open_store(tmp_path / "memory.db", now=utc_now)
    await store.write([Draft(kettle())], door="cli")
    await store.close()
    return tmp_path / "memory.db"


async def test_what_is_there_can_be_read_and_nothing_written(path: Path):
    before = held(path)
    store = await open_store(path, now=utc_now, reads_only=True)
    try:
        assert [one.content for one in await store.weightiest(Filter(), 5)] == ["The kettle is blue"]
        with pytest.raises(StoreUnavailable):
            await store.write([Draft(kettle())], door="hook")
    finally:
        await store.close()
    assert held(path) == before


async def test_the_log_of_a_server_that_writes_meanwhile_is_left_to_it(path: Path):
    writing = await open_store(path, now=utc_now)
    try:
        reading = await open_store(path, now=utc_now, reads_only=True)
        second = Memory(new_id(), "The kettle is red", utc_now(), utc_now())
        await writing.write([Draft(second)], door="mcp")
        assert len(await reading.weightiest(Filter(), 5)) == 2
        log = path.with_name("memory.db-wal").stat().st_size
        await reading.close()
        assert path.with_name("memory.db-wal").stat().st_size == log > 0
    finally:
        await writing.close()


async def test_a_file_that_does_not_exist_yet_is_not_filled(tmp_path: Path):
    with pytest.raises(StoreUnavailable):
        await open_store(tmp_path / "memory.db", now=utc_now, reads_only=True)
