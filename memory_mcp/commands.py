"""What each verb of the shell does: one call to the service, and its answer in words or as JSON."""

import sys
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from memory_mcp.errors import InvalidInput
from memory_mcp.models import (
    Forgotten,
    Hit,
    Kind,
    NewMemory,
    Outcome,
    Preview,
    Query,
    Revision,
    Selection,
    Source,
    Stored,
)
from memory_mcp.terminal import Screen, details, episode_data, hit_data, memory_data

if TYPE_CHECKING:  # --help must not wait for the libraries behind it
    from memory_mcp.service import MemoryService

NOTHING_YET = 'No memories yet. Try: memory-mcp store "I take my coffee without milk"'

Done = tuple[Sequence[str], str]
"""The ids that an act touched, and the words for it."""


# ---- keep and find -------------------------------------------------------------------------------------------


async def store(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Keep one text."""
    new = NewMemory(
        content=_words(args.content),
        kind=Kind(args.kind),
        tags=tuple(args.tag),
        importance=args.importance,
        confidence=args.confidence,
        key=args.key,
        supersedes=tuple(args.supersedes),
        expires_in_days=args.expires_in_days,
        session_id=args.session,
        namespace=args.namespace,
        source=Source(args.source),
        pinned=args.pin,
    )
    stored = await memory.store(new)
    screen.json(stored) if args.json else _tell_stored(stored, screen)
    return 0


def _tell_stored(stored: Stored, screen: Screen) -> None:
    says = {
        "stored": f"Stored {stored.id}.",
        "duplicate": f"Already known as {stored.id}; its time was renewed.",
        "superseded": f"Stored {stored.id}; it supersedes {', '.join(stored.superseded)}.",
    }
    screen.say(says[stored.status])
    for similar in stored.similar:
        screen.say(f"Similar: {similar.id}  {similar.content}" + f"  (differs: {similar.differs})" * bool(similar.differs))
    screen.note(stored.notice)


async def recall(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Find what fits a question; without one, the briefing, or a list by filters."""
    if args.rate:
        return await _rate(memory, args.rate, screen)
    found = await memory.recall(replace(_query(args), text=_words(args.query)))
    if args.json:
        screen.json({**_parts(found), "hits": [hit_data(hit) for hit in found.hits]})
        return 0
    for hit in found.hits:
        screen.memory(hit.memory, remarks=_reasons(hit) if args.explain else filter(None, [hit.label]))
    if not found.hits:
        screen.say(await _why_nothing(memory))
    screen.note(found.notice)
    screen.note(f"{found.omitted} more left out; raise --limit to see them." if found.omitted else "")
    _tell_cursor(found.next_cursor, screen)
    return 0


def _reasons(hit: Hit) -> list[str]:
    numbers = {"score": hit.score, "meaning": hit.meaning, "words": hit.words, "salience": hit.salience}
    return [*filter(None, [hit.label]), *(f"{name} {number:.2f}" for name, number in numbers.items())]


async def _rate(memory: "MemoryService", rating: Sequence[str], screen: Screen) -> int:
    verdict, *ids = rating
    if verdict not in {"useful", "useless"} or not ids:
        raise InvalidInput("Write --rate useful ID..., or --rate useless ID...")
    known = await memory.rate(ids, useful=verdict == "useful")
    screen.say(*(f"Rated {memory_id} {verdict}." for memory_id in known))
    return _tell_missing([memory_id for memory_id in ids if memory_id not in known], screen)


async def show(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Show one memory with all that is known about it."""
    found = await memory.get(args.id)
    episode = found.kind is Kind.EPISODE
    facts = episode_data(await memory.episode(args.id)) if episode else memory_data(found)
    if args.json:
        screen.json(facts)
        return 0
    content = str(facts.pop("content"))
    screen.say(*details(facts, screen), "", content)
    return 0


async def list_memories(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """List memories by filters, newest first, a page at a time."""
    page = await memory.page(_query(args))
    if args.json:
        memories = [memory_data(each) for each in page.memories]
        screen.json({"memories": memories, "next_cursor": page.next_cursor})
        return 0
    for each in page.memories:
        screen.memory(each)
    if not page.memories:
        screen.say(await _why_nothing(memory))
    _tell_cursor(page.next_cursor, screen)
    return 0


async def context(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Print the briefing that a conversation begins with."""
    from memory_mcp.context import BYTES_A_TOKEN, render_briefing  # noqa: PLC0415 - see above

    briefing = await memory.recall(Query(namespace=args.namespace, max_tokens=args.limit))
    text = render_briefing(briefing, limit=args.limit * BYTES_A_TOKEN, zone=screen.zone)
    screen.say(*filter(None, [text]))
    return 0


# ---- change --------------------------------------------------------------------------------------------------


async def edit(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Change what is known about a memory. Its text stays: a correction is a new memory."""
    change = Revision(
        importance=args.importance,
        confidence=args.confidence,
        tags=() if args.no_tags else tuple(args.tag) or None,
        kind=Kind(args.kind) if args.kind else None,
        namespace=args.namespace or None,
        expires_in_days=args.expires_in_days,
    )
    if change == Revision():
        raise InvalidInput("Say what to change, such as --importance 0.9; see memory-mcp edit --help.")
    revised = await memory.revise(args.id, change)
    screen.json(memory_data(revised)) if args.json else screen.memory(revised)
    return 0


async def pin(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Keep memories from ever expiring, and put them first."""
    for memory_id in args.ids:
        await memory.revise(memory_id, Revision(pinned=True))
        screen.say(f"Pinned {memory_id}.")
    return 0


async def unpin(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Take pins off again."""
    for memory_id in args.ids:
        await memory.revise(memory_id, Revision(pinned=False))
        screen.say(f"Unpinned {memory_id}.")
    return 0


async def forget(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Erase memories for good."""
    selection = _selection(args)
    outcome = await memory.forget(selection)
    if isinstance(outcome, Preview):
        if not _agreed(outcome, args, screen):
            return 1
        outcome = await memory.forget(replace(selection, confirm=outcome.confirm))
    if isinstance(outcome, Preview):
        return 1
    screen.json(outcome) if args.json else _tell_forgotten(outcome, screen)
    return 0 if outcome.ids and not outcome.missing and outcome.verification != "residue" else 1


def _tell_forgotten(outcome: Forgotten, screen: Screen) -> None:
    screen.say(*(f"Forgot {memory_id}." for memory_id in outcome.ids))
    screen.say(*(f"Forgot {memory_id}, a key fact known only from it." for memory_id in outcome.cascaded))
    screen.say(*(f"Session {session} will be summarized again." for session in outcome.resummarize))
    says = {
        "clean": "The file was searched: nothing of it is left.",
        "pending": "Another process still reads the file; the erasure is finished at the next start.",
        "residue": "Traces are left in the file.",
        "unverified": "An encrypted file cannot be searched, so this is not checked.",
    }
    screen.say(" ".join(filter(None, [says[outcome.verification], outcome.detail])))
    _tell_missing(outcome.missing, screen)


async def archive(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Stop recalling memories; they can be restored."""
    selection = _selection(args)
    outcome = await memory.archive(selection)
    if isinstance(outcome, Preview):
        if not _agreed(outcome, args, screen):
            return 1
        outcome = await memory.archive(replace(selection, confirm=outcome.confirm))
    return _tell_changed(outcome, "archived", args, screen)


async def restore(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Take archived memories back."""
    selection = _selection(args)
    outcome = await memory.restore(selection)
    if isinstance(outcome, Preview):
        if not _agreed(outcome, args, screen):
            return 1
        outcome = await memory.restore(replace(selection, confirm=outcome.confirm))
    return _tell_changed(outcome, "restored", args, screen)


async def stats(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Count what is kept."""
    facts = {**vars(await memory.stats()), "paused": memory.settings.pause_marker.exists()}
    screen.json(facts) if args.json else screen.say(*details(facts, screen))
    return 0
