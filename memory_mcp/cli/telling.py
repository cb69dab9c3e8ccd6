"""What a hook tells the model: the briefing as a conversation begins, the few memories that a prompt calls to mind."""

from argparse import Namespace
from dataclasses import replace
from typing import TYPE_CHECKING

from memory_mcp.answers import Hit
from memory_mcp.cli import hooks
from memory_mcp.cli.terminal import Screen
from memory_mcp.config import MAX_QUERY, Settings
from memory_mcp.hooks import HookEvent
from memory_mcp.models import Query, Trust

if TYPE_CHECKING:  # a hook that has nothing to tell must not wait for the libraries behind it
    from memory_mcp.service import MemoryService

BRIEFING_TOKENS = 1_500
"""Hosts inline at least 8,000 characters of a hook's text; 20,000 tokens were seen to confuse a model (B72)."""

PROMPT_TOKENS, PROMPT_MEMORIES = 400, 3

WIDE = 4_000
"""Tokens: of what a prompt finds, all that is considered is looked at."""

CONSIDERED = 50
"""So many memories are looked at for a briefing or a prompt; the budget shows fewer."""

LEAST_TERMS = 2
"""Telling words of a prompt below which it asks for nothing: "go on", "yes please", 「続けて」."""

COMMANDS = ("/", "!", "#")
"""How a prompt begins that speaks to the host and not to the model."""


async def tell(settings: Settings, args: Namespace, screen: Screen) -> int:
    """Answer one call of a hook in its host's form; what means nothing to us is met with the host's silence."""
    event = hooks.heard(args.hook, screen.source)
    if event is None:
        screen.out.write(hooks.silence(args.hook))
        return 0
    keeps = args.on or settings.capture != "off"
    screen.out.write(hooks.answer(event, await _text(settings, event, screen, keeps=keeps)))
    return 0


async def _text(settings: Settings, event: HookEvent, screen: Screen, *, keeps: bool) -> str:
    if event.event == "start":
        told = await _remembered(settings, event, screen)
        return "\n\n".join(filter(None, (told, _named(event) if told or keeps else "")))
    if event.event == "prompt" and _asks(event.prompt):
        return await _remembered(settings, event, screen)
    return ""


async def _remembered(settings: Settings, event: HookEvent, screen: Screen) -> str:
    """Read the file, if there is one: a hook makes none, and needs no server."""
    if not settings.db.is_file():
        return ""
    from memory_mcp.app import open_memory  # noqa: PLC0415 - as MemoryService

    async with open_memory(settings, door="hook") as memory:
        return await (_briefing if event.event == "start" else _called_to_mind)(memory, event, screen)


async def _briefing(memory: "MemoryService", event: HookEvent, screen: Screen) -> str:
    from memory_mcp.context import BYTES_A_TOKEN, render_briefing  # noqa: PLC0415 - as MemoryService

    found = await memory.recall(_start(event))
    if not found.hits and "session" not in found.notice:
        return ""
    room = memory.room(BRIEFING_TOKENS) - len(_named(event).encode()) - BYTES_A_TOKEN
    return render_briefing(found, limit=room, zone=screen.zone)


async def _called_to_mind(memory: "MemoryService", event: HookEvent, screen: Screen) -> str:
    from memory_mcp.context import render_recall  # noqa: PLC0415 - as MemoryService

    asked = Query(event.prompt[:MAX_QUERY], CONSIDERED, trust=Trust.TRUSTED, flagged=False, max_tokens=WIDE)
    found = await memory.recall(asked)
    told = {hit.memory.id for hit in (await memory.recall(_start(event))).hits} if found.hits else set[str]()
    fitting = [hit for hit in found.hits if hit.memory.id not in told and _fits(hit, event)][:PROMPT_MEMORIES]
    if not fitting:
        return ""
    shown = replace(found, hits=tuple(fitting), notice="", omitted=0, next_cursor="")
    return render_recall(shown, limit=memory.room(PROMPT_TOKENS), zone=screen.zone).text


def _start(event: HookEvent) -> Query:
    return Query(limit=CONSIDERED, max_tokens=BRIEFING_TOKENS, asked_in=event.session_id)


def _fits(hit: Hit, event: HookEvent) -> bool:
    """Nobody asked: only what may be shown unasked, matches well, and does not stand in the conversation itself."""
    known = bool(event.session_id) and hit.memory.session_id == event.session_id
    return hit.label in {"strong", "fair"} and hit.memory.may_come_unasked and not known


def _asks(prompt: str) -> bool:
    from memory_mcp.tokens import query_terms  # noqa: PLC0415 - as MemoryService

    return not prompt.startswith(COMMANDS) and len(query_terms(prompt)) >= LEAST_TERMS


def _named(event: HookEvent) -> str:
    """Name the conversation, so that what is captured of it and what the model stores of it is one session."""
    if not event.session_id:
        return ""
    return f"This conversation's session_id is {event.session_id!r}: pass it in store and summarize."
