"""The skill follows the standard, asks only for what the tools can do, and says what an utterance calls for."""

import json
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
REFERENCES = {path.name: path.read_text(encoding="utf-8") for path in sorted((SKILL / "references").glob("*.md"))}
UTTERANCES = json.loads((ROOT / "tests" / "utterances.json").read_text(encoding="utf-8"))


def test_the_skill_is_valid_by_the_standard():
    assert validate(SKILL) == []


def test_the_skill_is_within_what_hosts_load():
    assert len(BODY.encode()) < 24_000
    assert len(BODY.splitlines()) < 500
    assert len(read_properties(SKILL).description) <= 1_024


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
    assert sorted(path.name for path in (tmp_path / "memory" / "references").iterdir()) == list(REFERENCES)


def test_the_zip_of_the_same_skill_has_the_same_bytes(tmp_path):
    assert build(tmp_path / "once.zip") == build(tmp_path / "twice.zip")


def called(text: str, tools: list[str]) -> list[tuple[str, set[str]]]:
    """The calls that a text writes, with the names of their arguments."""
    found = re.findall(rf"`({'|'.join(tools)})\((.*?)\)`", text, re.DOTALL)
    return [(name, arguments_of(written)) for name, written in found]


def arguments_of(written: str) -> set[str]:
    bare = re.sub(r"\[[^\]]*\]", "", re.sub(r'"[^"]*"', "", written))
    return {part.split("=")[0].strip() for part in bare.split(",")} - {"", "…"}


@pytest.mark.anyio
@pytest.mark.parametrize("name", ["SKILL.md", *REFERENCES])
async def test_every_call_that_the_skill_writes_is_one_that_the_tools_take(client: Client, name: str):
    properties = {tool.name: set(tool.input_schema["properties"]) for tool in (await client.list_tools()).tools}
    calls = called({"SKILL.md": BODY, **REFERENCES}[name], list(properties))
    if name != "judgement.md":
        assert {tool for tool, _ in calls} == set(properties)
    for tool, arguments in calls:
        assert arguments <= properties[tool], f"{tool}({arguments})"


# ---- what a person says, and what it calls for ---------------------------------------------------------------------


def triggers() -> list[str]:
    """The phrases of the skill's table of triggers, in both languages."""
    table = BODY.split("## Triggers")[1].split("## Actions")[0]
    rows = [line for line in table.splitlines() if line.startswith("|")]
    return [one or other for row in rows for one, other in re.findall(r'"([^"]+)"|「([^」]+)」', row)]


def test_there_are_forty_utterances_half_of_them_near_misses_in_both_languages():
    near = [row for row in UTTERANCES if row.get("near_miss")]
    assert (len(UTTERANCES), len(near)) == (40, 20)
    for language in ("en", "ja"):
        assert [row["language"] for row in UTTERANCES].count(language) == 20
        assert [row["language"] for row in near].count(language) == 10
    assert len({row["says"] for row in UTTERANCES}) == 40


@pytest.mark.parametrize("row", UTTERANCES, ids=lambda row: row["says"])
def test_what_an_utterance_calls_for_stands_in_the_skill(row: dict[str, object]):
    assert row["rule"] in BODY
    assert row["tool"] in {"recall", "store", "summarize", "forget", ""}
    for phrase in row.get("triggers", ()):
        assert phrase in triggers()
        assert phrase.split(",")[0].casefold() in row["says"].replace("’", "'").casefold()


def test_every_trigger_of_the_skill_has_an_utterance_that_is_no_near_miss():
    spoken = {phrase for row in UTTERANCES if not row.get("near_miss") for phrase in row.get("triggers", ())}
    assert set(triggers()) == spoken


@pytest.mark.anyio
async def test_what_an_utterance_calls_for_is_a_call_that_the_tools_take(client: Client):
    properties = {tool.name: set(tool.input_schema["properties"]) for tool in (await client.list_tools()).tools}
    for row in UTTERANCES:
        assert row.get("arguments", {}).keys() <= properties.get(row["tool"], set()), row["says"]


@pytest.mark.parametrize("name", REFERENCES)
def test_the_skill_names_each_of_its_references(name: str):
    assert f"(references/{name})" in BODY


def test_a_japanese_conversation_finds_its_judgement_in_japanese():
    for word in ("重要度", "確信度", "supersedes", "untrusted", "session_id", "useful_ids"):
        assert word in REFERENCES["ja.md"]
