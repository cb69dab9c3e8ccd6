"""Conversations from files become turns, once, and episodes when somebody says so; by the shell."""

import json
from pathlib import Path

import pytest

from tests.shell import Shell

CHAT = "User: My sister Aiko moved to Kobe in May.\nAssistant: Noted.\nUser: We decided to use Postgres 16.\n"


@pytest.fixture
def shell(tmp_path, capsys) -> Shell:
    return Shell(tmp_path / "memory.db", capsys)


@pytest.fixture
def chat(tmp_path: Path) -> Path:
    file = tmp_path / "chat.txt"
    file.write_text(CHAT, encoding="utf-8")
    return file


def turns(shell: Shell, *words: str) -> list[dict]:
    return shell("list", "--kind", "turn", "--limit", "50", "--json", *words).json["memories"]


def test_a_file_is_kept_verbatim_and_again_is_harmless(shell, chat):
    first, second = shell("import-conversation", str(chat)), shell("import-conversation", str(chat))
    assert first.out == "chat: 3 turns stored, 0 known already\n"
    assert second.out == "chat: 0 turns stored, 3 known already\n"
    assert [turn["content"] for turn in reversed(turns(shell))] == [line.split(": ")[1] for line in CHAT.splitlines()]


def test_a_file_that_grew_adds_what_is_new(shell, chat):
    shell("import-conversation", str(chat))
    chat.write_text(CHAT + "Assistant: Good choice.\n", encoding="utf-8")
    assert shell("import-conversation", str(chat)).out == "chat: 1 turn stored, 3 known already\n"


def test_what_was_forgotten_is_not_learned_again(shell, chat):
    shell("import-conversation", str(chat))
    [aiko] = [turn["id"] for turn in turns(shell) if "Aiko" in turn["content"]]
    shell("forget", aiko)
    again = shell("import-conversation", str(chat))
    assert again.out == "chat: 0 turns stored, 2 known already, 1 forgotten on request and left so\n"
    assert "Aiko" not in str(turns(shell))


def test_a_dry_run_says_what_would_be_kept_and_keeps_nothing(shell, chat):
    ran = shell("import-conversation", str(chat), "--dry-run")
    assert "chat: 3 messages" in ran.out
    assert turns(shell) == []


def test_what_others_wrote_is_not_trusted(shell, chat):
    shell("import-conversation", str(chat), "--untrusted")
    assert {(turn["source"], turn["trust"]) for turn in turns(shell)} == {("import", "untrusted")}
    assert shell("context").out.count("Aiko") == 0


def test_secrets_and_private_parts_stay_out_and_what_cannot_be_kept_is_told(shell, tmp_path):
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    messages = [
        {"role": "user", "content": f"The key is {key}. <private>I am ill.</private>"},
        {"role": "user", "content": "a\0b"},
        {"role": "assistant", "content": "Fine."},
    ]
    file = tmp_path / "odd.json"
    file.write_text(json.dumps(messages), encoding="utf-8")
    ran = shell("import-conversation", str(file), "--session", "odd one")
    assert ran.out == "odd one: 2 turns stored, 0 known already\n"
    assert "Skipped: 1" in ran.err
    assert "message 2" in ran.err
    kept = str(turns(shell, "--session", "odd one"))
    assert key not in kept
    assert "ill" not in kept


def test_several_conversations_of_a_file_are_sessions_of_their_own(shell, tmp_path):
    file = tmp_path / "export.json"
    message = [{"role": "user", "content": "The ferry leaves at nine."}]
    file.write_text(json.dumps([{"id": "a", "messages": message}, {"id": "b", "messages": message}]), encoding="utf-8")
    shell("import-conversation", str(file))
    assert {turn["session_id"] for turn in turns(shell)} == {"export/a", "export/b"}


def test_conversations_that_a_file_does_not_name_are_called_by_their_lines(shell, tmp_path):
    file = tmp_path / "export.jsonl"
    rows = [{"messages": [{"role": "user", "content": text}]} for text in ("The ferry is late.", "The bus is full.")]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    shell("import-conversation", str(file))
    assert {turn["session_id"]: turn["content"] for turn in turns(shell)} == {
        "export/1": "The ferry is late.",
        "export/2": "The bus is full.",
    }


def test_a_file_that_is_not_there_or_no_conversation_is_told(shell, tmp_path):
    file = tmp_path / "prose.txt"
    file.write_text("Just some prose.", encoding="utf-8")
    for name, words in ((str(tmp_path / "no.txt"), "No such file"), (str(file), "No conversation was found")):
        ran = shell("import-conversation", name)
        assert (ran.code, ran.out) == (1, "")
        assert words in ran.err


def test_pending_sessions_are_summarized_once(shell, chat):
    shell("import-conversation", str(chat))
    assert shell("stats", "--json").json["pending_sessions"] == 1
    first = shell("summarize", "--pending")
    assert first.code == 0
    assert first.out.startswith("chat: stored as ")
    assert "Aiko" in first.out
    assert shell("summarize", "--pending").out == "Every session is summarized.\n"
    assert shell("stats", "--json").json["pending_sessions"] == 0


def test_one_session_is_summarized_by_its_name(shell, chat):
    shell("import-conversation", str(chat))
    assert shell("summarize", "chat", "--json").json["status"] == "stored"
    assert shell("summarize", "chat", "--json").json["status"] == "unchanged"
    unknown = shell("summarize", "nonesuch")
    assert (unknown.code, unknown.out) == (1, "")
    assert "No turn of a session" in unknown.err


@pytest.mark.parametrize("words", [(), ("chat", "--pending")])
def test_what_to_summarize_must_be_said(shell, words):
    with pytest.raises(SystemExit) as left:
        shell("summarize", *words)
    assert left.value.code == 2


# ---- another conversation of the same name -------------------------------------------------------------------------


@pytest.mark.parametrize("dry_run", [(), ("--dry-run",)])
def test_another_conversation_of_the_same_name_is_refused_and_nothing_of_it_is_kept(shell, chat, tmp_path, dry_run):
    shell("import-conversation", str(chat))
    other = tmp_path / "elsewhere" / "chat.json"
    other.parent.mkdir()
    messages = [{"role": "user", "content": f"Tile {number} is blue."} for number in range(1, 15)]
    other.write_text(json.dumps(messages), encoding="utf-8")
    ran = shell("import-conversation", str(other), *dry_run)
    assert (ran.code, ran.out) == (1, "")
    assert "A conversation 'chat' with other content is kept already. Nothing was saved" in ran.err
    assert "--session NAME" in ran.err
    assert len(turns(shell)) == 3
    named = shell("import-conversation", str(other), "--session", "tiles")
    assert named.out == "tiles: 14 turns stored, 0 known already\n"


def test_no_conversation_of_a_file_is_kept_where_one_of_them_is_another(shell, tmp_path):
    def written(*texts: str) -> str:
        told = [
            {"id": name, "messages": [{"role": "user", "content": text}]}
            for name, text in zip("ab", texts, strict=False)
        ]
        file = tmp_path / "export.json"
        file.write_text(json.dumps([{"id": "c", "messages": [{"role": "user", "content": "Hi."}]}, *told]))
        return str(file)

    shell("import-conversation", written("The ferry leaves at nine."))
    assert shell("import-conversation", written("The train is late.", "The bus is full.")).code == 1
    assert "bus" not in str(turns(shell))


def test_a_forgotten_place_agrees_with_whatever_stands_there(shell, chat):
    shell("import-conversation", str(chat))
    [aiko] = [turn["id"] for turn in turns(shell) if "Aiko" in turn["content"]]
    shell("forget", aiko)
    chat.write_text(CHAT.replace("Aiko", "Hana"), encoding="utf-8")
    assert shell("import-conversation", str(chat)).code == 0


def test_a_text_is_the_same_whether_or_not_its_secret_was_redacted(shell, chat, monkeypatch):
    chat.write_text(CHAT + "User: The key is AKIA" + "IOSFODNN7EXAMPLQ.\n", encoding="utf-8")
    shell("import-conversation", str(chat))
    monkeypatch.setenv("MEMORY_MCP_SECRETS", "keep")
    assert shell("import-conversation", str(chat)).out == "chat: 0 turns stored, 4 known already\n"


# ---- Markdown ------------------------------------------------------------------------------------------------------

NOTE = "# Bakery\n\nOpen: daily\nClosed: on holidays\n"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (NOTE, "it has headings"),
        ("Open: daily\nBread is sold\nuntil it is gone.\n", "only 1 of its 3 lines begin with a speaker"),
    ],
)
def test_a_note_is_no_conversation_for_having_colons(shell, tmp_path, text, why):
    note = tmp_path / "bakery.md"
    note.write_text(text, encoding="utf-8")
    ran = shell("import-conversation", str(note))
    assert (ran.code, ran.out) == (1, "")
    assert why in ran.err
    assert "`memory-mcp import` keeps it as reference" in ran.err
    assert turns(shell) == []


def test_a_transcript_may_be_markdown_and_quote_code(shell, tmp_path):
    file = tmp_path / "talk.md"
    file.write_text(CHAT + "User: Run this.\n\n```\n# a comment\n```\n", encoding="utf-8")
    assert shell("import-conversation", str(file)).out == "talk: 4 turns stored, 0 known already\n"
