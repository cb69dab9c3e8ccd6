import json
import sys
import tomllib
from pathlib import Path

import pytest

from memory_mcp.cli.hosts import (
    HOSTS,
    PREFERENCES,
    Entry,
    Launch,
    block,
    config_path,
    entries,
    this_installation,
    where,
)

LAUNCH = Launch("/opt/memory mcp/bin/memory-mcp", (), {"MEMORY_MCP_DB": '/home/え"x/memory.db'})


def parsed(name: str, launch: Launch = LAUNCH) -> dict[str, object]:
    """The entry for this server in a host's block, read as that host reads it."""
    text = block(HOSTS[name], launch)
    data = tomllib.loads(text) if name == "codex" else json.loads(text)
    return data[HOSTS[name].section]["memory"]


@pytest.mark.parametrize("name", HOSTS)
def test_a_block_is_valid_and_starts_this_command_on_this_file(name):
    entry = parsed(name)
    assert entry["command"] == LAUNCH.command
    assert entry["args"] == []
    assert entry["env"] == LAUNCH.env


@pytest.mark.parametrize("name", HOSTS)
def test_a_block_without_settings_has_no_environment(name):
    assert "env" not in parsed(name, Launch("memory-mcp"))


@pytest.mark.parametrize("name", sorted(set(HOSTS) - {"codex"}))
def test_a_block_holds_nothing_but_strings_that_strict_hosts_accept(name):
    """Antigravity drops a server over one value of another type."""
    entry = parsed(name)
    assert all(isinstance(value, str) for value in [entry["command"], *entry["env"].values(), *entry["args"]])


def test_codex_waits_for_the_server():
    assert parsed("codex")["required"] is True


def test_vs_code_has_a_section_of_its_own():
    assert list(json.loads(block(HOSTS["vscode"], LAUNCH))) == ["servers"]


@pytest.mark.parametrize("name", HOSTS)
def test_every_host_says_where_the_block_goes(name):
    text = where(HOSTS[name], LAUNCH)
    assert all(path in text for path in HOSTS[name].paths.values())
    assert HOSTS[name].section in text


def test_claude_code_can_be_told_by_a_command_too():
    assert 'claude mcp add --scope user memory -- "/opt/memory mcp/bin/memory-mcp"' in where(
        HOSTS["claude-code"], LAUNCH
    )


def test_this_installation_is_named_by_an_absolute_path_that_exists():
    launch = this_installation("/usr/bin/pytest", {})
    assert Path(launch.command).is_absolute()
    assert Path(launch.command).is_file()


def test_the_command_that_was_called_is_the_one_that_is_named(tmp_path):
    command = tmp_path / ("memory-mcp.exe" if sys.platform == "win32" else "memory-mcp")
    command.write_text("#!/bin/sh\n")
    command.chmod(0o755)
    assert this_installation(str(command), {}) == Launch(str(command))


@pytest.mark.parametrize(
    ("platform", "path"),
    [
        ("darwin", "~/Library/Application Support/Claude/claude_desktop_config.json"),
        ("win32", "C:/Users/x/AppData/Roaming/Claude/claude_desktop_config.json"),
        ("linux", "~/.config/Claude/claude_desktop_config.json"),
        ("freebsd14", "~/.config/Claude/claude_desktop_config.json"),
    ],
)
def test_claude_desktops_file_is_found_on_each_platform(platform, path):
    found = config_path(HOSTS["claude-desktop"], platform, {"APPDATA": "C:/Users/x/AppData/Roaming"})
    assert found == Path(path).expanduser()


@pytest.mark.parametrize("text", PREFERENCES.values(), ids=PREFERENCES)
def test_the_preferences_name_every_tool_and_what_must_not_be_kept(text):
    assert all(tool in text for tool in ("recall", "store", "summarize", "forget", "key", "supersedes"))
    assert "off the record" in text or "オフレコ" in text


# ---- the files that are there --------------------------------------------------------------------------------------


@pytest.fixture
def desktop(tmp_path) -> Path:
    """Claude Desktop's file, in an application folder of our own."""
    path = tmp_path / "Claude" / "claude_desktop_config.json"
    path.parent.mkdir()
    return path


def read(path: Path) -> Entry:
    [entry] = (entry for entry in entries("win32", {"APPDATA": str(path.parents[1])}) if entry.host == "Claude Desktop")
    assert entry.path == path
    return entry


def test_our_own_block_is_recognised(desktop):
    launch = Launch(sys.executable, ("-m", "memory_mcp"), {"MEMORY_MCP_DB": "/x/memory.db"})
    desktop.write_text(block(HOSTS["claude-desktop"], launch), encoding="utf-8")
    entry = read(desktop)
    assert entry.named
    assert entry.database == "/x/memory.db"
    assert entry.problem == ""


def test_a_command_that_is_gone_is_a_problem(desktop):
    desktop.write_text(block(HOSTS["claude-desktop"], Launch("/nowhere/memory-mcp")), encoding="utf-8")
    assert "/nowhere/memory-mcp, which is not there" in read(desktop).problem


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        "[]",
        "null",
        '{"mcpServers": []}',
        '{"mcpServers": {"x": 5}}',
        '{"mcpServers": {"x": {"command": 5, "args": 6}}}',
    ],
)
def test_a_file_that_does_not_name_us_is_no_problem_whatever_else_it_holds(desktop, text):
    desktop.write_text(text, encoding="utf-8")
    assert read(desktop) == Entry("Claude Desktop", desktop)


@pytest.mark.parametrize(
    "data", [b'{"mcpServers": {,}}', b"", b'\xef\xbb\xbf{"mcpServers": {}}', b"\xff\xfe{\x00}\x00"]
)
def test_a_file_that_a_strict_host_cannot_read_is_a_problem(desktop, data):
    desktop.write_bytes(data)
    assert "is not valid" in read(desktop).problem


def test_hosts_without_a_file_are_not_mentioned(tmp_path):
    assert [entry for entry in entries("win32", {"APPDATA": str(tmp_path)}) if entry.host == "Claude Desktop"] == []
