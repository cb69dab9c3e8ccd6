"""What each host's hooks tell us is understood alike, and each is answered in its own form."""

import io
import json
from pathlib import Path

import pytest

from memory_mcp.cli.hooks import HOSTS, answer, heard, silence
from memory_mcp.hooks import HookEvent

CLAUDE = {
    "session_id": "8a90e1dc",
    "transcript_path": "/home/x/.claude/projects/-home-x-p/8a90e1dc.jsonl",
    "cwd": "/home/x/p",
}
CODEX = {
    "session_id": "01a22af0",
    "transcript_path": "/home/x/.codex/sessions/2026/11/30/rollout-2026-11-30T05-32-30-01a22af0.jsonl",
    "cwd": "/home/x/p",
    "model": "gpt-5",
    "permission_mode": "default",
}
GEMINI = {
    "session_id": "f025b050",
    "transcript_path": "/home/x/.gemini/tmp/p/chats/session-2026-11-30T05-32-f025b050.jsonl",
    "cwd": "/home/x/p",
    "timestamp": "2026-11-30T05:32:33.082Z",
}
ANTIGRAVITY = {
    "artifactDirectoryPath": "/home/x/.gemini/antigravity/brain/5af7b83c",
    "conversationId": "5af7b83c",
    "modelName": "gemini",
    "transcriptPath": "/home/x/.gemini/antigravity/brain/5af7b83c/.system_generated/logs/transcript_full.jsonl",
    "workspacePaths": ["/home/x/p", "/home/x/q"],
}


def hear(host: str, told: object) -> HookEvent | None:
    return heard(host, io.StringIO(told if isinstance(told, str) else json.dumps(told)))


@pytest.mark.parametrize(
    ("host", "told", "event"),
    [
        ("claude-code", {**CLAUDE, "hook_event_name": "SessionStart", "source": "startup"}, "start"),
        ("claude-code", {**CLAUDE, "hook_event_name": "SessionStart", "source": "compact"}, "start"),
        ("claude-code", {**CLAUDE, "hook_event_name": "UserPromptSubmit", "prompt": "Hello"}, "prompt"),
        ("claude-code", {**CLAUDE, "hook_event_name": "PreCompact", "trigger": "auto"}, "compact"),
        ("claude-code", {**CLAUDE, "hook_event_name": "Stop", "stop_hook_active": False}, "stop"),
        ("claude-code", {**CLAUDE, "hook_event_name": "SessionEnd", "reason": "other"}, "end"),
        ("codex", {**CODEX, "hook_event_name": "SessionStart", "source": "startup"}, "start"),
        ("codex", {**CODEX, "hook_event_name": "UserPromptSubmit", "turn_id": "t", "prompt": "Hello"}, "prompt"),
        ("codex", {**CODEX, "hook_event_name": "Stop", "last_assistant_message": "finished"}, "stop"),
        ("codex", {**CODEX, "hook_event_name": "SessionEnd", "reason": "other"}, "end"),
        ("gemini", {**GEMINI, "hook_event_name": "SessionStart", "source": "startup"}, "start"),
        ("gemini", {**GEMINI, "hook_event_name": "BeforeAgent", "prompt": "Hello"}, "prompt"),
        ("gemini", {**GEMINI, "hook_event_name": "PreCompress", "trigger": "auto"}, "compact"),
        ("gemini", {**GEMINI, "hook_event_name": "AfterAgent", "prompt": "Hello", "prompt_response": "x"}, "stop"),
        ("gemini", {**GEMINI, "hook_event_name": "SessionEnd", "reason": "exit"}, "end"),
        ("antigravity", ANTIGRAVITY, "start"),
        ("antigravity", {**ANTIGRAVITY, "invocationNum": 0, "initialNumSteps": 1}, "prompt"),
        ("antigravity", {**ANTIGRAVITY, "executionNum": 0, "terminationReason": "NO_TOOL_CALL"}, "stop"),
    ],
)
def test_every_event_of_every_host_is_understood(host, told, event):
    found = hear(host, told)
    assert found is not None
    assert (found.host, found.event) == (host, event)
    assert found.session_id == told.get("session_id", told.get("conversationId"))
    assert found.transcript_path == Path(told.get("transcript_path", told.get("transcriptPath")))
    assert found.cwd == Path("/home/x/p")


def test_it_is_known_why_a_conversation_begins_again():
    found = hear("claude-code", {**CLAUDE, "hook_event_name": "SessionStart", "source": "compact"})
    assert found is not None
    assert found.source == "compact"


def test_codex_is_recognised_in_a_plugin_that_was_made_for_claude_code():
    found = hear("claude-code", {**CODEX, "hook_event_name": "Stop"})
    assert found is not None
    assert found.host == "codex"


def test_antigravity_is_recognised_in_a_plugin_that_it_converted():
    found = hear("claude-code", ANTIGRAVITY)
    assert found is not None
    assert (found.host, found.session_id) == ("antigravity", "5af7b83c")


def test_what_our_own_hook_added_to_a_prompt_is_not_the_persons_words():
    prompt = "<hook_context>Stored memories: buckwheat &lt;x&gt;</hook_context>\n\nWhat may Ken eat?"
    found = hear("gemini", {**GEMINI, "hook_event_name": "BeforeAgent", "prompt": prompt})
    assert found is not None
    assert found.prompt == "What may Ken eat?"


@pytest.mark.parametrize(
    "told",
    [
        "",
        "not json",
        "[1, 2]",
        "null",
        '"text"',
        "{}",
        '{"hook_event_name": "Elsewhere", "session_id": "x"}',
        '{"hook_event_name": 5}',
        '{"hook_event_name": ["SessionStart"]}',
        "[" * 200_000,
        '{"session_id": "x", "hook_event_name": "SessionStart"',
    ],
    ids=range(11),
)
@pytest.mark.parametrize("host", HOSTS)
def test_what_makes_no_sense_means_nothing(host, told):
    assert hear(host, told) is None


@pytest.mark.parametrize("odd", [5, None, [], {}, "", True])
def test_members_of_another_type_are_as_good_as_missing(odd):
    told = {"hook_event_name": "Stop", "session_id": odd, "transcript_path": odd, "cwd": odd, "prompt": odd}
    assert hear("claude-code", told) == HookEvent("claude-code", "stop")


def test_a_path_that_no_file_can_have_is_none():
    found = hear("claude-code", {"hook_event_name": "Stop", "transcript_path": "a\0b"})
    assert found == HookEvent("claude-code", "stop")


def test_half_a_character_does_not_spoil_a_prompt():
    found = hear("claude-code", '{"hook_event_name": "UserPromptSubmit", "prompt": "a \\ud83d b"}')
    assert found is not None
    assert found.prompt == "a ? b"


def test_folders_that_are_no_list_are_none():
    found = hear("antigravity", {**ANTIGRAVITY, "workspacePaths": "x"})
    assert found is not None
    assert found.cwd is None


# ---- answers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("host", ["claude-code", "codex"])
@pytest.mark.parametrize(("event", "name"), [("start", "SessionStart"), ("prompt", "UserPromptSubmit")])
def test_claude_code_and_codex_take_additional_context(host, event, name):
    written = json.loads(answer(HookEvent(host, event), "茶 & <tea>"))
    assert written == {"hookSpecificOutput": {"hookEventName": name, "additionalContext": "茶 & <tea>"}}


@pytest.mark.parametrize(("event", "name"), [("start", "SessionStart"), ("prompt", "BeforeAgent")])
def test_gemini_cli_takes_additional_context_by_its_own_names(event, name):
    written = json.loads(answer(HookEvent("gemini", event), "tea"))
    assert written == {"hookSpecificOutput": {"hookEventName": name, "additionalContext": "tea"}}


def test_antigravity_takes_a_step_that_stays_and_nothing_else_beside_it():
    written = json.loads(answer(HookEvent("antigravity", "start"), "tea"))
    assert written == {"injectSteps": [{"systemMessage": {"systemMessage": "tea"}}]}


@pytest.mark.parametrize("event", ["compact", "stop", "end"])
@pytest.mark.parametrize("host", HOSTS)
def test_other_events_are_answered_by_silence_whatever_there_would_be_to_tell(host, event):
    """What PreCompact prints would become part of the prompt that compacts."""
    assert answer(HookEvent(host, event), "tea") == silence(host)


@pytest.mark.parametrize("host", HOSTS)
def test_silence_is_what_the_host_takes_for_no_answer(host):
    assert answer(HookEvent(host, "start"), "") == silence(host)
    assert silence(host) == ("{}" if host in {"gemini", "antigravity"} else "")
