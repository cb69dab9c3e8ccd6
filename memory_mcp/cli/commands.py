"""What each verb does that needs the memory open: one call to the service, and its answer in words or as JSON."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from memory_mcp.answers import Hit, Stored
from memory_mcp.cli.terminal import Screen, told_of_similar
from memory_mcp.errors import StoreUnavailable
from memory_mcp.models import Kind, NewMemory, Outcome, Query, Revision, Source, Trust

if TYPE_CHECKING:  # --help must not wait for the libraries behind it
    from memory_mcp.service import MemoryService

NOTHING_YET = 'No memories yet. Try: memory-mcp store "I take my coffee without milk"'
NOTHING_FOUND = "Nothing fits. Try other words, fewer filters, or: memory-mcp list"


WHOLE = 20_000
"""Tokens: a person's terminal has no context window to spare, so the limit alone says how much is shown."""

# ---- keep and find -------------------------------------------------------------------------------------------


async def store(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Keep one text."""
    new = NewMemory(
        content=_text(args.content, screen),
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
    screen.answer(asdict(stored), *_told_of_stored(stored, new))
    screen.note(stored.notice)
    return 0


def _told_of_stored(stored: Stored, new: NewMemory) -> list[str]:
    says = {
        "stored": f"Stored {stored.id}.",
        "duplicate": f"Known already as {stored.id}; its time was renewed{_brought_along(new)}.",
        "superseded": f"Stored {stored.id}; it supersedes {', '.join(stored.superseded)}.",
    }
    return [says[stored.status], *(f"Similar: {told_of_similar(near)}" for near in stored.similar)]


def _brought_along(new: NewMemory) -> str:
    """Name what a known text took over from its repetition; to be a fact or a turn says nothing new."""
    given = {"tags": new.tags, "key": new.key, "kind": new.kind not in {Kind.FACT, Kind.TURN}}
    *others, last = [name for name, is_given in given.items() if is_given] or [""]
    return f" and its {' and '.join(filter(None, (', '.join(others), last)))} brought up to date" if last else ""


async def recall(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Find what fits a question; without one, give the briefing, or a list by filters."""
    if args.rate:
        return await _rate(memory, args, screen)
    screen.note(await _made_vectors(memory))
    found = await memory.recall(replace(_query(args), text=_text(args.query, screen)))
    hits = [{**asdict(hit.memory), **_without_memory(hit)} for hit in found.hits]
    lines = [screen.summary(hit.memory, *_reasons(hit, args.explain)) for hit in found.hits]
    answer = {"hits": hits, "mode": found.mode, "notice": found.notice, "omitted": found.omitted}
    nothing = "" if lines else await _why_nothing(memory)
    screen.answer({**answer, "next_cursor": found.next_cursor}, *(lines or [nothing]))
    screen.note("" if nothing == NOTHING_YET else found.notice)
    screen.note(f"{found.omitted} more left out." if found.omitted else "")
    screen.note(_more(found.next_cursor) if found.mode == "list" else "")  # a question ranks all there is
    return 0


async def _made_vectors(memory: "MemoryService") -> str:
    """Make the vectors that are missing, so that all is found by meaning; '' or why the file does not take them."""
    try:
        await memory.embed_pending()
    except StoreUnavailable as error:
        return f"Some memories are found by words only: {error}"
    return ""


def _without_memory(hit: Hit) -> dict[str, object]:
    return {name: value for name, value in vars(hit).items() if name != "memory"}


def _reasons(hit: Hit, explain: bool) -> list[str]:
    parts = {"score": hit.score, **vars(hit.reasons)} if explain else {}
    return [hit.label] * bool(hit.label) + [f"{name} {value:.2f}" for name, value in parts.items() if round(value, 2)]


async def _rate(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    verdict, *ids = args.rate
    if verdict not in {"useful", "useless"} or not ids or args.query:
        args.error("write --rate useful ID... or --rate useless ID..., and no question")
    known = await memory.rate(ids, useful=verdict == "useful")
    screen.answer({"rated": known}, *(f"Rated {memory_id} {verdict}." for memory_id in known))
    return all_known(ids, known, screen)


async def show(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Show one memory with all that is known about it."""
    found = await memory.get(args.id)
    facts = asdict(found)
    if found.kind is Kind.EPISODE:
        facts |= asdict(await memory.episode(args.id))
        del facts["memory"]
    lines = screen.details({name: value for name, value in facts.items() if name != "content"})
    screen.answer(facts, *lines, "", "    " + found.content.replace("\n", "\n    "))
    return 0


async def list_memories(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """List memories by filters, newest first, a page at a time."""
    trust, flagged = Trust.UNTRUSTED if args.untrusted else None, True if args.flagged else None
    page = await memory.page(replace(_query(args), archived=args.archived, trust=trust, flagged=flagged))
    lines = [screen.summary(each) for each in page.memories]
    answer = {"memories": [asdict(each) for each in page.memories], "next_cursor": page.next_cursor}
    screen.answer(answer, *(lines or [await _why_nothing(memory)]))
    screen.note(_more(page.next_cursor))
    return 0


async def stats(memory: "MemoryService", _args: Namespace, screen: Screen) -> int:
    """Count what is kept."""
    facts = {**asdict(await memory.stats()), "capture_paused": memory.settings.pause_marker.exists()}
    screen.answer(facts, *screen.details(facts))
    return 0


async def context(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Print the briefing that a conversation begins with."""
    from memory_mcp.context import LEAST_TOKENS, render_briefing  # noqa: PLC0415 - as MemoryService

    if args.max_tokens < LEAST_TOKENS:
        args.error(f"--max-tokens must be at least {LEAST_TOKENS}: less does not hold one memory")
    briefing = await memory.recall(Query(namespace=args.namespace, max_tokens=args.max_tokens))
    text = render_briefing(briefing, limit=memory.room(args.max_tokens), zone=screen.zone)
    if text:
        screen.answer(text, text)
    return 0


# ---- change --------------------------------------------------------------------------------------------------


async def edit(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Change what is known about a memory. Its text stays: a correction is a new memory."""
    change = Revision(
        importance=args.importance,
        confidence=args.confidence,
        tags=() if args.no_tags else tuple(args.tag) or None,
        kind=Kind(args.kind) if args.kind else None,
        namespace=args.move_to or None,
        flagged=False if args.vouch else None,
        expires_in_days=args.expires_in_days,
    )
    if change == Revision():
        args.error("say what to change, such as --importance 0.9")
    revised = await memory.revise(args.id, change)
    screen.answer(asdict(revised), screen.summary(revised))
    return 0


async def pin(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Let memories never expire, and stand first in the briefing."""
    return await _pin(memory, args, screen, pinned=True)


async def unpin(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Take the pins off again."""
    return await _pin(memory, args, screen, pinned=False)


async def _pin(memory: "MemoryService", args: Namespace, screen: Screen, *, pinned: bool) -> int:
    revised = [await memory.revise(memory_id, Revision(pinned=pinned)) for memory_id in args.ids]
    screen.answer([asdict(each) for each in revised], *map(screen.summary, revised))
    return 0


# ---- arguments -----------------------------------------------------------------------------------------------


def _text(words: Sequence[str], screen: Screen) -> str:
    return screen.read().removesuffix("\n") if list(words) == ["-"] else " ".join(words)


def _query(args: Namespace) -> Query:
    return Query(
        limit=args.limit,
        kinds=tuple(map(Kind, args.kind)),
        tags=tuple(args.tag),
        since=args.since,
        until=args.until,
        as_of=args.as_of,
        outcome=Outcome(args.outcome) if args.outcome else None,
        min_confidence=args.min_confidence,
        source=Source(args.source) if args.source else None,
        session_id=args.session,
        namespace=args.namespace,
        include_history=args.history,
        cursor=args.cursor,
        max_tokens=WHOLE,
    )


# ---- answers -------------------------------------------------------------------------------------------------


def all_known(asked: Sequence[str], known: Sequence[str], screen: Screen) -> int:
    """Name the ids that came to nothing; the exit code is 0 only if there are none."""
    unknown = [memory_id for memory_id in asked if memory_id not in known]
    for memory_id in unknown:
        screen.note(f"Unchanged: {memory_id}. `memory-mcp list` shows full ids.")
    return 1 if unknown else 0


async def _why_nothing(memory: "MemoryService") -> str:
    return NOTHING_FOUND if (await memory.stats()).memories else NOTHING_YET


def _more(cursor: str) -> str:
    return f"For the next page, repeat the command with --cursor {cursor}" if cursor else ""
