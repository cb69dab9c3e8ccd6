"""What can be read without a tool: episodes, memories, sessions, the briefing, counts."""

import json
from dataclasses import asdict
from datetime import tzinfo
from typing import TYPE_CHECKING

from mcp_types import Resource
from pydantic_core import to_jsonable_python

from memory_mcp import dates, privacy
from memory_mcp.config import QUOTED
from memory_mcp.context import HEADER, one_line, render_memory, render_recall
from memory_mcp.errors import NotFound
from memory_mcp.models import Episode, Memory, Query, Trust
from memory_mcp.server import addresses
from memory_mcp.text import excerpt

if TYPE_CHECKING:
    from memory_mcp.service import MemoryService  # brings numpy, which the first call must not load in the event loop

TITLE = 60
"""Bytes of an episode's text that name it in a list."""

FACT_SHOWN = 300
PAGE = 8
"""What is read on purpose may take this many times the room of a reply."""


async def listed(service: "MemoryService") -> list[Resource]:
    """List the recent episodes one by one; by its text only what may be shown to who did not ask for it."""
    return [
        addresses.listed(one.memory.id, f"{dates.show(one.ended_at, service.zone)} {_start(one.memory)}".strip())
        for one in await service.recent_episodes(addresses.LISTED)
    ]


async def read(uri: str, service: "MemoryService") -> str:
    """Read what stands under an address. Whatever is remembered is quoted, and labelled as stored data.

    Raises `NotFound`.
    """
    match addresses.split(uri):
        case addresses.EPISODES, "":
            return await _recent_episodes(service)
        case addresses.BRIEFING, "":
            return await _briefing(service)
        case addresses.STATS, "":
            return await _stats(service)
        case addresses.EPISODE, episode_id:
            return _episode(await service.episode(episode_id), service.zone)
        case addresses.MEMORY, memory_id:
            return render_memory(await service.get(memory_id), zone=service.zone)
        case addresses.SESSION, session_id:
            return await session(session_id, service)
        case _:
            raise NotFound(f"There is no resource {uri[:QUOTED]}.")


async def session(session_id: str, service: "MemoryService") -> str:
    """Show what is kept of one conversation: episodes, what was stored, and the turns in order. Raises `NotFound`."""
    turns, episodes, facts = await service.session(session_id)
    told = [f"- <{addresses.episode(one.memory.id)}>{_doubts(one.memory)}" for one in episodes]
    stored = [
        f"- <{addresses.memory(one.id)}>{_doubts(one)}: "
        + privacy.set_in(excerpt(privacy.quote(one.content), (), FACT_SHOWN))
        for one in facts
    ]
    parts = [HEADER, *(["Episodes:", *told] if told else []), *(["Stored:", *stored] if stored else [])]
    return "\n\n".join([*parts, *_said(turns, service.room() * PAGE, service.zone)])


async def _recent_episodes(service: "MemoryService") -> str:
    episodes = await service.recent_episodes(addresses.LISTED)
    if not episodes:
        return "No episode is stored yet."
    share = service.room() * PAGE // len(episodes)
    shown = [
        f"## {dates.show(one.ended_at, service.zone)} <{addresses.episode(one.memory.id)}>{_doubts(one.memory)}\n\n"
        + (_quoted(one.memory, share) if one.memory.may_come_unasked else "Read it by its address.")
        for one in episodes
    ]
    return "\n\n".join([HEADER, *shown])


async def _briefing(service: "MemoryService") -> str:
    recalled = await service.recall(Query())
    return render_recall(recalled, limit=service.room(), zone=service.zone).text


async def _stats(service: "MemoryService") -> str:
    facts = asdict(await service.stats()) | {"problems": await service.problems()}
    return json.dumps(facts, default=to_jsonable_python, ensure_ascii=False, indent=1)


def _episode(episode: Episode, zone: tzinfo) -> str:
    memory = episode.memory
    facts = {
        "id": memory.id,
        "session": f"<{addresses.session(memory.session_id)}>" if memory.session_id else "",
        "started": dates.show(episode.started_at, zone),
        "ended": dates.show(episode.ended_at, zone),
        "trigger": one_line(episode.trigger),
        "outcome": episode.outcome or "",
        "tags": one_line(", ".join(memory.tags)),
        "source": memory.source,
        "trust": memory.trust,
        "flagged": "it commands the assistant" if memory.flagged else "",
        "summarized by": episode.engine,
        "version": str(episode.version),
        "key facts": " ".join(f"<{addresses.memory(fact)}>" for fact in episode.key_facts),
        "actions": ", ".join(one_line(one.tool) + ("" if one.ok else " (failed)") for one in episode.actions),
    }
    known = [f"- {name}: {value}" for name, value in facts.items() if value]
    return "\n".join([HEADER, "", *known, "", privacy.set_off(privacy.quote(memory.content))])


def _said(turns: list[Memory], room: int, zone: tzinfo) -> list[str]:
    """Show turns within `room` bytes, each with an equal share; what does not fit is counted."""
    shown = turns[-max(1, room // 200) :]
    share = max(100, room // max(1, len(shown)) - 80)
    left_out = [f"{len(turns) - len(shown)} earlier turns are left out."] if len(shown) < len(turns) else []
    return left_out + [
        f"**{one_line(turn.speaker)}** {dates.show(turn.created_at, zone)} <{addresses.memory(turn.id)}>{_doubts(turn)}"
        f"\n\n{_quoted(turn, share)}"
        for turn in shown
    ]


def _start(memory: Memory) -> str:
    return excerpt(one_line(memory.content), (), TITLE) if memory.may_come_unasked else _doubts(memory)


def _quoted(memory: Memory, limit: int) -> str:
    return privacy.set_off(excerpt(privacy.quote(memory.content), (), limit))


def _doubts(memory: Memory) -> str:
    """Label what others wrote, and what commands the assistant; '' for all else."""
    trust = [f"source={memory.source}", memory.trust] if memory.trust is Trust.UNTRUSTED else []
    labels = [*trust, *(["flagged"] if memory.flagged else [])]
    return f" ({', '.join(labels)})" if labels else ""
