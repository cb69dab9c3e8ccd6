"""Claude Code's transcripts: one JSONL file a conversation, a line for each block of a message and much besides."""

from memory_mcp.transcripts.hearing import Hearing, instant, mapping, mappings, text, texts
from memory_mcp.transcripts.protocol import Record, Records
from memory_mcp.transcripts.wrapping import unwrapped

_NOT_SAID = ("isSidechain", "isMeta", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
"""What marks a subagent's message, the host's own, and a summary in place of the conversation."""


def hear(records: Records, hearing: Hearing) -> None:
    """Take what the person and the assistant said, and the tools that were used."""
    for record in records:
        kind = record.data.get("type")
        if kind not in {"user", "assistant"} or any(record.data.get(mark) for mark in _NOT_SAID):
            continue
        blocks = mappings(mapping(record.data.get("message")).get("content"))
        if kind == "user":
            _user(record, blocks, hearing)
        else:
            _assistant(record, blocks, hearing)


def _user(record: Record, blocks: list[dict[str, object]], hearing: Hearing) -> None:
    at = instant(record.data.get("timestamp"))
    for block in blocks:
        if block.get("type") == "tool_result":
            ok, output = not block.get("is_error"), texts(block.get("content"))
            hearing.answer(record, text(block.get("tool_use_id")), at, ok=ok, output=output)
    if _is_of_a_person(record):
        hearing.say(record, text(record.data.get("uuid")), "user", unwrapped(_said(record, blocks)), at)


def _assistant(record: Record, blocks: list[dict[str, object]], hearing: Hearing) -> None:
    at = instant(record.data.get("timestamp"))
    if mapping(record.data.get("message")).get("model") != "<synthetic>":
        hearing.say(record, text(record.data.get("uuid")), "assistant", _said(record, blocks), at)
    for block in blocks:
        if block.get("type") == "tool_use":
            hearing.call(text(block.get("id")), text(block.get("name")), block.get("input"), at)


def _said(record: Record, blocks: list[dict[str, object]]) -> str:
    content = mapping(record.data.get("message")).get("content")
    return text(content) or texts([block for block in blocks if block.get("type") == "text"])


def _is_of_a_person(record: Record) -> bool:
    """Whether the prompt came from outside: the host also tells the model of finished tasks in the person's role."""
    origin = mapping(record.data.get("origin")).get("kind")
    return record.data.get("promptSource") != "system" and origin in {None, "human", "user"}
