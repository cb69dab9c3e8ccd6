"""What can be read without a tool: episodes, memories, sessions, the briefing, counts."""

import json
from dataclasses import asdict, dataclass
from datetime import datetime, tzinfo
from pathlib import Path

from mcp_types import Annotations, Resource

from memory_mcp import addresses, dates, privacy
from memory_mcp.context import HEADER, render_memory, render_recall
from memory_mcp.models import Episode, Memory, Query
from memory_mcp.opening import Opening
from memory_mcp.text import excerpt

PROSE = "text/markdown"

TITLE = 60
"""Bytes of an episode's text that name it in a list."""

PAGE = 8
"""What is read on purpose may take this many times the room of a reply."""


@dataclass(frozen=True)
class Resources:
    """One method a resource. Whatever is remembered is quoted, and labelled as stored data."""

    memory: Opening

    async def listed(self) -> list[Resource]:
        """List the recent episodes one by one."""
        service = await self.memory.service()
        return [
            Resource(
                uri=addresses.episode(episode.memory.id),
                name=f"episode-{episode.memory.id}",
                title=f"{dates.show(episode.ended_at, service.zone)} {_start(episode.memory)}",
                mime_type=PROSE,
                annotations=Annotations(audience=["assistant"], priority=0.4),
            )
            for episode in await service.recent_episodes(addresses.LISTED)
        ]

    async def recent_episodes(self) -> str:
        """The recent episodes, newest first."""
        service = await self.memory.service()
        episodes = await service.recent_episodes(addresses.LISTED)
        if not episodes:
            return "No episode is stored yet."
        share = service.room() * PAGE // len(episodes)
        shown = [
            f"## {dates.show(one.ended_at, service.zone)} <{addresses.episode(one.memory.id)}>\n\n"
            + excerpt(privacy.quote(one.memory.content), (), share)
            for one in episodes
        ]
        return "\n\n".join([HEADER, *shown])

    async def episode(self, episode_id: str) -> str:
        """One episode: when it was, how it ended, and which memories came of it."""
        service = await self.memory.service()
        return _episode(await service.episode(episode_id), service.zone)

    async def one_memory(self, memory_id: str) -> str:
        """One memory, whole, with all that is known about it."""
        service = await self.memory.service()
        return render_memory(await service.get(memory_id), zone=service.zone)

    async def session(self, session_id: str) -> str:
        """What is kept of one conversation: its turns in order, and its episodes."""
        service = await self.memory.service()
        turns, episodes = await service.session(session_id)
        links = [f"- <{addresses.episode(one.memory.id)}>" for one in episodes]
        parts = [HEADER, *(["Episodes:", *links] if links else []), *_said(turns, service.room() * PAGE, service.zone)]
        return "\n\n".join(parts)

    async def briefing(self) -> str:
        """What a new conversation should know."""
        service = await self.memory.service()
        recalled = await service.recall(Query())
        return render_recall(recalled, limit=service.room(), zone=service.zone).text

    async def stats(self) -> str:
        """Counts and sizes, as JSON."""
        service = await self.memory.service()
        facts = asdict(await service.stats()) | {"problems": await service.problems()}
        return json.dumps(facts, default=_plain, ensure_ascii=False, indent=1)


def _episode(episode: Episode, zone: tzinfo) -> str:
    memory = episode.memory
    facts = {
        "id": memory.id,
        "session": f"<{addresses.session(memory.session_id)}>" if memory.session_id else "",
        "started": dates.show(episode.started_at, zone),
        "ended": dates.show(episode.ended_at, zone),
        "trigger": _flat(episode.trigger),
        "outcome": episode.outcome or "",
        "tags": _flat(", ".join(memory.tags)),
        "trust": memory.trust,
        "summarized by": episode.engine,
        "version": str(episode.version),
        "key facts": " ".join(f"<{addresses.memory(fact)}>" for fact in episode.key_facts),
        "actions": ", ".join(_flat(one.tool) + ("" if one.ok else " (failed)") for one in episode.actions),
    }
    known = [f"- {name}: {value}" for name, value in facts.items() if value]
    return "\n".join([HEADER, "", *known, "", privacy.quote(memory.content)])


def _said(turns: list[Memory], room: int, zone: tzinfo) -> list[str]:
    """Show turns within `room` bytes, each with an equal share; what does not fit is counted."""
    shown = turns[-max(1, room // 200) :]
    share = max(100, room // max(1, len(shown)) - 80)
    left_out = [f"{len(turns) - len(shown)} earlier turns are left out."] if len(shown) < len(turns) else []
    return left_out + [
        f"**{_flat(turn.speaker)}** {dates.show(turn.created_at, zone)} <{addresses.memory(turn.id)}>\n\n"
        + excerpt(privacy.quote(turn.content), (), share)
        for turn in shown
    ]


def _start(memory: Memory) -> str:
    return excerpt(_flat(memory.content), (), TITLE)


def _flat(text: str) -> str:
    return " ".join(privacy.quote(text).split())


def _plain(value: object) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
