"""What the tools answer: the same facts twice, as lines for models and as data for programs."""

import json
from collections.abc import Callable, Sequence
from typing import Any, Literal, cast

from mcp_types import CallToolResult, TextContent
from pydantic import BaseModel

from memory_mcp import privacy
from memory_mcp.models import Forgotten, Memory, Mode, Preview, Stored, Summarized, Verification
from memory_mcp.text import excerpt

Facts = dict[str, Any]

SHORTEST = 40
"""Bytes below which a quoted content is of no use."""


class RecallResult(BaseModel):
    """Hits have id, kind, content, created_at and whatever else is not a default."""

    hits: list[Facts]
    mode: Mode
    notice: str = ""
    omitted: int = 0
    next_cursor: str = ""


class StoreResult(BaseModel):
    """`similar` lists near matches: id, content, differs."""

    id: str
    status: Literal["stored", "duplicate", "superseded"]
    superseded: list[str] = []
    similar: list[Facts] = []
    notice: str = ""


class SummarizeResult(BaseModel):
    """`id` is the episode's; `facts` lists id and status of each key fact."""

    id: str
    session_id: str
    status: Literal["stored", "updated", "unchanged"]
    summary: str = ""
    facts: list[Facts] = []
    turns_stored: int = 0
    notice: str = ""


class ForgetResult(BaseModel):
    """A preview has count, confirm and sample; what was done has the ids it was done to."""

    count: int = 0
    confirm: str = ""
    sample: list[Facts] = []
    erased: list[str] = []
    archived: list[str] = []
    restored: list[str] = []
    cascaded: list[str] = []
    resummarize: list[str] = []
    missing: list[str] = []
    verification: Literal[Verification, ""] = ""
    detail: str = ""
    notice: str = ""


def reply(text: str, data: Facts) -> CallToolResult:
    """Put both forms into one result."""
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=data)


def of_store(stored: Stored, room: int) -> CallToolResult:
    """Say what became of one text."""

    def shown(share: int) -> Facts:
        similar = [
            _given(id=one.id, content=_quoted(one.content, share), differs=one.differs) for one in stored.similar
        ]
        return _given(
            id=stored.id,
            status=stored.status,
            superseded=list(stored.superseded),
            similar=similar,
            notice=stored.notice,
        )

    return _fitted(shown, room)


def of_summarize(summarized: Summarized, room: int) -> CallToolResult:
    """Say what became of one session; the summary is returned only where it was written here."""
    episode = summarized.episode

    def shown(share: int) -> Facts:
        written_here = episode.engine != "host"
        return _given(
            id=episode.memory.id,
            session_id=episode.memory.session_id,
            status=summarized.status,
            summary=_quoted(episode.memory.content, share) if written_here else "",
            facts=[{"id": one.id, "status": one.status} for one in summarized.facts],
            turns_stored=summarized.turns_stored,
            notice=summarized.notice,
        )

    return _fitted(shown, room)


def of_preview(preview: Preview, verb: str, room: int) -> CallToolResult:
    """Say what a wide forget, archive or restore would touch, and how to confirm it."""
    if not preview.count:
        return reply("Nothing matches. Nothing was changed.", {"count": 0, "notice": "Nothing was changed."})
    again = f"Nothing was changed yet. To {verb} exactly these, call again the same way with confirm."

    def shown(share: int) -> Facts:
        sample = _sample(preview.sample, share)
        return _given(count=preview.count, confirm=preview.confirm, sample=sample, notice=again)

    return _fitted(shown, room)


def of_forget(forgotten: Forgotten, room: int) -> CallToolResult:
    """Say what was erased, and what was not found."""
    facts = _given(
        erased=list(forgotten.ids),
        cascaded=list(forgotten.cascaded),
        resummarize=list(forgotten.resummarize),
        missing=list(forgotten.missing),
        verification=forgotten.verification,
        detail=forgotten.detail,
    )
    return _counted(facts, "erased", room)


def of_change(ids: Sequence[str], done: Literal["archived", "restored"], room: int) -> CallToolResult:
    """Say what was archived or restored."""
    return _counted(_given(**{done: list(ids)}) or {"notice": "Nothing was changed."}, done, room)


def _counted(facts: Facts, done: str, room: int) -> CallToolResult:
    """Shorten the lists of ids of a very wide act; the count stays true."""
    lists = {name: cast("list[object]", value) for name, value in facts.items() if isinstance(value, list)}
    longest = max(map(len, lists.values()), default=0)

    def shown(share: int) -> Facts:
        kept = max(1, share // SHORTEST)
        if kept >= longest:
            return facts
        short = {name: value[:kept] for name, value in lists.items()}
        return facts | short | {"count": len(lists.get(done, [])), "notice": "The lists of ids are shortened."}

    return _fitted(shown, room)


def _fitted(shown: Callable[[int], Facts], room: int) -> CallToolResult:
    """Give each quoted content as much room as fits, beginning with a quarter of the whole."""
    share = max(room // 4, SHORTEST)
    while True:
        facts = shown(share)
        text = _lines(facts)
        size = max(len(text.encode()), len(json.dumps(facts, ensure_ascii=False).encode()))
        if size <= room or share == SHORTEST:
            return reply(text, facts)
        share = max(SHORTEST, share * 2 // 3)


def _lines(facts: Facts) -> str:
    lines: list[str] = []
    for name, value in facts.items():
        if isinstance(value, list):
            lines += [f"{name}:", *(f"- {_line(part)}" for part in cast("list[object]", value))]
        else:
            lines.append(f"{name}: {value}")
    return "\n".join(lines)


def _line(part: object) -> str:
    if isinstance(part, dict):
        return ", ".join(f"{name}: {value}" for name, value in cast("Facts", part).items())
    return str(part)


def _sample(memories: Sequence[Memory], share: int) -> list[Facts]:
    kept = memories[: max(1, share // SHORTEST)]
    return [{"id": memory.id, "content": _quoted(memory.content, share)} for memory in kept]


def _quoted(content: str, share: int) -> str:
    return excerpt(privacy.quote(content), (), share)


def _given(**facts: Any) -> Facts:
    return {name: value for name, value in facts.items() if value not in ("", [], 0, None)}
