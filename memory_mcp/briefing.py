"""What a new conversation should know unasked, in the order in which it deserves room, and what waits to be done."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo
from itertools import islice

from memory_mcp import dates
from memory_mcp.answers import Hit
from memory_mcp.injection import commands_assistant
from memory_mcp.models import Episode, Filter, Kind, Outcome, PendingSession, Trust
from memory_mcp.storage.protocol import Store

STANDING = (Kind.INSTRUCTION, Kind.PREFERENCE)
"""Kinds that hold whatever a conversation is about."""

OTHERS = (Kind.FACT, Kind.RELATIONSHIP, Kind.DECISION, Kind.METRIC, Kind.PATTERN, Kind.LESSON)
"""What else is told unasked, besides episodes: not what was said word for word, nor what stands in files."""

EPISODES = 20
"""So many of the newest are looked at."""

NEWEST = 3
"""Episodes that come before older ones that failed: what was just done is what a new conversation goes on with."""

IN_TURN = (2, 1, 2)
"""How the groups take turns: standing wishes, episodes, what else matters; so none crowds out another."""

NAMED, COUNTED = 3, 100
"""Sessions that wait for a summary: so many are named, so many counted."""


@dataclass(frozen=True)
class Briefing:
    """`hits` come in the order in which they deserve room; `known` counts all that could be told, far more perhaps."""

    hits: tuple[Hit, ...]
    known: int
    notice: str


@dataclass(frozen=True)
class Asking:
    """Who asks for a briefing: which conversation ('' for none), when, in which zone and namespace."""

    session_id: str
    now: datetime
    zone: tzinfo
    namespace: str


async def collect(db: Store, where: Filter, asking: Asking, most: int) -> Briefing:
    """Read what may be told, at most `most` memories: pinned and standing ones, episodes, what matters most."""
    told = replace(where, trust=Trust.TRUSTED, flagged=False, kinds=(*STANDING, Kind.EPISODE, *OTHERS))
    wishes = await db.weightiest(replace(told, kinds=STANDING), most)
    weighty = await db.weightiest(replace(told, kinds=OTHERS), most)
    episodes = await db.episodes(told, min(EPISODES, most))
    standing = [one for one in (*weighty, *wishes) if one.pinned] + [one for one in wishes if not one.pinned]
    others = [one for one in weighty if not one.pinned]
    hits = _in_turn(list(map(Hit, standing)), _failures_sooner(episodes), list(map(Hit, others)))
    known = await db.count(told)
    return Briefing(tuple(islice(hits, most)), known, await _notice(db, where, asking))


def as_read(hits: Sequence[Hit]) -> tuple[Hit, ...]:
    """Put what found room in the order of reading: what stands, the episodes, newest first, then the rest."""

    def place(hit: Hit) -> tuple[int, float]:
        if hit.memory.kind is Kind.EPISODE:
            return 1, -hit.memory.created_at.timestamp()
        return (0, 0) if hit.memory.pinned or hit.memory.kind in STANDING else (2, 0)

    return tuple(sorted(hits, key=place))


def _failures_sooner(episodes: Sequence[Episode]) -> list[Hit]:
    """Let what was learned from failures come right after the newest."""
    older = sorted(episodes[NEWEST:], key=lambda one: not (one.outcome is Outcome.FAILURE and one.lessons))
    return [Hit(one.memory, outcome=one.outcome) for one in (*episodes[:NEWEST], *older)]


def _in_turn(*groups: Sequence[Hit]) -> Iterator[Hit]:
    left = [iter(group) for group in groups]
    while taken := [hit for group, share in zip(left, IN_TURN, strict=True) for hit in islice(group, share)]:
        yield from taken


# ---- what waits ----------------------------------------------------------------------------------------------------


async def _notice(db: Store, where: Filter, asking: Asking) -> str:
    found = await db.pending_sessions(where.namespaces, COUNTED + 1)
    waiting = [one for one in found if one.session_id != asking.session_id and not commands_assistant(one.session_id)]
    yesterday = asking.now - timedelta(days=1)
    expired, faded = await db.expired_since(yesterday), await db.faded_since(yesterday)
    parts = (
        _unsummarized([one for one in waiting if one.turns], asking),
        _lost([one for one in waiting if not one.turns], asking),
        f"Erased since yesterday, at the end of their time to live: {expired}." if expired else "",
        f"Archived since yesterday, unused for a year or longer (memory-mcp list --archived): {faded}."
        if faded
        else "",
    )
    return " ".join(filter(None, parts))


def _unsummarized(waiting: Sequence[PendingSession], asking: Asking) -> str:
    if not waiting:
        return ""
    day = dates.name_day(waiting[0].last_at, zone=asking.zone, now=asking.now)
    which = f"1 session of {day} is" if len(waiting) == 1 else f"{_count(waiting)} sessions, the last of {day}, are"
    return f"{which} not summarized: call {_calls(waiting, asking)}."


def _lost(waiting: Sequence[PendingSession], asking: Asking) -> str:
    if not waiting:
        return ""
    which = "1 summary" if len(waiting) == 1 else f"{_count(waiting)} summaries"
    return f"{which} lost a source and must be written anew: call {_calls(waiting, asking, ', summary=...')}."


def _count(waiting: Sequence[PendingSession]) -> str:
    return str(len(waiting)) if len(waiting) <= COUNTED else f"Over {COUNTED}"


def _calls(waiting: Sequence[PendingSession], asking: Asking, more: str = "") -> str:
    elsewhere = (f", namespace={one.namespace!r}" if one.namespace != asking.namespace else "" for one in waiting)
    calls = [
        f"summarize(session_id={one.session_id!r}{where}{more})"
        for one, where in zip(waiting[:NAMED], elsewhere, strict=False)
    ]
    return ", ".join(calls) + ("; then recall again for the others" if len(waiting) > NAMED else "")
