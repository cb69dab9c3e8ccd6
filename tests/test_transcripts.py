"""Records in tests/transcripts were written by the hosts themselves: Claude Code 2.1.332, Codex 0.171.0, Gemini CLI
0.61.0, Antigravity's engine 0.1.22, each asked by a script and answered by a scripted model; long texts are cut."""

import json
import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.transcripts import READERS, Heard, Transcript, Used

RECORDED = Path(__file__).with_name("transcripts")

ASKED = ("user", "What do you know about my garden and <b>tea</b>?")
LOOKING = ("assistant", "Let me look that up.")
TOLD = ("assistant", "You prefer green tea, and the garden has three apple trees.\n\nThat is all.")
ASKED_AGAIN = ("user", "りんごの木は何本？")
TOLD_AGAIN = ("assistant", "庭にはりんごの木が三本あります。")

SAID = {
    "claude-code": [
        ASKED,
        LOOKING,
        ("assistant", "Subagent says three."),
        ("assistant", "done"),
        ASKED_AGAIN,
        TOLD_AGAIN,
        ("user", "And the pears?"),
        ("assistant", "After compaction we go on."),
    ],
    "codex": [ASKED, LOOKING, TOLD],
    "gemini": [ASKED, LOOKING, TOLD, ASKED_AGAIN, TOLD_AGAIN],
    "antigravity": [ASKED, LOOKING, TOLD, ASKED_AGAIN, TOLD_AGAIN],
}
"""What was said in each; they hold reminders, hook contexts, a subagent, a notification, a summary, a resumption."""

USED = {
    "claude-code": [
        "ToolSearch", "mcp__mem__store", "ToolSearch", "mcp__mem__recall", "mcp__mem__store", "Read", "Agent"
    ],
    "codex": ["mcp__mem__store", "mcp__mem__recall", "mcp__mem__store", "exec_command"],
    "gemini": ["mcp_mem_store", "mcp_mem_recall", "mcp_mem_store", "read_file", "mcp_mem_recall"],
    "antigravity": [
        *["view_file"] * 2, "mem/store", "view_file", "mem/recall", "mem/store", *["view_file"] * 3, "mem/recall"
    ],
}  # fmt: skip


def record(host: str) -> Path:
    return RECORDED / f"{host}.jsonl"


def said(transcript: Transcript) -> list[tuple[str, str]]:
    return [(turn.role, turn.content) for turn in transcript.turns if turn.role != "tool"]


def printed(transcript: Transcript) -> str:
    return "\n".join(turn.content for turn in transcript.turns if turn.role == "tool")


def write(path: Path, *lines: Mapping[str, Any] | str) -> Path:
    path.write_text("".join(f"{one if isinstance(one, str) else json.dumps(one)}\n" for one in lines), "utf-8")
    return path


def claude(uuid: str, text: object, role: str = "user", **fields: Any) -> dict[str, Any]:
    at = "2026-05-04T09:30:00Z"
    return {"type": role, "uuid": uuid, "timestamp": at, "message": {"role": role, "content": text}} | fields


def ids(transcript: Transcript) -> list[str]:
    return [turn.message_id for turn in transcript.turns]


# ---- what hosts record -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", READERS)
def test_only_the_visible_words_of_person_and_assistant_are_heard(host: str):
    """B44: no system text, and nothing of what a recall gave is heard as said."""
    transcript = READERS[host](record(host))
    assert said(transcript) == SAID[host]
    assert "prefers green tea" not in printed(transcript)
    assert all(turn.at and turn.at.year == 2026 for turn in transcript.turns)


@pytest.mark.parametrize("host", READERS)
def test_uses_of_tools_are_told_with_outcome_time_and_an_opaque_digest_of_the_input(host: str):
    uses = READERS[host](record(host)).uses
    assert [use.action.tool for use in uses] == USED[host]
    assert [use.action.tool[-5:] for use in uses if not use.action.ok] == ["store"]
    assert all(use.action.duration is not None and 0 <= use.action.duration < 2 for use in uses)
    assert len({use.call_id for use in uses}) == len(uses)
    assert all(len(use.action.input_digest) == 16 and int(use.action.input_digest, 16) for use in uses)


def test_the_same_input_has_the_same_digest_at_every_host():
    stores = {
        next(use.action.input_digest for use in READERS[host](record(host)).uses if use.action.tool.endswith("store"))
        for host in READERS
    }
    assert len(stores) == 1


@pytest.mark.parametrize("host", READERS)
def test_a_transcript_that_grows_is_read_on_from_where_it_ended(host: str, tmp_path: Path):
    whole = READERS[host](record(host))
    growing, data = tmp_path / "growing.jsonl", record(host).read_bytes()
    heard: dict[str, Heard] = {}
    uses: dict[str, Used] = {}
    place, mark = 0, b""
    for end in [*range(0, len(data), 1_500), len(data)]:
        growing.write_bytes(data[:end])
        part = READERS[host](growing, place, mark)
        place, mark = part.place, part.mark
        heard = {turn.message_id: turn for turn in part.turns} | heard
        uses = {use.call_id: use for use in part.uses} | uses
    in_order = sorted((turn for turn in heard.values() if turn.role != "tool"), key=lambda turn: turn.place)
    assert [(turn.role, turn.content) for turn in in_order] == said(whole)
    assert uses == {use.call_id: use for use in whole.uses}
    assert place == len(data)
    assert not READERS[host](growing, place, mark).turns


def test_what_a_person_wrote_after_a_commands_name_is_heard(tmp_path: Path):
    command = "<command-name>/plan</command-name>\n<command-args>move the pears to the wall</command-args>"
    path = write(tmp_path / "t.jsonl", claude("1", command))
    assert said(READERS["claude-code"](path)) == [("user", "move the pears to the wall")]


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("<system-reminder>be brief</system-reminder>", []),
        ("hello <system-reminder>be brief</system-reminder> there", [("user", "hello  there")]),
        ("why does <system-reminder> stand there?", [("user", "why does <system-reminder> stand there?")]),
        ("<ide_opened_file>a.py</ide_opened_file>\nfix it", [("user", "fix it")]),
        ("[Request interrupted by user for tool use]", []),
        ("<bash-input>ls</bash-input><bash-stdout>a b</bash-stdout>", []),
        ("a < b and c > d", [("user", "a < b and c > d")]),
    ],
)
def test_what_a_host_put_into_a_message_is_left_out_and_what_a_person_wrote_stays(
    text: str, left: list[tuple[str, str]], tmp_path: Path
):
    path = write(tmp_path / "t.jsonl", claude("1", [{"type": "text", "text": text}]))
    assert said(READERS["claude-code"](path)) == left


def test_thinking_is_not_heard(tmp_path: Path):
    blocks = [{"type": "thinking", "thinking": "they may mean pears"}, {"type": "text", "text": "Pears?"}]
    path = write(tmp_path / "t.jsonl", claude("1", blocks, "assistant"))
    assert said(READERS["claude-code"](path)) == [("assistant", "Pears?")]


def test_an_older_record_of_codex_has_no_names_and_no_events_and_is_understood(tmp_path: Path):
    def item(**payload: Any) -> dict[str, Any]:
        return {"timestamp": "2026-05-04T09:30:00Z", "type": "response_item", "payload": payload}

    def message(role: str, text: str) -> dict[str, Any]:
        return item(type="message", role=role, content=[{"type": "input_text", "text": text}])

    path = write(
        tmp_path / "rollout-1.jsonl",
        message("user", "# AGENTS.md instructions for /home/ada"),
        message("user", "<environment_context>\n  <cwd>/home/ada</cwd>\n</environment_context>"),
        message("user", "Yes."),
        item(type="function_call", name="shell", arguments='{"command":["ls"]}', call_id="c1"),
        item(type="function_call_output", call_id="c1", output='{"output":"no","metadata":{"exit_code": 2}}'),
        message("user", "Yes."),
        {"type": "compacted", "payload": {"message": "They said yes twice."}},
    )
    transcript = READERS["codex"](path)
    assert said(transcript) == [("user", "Yes."), ("user", "Yes.")]
    assert [(use.action.tool, use.action.ok) for use in transcript.uses] == [("shell", False)]
    assert len(set(ids(transcript))) == len(transcript.turns)
    longer = write(tmp_path / "rollout-2.jsonl", path.read_text("utf-8").rstrip(), message("user", "Yes."))
    read_on = READERS["codex"](longer, transcript.place, transcript.mark)
    assert said(read_on) == [("user", "Yes.")]
    assert not set(ids(read_on)) & set(ids(transcript))


# ---- records that are damaged, strange or changed --------------------------------------------------------------------


def test_a_last_line_that_is_half_written_is_left_for_the_next_reading(tmp_path: Path):
    path = write(tmp_path / "t.jsonl", claude("1", "first"))
    whole = path.read_bytes()
    path.write_bytes(whole + b'{"type": "user", "uuid": "2", "mess')
    transcript = READERS["claude-code"](path)
    assert (said(transcript), transcript.place) == ([("user", "first")], len(whole))
    write(path, claude("1", "first"), claude("2", "second"))
    assert said(READERS["claude-code"](path, transcript.place, transcript.mark)) == [("user", "second")]


def test_a_transcript_that_shrank_is_read_from_its_start(tmp_path: Path):
    path = write(tmp_path / "t.jsonl", claude("1", "first"), claude("2", "second"))
    before = READERS["claude-code"](path)
    write(path, claude("3", "third"))
    assert ids(READERS["claude-code"](path, before.place, before.mark)) == ["3"]


def test_a_transcript_that_was_rewritten_at_the_same_length_is_read_from_its_start(tmp_path: Path):
    path = write(tmp_path / "t.jsonl", claude("1", "first"))
    before = READERS["claude-code"](path)
    write(path, claude("9", "other"))
    assert ids(READERS["claude-code"](path, before.place, before.mark)) == ["9"]


@pytest.mark.parametrize(
    "line",
    [
        "",
        "not JSON",
        "[1, 2]",
        "null",
        '{"type": "user", "uuid": "x"}',
        '{"type": "user", "uuid": "x", "message": "text"}',
        '{"type": "user", "uuid": "x", "message": {"content": [null, 1, {"type": "text"}, {"text": 5}]}}',
        '{"type": "oracle", "uuid": "x", "message": {"role": "oracle", "content": "I know"}}',
        '{"type": "user", "message": {"content": [{"type": "tool_result", "tool_use_id": "unheard of"}]}}',
        '{"id": "x", "type": "gemini", "content": {"text": 1}, "toolCalls": "none"}',
        '{"step_index": "one", "source": "MODEL", "type": "MCP_TOOL", "content": null}',
        '{"type": "response_item", "payload": {"type": "message", "role": "user", "content": [{"text": {}}]}}',
        '{"type": "event_msg", "payload": {"type": "item_completed", "item": {"status": "completed", "id": []}}}',
        "[" * 100_000,
    ],
)
@pytest.mark.parametrize("host", READERS)
def test_a_line_that_means_nothing_is_passed_over(host: str, line: str, tmp_path: Path):
    data = record(host).read_text("utf-8")
    path = tmp_path / "t.jsonl"
    path.write_text(f"{line}\n{data}{line}\n", "utf-8")
    assert said(READERS[host](path)) == SAID[host]


def test_a_message_without_a_time_or_with_a_strange_one_is_heard(tmp_path: Path):
    times = [None, "", "yesterday", 5, "2026-05-04T09:30:00"]
    path = write(tmp_path / "t.jsonl", *(claude(str(n), f"text {n}", timestamp=at) for n, at in enumerate(times)))
    heard = READERS["claude-code"](path).turns
    assert [turn.at for turn in heard] == [None] * 4 + [datetime(2026, 5, 4, 9, 30, tzinfo=UTC)]


def test_a_message_without_a_name_gets_the_same_one_at_every_reading_and_no_two_share_one(tmp_path: Path):
    lines = [claude("", "yes"), claude("", "yes"), claude("", "no")]
    path = write(tmp_path / "t.jsonl", *lines)
    first = READERS["claude-code"](path)
    assert len(set(ids(first))) == 3
    assert ids(READERS["claude-code"](path)) == ids(first)
    write(path, *lines, claude("", "yes"))
    [later] = READERS["claude-code"](path, first.place, first.mark).turns
    assert (later.content, later.message_id in ids(first)) == ("yes", False)


def test_lone_surrogates_and_bad_bytes_cost_no_message(tmp_path: Path):
    path = tmp_path / "t.jsonl"
    bad = json.dumps(claude("1", "half \ud83d of it")).encode() + b"\n"
    path.write_bytes(bad + json.dumps(claude("2", "caf?")).encode().replace(b"caf?", b"caf\xe9") + b"\n")
    assert said(READERS["claude-code"](path)) == [("user", "half ? of it"), ("user", "caf\ufffd")]


def test_a_result_is_joined_to_a_call_that_was_read_earlier(tmp_path: Path):
    call = claude("1", [{"type": "tool_use", "id": "c", "name": "Bash", "input": {"command": "ls"}}], "assistant")
    result = claude("2", [{"type": "tool_result", "tool_use_id": "c", "content": "no such file", "is_error": True}])
    path = write(tmp_path / "t.jsonl", call)
    first = READERS["claude-code"](path)
    assert first.uses == ()
    write(path, call, result)
    [use] = READERS["claude-code"](path, first.place, first.mark).uses
    assert (use.action.tool, use.action.ok, use.action.duration) == ("Bash", False, 0.0)


def test_a_host_that_writes_a_message_twice_says_it_once(tmp_path: Path):
    def told(text: str) -> dict[str, Any]:
        return {"id": "1", "type": "gemini", "timestamp": "2026-05-04T09:30:00Z", "content": text}

    path = write(tmp_path / "t.jsonl", told(""), told("Half"), told("Half and whole"))
    assert said(READERS["gemini"](path)) == [("assistant", "Half and whole")]


def test_a_prompt_that_a_hook_of_antigravity_injected_is_not_a_persons(tmp_path: Path):
    def step(number: int, source: str, text: str) -> dict[str, Any]:
        return {"step_index": number, "source": source, "type": "USER_INPUT", "content": text}

    path = write(tmp_path / "t.jsonl", step(0, "SYSTEM_SDK", "they like tea"), step(1, "USER_EXPLICIT", "hello"))
    assert said(READERS["antigravity"](path)) == [("user", "hello")]


def test_an_empty_transcript_says_nothing(tmp_path: Path):
    transcript = READERS["codex"](write(tmp_path / "t.jsonl"))
    assert (transcript.turns, transcript.uses, transcript.place) == ((), (), 0)


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such pipes in folders")
def test_a_pipe_is_not_waited_for(tmp_path: Path):
    pipe = tmp_path / "t.jsonl"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="is not a file"):
        READERS["claude-code"](pipe)


def test_a_line_longer_than_one_reading_holds_up_nothing(tmp_path: Path):
    path = tmp_path / "t.jsonl"
    path.write_bytes(b'"' + b"x" * 33_554_432 + b'"\n' + json.dumps(claude("1", "after it")).encode() + b"\n")
    first = READERS["claude-code"](path)
    assert first.turns == ()
    assert said(READERS["claude-code"](path, first.place, first.mark)) == [("user", "after it")]


def big(megabytes: int) -> Iterable[dict[str, Any]]:
    for number in range(megabytes * 50):
        call = f"c{number}"
        yield claude(f"a{number}", [{"type": "tool_use", "id": call, "name": "Read", "input": {}}], "assistant")
        yield claude(f"r{number}", [{"type": "tool_result", "tool_use_id": call, "content": "x" * 20_000}])
        yield claude(f"u{number}", f"request {number}")


def test_a_transcript_of_five_megabytes_is_read_whole(tmp_path: Path):
    transcript = READERS["claude-code"](write(tmp_path / "t.jsonl", *big(5)))
    assert (len(said(transcript)), len(transcript.uses)) == (250, 250)
