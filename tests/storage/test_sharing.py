import asyncio
import subprocess
import sys
from pathlib import Path

import pytest
from drafts import draft

from memory_mcp.models import Filter
from memory_mcp.storage import SqliteStore

pytestmark = pytest.mark.anyio

WRITER = Path(__file__).with_name("writer.py")


def start(path: Path, name: str, wanted: int) -> subprocess.Popen[str]:
    command = [sys.executable, str(WRITER), str(path), name, str(wanted)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def acknowledged(process: subprocess.Popen[str]) -> tuple[list[str], str]:
    """Wait for a writer's end; gives the ids it told and what it complained about."""
    told, complaints = process.communicate(timeout=120)
    return [line for line in told.splitlines(keepends=False) if len(line) == 36], complaints


async def test_several_processes_write_to_one_file_and_nothing_is_lost(store: SqliteStore, path: Path):
    """B09, B10: no lock error, every acknowledged memory there once, the file sound."""
    writers = [start(path, name, 50) for name in ("first", "second")]
    ours = [(await store.write([draft(f"our text {number}")], door="cli"))[0].id for number in range(20)]
    outcomes = [await asyncio.to_thread(acknowledged, writer) for writer in writers]
    assert [complaints for _, complaints in outcomes] == ["", ""]
    ids = ours + [memory_id for told, _ in outcomes for memory_id in told]
    assert len(await store.get(ids)) == len(set(ids)) == 120
    check = await store.check()
    assert (check.integrity, check.problems) == ("ok", ())
    assert {check.counts[name] for name in ("memories", "indexed", "sentences")} == {120}


async def test_what_was_acknowledged_survives_the_sudden_end_of_its_writer(store: SqliteStore, path: Path):
    """B09: kill -9 in the middle loses nothing that was told, and leaves no half of a memory."""
    writer = start(path, "doomed", 0)
    assert writer.stdout is not None
    told = [(await asyncio.to_thread(writer.stdout.readline)).strip() for _ in range(30)]
    writer.kill()
    rest, _ = await asyncio.to_thread(acknowledged, writer)
    assert len(await store.get([*told, *rest])) == len(told) + len(rest)
    check = await store.check()
    assert (check.integrity, check.problems) == ("ok", ())
    assert len({check.counts[name] for name in ("memories", "indexed", "sentences")}) == 1
    await store.write([draft("life goes on")], door="cli")
    assert (await store.page(Filter(), 500)).memories[0].content == "life goes on"
