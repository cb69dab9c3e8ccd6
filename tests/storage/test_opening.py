import os
import subprocess
import sys
from pathlib import Path

import pytest
from drafts import MODEL, NOW, draft, vectors
from files import ACT, FIRST, KEY, contents, mode, names, put, raw

from memory_mcp.errors import (
    InvalidInput,
    StoreDamaged,
    StoreForeign,
    StoreReadOnly,
    StoreUnavailable,
)
from memory_mcp.models import Filter
from memory_mcp.storage import driver, memories, open_store, schema
from memory_mcp.storage.database import Database, open_database
from memory_mcp.storage.values import Probe

pytestmark = pytest.mark.anyio


# ---- a new file ------------------------------------------------------------------------------------------------------


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
@pytest.mark.parametrize("umask", [0, 0o077, 0o277])
async def test_a_new_file_and_its_folders_are_for_the_owner_alone_under_any_umask(tmp_path: Path, umask: int):
    path = tmp_path / "one" / "two" / "memory.db"
    before = os.umask(umask)
    try:
        store = await open_store(path, now=lambda: NOW)
        await store.write([draft("private")], door="cli")
    finally:
        os.umask(before)
    assert [mode(folder) for folder in (path.parent, path.parent.parent)] == [0o700, 0o700]
    assert names(path.parent) == ["memory.db", "memory.db-shm", "memory.db-wal"]
    assert {mode(path.with_name(name)) for name in names(path.parent)} == {0o600}
    await store.close()


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
async def test_a_folder_that_is_there_already_keeps_its_permissions(tmp_path: Path):
    before = mode(tmp_path)
    await (await open_store(tmp_path / "memory.db", now=lambda: NOW)).close()
    assert mode(tmp_path) == before


def test_four_processes_that_open_a_new_file_at_once_make_its_schema_once(path: Path):
    """B10: the schema is created once, and nobody fails."""
    program = (
        "import asyncio, sys; from pathlib import Path; from memory_mcp.storage.database import open_database\n"
        "asyncio.run(open_database(Path(sys.argv[1])))"
    )
    starting = [
        subprocess.Popen([sys.executable, "-c", program, str(path)], stderr=subprocess.PIPE, text=True)
        for _ in range(4)
    ]
    outcomes = [(one.communicate(timeout=60)[1], one.returncode) for one in starting]
    assert [code for _, code in outcomes] == [0, 0, 0, 0], outcomes
    connection = driver.connect(path)
    assert schema.version(connection) == schema.packaged_migrations()[-1].number
    assert connection.execute("pragma integrity_check").fetchone()[0] == "ok"
    connection.close()


async def test_opening_a_current_file_writes_nothing(path: Path):
    """B10: a server that only recalls must not need the write lock."""
    first = await open_store(path, now=lambda: NOW)
    await first.use_model(MODEL, now=NOW)
    await first.write([draft("something")], door="cli")
    before = await first.changes()
    second = await open_store(path, now=lambda: NOW)
    assert await second.use_model(MODEL, now=NOW)
    assert await second.get([]) == []
    assert await first.changes() == before
    await second.close()
    await first.close()


# ---- files that are not usable ---------------------------------------------------------------------------------------


async def test_a_file_of_another_program_is_refused_untouched(path: Path):
    other = driver.connect(path)
    other.execute("create table their_things (a)")
    other.close()
    before = raw(path)
    with pytest.raises(StoreForeign, match=r"Nothing was saved: .* belongs to another program"):
        await open_database(path)
    assert raw(path) == before


async def test_a_file_that_is_not_a_database_is_refused_untouched(path: Path):
    put(path, b"Dear diary, " * 1000)
    before = raw(path)
    with pytest.raises(StoreForeign, match="not a memory file"):
        await open_database(path)
    assert raw(path) == before


async def test_a_file_of_a_newer_version_is_refused_untouched(path: Path):
    """B14: an old program beside a new one must not repair what it does not understand."""
    newer = schema.packaged_migrations()[-1].number + 1
    await (
        await open_database(path, migrations=[*FIRST, schema.Migration(newer, "create table later (a text) strict;")])
    ).close()
    before = raw(path)
    with pytest.raises(StoreForeign, match=r"newer version of memory-mcp.*Upgrade memory-mcp here"):
        await open_database(path)
    assert raw(path) == before


async def test_a_damaged_file_says_so(path: Path):
    """B11: a broken file fails loudly."""
    store = await open_store(path, now=lambda: NOW)
    await store.write([draft(f"text {number} " * 40) for number in range(50)], door="cli")
    await store.close()
    whole = raw(path)
    put(path, whole[:4096] + b"\xa5" * (len(whole) - 4096))
    with pytest.raises(StoreDamaged, match="is damaged"):
        await open_store(path, now=lambda: NOW)


async def test_a_folder_in_the_place_of_the_file_is_named(tmp_path: Path):
    with pytest.raises(StoreUnavailable, match="is a folder"):
        await open_database(tmp_path)


async def test_a_place_where_nothing_can_be_made_is_named(tmp_path: Path):
    put(tmp_path / "file", b"")
    with pytest.raises(StoreReadOnly, match=r"Nothing was saved: .* cannot be made"):
        await open_database(tmp_path / "file" / "memory.db")


@pytest.mark.parametrize("wrong", ["", "cd" * 32])
async def test_an_encrypted_file_opens_with_its_key_only(path: Path, wrong: str):
    database = await open_database(path, key=KEY)
    await database.write(memories.write, [draft("a secret garden")], ACT)
    await database.close()
    assert b"a secret garden" not in raw(path)
    with pytest.raises(StoreForeign, match="key is missing or wrong"):
        await open_database(path, key=wrong)
    database = await open_database(path, key=KEY)
    assert await contents(database) == ["a secret garden"]
    await database.close()


async def test_a_key_of_another_form_is_refused(path: Path):
    with pytest.raises(InvalidInput, match="64 hexadecimal digits"):
        await open_database(path, key="'; drop table memory")


async def test_a_key_for_a_file_that_is_not_encrypted_is_refused(path: Path):
    await (await open_database(path)).close()
    with pytest.raises(StoreForeign, match="key is missing or wrong"):
        await open_database(path, key=KEY)


# ---- closing ---------------------------------------------------------------------------------------------------------


async def test_the_last_one_to_close_leaves_no_log_behind(path: Path):
    store = await open_store(path, now=lambda: NOW)
    await store.write([draft("text")], door="cli")
    await store.close()
    assert names(path.parent) == ["memory.db"]


async def test_closing_does_not_wait_for_a_program_that_reads(path: Path):
    store = await open_store(path, now=lambda: NOW)
    await store.write([draft("text")], door="cli")
    reading = driver.connect(path)
    reading.execute("begin")
    reading.execute("select count(*) from memory").fetchone()
    await store.close()
    assert reading.execute("select count(*) from memory").fetchone()[0] == 1
    reading.close()


def test_a_store_left_open_does_not_keep_the_process(path: Path):
    """B16: the worker threads of open connections must not hold up the end."""
    program = (
        "import asyncio, sys; from pathlib import Path; from memory_mcp.storage.database import open_database\n"
        "kept = asyncio.run(open_database(Path(sys.argv[1])))"
    )
    done = subprocess.run([sys.executable, "-c", program, str(path)], timeout=60, check=False)
    assert done.returncode == 0


# ---- without sqlite-vec ----------------------------------------------------------------------------------------------


async def test_a_broken_vector_extension_is_reported_and_words_are_still_found(path: Path, tmp_path: Path):
    """B01, B02: a binary for another machine must not stop the store, nor go unnoticed."""
    put(tmp_path / "vec0.so", b"not a library")
    store = await open_store(path, now=lambda: NOW, extension=str(tmp_path / "vec0.so"))
    assert "finds words but not meaning" in store.vector_problem
    await store.use_model(MODEL, now=NOW)
    [written] = await store.write([draft("the harbour is closed")], door="cli")
    evidence = await store.search(Probe(vectors(0), ("harbour",), Filter()))
    assert [one.id for one in (await store.rows(evidence.rows.tolist())).values()] == [written.id]
    assert await store.similar(vectors(0), Filter(), 0.5, 10) == []
    await store.close()


async def test_a_sound_vector_extension_gives_no_problem(database: Database):
    assert database.vector_problem == ""
