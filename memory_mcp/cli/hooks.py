"""How each host's hooks speak: what they tell us on standard input, and in which form they take an answer."""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TextIO, cast

from memory_mcp.hooks import Event, HookEvent

HOSTS = ("claude-code", "codex", "gemini", "antigravity")
"""The hosts with hooks, by the names that follow `capture` and `--hook`."""

MAX_INPUT = 16 * 1024 * 1024
"""Characters of a hook's input that are read, twice the longest line of the protocol; cut there, it is not JSON."""

EVENTS: dict[str, Event] = {
    "SessionStart": "start",
    "UserPromptSubmit": "prompt",
    "BeforeAgent": "prompt",
    "PreCompact": "compact",
    "PreCompress": "compact",
    "Stop": "stop",
    "AfterAgent": "stop",
    "SessionEnd": "end",
}
"""What Claude Code, Codex and Gemini CLI call them."""

HOST_NAMES: dict[str, dict[Event, str]] = {
    "claude-code": {"start": "SessionStart", "prompt": "UserPromptSubmit"},
    "codex": {"start": "SessionStart", "prompt": "UserPromptSubmit"},
    "gemini": {"start": "SessionStart", "prompt": "BeforeAgent"},
}
"""The events whose hooks may add to the context, by the names under which the answer must be given."""

_OWN_CONTEXT = re.compile(r"<hook_context>[\s\S]*?(?:</hook_context>|\Z)")
"""Gemini CLI hands the prompt with what an earlier hook added to it."""


def heard(host: str, source: TextIO) -> HookEvent | None:
    """Read one call of a hook. None for what is not JSON, and for events that mean nothing to us.

    `host` is the one that the hook was written for. Codex runs Claude Code's plugins and Antigravity converts them, so
    the input itself may name another.
    """
    try:
        told: object = json.loads(source.read(MAX_INPUT))
    except (ValueError, RecursionError):
        return None
    if not isinstance(told, dict):
        return None
    data = cast("dict[str, object]", told)
    if "conversationId" in data:
        return _antigravity(data)
    event = EVENTS.get(_text(data, "hook_event_name"))
    if event is None:
        return None
    transcript = _path(data, "transcript_path")
    return HookEvent(
        host="codex" if host == "claude-code" and _is_of_codex(transcript) else host,
        event=event,
        session_id=_text(data, "session_id"),
        transcript_path=transcript,
        cwd=_path(data, "cwd"),
        prompt=_OWN_CONTEXT.sub("", _text(data, "prompt")).strip(),
        source=_text(data, "source") or _text(data, "trigger") or _text(data, "reason"),
    )


def answer(event: HookEvent, text: str) -> str:
    """Write what the model is to be told in the form that the host takes, or its silence where it takes nothing."""
    if not text:
        return silence(event.host)
    if event.host == "antigravity":
        if event.event not in {"start", "prompt"}:
            return silence(event.host)
        return _written({"injectSteps": [{"systemMessage": {"systemMessage": text}}]})
    name = HOST_NAMES[event.host].get(event.event)
    if name is None:
        return silence(event.host)
    return _written({"hookSpecificOutput": {"hookEventName": name, "additionalContext": text}})


def silence(host: str) -> str:
    """Write the answer that changes nothing: Gemini CLI and Antigravity want JSON, the others take no output."""
    return "{}" if host in {"gemini", "antigravity"} else ""


def _antigravity(data: Mapping[str, object]) -> HookEvent:
    """Its input names no event: one of Stop counts executions, one of Pre- and PostInvocation invocations."""
    event: Event = "stop" if "executionNum" in data else "prompt" if "invocationNum" in data else "start"
    folders = data.get("workspacePaths")
    first = cast("list[object]", folders)[:1] if isinstance(folders, list) else []
    return HookEvent(
        host="antigravity",
        event=event,
        session_id=_text(data, "conversationId"),
        transcript_path=_path(data, "transcriptPath"),
        cwd=_path({"cwd": first[0]} if first else {}, "cwd"),
        source=_text(data, "terminationReason"),
    )


def _is_of_codex(transcript: Path | None) -> bool:
    return transcript is not None and transcript.name.startswith("rollout-")


def _text(data: Mapping[str, object], name: str) -> str:
    """Take a text as UTF-8 can hold it; lone surrogates, as JSON may smuggle in, become question marks."""
    value = data.get(name)
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def _path(data: Mapping[str, object], name: str) -> Path | None:
    written = _text(data, name)
    return Path(written) if written and "\0" not in written else None


def _written(answer: Mapping[str, Any]) -> str:
    return json.dumps(answer, ensure_ascii=False)
