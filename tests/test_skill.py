"""The skill follows the standard, asks only for what the tools can do, and packs for Claude Desktop."""

import re
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest
from mcp import Client
from skills_ref import read_properties, validate

ROOT = Path(__file__).parent.parent
SKILL = ROOT / "skills" / "memory"
BODY = (SKILL / "SKILL.md").read_text(encoding="utf-8")


def test_the_skill_is_valid_by_the_standard():
    assert validate(SKILL) == []


def test_the_skill_is_within_what_hosts_load():
    assert len(BODY.encode()) < 24_000
    assert len(BODY.splitlines()) < 500


@pytest.mark.parametrize(
    "phrase",
    [
        "remember this",
        "do you remember",
        "last time",
        "off the record",
        "覚えておいて",
        "前に話した",
        "前回",
        "忘れて",
        "オフレコ",
    ],
)
def test_the_description_alone_carries_the_phrases_that_call_for_the_skill(phrase):
    assert phrase in read_properties(SKILL).description


@pytest.mark.parametrize("heading", ["Triggers", "Actions", "Do not", "If the server is missing", "Verify"])
def test_the_skill_has_the_sections_that_agents_look_for(heading):
    assert f"\n## {heading}\n" in BODY


def build(target: Path) -> bytes:
    subprocess.run([sys.executable, ROOT / "scripts" / "build_skill", target], check=True, capture_output=True)
    return target.read_bytes()


def test_the_zip_has_the_skill_under_its_own_folder(tmp_path):
    build(tmp_path / "memory-skill.zip")
    with ZipFile(tmp_path / "memory-skill.zip") as archive:
        archive.extractall(tmp_path)
    assert validate(tmp_path / "memory") == []
    assert (tmp_path / "memory" / "SKILL.md").read_text(encoding="utf-8") == BODY


def test_the_zip_of_the_same_skill_has_the_same_bytes(tmp_path):
    assert build(tmp_path / "once.zip") == build(tmp_path / "twice.zip")


@pytest.mark.anyio
async def test_every_call_that_the_skill_writes_is_one_that_the_tools_take(client: Client):
    properties = {tool.name: tool.input_schema["properties"] for tool in (await client.list_tools()).tools}
    calls = re.findall(rf"`({'|'.join(properties)})\(([^)]*)\)`", BODY)
    assert {name for name, _ in calls} == set(properties)
    for name, written in calls:
        arguments = {part.split("=")[0].strip() for part in re.sub(r"\[.*?\]", "", written).split(",")} - {"", "…"}
        assert arguments <= set(properties[name]), f"{name}({written})"
