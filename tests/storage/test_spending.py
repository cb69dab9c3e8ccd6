from pathlib import Path

import pytest
from drafts import NOW

from memory_mcp.storage import SqliteStore, open_store

pytestmark = pytest.mark.anyio


async def test_what_is_spent_is_counted_by_the_day(store: SqliteStore):
    assert await store.spent("2026-05-04") == 0
    await store.spend("2026-05-04", 0.0021)
    await store.spend("2026-05-04", 0.000004)
    await store.spend("2026-05-05", 0.5)
    assert await store.spent("2026-05-04") == pytest.approx(0.002104)
    assert await store.spent("2026-05-05") == pytest.approx(0.5)


async def test_what_is_given_back_is_no_credit(store: SqliteStore):
    await store.spend("2026-05-04", 0.3)
    await store.spend("2026-05-04", -0.1)
    assert await store.spent("2026-05-04") == pytest.approx(0.2)
    await store.spend("2026-05-04", -1)
    await store.spend("2026-05-05", -1)
    assert (await store.spent("2026-05-04"), await store.spent("2026-05-05")) == (0, 0)


async def test_all_who_have_the_file_open_spend_from_one_purse(store: SqliteStore, path: Path):
    other = await open_store(path, now=lambda: NOW)
    try:
        await store.spend("2026-05-04", 0.2)
        await other.spend("2026-05-04", 0.1)
        assert await store.spent("2026-05-04") == await other.spent("2026-05-04") == pytest.approx(0.3)
    finally:
        await other.close()
