import asyncio
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import sqlite_vec

import memory_mcp.cli.doctor
from memory_mcp.app import open_memory
from memory_mcp.cli.doctor import Finding, examine
from memory_mcp.cli.hosts import HOSTS, Launch, block
from memory_mcp.config import Settings
from memory_mcp.models import NewMemory
from memory_mcp.storage import driver

pytestmark = pytest.mark.anyio

CHECKOUT = Path(memory_mcp.cli.doctor.__file__).parents[2]


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with one memory in it, closed."""
    settings = Settings(db=tmp_path_factory.mktemp("template") / "memory.db")

    async def keep() -> None:
        async with open_memory(settings, door="cli") as memory:
            await memory.store(NewMemory("I take my coffee without milk"))

    asyncio.run(keep())
    return settings.db


@pytest.fixture
def kept(settings: Settings, template: Path) -> Path:
    """The same file, for one test to spoil."""
    return shutil.copy(template, settings.db)


async def findings(settings: Settings) -> dict[str, Finding]:
    return {finding.part: finding for finding in await examine(settings, os.environ)}


def problems(found: dict[str, Finding]) -> list[str]:
    return [finding.detail for finding in found.values() if finding.status == "problem"]


async def test_a_sound_installation_is_shown_with_its_path_size_and_a_real_vector_query(settings, kept):
    """B01: also where Python's own sqlite3 cannot load extensions. B08: the path is shown."""
    found = await findings(settings)
    assert problems(found) == []
    assert str(kept) in found["file"].detail
    assert "1 memory," in found["file"].detail
    assert "universal" in found["model"].detail
    assert "answered one question: 1 memory near" in found["vectors"].detail
    assert "agree" in found["indexes"].detail


async def test_a_file_that_is_not_there_is_not_made(settings):
    found = await findings(settings)
    assert problems(found) == []
    assert found["file"].status == "note"
    assert "the first start makes it" in found["file"].detail
    assert found["vectors"].status == "ok"
    assert not settings.db.exists()


async def test_looking_changes_nothing_that_is_kept(settings, kept):
    before = kept.read_bytes()
    await examine(settings, os.environ)
    assert kept.read_bytes() == before


async def test_keyword_only_search_is_a_problem_by_name(words_only, kept):
    found = await findings(words_only)
    assert problems(found) == [found["model"].detail]


def a_foreign_file(path: Path) -> None:
    path.write_bytes(b"a shopping list" * 1000)


def a_newer_file(path: Path) -> None:
    connection = driver.connect(path)
    connection.execute("pragma user_version = 9999")
    connection.close()


def a_cut_file(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:10_000])


@pytest.mark.parametrize("spoil", [a_foreign_file, a_newer_file, a_cut_file])
async def test_a_file_that_cannot_be_used_is_a_problem_and_left_as_it_is(settings, kept, spoil: Callable[[Path], None]):
    """B14: a file of a newer version is refused untouched."""
    spoil(kept)
    before = kept.read_bytes()
    found = await findings(settings)
    assert any(str(kept) in problem or "damaged" in problem for problem in problems(found))
    assert kept.read_bytes() == before


async def test_an_index_that_disagrees_with_the_rows_is_a_problem(settings, kept):
    connection = driver.connect(kept)
    driver.load_vectors(connection)
    connection.execute("delete from vec_full")
    connection.close()
    found = await findings(settings)
    assert found["indexes"].status == "problem"


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
async def test_a_file_that_others_may_read_is_noted(words_only, kept):
    kept.chmod(0o644)
    assert "-rw-r--r--" in (await findings(words_only))["access"].detail


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such permissions")
@pytest.mark.parametrize("mode", [0o600, 0o640])
async def test_a_key_that_others_may_read_is_noted(words_only, tmp_path, mode):
    key = tmp_path / "key"
    key.write_text("ab" * 32)
    key.chmod(mode)
    found = await findings(words_only.model_copy(update={"key_file": key}))
    assert any(str(key) in finding.detail for finding in found.values()) == (mode == 0o640)


async def test_what_waits_for_its_vector_is_counted_with_what_will_make_it(words_only):
    async with open_memory(words_only, door="cli") as memory:
        await memory.store(NewMemory("I take my coffee without milk"))
        assert (
            "1 memory waits for its vector; a running server or the next `memory-mcp recall` makes it."
            in await memory.problems()
        )
        await memory.store(NewMemory("The boiler was serviced in May"))
        assert any(text.startswith("2 memories wait for their vectors;") for text in await memory.problems())


async def test_a_pause_is_shown(words_only):
    words_only.pause_marker.touch()
    assert "paused" in (await findings(words_only))["capture"].detail


# ---- hosts ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def cursor(own_place) -> Path:
    """The file of a host that keeps it at the same place on every platform."""
    path = own_place / ".cursor" / "mcp.json"
    path.parent.mkdir()
    return path


def launch(settings: Settings) -> Launch:
    return Launch(sys.executable, ("-m", "memory_mcp"), {"MEMORY_MCP_DB": str(settings.db)})


async def test_a_host_that_starts_this_server_is_named(words_only, cursor):
    cursor.write_text(block(HOSTS["cursor"], launch(words_only)))
    host = (await findings(words_only))["host"]
    assert host.status == "ok"
    assert str(cursor) in host.detail


async def test_a_host_on_another_file_is_noted(words_only, cursor, tmp_path):
    """B14: two files look like lost memories."""
    cursor.write_text(block(HOSTS["cursor"], launch(words_only.model_copy(update={"db": tmp_path / "other.db"}))))
    host = (await findings(words_only))["host"]
    assert host.status == "note"
    assert "other.db" in host.detail


async def test_a_hosts_file_that_is_not_json_is_a_problem(words_only, cursor):
    cursor.write_text('{"mcpServers": {"memory": }}')
    assert "is not valid" in (await findings(words_only))["host"].detail


# ---- as a command --------------------------------------------------------------------------------------------------


def doctor(db: Path, **environ: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "memory_mcp", "doctor", "--json", "--db", str(db)],
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), **environ},
        timeout=120,
        check=False,
    )


def test_the_command_succeeds_where_all_is_well(tmp_path):
    ran = doctor(tmp_path / "memory.db")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert json.loads(ran.stdout)["healthy"] is True


def test_a_vector_extension_that_only_looks_installed_is_found_out(tmp_path):
    """B02: the package can be imported, and its binary is garbage."""
    copy = shutil.copytree(Path(sqlite_vec.__file__).parent, tmp_path / "shadow" / "sqlite_vec")
    [binary] = copy.glob("vec0.*")
    binary.write_bytes(b"not a library")
    ran = doctor(tmp_path / "memory.db", PYTHONPATH=os.pathsep.join([str(copy.parent), str(CHECKOUT)]))
    assert ran.returncode == 1
    [problem] = (one for one in json.loads(ran.stdout)["findings"] if one["status"] == "problem")
    assert "sqlite-vec cannot be loaded" in problem["detail"]
