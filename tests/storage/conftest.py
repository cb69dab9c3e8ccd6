"""A store over a real file, with a clock that stands still and a model of 64 dimensions."""

from collections.abc import AsyncIterator
from datetime import timedelta
from pathlib import Path

import pytest
from drafts import MODEL, NOW

from memory_mcp.storage import SqliteStore, open_store
from memory_mcp.storage.database import Database, open_database


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
async def store(path: Path) -> AsyncIterator[SqliteStore]:
    opened = await open_store(path, now=lambda: NOW, patience=timedelta(seconds=0.3))
    await opened.use_model(MODEL, now=NOW)
    yield opened
    await opened.close()


@pytest.fixture
async def database(path: Path) -> AsyncIterator[Database]:
    """The same file without a store around it."""
    opened = await open_database(path)
    yield opened
    await opened.close()
