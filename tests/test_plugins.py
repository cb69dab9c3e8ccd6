"""The plugins stand in the repository as the code makes them, and say the same in every host's words."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

from memory_mcp.cli import plugins
from memory_mcp.cli.hooks import HOSTS
from memory_mcp.cli.hosts import Launch
from memory_mcp.cli.parser import build_parser
from memory_mcp.cli.plugins import FAILS_OPEN, Hooks

ROOT = Path(__file__).parent.parent
PLAIN = Hooks(Launch("memory-mcp"))
MADE = {"claude-code": plugins.claude_code, "gemini": plugins.gemini, "antigravity": plugins.antigravity}


def lines(files: dict[str, str]) -> list[str]:
    """Every command line of a plugin's hooks."""
    [hooks] = [text for path, text in files.items() if path.endswith("hooks.json")]
    found: list[str] = []

    def look(value: object) -> None:
        if isinstance(value, dict):
            found.extend([value["command"]] if "command" in value else [])
            value = list(value.values())
        for one in value if isinstance(value, list) else ():
            look(one)

    look(json.loads(hooks))
    return found


def events(files: dict[str, str]) -> dict[str, list]:
    [hooks] = [json.loads(text) for path, text in files.items() if path.endswith("hooks.json")]
    return hooks.get("hooks", hooks.get("memory"))


def test_what_stands_in_the_repository_is_what_the_code_makes():
    script = [sys.executable, ROOT / "scripts" / "build_plugins", "--check"]
    ran = subprocess.run(script, capture_output=True, text=True, timeout=60, check=False)
    assert (ran.returncode, ran.stdout) == (0, ""), "run scripts/build_plugins"


@pytest.mark.parametrize("host", MADE)
def test_a_plugin_is_strict_json_without_anything_but_texts_numbers_and_tables(host: str):
    for path, text in MADE[host](PLAIN).items():
        if path.endswith(".json"):
            assert json.dumps(json.loads(text), indent=2, ensure_ascii=False) + "\n" == text


@pytest.mark.parametrize("host", MADE)
def test_a_plugin_carries_the_whole_skill(host: str):
    files = MADE[host](PLAIN)
    assert {path.removeprefix("skills/memory/") for path in files if path.startswith("skills/")} == set(plugins.skill())
    assert {"SKILL.md", "references/ja.md"} <= set(plugins.skill())


@pytest.mark.parametrize("host", MADE)
def test_every_plugin_starts_the_same_server(host: str):
    launch = Launch("/opt/memory-mcp", ("-x",), {"MEMORY_MCP_TZ": "Asia/Tokyo"})
    files = MADE[host](Hooks(launch))
    listed = [json.loads(text).get("mcpServers") for path, text in files.items() if path.endswith(".json")]
    entry = {"command": "/opt/memory-mcp", "args": ["-x"], "env": {"MEMORY_MCP_TZ": "Asia/Tokyo"}}
    assert [one for one in listed if one] == [{"memory": entry}]


@pytest.mark.parametrize(
    ("host", "told", "kept"),
    [
        ("claude-code", {"SessionStart", "UserPromptSubmit"}, {"PreCompact", "Stop", "SessionEnd"}),
        ("gemini", {"SessionStart", "BeforeAgent"}, {"AfterAgent", "SessionEnd"}),
        ("antigravity", {"SessionStart"}, {"Stop"}),
    ],
)
def test_at_the_start_and_at_a_prompt_the_model_is_told_and_else_the_conversation_is_kept(
    host: str, told: set[str], kept: set[str]
):
    found = {event: json.dumps(groups) for event, groups in events(MADE[host](PLAIN)).items()}
    assert {event for event, groups in found.items() if f"memory-mcp context --hook {host}" in groups} == told
    assert {event for event, groups in found.items() if f"memory-mcp capture {host}" in groups} == kept
    assert found.keys() == told | kept


@pytest.mark.parametrize(("host", "second"), [("claude-code", 1), ("gemini", 1_000), ("antigravity", 1)])
def test_no_host_waits_longer_than_ten_seconds(host: str, second: int):
    limits = re.findall(r'"timeout": (\d+)', json.dumps(events(MADE[host](PLAIN))))
    assert len(limits) == len(lines(MADE[host](PLAIN)))
    assert all(second <= int(limit) <= 10 * second for limit in limits)


@pytest.mark.parametrize("host", MADE)
def test_conversations_are_kept_only_where_the_person_agreed(host: str):
    assert not [line for line in lines(MADE[host](PLAIN)) if "--on" in line]
    assert all("--on" in line for line in lines(MADE[host](Hooks(Launch("memory-mcp"), keeps=True))))


def test_a_hook_is_told_every_setting_of_the_server():
    env = {"MEMORY_MCP_DB": "/x y/memory.db", "MEMORY_MCP_EXCLUDE": "/secret:/home/é", "MEMORY_MCP_NAMESPACE": "shop"}
    hooks = Hooks(Launch("/opt/my tools/memory-mcp", (), env))
    program, *words = shlex.split(hooks.tells("gemini").removesuffix(FAILS_OPEN))
    assert program == "/opt/my tools/memory-mcp"
    args = build_parser().parse_args(words)
    assert (args.hook, args.db, args.namespace, args.set) == (
        "gemini",
        "/x y/memory.db",
        "shop",
        ["exclude=/secret:/home/é"],
    )


@pytest.mark.parametrize("host", HOSTS)
def test_every_command_of_a_hook_is_one_that_the_shell_takes(host: str):
    for words in (PLAIN.tells(host), PLAIN.captures(host)):
        args = build_parser().parse_args(shlex.split(words.removesuffix(FAILS_OPEN))[1:])
        assert args.verb in {"context", "capture"}


def test_on_windows_a_path_with_blanks_stands_in_double_quotes_and_has_slashes():
    hooks = Hooks(Launch(r"C:\Users\Ann B\memory-mcp.exe", (), {"MEMORY_MCP_DB": r"D:\my data\m.db"}), platform="win32")
    assert hooks.tells("codex") == ('"C:/Users/Ann B/memory-mcp.exe" context --hook codex --db "D:\\my data\\m.db"')


def test_the_marketplace_lists_the_plugin_where_it_stands():
    [listed] = json.loads((ROOT / ".claude-plugin" / "marketplace.json").read_text(encoding="utf-8"))["plugins"]
    manifest = ROOT / listed["source"] / ".claude-plugin" / "plugin.json"
    assert json.loads(manifest.read_text(encoding="utf-8"))["name"] == listed["name"]


def test_an_installed_package_brings_the_skill(tmp_path: Path):
    """The wheel is what people install; there is no checkout beside it."""
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT]
    subprocess.run(build, check=True, capture_output=True, timeout=120)
    [wheel] = tmp_path.glob("*.whl")
    with ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "site")
    code = "from memory_mcp.cli.plugins import skill, skill_folder; print(skill_folder()); print(*skill())"
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path / "site", capture_output=True, text=True, timeout=60, check=True
    )
    folder, names = ran.stdout.splitlines()
    assert Path(folder) == tmp_path / "site" / "memory_mcp" / "skills" / "memory"
    assert names.split() == list(plugins.skill())
