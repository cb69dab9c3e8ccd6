"""Gemini CLI's chat files: JSONL, a line for each message and again whenever it changes, and settings of the chat.

A line with `$set` replaces what the chat holds, as when it is resumed or compressed: whatever was said in it stands in
lines of its own before.
"""

from memory_mcp.transcripts.hearing import Hearing, instant, mapping, mappings, text, texts
from memory_mcp.transcripts.protocol import Record, Records
from memory_mcp.transcripts.wrapping import unwrapped

_ENDED = {"success": True, "error": False, "cancelled": False}


def hear(records: Records, hearing: Hearing) -> None:
    """Take what the person and the assistant said, and the tools that were used."""
    for record in records:
        message_id, at = text(record.data.get("id")), instant(record.data.get("timestamp"))
        kind, content = record.data.get("type"), record.data.get("content")
        if kind == "user":
            said = [unwrapped(one) for one in _texts(content)]
            hearing.say(record, message_id, "user", "\n\n".join(filter(None, said)), at)
        elif kind == "gemini":
            hearing.say(record, message_id, "assistant", texts(content), at)
            for call in mappings(record.data.get("toolCalls")):
                _use(record, call, hearing)


def _texts(content: object) -> list[str]:
    return [text(content)] if isinstance(content, str) else [text(one.get("text")) for one in mappings(content)]


def _use(record: Record, call: dict[str, object], hearing: Hearing) -> None:
    """Take a call that has ended; its own time is that of its end."""
    status = text(call.get("status"))
    if status not in _ENDED:
        return
    call_id, ended = text(call.get("id")), instant(call.get("timestamp"))
    hearing.call(call_id, text(call.get("name")), call.get("args"), instant(record.data.get("timestamp")))
    responses = [mapping(mapping(one.get("functionResponse")).get("response")) for one in mappings(call.get("result"))]
    output = "\n\n".join(text(one.get("output")) or text(one.get("error")) for one in responses)
    hearing.answer(record, call_id, ended, ok=_ENDED[status], output=output)
