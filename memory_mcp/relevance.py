"""Which memories are doubtful: commanding, useless, unused, stale or contradictory; and what would settle it."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Literal

from anyio import to_thread

from memory_mcp.injection import commands_assistant
from memory_mcp.likeness import ABOVE_CEILING
from memory_mcp.meaning import Meaning
from memory_mcp.models import Filter, Kind, Memory
from memory_mcp.recurrence import close_pairs
from memory_mcp.scoring import HALF_LIVES
from memory_mcp.storage.protocol import Store
from memory_mcp.storage.values import Sentences
from memory_mcp.text import is_cjk
from memory_mcp.tokens import differs

Doubt = Literal["commanding", "useless", "unused", "stale", "contradictory"]

SHOWN = 10
"""Recalls without one rating as useful, from which a memory is doubted."""

UNUSED_AFTER = timedelta(days=180)
STALE_HALF_LIVES = 2
"""A memory that nobody told or used for so long weighs a quarter or less."""

AT_MOST = 20
"""Findings of one sort that are shown; all are counted."""

NEWEST, SENTENCES, PAIRS = 5_000, 10_000, 2_000
"""Memories of a namespace that are compared for contradictions, their sentences, and close pairs that are read."""

STATED = tuple(kind for kind in Kind if kind not in (Kind.TURN, Kind.EPISODE, Kind.DOCUMENT))
"""Kinds that claim something: what was said, what happened and what stands in files claims nothing now."""

ASKED = tuple(kind for kind in STATED if kind not in (Kind.INSTRUCTION, Kind.PREFERENCE))
"""Of these, what is only of use where it is recalled: the others are told in every briefing."""

FADING = tuple(kind for kind in STATED if kind in HALF_LIVES)

NEEDS_MODEL = "Contradictions were not looked for: they are found by meaning, and there is no model for this file."


@dataclass(frozen=True)
class Finding:
    """One memory that is doubted, or two that contradict each other, the later first.

    `settle` is a shell command, or two to choose from.
    """

    memories: tuple[Memory, ...]
    why: str
    settle: str


@dataclass(frozen=True)
class Doubted:
    """Everything of one sort: `count` in all, and the first findings."""

    doubt: Doubt
    count: int
    findings: tuple[Finding, ...]


@dataclass(frozen=True)
class Review:
    """What a person may want to settle; `notice` says what could not be looked for."""

    doubted: tuple[Doubted, ...]
    notice: str = ""


async def review(db: Store, meaning: Meaning, where: Filter, now: datetime) -> Review:
    """Look for all that is doubtful in the filter's namespaces; what commands is nothing else. Reads only."""
    commanding = replace(where, flagged=True)
    count, page = await db.count(commanding), await db.page(commanding, AT_MOST)
    where = replace(where, flagged=False)
    stated = replace(where, kinds=STATED)
    useless = await db.unhelpful(stated, SHOWN, AT_MOST)
    unused = await db.unused(replace(where, kinds=ASKED), now - UNUSED_AFTER, AT_MOST)
    stale = await db.stale(stated, {kind: now - STALE_HALF_LIVES * HALF_LIVES[kind] for kind in FADING}, now, AT_MOST)
    doubted = [
        _alone("commanding", count, page.memories, now),
        _alone("useless", *useless, now),
        _alone("unused", *unused, now),
        _alone("stale", *stale, now),
    ]
    if db.vector_problem or not await meaning.is_ready(now):
        return Review(tuple(doubted), NEEDS_MODEL)
    return Review((*doubted, await _contradictory(db, meaning, stated)))


def _alone(doubt: Doubt, count: int, memories: Sequence[Memory], now: datetime) -> Doubted:
    return Doubted(doubt, count, tuple(Finding((one,), *_told(doubt, one, now)) for one in memories))


def _told(doubt: Doubt, memory: Memory, now: datetime) -> tuple[str, str]:
    """Say why a memory is doubted, and what would settle it."""
    if doubt == "commanding":
        why = commands_assistant(memory.content) or "has a name that commands, or is derived from what does"
        return why, f"memory-mcp forget {memory.id}, or memory-mcp edit {memory.id} --vouch"
    if doubt == "useless":
        against = f", {memory.useless} times rated useless" if memory.useless else ""
        why = f"recalled {memory.access_count} times, never rated useful{against}"
        return why, f"memory-mcp edit {memory.id} --importance {max(0.0, memory.importance - 0.3):.1f}"
    if doubt == "unused":
        return f"never recalled in {_days(memory, now)} days", f"memory-mcp archive {memory.id}"
    if memory.valid_to and memory.valid_to <= now:
        return f"true only until {memory.valid_to:%Y-%m-%d}", f"memory-mcp archive {memory.id}"
    why = f"{memory.kind} of {memory.created_at:%Y-%m-%d}, neither told nor used since {STALE_HALF_LIVES} half-lives"
    return why, f'memory-mcp store "..." --kind {memory.kind} --supersedes {memory.id}'


def _days(memory: Memory, now: datetime) -> int:
    return (now - max(memory.created_at, memory.updated_at)).days


# ---- contradictions ------------------------------------------------------------------------------------------------


async def _contradictory(db: Store, meaning: Meaning, where: Filter) -> Doubted:
    """Find what says nearly the same with another number, a negation or another name, and is active beside it."""
    products, found = await db.consolidated(), list[Finding]()
    for namespace in where.namespaces:
        own = replace(where, namespaces=(namespace,))
        pairs = await _close(db, own, meaning.ceiling + ABOVE_CEILING)
        found += _contradictions([pair for pair in pairs if not _are_settled(*pair, products)])
    return Doubted("contradictory", len(found), tuple(found[:AT_MOST]))


async def _close(db: Store, where: Filter, at_least: float) -> list[tuple[Memory, Memory]]:
    """Read the closest pairs, the later of each first, as sentences come."""
    sentences = await db.sentences(where, NEWEST, SENTENCES)
    pairs = await to_thread.run_sync(_near, sentences, at_least)
    memories = {one.id: one for one in await db.get(sorted({memory_id for pair in pairs for memory_id in pair}))}
    return [(memories[one], memories[other]) for one, other in pairs if one in memories and other in memories]


def _contradictions(pairs: Sequence[tuple[Memory, Memory]]) -> list[Finding]:
    """Keep the pairs that differ; those that only name another thing come last: often both are true."""
    hints = [(differs(earlier.content, later.content), later, earlier) for later, earlier in pairs]
    told = sorted((pair for pair in hints if pair[0]), key=lambda pair: pair[0] == "name")
    return [_contradiction(*pair) for pair in told]


def _near(sentences: Sentences, at_least: float) -> list[tuple[str, str]]:
    found = close_pairs(sentences.vectors, sentences.owners, at_least, PAIRS)
    return [(sentences.ids[one], sentences.ids[other]) for one, other, _ in found]


def _are_settled(one: Memory, other: Memory, products: dict[str, str]) -> bool:
    """Whether spelling cannot tell what differs, or nothing has to: other languages, a pattern and its sources."""
    related = one.id in other.derived_from or other.id in one.derived_from
    together = one.id in products and products[one.id] == products.get(other.id)
    return related or together or is_cjk(one.content) != is_cjk(other.content)


def _contradiction(hint: str, later: Memory, earlier: Memory) -> Finding:
    return Finding(
        (later, earlier),
        f"nearly the same, but differs in {hint.replace(',', ' and ')}",
        f'memory-mcp store "..." --kind {later.kind} --supersedes {earlier.id} --supersedes {later.id}',
    )
