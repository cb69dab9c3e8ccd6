"""Where files are touched: by nobody who only speaks to the server, and only for their owner."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from memory_mcp.config import Settings
from memory_mcp.errors import InvalidInput
from memory_mcp.server import addresses
from tests.shell import CHECKOUT, COFFEE, Shell, process

CANARY = "the canary sings"

HOSTILE = [
    "../../canary.txt",
    "..",
    "{folder}/canary.txt",
    "file://{folder}/canary.txt",
    "C:\\Windows\\canary.txt",
    "\\\\server\\share\\canary.txt",
    "%2e%2e%2fcanary.txt",
    "canary.txt\0.md",
    "canary.txt%00",
    "~/canary.txt",
    "$HOME/canary.txt",
    "canary.txt",
]


@pytest.fixture
def shell(tmp_path, capsys) -> Shell:
    return Shell(tmp_path / "memory.db", capsys)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, own_place: Path) -> Path:
    """A folder in which the server works, with a text in it and around it that must never come back."""
    inner = tmp_path / "one" / "two"
    inner.mkdir(parents=True)
    for place in (tmp_path, tmp_path / "one", inner, own_place):
        (place / "canary.txt").write_text(CANARY, encoding="utf-8")
    monkeypatch.chdir(inner)
    return inner


@pytest.fixture
def settings(folder: Path) -> Settings:
    return Settings(db=folder / "memory.db")


def listing(top: Path) -> dict[str, int]:
    """Every file and folder below, with its size; the memory file may grow."""
    return {
        str(one.relative_to(top)): one.stat().st_size if one.is_file() else -1
        for one in sorted(top.rglob("*"))
        if not one.name.startswith("memory.db")
    }


Given = Callable[[str], Any]


def strings(schema: dict[str, Any]) -> Iterator[tuple[str, Given]]:
    """Every argument of a schema that takes a text, texts, or records with texts, and how to give it one."""
    for name, told in schema["properties"].items():
        if told.get("type") == "string":
            yield name, lambda text: text
        elif told.get("type") == "array":
            yield name, lambda text: [text]
            for key in ("content", "role", "name", "time", "tool", "input_digest", "key", "kind"):
                yield name, partial(_in_a_record, key)


def _in_a_record(key: str, text: str) -> list[dict[str, Any]]:
    whole = {"role": "user", "content": "hello"} if key in ("content", "role", "name", "time") else {"content": "hello"}
    return [{**whole, **({"tool": "x", "ok": True} if key in ("tool", "input_digest") else {}), key: text}]


REQUIRED = {"store": {"content": "A fact"}, "summarize": {"session_id": "s", "summary": "Greetings."}}


@pytest.mark.anyio
async def test_no_argument_of_a_tool_is_taken_for_a_path(client: Client, tmp_path: Path):
    """B62: dots, absolute paths, drives, escapes and NUL in every text of every tool: nothing is read or written."""
    before = listing(tmp_path)
    tried = 0
    for tool in (await client.list_tools()).tools:
        for name, given in strings(tool.input_schema):
            for hostile in HOSTILE:
                text = hostile.replace("{folder}", str(tmp_path))
                told = await client.call_tool(tool.name, {**REQUIRED.get(tool.name, {}), name: given(text)})
                assert CANARY not in told.model_dump_json()
                tried += 1
    assert tried > 25 * len(HOSTILE)
    assert listing(tmp_path) == before


@pytest.mark.anyio
async def test_no_argument_of_a_tool_is_called_after_a_file(client: Client):
    """B62: a model is offered no way to name one."""
    named = {
        part
        for tool in (await client.list_tools()).tools
        for name, _ in strings(tool.input_schema)
        for part in name.split("_")
    }
    assert not named & {"path", "file", "filename", "folder", "dir", "directory", "url", "uri", "db", "database"}


@pytest.mark.anyio
async def test_no_address_of_a_resource_leads_to_a_file(client: Client, tmp_path: Path):
    """B62."""
    before = listing(tmp_path)
    templates = [
        one.uri_template.partition("{")[0] for one in (await client.list_resource_templates()).resource_templates
    ]
    assert set(templates) == {addresses.EPISODE, addresses.MEMORY, addresses.SESSION}
    for start in (*templates, "memory://", "file://", "file:///", ""):
        for hostile in HOSTILE:
            try:
                read = await client.read_resource(start + hostile.replace("{folder}", str(tmp_path)))
            except (MCPError, ValueError):
                continue
            assert CANARY not in read.model_dump_json()
    assert listing(tmp_path) == before


@pytest.mark.anyio
async def test_no_argument_of_a_prompt_is_taken_for_a_path(client: Client, tmp_path: Path):
    """B62."""
    before = listing(tmp_path)
    for prompt in (await client.list_prompts()).prompts:
        names = [one.name for one in prompt.arguments or []]
        for hostile in HOSTILE:
            text = hostile.replace("{folder}", str(tmp_path))
            try:
                shown = await client.get_prompt(prompt.name, dict.fromkeys(names, text))
            except MCPError:
                continue
            assert CANARY not in shown.model_dump_json()
    assert listing(tmp_path) == before


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("flag", ["--session", "--namespace", "--tag"])
def test_no_name_that_a_person_gives_is_taken_for_a_path(shell, folder, tmp_path, flag, hostile):
    """B62: session and project names, too."""
    before = listing(tmp_path)
    done = shell("store", COFFEE, flag, hostile.replace("{folder}", str(tmp_path)))
    assert CANARY not in done.out + done.err
    assert listing(tmp_path) == before


# ---- what settings name ----------------------------------------------------------------------------------------------


def test_a_memory_file_behind_a_link_is_one_with_all_that_belongs_to_it(shell, tmp_path):
    """B62: the log, the backups and the pause lie beside the file itself, whoever came by a link."""
    (tmp_path / "real").mkdir()
    shell.file.symlink_to(tmp_path / "real" / "data.db")
    shell.store(COFFEE)
    shell("pause")
    assert sorted(one.name for one in (tmp_path / "real").iterdir()) == ["data.db", "data.db.paused"]
    assert os.name == "nt" or stat.S_IMODE((tmp_path / "real" / "data.db").stat().st_mode) == 0o600
    for name in ("memory.db", "real/data.db"):
        assert "elongs to the memory file" in shell("export", str(tmp_path / name), "--force").err
    assert shell("wipe", "--confirm", "1").code == 0
    assert list((tmp_path / "real").iterdir()) == []


def test_links_in_a_circle_are_told(tmp_path):
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    with pytest.raises(InvalidInput, match=r"MEMORY_MCP_DB is not usable: .* circle"):
        Settings.from_env({"MEMORY_MCP_DB": str(tmp_path / "a" / "memory.db")})


@pytest.mark.skipif(os.name == "nt", reason="Windows has other devices")
@pytest.mark.parametrize("device", ["/dev/null", "/dev/zero"])
def test_a_device_is_no_memory_file_and_no_key(shell, device):
    """B62."""
    refused = shell("stats", "--db", device)
    assert refused.code == 1
    assert "a device" in refused.err
    refused = shell("stats", "--set", f"key_file={device}")
    assert refused.code == 1
    assert "must name a file" in refused.err


@pytest.mark.parametrize("way", ["itself", "dots", "link"])
@pytest.mark.parametrize("end", ["", "-wal", ".paused"])
def test_the_memory_file_is_not_its_own_key(tmp_path, way, end):
    """B62: read by other means than SQLite's, it would lose writes."""
    (tmp_path / "sub").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / f"memory.db{end}")
    key = {
        "itself": tmp_path / f"memory.db{end}",
        "dots": tmp_path / "sub" / ".." / f"memory.db{end}",
        "link": tmp_path / "link",
    }[way]
    settings = Settings.from_env({"MEMORY_MCP_DB": str(tmp_path / "memory.db"), "MEMORY_MCP_KEY_FILE": str(key)})
    with pytest.raises(InvalidInput, match="names the memory file"):
        settings.encryption_key()


@pytest.mark.parametrize("end", ["", "-wal", ".paused"])
def test_install_does_not_write_through_a_link_to_what_belongs_to_the_memory_file(shell, tmp_path, own_place, end):
    """B62: a host's list that leads there is left alone, and nothing else is placed either."""
    shell.store(COFFEE)
    before = listing(own_place), shell.file.read_bytes(), {one.name for one in tmp_path.iterdir()}
    (own_place / ".claude.json").symlink_to(f"{shell.file}{end}")
    refused = shell("install", "claude-code")
    assert refused.code == 1
    assert "Nothing was changed" in refused.err
    (own_place / ".claude.json").unlink()
    assert (listing(own_place), shell.file.read_bytes(), {one.name for one in tmp_path.iterdir()}) == before


# ---- permissions -----------------------------------------------------------------------------------------------------

EVERYTHING = """
import asyncio, json, os, stat, sys
from pathlib import Path
from memory_mcp.app import open_memory
from memory_mcp.config import Settings
from memory_mcp.models import NewMemory
from memory_mcp.storage import schema
from memory_mcp.storage.database import open_database

db = Path(sys.argv[1])

async def main():
    old = await open_database(db, migrations=schema.packaged_migrations()[:1])
    await old.close()
    async with open_memory(Settings(db=db, model="none"), door="cli") as memory:
        await memory.store(NewMemory("private"))
        print(json.dumps({one.name: oct(stat.S_IMODE(one.stat().st_mode)) for one in db.parent.iterdir()}))

asyncio.run(main())
"""


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
def test_every_file_and_folder_is_for_its_owner_alone_under_any_umask(tmp_path: Path, umask: int):
    """B65: the file, its log, backups, exports, the pause marker, and every folder that had to be made."""
    db = tmp_path / "new" / "deep" / "memory.db"
    environ = {**os.environ, "PYTHONPATH": str(CHECKOUT), "MEMORY_MCP_DB": str(db), "MEMORY_MCP_MODEL": "none"}

    def run(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, *words], env=environ, umask=umask, capture_output=True, text=True, check=True
        )
        return done.stdout

    run("-m", "memory_mcp", "pause")
    in_use = json.loads(run("-c", EVERYTHING, str(db)))
    run("-m", "memory_mcp", "export", str(db.parent / "all.jsonl"))
    left = {one.name: oct(stat.S_IMODE(one.stat().st_mode)) for one in db.parent.iterdir()}
    assert in_use.keys() == {"memory.db", "memory.db-wal", "memory.db-shm", "memory.db.v1.backup", "memory.db.paused"}
    assert left.keys() == {"memory.db", "memory.db.v1.backup", "memory.db.paused", "all.jsonl"}
    assert {*in_use.values(), *left.values()} == {"0o600"}
    assert {stat.S_IMODE(one.stat().st_mode) for one in (db.parent, db.parent.parent)} == {0o700}
    assert process("stats", MEMORY_MCP_DB=str(db)).returncode == 0
