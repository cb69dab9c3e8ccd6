"""Codex's rollout files: JSONL of response items, which the model sees, and of events, which tell how they went."""

import json
import re

from memory_mcp.transcripts.hearing import Hearing, instant, mapping, mappings, text, texts
from memory_mcp.transcripts.protocol import Record, Records
from memory_mcp.transcripts.wrapping import unwrapped

_FAILED = re.compile(r'(?:exited with code|"exit_code":|Exit code:) *-?[1-9]')
"""How the output of a command begins that ended with an error, in older files, which hold no event of it."""


def hear(records: Records, hearing: Hearing) -> None:
    """Take what the person and the assistant said, and the tools that were used."""
    for record in records:
        payload = mapping(record.data.get("payload"))
        kind = text(payload.get("type"))
        if record.data.get("type") == "event_msg" and kind == "item_completed":
            _end(record, mapping(payload.get("item")), hearing)
        elif record.data.get("type") == "response_item":
            if kind == "message":
                _message(record, payload, hearing)
            elif kind.endswith("_call_output"):
                _output(record, payload, hearing)
            elif kind.endswith("_call"):
                _call(record, payload, hearing)


def _message(record: Record, payload: dict[str, object], hearing: Hearing) -> None:
    at, message_id = instant(record.data.get("timestamp")), text(payload.get("id"))
    if payload.get("role") == "assistant":
        hearing.say(record, message_id, "assistant", texts(payload.get("content")), at)
    elif payload.get("role") == "user":
        said = [unwrapped(text(item.get("text"))) for item in _of_a_person(payload)]
        hearing.say(record, message_id, "user", "\n\n".join(filter(None, said)), at)


def _of_a_person(payload: dict[str, object]) -> list[dict[str, object]]:
    """Leave out what the harness put into the person's role; newer versions say where each item comes from."""
    items = mappings(payload.get("content"))
    about = mapping(payload.get("internal_chat_message_metadata_passthrough"))
    origins = [text(mapping(one.get("provenance")).get("type")) for one in mappings(about.get("content_item_metadata"))]
    if len(origins) != len(items):
        return items
    return [item for item, origin in zip(items, origins, strict=True) if origin in {"user", ""}]


def _call(record: Record, payload: dict[str, object], hearing: Hearing) -> None:
    tool = "__".join(filter(None, (text(payload.get("namespace")), text(payload.get("name")))))
    given = payload.get("arguments") or payload.get("input") or payload.get("action")
    hearing.call(_call_id(payload), tool or "shell", _parsed(given), instant(record.data.get("timestamp")))


def _output(record: Record, payload: dict[str, object], hearing: Hearing) -> None:
    output = payload.get("output")
    told = texts(output) or text(mapping(output).get("content"))
    ok = mapping(output).get("success") is not False and not _FAILED.search(told[:400])
    hearing.answer(record, _call_id(payload), instant(record.data.get("timestamp")), ok=ok, output=told)


def _end(record: Record, item: dict[str, object], hearing: Hearing) -> None:
    """Take the event that tells how a tool's use ended; its output follows as a response item."""
    if "status" in item:
        ok = item["status"] == "completed" and item.get("exit_code") in {None, 0}
        hearing.answer(record, text(item.get("id")), instant(record.data.get("timestamp")), ok=ok)


def _call_id(payload: dict[str, object]) -> str:
    return text(payload.get("call_id")) or text(payload.get("id"))


def _parsed(given: object) -> object:
    """Read arguments that are JSON in a text."""
    try:
        return json.loads(given) if isinstance(given, str) else given
    except (ValueError, RecursionError):
        return given
