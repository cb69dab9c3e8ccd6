"""`memory-mcp install` places the server in a host and takes it out again, and loses nothing of anybody's."""

import json
import os
import shlex
import stat
import sys
import tomllib
from pathlib import Path

import pytest

from memory_mcp.cli.merging import is_ours
from tests.shell import Ran, Shell

FILES = {
    "claude-code": [".claude.json", ".claude/settings.json", ".claude/skills/memory/SKILL.md"],
    "codex": [".codex/config.toml", ".codex/hooks.json", ".agents/skills/memory/SKILL.md"],
    "gemini": [
        ".gemini/extensions/memory/gemini-extension.json",
        ".gemini/extensions/memory/hooks/hooks.json",
        ".gemini/extensions/memory/skills/memory/references/ja.md",
    ],
    "antigravity": [
        ".gemini/config/plugins/memory/plugin.json",
        ".gemini/config/plugins/memory/mcp_config.json",
        ".gemini/config/plugins/memory/hooks.json",
        ".gemini/config/plugins/memory/skills/memory/SKILL.md",
    ],
    "cursor": [".cursor/mcp.json"],
}

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="the home folder cannot be moved by the environment")


@pytest.fixture
def shell(tmp_path: Path, capsys: pytest.CaptureFixture[str], own_place: Path) -> Shell:
    return Shell(tmp_path / "memory.db", capsys)


@pytest.fixture
def home(own_place: Path) -> Path:
    return own_place


def read(path: Path) -> dict:
    text = path.read_text(encoding="utf-8")
    return tomllib.loads(text) if path.suffix == ".toml" else json.loads(text)


def tree(folder: Path) -> dict[str, str]:
    files = (path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}


def put(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def succeeds(ran: Ran) -> Ran:
    assert ran.code == 0, ran.err
    return ran


# ---- in and out ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", FILES)
def test_a_host_without_any_file_gets_all_that_it_needs_and_is_told_what_is_next(shell: Shell, home: Path, host: str):
    ran = succeeds(shell("install", host))
    assert all((home / path).is_file() for path in FILES[host])
    assert all(str(home / path) in ran.out for path in FILES[host])
    assert "Start" in ran.err


@pytest.mark.parametrize("host", FILES)
def test_a_second_time_changes_nothing(shell: Shell, home: Path, host: str):
    succeeds(shell("install", host))
    before = tree(home)
    assert "nothing to change" in succeeds(shell("install", host)).out
    assert tree(home) == before


@pytest.mark.parametrize("host", FILES)
def test_a_dry_run_shows_the_change_and_makes_none(shell: Shell, home: Path, host: str):
    ran = succeeds(shell("install", host, "--dry-run"))
    assert "memory-mcp" in ran.out
    assert f"+++ {home / FILES[host][0]}" in ran.out
    assert "dry run" in ran.err
    assert tree(home) == {}


@pytest.mark.parametrize("host", FILES)
def test_what_was_installed_can_be_taken_out_again(shell: Shell, home: Path, host: str):
    succeeds(shell("install", host))
    succeeds(shell("install", host, "--remove"))
    left = {path: text for path, text in tree(home).items() if not path.endswith(".backup")}
    assert not [path for path, text in left.items() if "memory-mcp" in text]
    assert not list(home.rglob("memory"))


@pytest.mark.parametrize("host", FILES)
def test_taking_out_what_is_not_there_changes_nothing(shell: Shell, home: Path, host: str):
    assert "nothing to change" in succeeds(shell("install", host, "--remove")).out
    assert tree(home) == {}


def test_claude_desktop_is_told_of_the_preferences_because_it_has_no_hooks(shell: Shell, home: Path):
    ran = succeeds(shell("install", "claude-desktop", "--capture"))
    [path] = home.rglob("claude_desktop_config.json")
    assert is_ours(read(path)["mcpServers"]["memory"])
    assert "--preferences" in ran.err
    assert "no hooks" in ran.err


# ---- what others wrote ---------------------------------------------------------------------------------------------

OTHERS = """{
    "zeta": 1.50,
    "mcpServers": {"files": {"command": "npx", "args": ["-y", "files"]}},
    "numStartups": 12,
    "greeting": "こんにちは"
}
"""


def test_everything_else_in_a_file_stays_in_its_order(shell: Shell, home: Path):
    path = put(home / ".claude.json", OTHERS)
    succeeds(shell("install", "claude-code"))
    after = read(path)
    assert is_ours(after["mcpServers"].pop("memory"))
    assert after == json.loads(OTHERS)
    assert list(after) == list(json.loads(OTHERS))
    assert '\n    "zeta"' in path.read_text(encoding="utf-8")
    assert "こんにちは" in path.read_text(encoding="utf-8")


def test_the_file_as_it_was_is_kept_beside_it(shell: Shell, home: Path):
    path = put(home / ".claude.json", OTHERS)
    path.chmod(0o640)
    ran = succeeds(shell("install", "claude-code"))
    [backup] = home.glob(".claude.json.*.backup")
    assert backup.read_text(encoding="utf-8") == OTHERS
    assert backup.name in ran.out
    assert {stat.S_IMODE(one.stat().st_mode) for one in (path, backup)} == {0o640}


def test_out_again_leaves_the_file_as_it_was(shell: Shell, home: Path):
    text = json.dumps(json.loads(OTHERS), indent=4, ensure_ascii=False) + "\n"
    path = put(home / ".claude.json", text)
    succeeds(shell("install", "claude-code"))
    succeeds(shell("install", "claude-code", "--remove"))
    assert path.read_text(encoding="utf-8") == text


def test_a_link_stays_a_link(shell: Shell, home: Path, tmp_path: Path):
    """People keep such files in a folder of dotfiles."""
    real = put(tmp_path / "dotfiles" / "settings.json", '{"model": "opus"}')
    (home / ".claude").mkdir()
    (home / ".claude" / "settings.json").symlink_to(real)
    succeeds(shell("install", "claude-code"))
    assert (home / ".claude" / "settings.json").is_symlink()
    assert "SessionStart" in read(real)["hooks"]
    assert read(real)["model"] == "opus"


def test_hooks_of_others_stay_and_keep_their_place(shell: Shell, home: Path):
    other = {"matcher": "startup", "hooks": [{"type": "command", "command": "echo hi"}]}
    path = put(home / ".claude" / "settings.json", json.dumps({"hooks": {"SessionStart": [other], "Notification": []}}))
    succeeds(shell("install", "claude-code"))
    assert read(path)["hooks"]["SessionStart"][0] == other
    assert len(read(path)["hooks"]["SessionStart"]) == 2
    succeeds(shell("install", "claude-code", "--remove"))
    assert read(path)["hooks"] == {"SessionStart": [other], "Notification": []}


def test_what_a_person_added_to_our_entry_stays(shell: Shell, home: Path):
    entry = {
        "command": "/old/memory-mcp",
        "args": [],
        "env": {"MEMORY_MCP_TZ": "Asia/Tokyo"},
        "disabledTools": ["forget"],
    }
    path = put(home / ".cursor" / "mcp.json", json.dumps({"mcpServers": {"memory": entry}}))
    succeeds(shell("install", "cursor"))
    after = read(path)["mcpServers"]["memory"]
    assert after["disabledTools"] == ["forget"]
    assert after["env"]["MEMORY_MCP_TZ"] == "Asia/Tokyo"
    assert after["command"] != "/old/memory-mcp"


@pytest.mark.parametrize(
    "command",
    [
        {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]},
        {"command": "uvx", "args": ["basic-memory-mcp"]},
        {"url": "https://example.com/memory-mcp"},
        {"command": ["memory-mcp"]},
    ],
)
def test_another_server_of_our_name_is_not_touched(shell: Shell, home: Path, command: dict):
    text = json.dumps({"mcpServers": {"memory": command}})
    path = put(home / ".claude.json", text)
    for words in (("install", "claude-code"), ("install", "claude-code", "--dry-run")):
        ran = shell(*words)
        assert ran.code == 1
        assert "another server" in ran.err
    succeeds(shell("install", "claude-code", "--remove"))
    assert tree(home) == {path.name: text}


@pytest.mark.parametrize(
    "text",
    [
        '{\n  // my servers\n  "mcpServers": {}\n}',
        '{"mcpServers": {}, "mcpServers": {"x": {}}}',
        '{"mcpServers": []}',
        '{"limit": 1e999}',
        "[]",
        '{"mcpServers": {',
    ],
)
def test_a_file_that_cannot_be_written_back_as_it_was_is_left_and_the_block_printed(
    shell: Shell, home: Path, text: str
):
    put(home / ".cursor" / "mcp.json", text)
    ran = shell("install", "cursor")
    assert ran.code == 1
    assert "was left as it is" in ran.err
    assert is_ours(json.loads(ran.out)["mcpServers"]["memory"])
    assert tree(home) == {".cursor/mcp.json": text}


def test_a_byte_order_mark_that_strict_hosts_stumble_over_goes(shell: Shell, home: Path):
    path = put(home / ".cursor" / "mcp.json", '\ufeff{"mcpServers": {}}')
    succeeds(shell("install", "cursor"))
    assert is_ours(read(path)["mcpServers"]["memory"])


def test_a_folder_of_our_name_that_holds_something_else_is_not_touched(shell: Shell, home: Path):
    put(home / ".gemini/extensions/memory/gemini-extension.json", '{"name": "memory", "version": "9"}')
    before = tree(home)
    ran = shell("install", "gemini")
    assert (ran.code, tree(home)) == (1, before)
    assert "something else" in ran.err


def test_what_a_host_put_into_our_folder_stays_when_we_go(shell: Shell, home: Path):
    succeeds(shell("install", "gemini"))
    put(home / ".gemini/extensions/memory/.env", "A=1")
    succeeds(shell("install", "gemini", "--remove"))
    assert tree(home) == {".gemini/extensions/memory/.env": "A=1"}


def test_with_the_plugin_switched_on_nothing_is_installed_beside_it(shell: Shell, home: Path):
    put(home / ".claude/settings.json", json.dumps({"enabledPlugins": {"memory@memory-mcp": True}}))
    before = tree(home)
    ran = shell("install", "claude-code")
    assert (ran.code, tree(home)) == (1, before)
    assert "/plugin" in ran.err


def test_an_entry_made_by_hand_is_named_where_a_plugin_brings_the_server_now(shell: Shell, home: Path):
    by_hand = {"mcpServers": {"memory": {"command": "memory-mcp", "args": []}}}
    path = put(home / ".gemini/config/mcp_config.json", json.dumps(by_hand))
    assert f"{path} starts this server a second time" in succeeds(shell("install", "antigravity")).err


# ---- codex ---------------------------------------------------------------------------------------------------------

CODEX = """\
# my settings
model = "gpt-5"

[mcp_servers.files]
command = "npx"   # the files

[tui]
theme = "dark"
"""


def test_codex_gets_a_table_at_the_end_and_keeps_every_comment(shell: Shell, home: Path):
    path = put(home / ".codex" / "config.toml", CODEX)
    succeeds(shell("install", "codex"))
    assert path.read_text(encoding="utf-8").startswith(CODEX)
    assert read(path)["mcp_servers"]["memory"]["required"] is True
    succeeds(shell("install", "codex", "--remove"))
    assert path.read_text(encoding="utf-8").rstrip() == CODEX.rstrip()


def test_codex_table_of_an_earlier_installation_is_replaced(shell: Shell, home: Path):
    old = '[mcp_servers.memory]\nrequired = true\ncommand = "/old/memory-mcp"\nargs = []\n\n[tui]'
    path = put(home / ".codex" / "config.toml", CODEX.replace("[tui]", old))
    succeeds(shell("install", "codex"))
    after = read(path)
    assert after["mcp_servers"]["memory"]["command"] != "/old/memory-mcp"
    del after["mcp_servers"]["memory"]
    assert after == tomllib.loads(CODEX)


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = {files = {command = "npx"}}\n',
        '[mcp_servers.memory]\ncommand = "/old/memory-mcp"\nstartup_timeout_sec = 90\n',
        '[mcp_servers]\nmemory = {command = "memory-mcp", args = []}\n',
        "model = \n",
    ],
)
def test_a_table_that_cannot_be_added_safely_is_left_to_the_person(shell: Shell, home: Path, text: str):
    path = put(home / ".codex" / "config.toml", text)
    ran = shell("install", "codex")
    assert ran.code == 1
    assert is_ours(tomllib.loads(ran.out)["mcp_servers"]["memory"])
    assert tree(home) == {".codex/config.toml": text}
    assert path.read_text(encoding="utf-8") == text


def test_a_table_of_our_name_that_starts_another_server_is_not_touched(shell: Shell, home: Path):
    text = '[mcp_servers.memory]\ncommand = "other"\n'
    put(home / ".codex" / "config.toml", text)
    ran = shell("install", "codex")
    assert (ran.code, tree(home)) == (1, {".codex/config.toml": text})
    assert "another server" in ran.err


# ---- what hooks are told -------------------------------------------------------------------------------------------


def commands(path: Path) -> list[list[str]]:
    groups = [group for groups in read(path)["hooks"].values() for group in groups]
    return [shlex.split(hook["command"]) for group in groups for hook in group["hooks"]]


def test_the_settings_of_the_moment_reach_the_server_and_the_hooks_alike(
    shell: Shell, home: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("MEMORY_MCP_EXCLUDE", f"/secret{os.pathsep}/health")
    monkeypatch.setenv("MEMORY_MCP_KEY", "ab" * 32)
    ran = succeeds(shell("install", "claude-code", "--namespace", "shop"))
    env = read(home / ".claude.json")["mcpServers"]["memory"]["env"]
    assert env["MEMORY_MCP_DB"] == str(shell.file)
    assert env["MEMORY_MCP_NAMESPACE"] == "shop"
    for words in commands(home / ".claude/settings.json"):
        assert words[words.index("--db") + 1] == str(shell.file)
        assert words[words.index("--namespace") + 1] == "shop"
        assert f"exclude=/secret{os.pathsep}/health" in words
    assert "ab" * 32 not in "".join(tree(home).values())
    assert "MEMORY_MCP_KEY_FILE" in ran.err


def test_capture_is_agreed_to_at_the_installation_and_taken_back_by_another(shell: Shell, home: Path):
    path = home / ".claude/settings.json"
    assert "--capture" in succeeds(shell("install", "claude-code")).err
    assert not any("--on" in words for words in commands(path))
    succeeds(shell("install", "claude-code", "--capture"))
    assert all("--on" in words for words in commands(path))
    succeeds(shell("install", "claude-code"))
    assert not any("--on" in words for words in commands(path))


def test_hosts_whose_folder_was_moved_are_found_there(
    shell: Shell, home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(tmp_path / "claude"))
    monkeypatch.setenv("CODEX_HOME", str(tmp_path / "codex"))
    succeeds(shell("install", "claude-code"))
    succeeds(shell("install", "codex"))
    assert is_ours(read(tmp_path / "claude" / ".claude.json")["mcpServers"]["memory"])
    assert is_ours(read(tmp_path / "codex" / "config.toml")["mcp_servers"]["memory"])


def test_the_answer_can_be_had_as_json(shell: Shell, home: Path):
    answer = succeeds(shell("install", "cursor", "--json")).json
    assert answer == [{"path": str(home / ".cursor/mcp.json"), "removed": False, "backup": None}]


def test_without_a_host_it_is_wrong_usage(shell: Shell):
    with pytest.raises(SystemExit):
        shell("install")
