"""Antigravity's transcripts: JSONL, one step a line, not always in order; a tool's result is a step of its own."""

import re
from collections import deque
from datetime import datetime

from memory_mcp.transcripts.hearing import Hearing, instant, mapping, mappings, text
from memory_mcp.transcripts.protocol import Record, Records

_REQUEST = re.compile(r"\s*<USER_REQUEST>\n?(.*?)\n?</USER_REQUEST>", re.DOTALL)
_TIMES = re.compile(r"Created At: (\S+)\nCompleted At: (\S+)\n?")
"""How the result of a tool begins."""


def hear(records: Records, hearing: Hearing) -> None:
    """Take what the person and the assistant said, and the tools that were used."""
    planned: deque[dict[str, object]] = deque()
    before = -1
    for record in sorted(records, key=_step):
        origin, kind = record.data.get("source"), record.data.get("type")
        if (origin, kind) == ("USER_EXPLICIT", "USER_INPUT"):
            request = _REQUEST.match(_content(record))
            hearing.say(record, _name(record), "user", request[1] if request else _content(record), _at(record))
        elif (origin, kind) == ("MODEL", "PLANNER_RESPONSE"):
            hearing.say(record, _name(record), "assistant", _content(record), _at(record))
            planned = deque(mappings(record.data.get("tool_calls")))
        elif origin == "MODEL":
            hearing.is_partial |= before != _step(record) - 1  # an earlier result may belong to the first of the calls
            _result(record, planned, hearing)
        before = _step(record)


def _result(record: Record, planned: deque[dict[str, object]], hearing: Hearing) -> None:
    """Take the result of the next tool that the model had planned to use."""
    times = _TIMES.match(_content(record))
    began, ended = (instant(times[1]), instant(times[2])) if times else (_at(record), None)
    if planned:
        tool, given = _planned(planned.popleft())
        hearing.call(_name(record), tool, given, began)
    output = _content(record)[times.end() if times else 0 :]
    hearing.answer(record, _name(record), ended, ok=record.data.get("status") != "ERROR", output=output)


def _planned(call: dict[str, object]) -> tuple[str, object]:
    """Say which tool is called, and with what; those of MCP servers are called through one of the host's."""
    name, given = text(call.get("name")), mapping(call.get("args"))
    if name == "call_mcp_tool":
        server, tool = (text(given.get(part)).strip('"') for part in ("ServerName", "ToolName"))
        return f"{server}/{tool}", given.get("Arguments")
    return name, {part: value for part, value in given.items() if part not in {"toolAction", "toolSummary"}}


def _step(record: Record) -> int:
    step = record.data.get("step_index")
    return step if isinstance(step, int) else -1


def _name(record: Record) -> str:
    return str(_step(record)) if _step(record) >= 0 else ""


def _content(record: Record) -> str:
    return text(record.data.get("content"))


def _at(record: Record) -> datetime | None:
    return instant(record.data.get("created_at"))
