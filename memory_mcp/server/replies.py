"""How the tools answer: the same facts twice, as lines for models and as data for programs, within a bound."""

import json
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Literal, cast

from mcp_types import CallToolResult, TextContent

from memory_mcp import privacy
from memory_mcp.answers import Changed, Forgotten, Preview, Recall, Stored, Summarized
from memory_mcp.context import render_recall
from memory_mcp.models import OWN_WORDS, Memory, Trust
from memory_mcp.server.results import Facts
from memory_mcp.text import excerpt

if TYPE_CHECKING:
    from memory_mcp.service import MemoryService  # brings numpy, which the first call must not load in the event loop

SHORTEST = 40
"""Bytes below which a quoted content is of no use."""


def of_recall(found: Recall, service: "MemoryService", max_tokens: int | None) -> CallToolResult:
    """Show what was recalled."""
    shown = render_recall(found, limit=service.room(max_tokens), zone=service.zone)
    return _reply(shown.text, shown.data)


def _reply(text: str, data: Facts) -> CallToolResult:
    """Put both forms into one result."""
    return CallToolResult(content=[TextContent(type="text", text=text)], structured_content=data)


def of_store(stored: Stored, room: int) -> CallToolResult:
    """Say what became of one text."""

    def shown(share: int) -> Facts:
        return _given(
            id=stored.id,
            status=stored.status,
            superseded=list(stored.superseded),
            similar=_similar(stored, share),
            notice=stored.notice,
        )

    return _fitted(shown, room)


def _similar(stored: Stored, share: int) -> list[Facts]:
    """Offer near matches, which the new text may correct."""
    return [
        _given(id=one.id, differs=one.differs, trust=one.trust, content=quoted(one.content, share))
        for one in stored.similar
    ]


def of_summarize(summarized: Summarized, room: int) -> CallToolResult:
    """Say what became of one session; the summary is returned only where it was written here."""
    episode = summarized.episode

    def shown(share: int) -> Facts:
        written_here = episode.engine != OWN_WORDS
        return _given(
            id=episode.memory.id,
            session_id=privacy.quote(episode.memory.session_id),
            status=summarized.status,
            summary=quoted(episode.memory.content, share) if written_here else "",
            facts=[_given(id=one.id, status=one.status, similar=_similar(one, share)) for one in summarized.facts],
            turns_stored=summarized.turns_stored,
            notice=summarized.notice,
        )

    return _fitted(shown, room)


def of_preview(preview: Preview, verb: str, room: int) -> CallToolResult:
    """Say what a wide forget, archive or restore would touch, and how to confirm it."""
    along = f" {len(preview.cascaded)} more that hang on them would go too (cascaded)." if preview.cascaded else ""
    again = f"Nothing was changed yet.{along} To {verb} exactly these, call again the same way with confirm."
    notice = again if preview.count else "Nothing matches, and nothing was changed."

    def shown(share: int) -> Facts:
        sample = [_sampled(memory, share) for memory in preview.sample]
        cascaded = list(preview.cascaded)
        facts = _given(confirm=preview.confirm, sample=sample[: share // SHORTEST], cascaded=cascaded, notice=notice)
        return facts | {"count": preview.count}

    return _fitted(shown, room)


def _sampled(memory: Memory, share: int) -> Facts:
    labels = _given(trust="" if memory.trust is Trust.TRUSTED else memory.trust, flagged=memory.flagged)
    return {"id": memory.id, **labels, "content": quoted(memory.content, share)}


def of_forget(forgotten: Forgotten, room: int) -> CallToolResult:
    """Say what was erased, and what was not found."""
    facts = _given(
        erased=list(forgotten.ids),
        cascaded=list(forgotten.cascaded),
        resummarize=list(forgotten.resummarize),
        missing=list(forgotten.missing),
        origins=list(forgotten.origins),
        verification=forgotten.verification,
        detail=forgotten.detail,
    )
    return _fitted(lambda _: facts, room)


def of_change(changed: Changed, done: Literal["archived", "restored"], room: int) -> CallToolResult:
    """Say what was archived or restored, and what a restore put aside."""
    facts = _given(archived=list(changed.aside)) | _given(**{done: list(changed.ids)})
    facts = facts or {"notice": "Nothing was changed."}
    return _fitted(lambda _: facts, room)


def quoted(content: str, share: int) -> str:
    """Quote a stored text in at most `share` bytes."""
    return excerpt(privacy.quote(content), (), share)


def _fitted(shown: Callable[[int], Facts], room: int) -> CallToolResult:
    """Give quoted contents and lists less and less, until both forms fit in `room` bytes."""
    share = room
    while True:
        facts = _shortened(shown(share), share // SHORTEST)
        text = _lines(facts)
        size = max(len(text.encode()), len(json.dumps(facts, ensure_ascii=False).encode()))
        if size <= room or share <= SHORTEST:
            return _reply(text, facts)
        share = max(SHORTEST, share * 2 // 3)


def _shortened(facts: Facts, most: int) -> Facts:
    """Cut every list to `most` entries, and say how long it was."""
    lists = {name: cast("list[object]", value) for name, value in facts.items() if isinstance(value, list)}
    long = {name: value for name, value in lists.items() if len(value) > most}
    if not long:
        return facts
    cut = ", ".join(f"{name} ({len(value)} in all)" for name, value in long.items())
    notice = f"{facts.get('notice', '')} Shortened: {cut}.".strip()
    return facts | {name: value[:most] for name, value in long.items()} | {"notice": notice}


def _lines(facts: Facts) -> str:
    lines: list[str] = []
    for name, value in facts.items():
        if isinstance(value, list):
            lines += [f"{name}:", *(f"- {_line(part)}" for part in cast("list[object]", value))]
        else:
            lines.append(f"{name}: {privacy.set_in(str(value))}")
    return "\n".join(lines)


def _line(part: object) -> str:
    if isinstance(part, dict):
        return privacy.set_in(", ".join(f"{name}: {value}" for name, value in cast("Facts", part).items()))
    return str(part)


def _given(**facts: Any) -> Facts:
    return {name: value for name, value in facts.items() if value not in ("", [], 0, None)}
