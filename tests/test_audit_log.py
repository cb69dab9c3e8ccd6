"""What was done can be read: when, by which door, what, on how many, which ids; and never a word of a memory."""

import json
import re
from pathlib import Path

import pytest

from memory_mcp.config import Settings
from memory_mcp.models import Kind
from memory_mcp.storage import driver
from tests.memories import keep, memory_with
from tests.rawstdio import RawServer
from tests.shell import COFFEE, Shell, process

WORDS = "zanzibar quixotic xylotomist wombat 紫陽花 向日葵"
"""Words that no id, verb or door holds; each text of these tests has some."""


@pytest.fixture
def shell(tmp_path, capsys) -> Shell:
    return Shell(tmp_path / "memory.db", capsys)


def log(shell: Shell, *words: str) -> list[dict]:
    return shell("audit", "log", "--json", *words).json["lines"]


def test_the_log_is_newest_first_and_says_when_by_which_door_what_and_to_which(shell):
    coffee = shell.store(COFFEE)
    shell("pin", coffee)
    shown = shell("audit", "log").out.splitlines()
    assert [line.split()[3:] for line in shown] == [["cli", "revise", "1", coffee], ["cli", "store", "1", coffee]]
    assert re.match(r"20\d\d-\d\d-\d\d \d\d:\d\d \w+  ", shown[0])
    [pinned, stored] = log(shell)
    assert pinned.keys() == {"at", "door", "verb", "count", "ids"}
    assert (stored["verb"], stored["ids"], stored["count"]) == ("store", [coffee], 1)


def test_the_log_is_paged_and_narrowed(shell):
    ids = [shell.store(f"fact number {number}") for number in range(3)]
    shell("forget", ids[0])
    page = shell("audit", "log", "--limit", "2", "--json").json
    rest = shell("audit", "log", "--limit", "2", "--cursor", page["next_cursor"], "--json").json
    assert [line["verb"] for line in page["lines"] + rest["lines"]] == ["forget", "store", "store", "store"]
    assert rest["next_cursor"] == ""
    assert f"--cursor {page['next_cursor']}" in shell("audit", "log", "--limit", "2").err
    assert [line["ids"] for line in log(shell, "--verb", "forget")] == [[ids[0]]]
    assert len(log(shell, "--since", "today")) == 4
    assert log(shell, "--since", "2999-01-01") == []


def test_many_ids_are_counted_and_the_first_are_shown(shell, tmp_path):
    for number in range(60):
        shell.store(f"fact number {number}")
    handle = shell("archive", "--query", "fact", "--json").json["confirm"]
    shell("archive", "--query", "fact", "--confirm", handle)
    [line] = log(shell, "--verb", "archive")
    assert (line["count"], len(line["ids"])) == (60, 50)
    assert shell("audit", "log", "--limit", "1").out.rstrip().endswith("and 57 more")


def test_a_log_with_nothing_in_it_says_so(shell):
    assert shell("audit", "log").out == "Nothing was done to this memory yet.\n"
    shell.store(COFFEE)
    assert shell("audit", "log", "--verb", "wipe").out == "Nothing fits. Leave filters out.\n"


@pytest.mark.parametrize("words", [("--cursor", "x"), ("--cursor", "9" * 30), ("--limit", "0"), ("--since", "never")])
def test_what_cannot_be_read_is_refused(shell, words):
    assert shell("audit", "log", *words).code == 1


@pytest.mark.parametrize("words", [("--limit", "1"), ("--verb", "store"), ("--since", "today"), ("--cursor", "1")])
def test_flags_of_the_log_mean_nothing_to_relevance(shell, words):
    with pytest.raises(SystemExit) as end:
        shell("audit", "relevance", *words)
    assert end.value.code == 2


# ---- every act, and no content ---------------------------------------------------------------------------------------


def do_everything(shell: Shell, tmp_path: Path) -> None:
    """Do all that changes something, by every verb of the shell, with texts of rare words."""
    first = shell.store(f"{WORDS} one", "--tag", "wombat", "--key", "quixotic", "--session", "zanzibar")
    second = shell.store(f"{WORDS} two", "--key", "quixotic")
    shell("edit", second, "--importance", "0.9", "--tag", "xylotomist")
    shell("pin", second)
    shell("unpin", second)
    shell("recall", "--rate", "useful", second)
    shell("archive", second)
    shell("restore", second)
    chat = tmp_path / "chat.txt"
    chat.write_text(f"User: I like {WORDS} a lot.\nAssistant: Noted, {WORDS}.\n", encoding="utf-8")
    shell("import-conversation", str(chat), "--session", "zanzibar talk")
    shell("summarize", "zanzibar talk")
    shell("export", str(tmp_path / "all.jsonl"))
    shell("forget", second)
    assert shell("import", str(tmp_path / "all.jsonl"), "--include-forgotten").code == 0
    shell.store(f"{WORDS} soon gone", "--expires-in-days", "0.000000001")
    shell("maintain")
    shell("forget", first)
    hook(shell, tmp_path)


def hook(shell: Shell, tmp_path: Path) -> None:
    """Capture a conversation as a host's hook does."""
    transcript = tmp_path / "transcript.jsonl"
    said = {
        "type": "user", "uuid": "m-1", "sessionId": "s-1", "timestamp": "2026-05-04T09:30:00Z",
        "message": {"role": "user", "content": f"I said {WORDS} here"},
    }  # fmt: skip
    transcript.write_text(json.dumps(said) + "\n", encoding="utf-8")
    event = {"hook_event_name": "Stop", "session_id": "s-1", "transcript_path": str(transcript), "cwd": str(tmp_path)}
    process("--db", str(shell.file), "capture", "claude-code", "--on", stdin=json.dumps(event).encode())


def test_every_act_is_in_the_log_by_its_door_and_none_with_a_word_of_what_is_kept(shell, tmp_path):
    """B65: the log, and all that a command says of itself beside its answer, holds ids and counts alone."""
    do_everything(shell, tmp_path)
    lines = log(shell, "--limit", "50")
    assert {(line["verb"], line["door"]) for line in lines} == {
        ("store", "cli"), ("revise", "cli"), ("rate", "cli"), ("archive", "cli"), ("restore", "cli"),
        ("capture", "cli"), ("summarize", "cli"), ("forget", "cli"), ("import", "cli"), ("lift", "cli"),
        ("expire", "background"), ("capture", "hook"),
    }  # fmt: skip
    connection = driver.connect(shell.file)
    told = str([tuple(row) for row in connection.execute("select * from audit")]).casefold()
    connection.close()
    assert [word for word in WORDS.split() if word in told] == []
    assert shell("wipe", "--confirm", str(shell("stats", "--json").json["memories"])).code == 0


def test_what_a_server_is_told_is_in_the_log_by_its_own_door(tmp_path):
    db = tmp_path / "memory.db"
    with RawServer(db, {"MEMORY_MCP_MODEL": "none"}) as server:
        server.initialize()
        stored = server.tool("store", content=f"{WORDS} one")["structuredContent"]["id"]
        server.tool("summarize", session_id="s", summary=f"About {WORDS}", useful_ids=[stored])
        server.tool("forget", ids=[stored], archive=True)
        server.tool("forget", ids=[stored], restore=True)
        server.tool("forget", ids=[stored])
        server.tool("recall", query="zanzibar")
        assert server.end_input() == 0
    assert b"zanzibar" not in server.errors
    lines = json.loads(process("--db", str(db), "audit", "log", "--json").stdout)["lines"]
    assert [(line["verb"], line["door"]) for line in reversed(lines)] == [
        ("store", "mcp"), ("summarize", "mcp"), ("rate", "mcp"), ("archive", "mcp"), ("restore", "mcp"),
        ("forget", "mcp"),
    ]  # fmt: skip
    assert not any(word in str(lines) for word in WORDS.split())


@pytest.mark.anyio
async def test_what_cannot_be_rated_is_no_act(words_only: Settings, clock):
    async with memory_with(words_only, None, clock) as memory:
        kept = await keep(memory, COFFEE, kind=Kind.FACT)
        await memory.rate(["0" * 36], useful=True)
        assert [one.ids for one in (await memory.audit_log(10)).lines] == [(kept,)]
