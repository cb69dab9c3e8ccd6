"""What recurs: facts and episodes that say nearly the same at different times, proposed as a pattern or a lesson."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from itertools import islice
from typing import TYPE_CHECKING
from zlib import crc32

from anyio import to_thread

from memory_mcp import dates
from memory_mcp.embedding.passages import passages
from memory_mcp.errors import SummaryFailed
from memory_mcp.meaning import Meaning
from memory_mcp.models import LESSONS, Filter, Kind, Memory, Message, NewMemory, State, Trust
from memory_mcp.recurrence import groups
from memory_mcp.storage.protocol import Store
from memory_mcp.storage.values import Sentences
from memory_mcp.summarizers import Summarizer
from memory_mcp.tokens import differs, query_terms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ABOVE_CEILING = 0.04
"""Sentences recur from here above a model's ceiling: .60 for USE (docs/decisions.md, Consolidation)."""

KINDS = (Kind.FACT, Kind.PREFERENCE, Kind.DECISION, Kind.EPISODE, Kind.LESSON)
"""What may recur. An instruction holds as it is, a metric changes, and a turn is told by its episode."""

TIMES = 3
"""Sessions or days on which something must have been told, and new occurrences that a known pattern is proposed for."""

NEWEST, SENTENCES = 5_000, 10_000
"""Memories of a namespace that are compared, and their sentences."""

CONSIDERED, PROPOSED, MEMBERS = 200, 20, 30
"""Groups that are looked at in a namespace, proposals that are made, memories that one is derived from."""

TELLING = 3
"""Words without which a sentence says too little to be a pattern."""

ASKED = "These were noted at different times. Say in one sentence what recurs in them."
"""Stands before the occurrences where a summarizer puts them into words."""

NEEDS_MODEL = "What recurs is found by meaning, and there is no model for this file: see `memory-mcp doctor`."


@dataclass(frozen=True)
class Occurrence:
    """One memory of a proposal, and the sentence of it that recurs; `is_lesson` if it tells what was learned."""

    memory: Memory
    sentence: str
    is_lesson: bool


@dataclass(frozen=True)
class Proposal:
    """Something that recurs. `occurrences` are the memories that say so, most typical first.

    `content` is the most typical sentence with how often and when it was told: no text that stands there already.
    `number` names exactly these memories, and so does not change while they stay together. `replaces` is the id of the
    pattern that was made of some of them before, '' for a new one.
    """

    number: int
    content: str
    kind: Kind
    namespace: str
    times: int
    importance: float
    confidence: float
    occurrences: tuple[Occurrence, ...]
    replaces: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """The memories it would be derived from."""
        return tuple(one.memory.id for one in self.occurrences)

    @property
    def period(self) -> tuple[datetime, datetime]:
        """When it was told first and last."""
        told = [one.memory.created_at for one in self.occurrences]
        return min(told), max(told)

    def as_new(self, text: str = "") -> NewMemory:
        """Ask to store it, in these words or in those of its most typical occurrence, how often and when."""
        return NewMemory(
            content=text or self.content,
            kind=self.kind,
            namespace=self.namespace,
            importance=self.importance,
            confidence=self.confidence,
            derived_from=self.ids,
            supersedes=(self.replaces,) if self.replaces else (),
        )


@dataclass(frozen=True)
class Proposals:
    """What recurs, most often first; `omitted` counts what is beyond, `notice` says why nothing could be found."""

    proposals: tuple[Proposal, ...] = ()
    omitted: int = 0
    notice: str = ""


@dataclass(frozen=True)
class Known:
    """What went into patterns before, by id: which one, and those of them that still stand."""

    products: dict[str, str]
    standing: frozenset[str]


async def propose(db: Store, meaning: Meaning, where: Filter, now: datetime, zone: tzinfo) -> Proposals:
    """Find what recurs in each namespace of the filter by itself. Reads only."""
    if db.vector_problem or not await meaning.is_ready(now):
        return Proposals(notice=NEEDS_MODEL)
    known = await _known(db)
    found = [
        proposal
        for namespace in where.namespaces
        for proposal in await _of_namespace(db, replace(where, namespaces=(namespace,)), meaning.ceiling, known, zone)
    ]
    found.sort(key=lambda one: (-one.times, -one.period[1].timestamp(), one.number))
    return Proposals(tuple(found[:PROPOSED]), max(0, len(found) - PROPOSED))


async def worded(proposal: Proposal, summarizer: Summarizer) -> tuple[str, str]:
    """Let a summarizer put into words what recurs: it is shown the occurrences, and says only what they say.

    Gives the words, '' if it found none, and then a notice why.
    """
    told = sorted(proposal.occurrences, key=lambda one: one.memory.created_at)
    notes = [Message("user", one.sentence, at=one.memory.created_at) for one in told]
    try:
        summary = await summarizer.summarize([Message("assistant", ASKED), *notes])
    except SummaryFailed as error:
        return "", f"In the words of one of its memories. {error}"
    return summary.summary, summary.notice


async def _known(db: Store) -> Known:
    products = await db.consolidated()
    made = await db.get(list(dict.fromkeys(products.values())))
    return Known(products, frozenset(one.id for one in made if one.state is State.ACTIVE))


async def _of_namespace(db: Store, where: Filter, ceiling: float, known: Known, zone: tzinfo) -> list[Proposal]:
    sentences = await db.sentences(replace(where, kinds=KINDS), NEWEST, SENTENCES)
    grouped = await to_thread.run_sync(_grouped, sentences, ceiling + ABOVE_CEILING)
    owners = {sentences.ids[sentences.owners[place]] for group in grouped for place in group.tolist()}
    blocked = await db.blocked_for_conclusions(sorted(owners))
    memories = {memory.id: memory for memory in await db.get(sorted(owners - blocked - set(known.products.values())))}
    proposals: list[Proposal] = []
    for group in grouped:
        occurrences = _agreeing(list(_occurrences(sentences, group, memories)))
        if proposal := _proposal(_trusted_if_enough(occurrences, zone), known, zone):
            proposals.append(proposal)
    return proposals


def _grouped(sentences: Sentences, at_least: float) -> list["NDArray[np.int64]"]:
    return list(islice(groups(sentences.vectors, sentences.owners, at_least, TIMES), CONSIDERED))


def _occurrences(sentences: Sentences, group: "NDArray[np.int64]", memories: dict[str, Memory]) -> Iterator[Occurrence]:
    for place in group.tolist():
        memory = memories.get(sentences.ids[sentences.owners[place]])
        texts = passages(memory) if memory else []
        at = int(sentences.places[place])
        if memory and at < len(texts):  # else its text was cut otherwise when its vectors were made
            yield Occurrence(memory, texts[at].removeprefix("- "), _is_lesson(memory, texts[at]))


def _is_lesson(memory: Memory, sentence: str) -> bool:
    _, mark, told = memory.content.rpartition(LESSONS)
    lessons = [" ".join(line.removeprefix("- ").split()) for line in told.splitlines()] if mark else []
    return memory.kind is Kind.LESSON or any(one in sentence or sentence in one for one in lessons if one)


def _agreeing(occurrences: Sequence[Occurrence]) -> tuple[Occurrence, ...]:
    """Keep those that do not say the opposite of the most typical one, up to a bound."""
    if not occurrences:
        return ()
    typical = occurrences[0].sentence
    return tuple(one for one in occurrences if "negation" not in differs(typical, one.sentence))[:MEMBERS]


def _trusted_if_enough(occurrences: tuple[Occurrence, ...], zone: tzinfo) -> tuple[Occurrence, ...]:
    """Leave third-party text out where what is trusted recurs by itself: a pattern takes the lowest trust of all."""
    trusted = tuple(one for one in occurrences if one.memory.trust is Trust.TRUSTED)
    return trusted if _times(trusted, zone) >= TIMES else occurrences


def _proposal(occurrences: tuple[Occurrence, ...], known: Known, zone: tzinfo) -> Proposal | None:
    """Make a proposal of what was told often enough, and is not known yet, or has grown by several since."""
    if not occurrences or len(query_terms(occurrences[0].sentence)) < TELLING:
        return None
    fresh = tuple(one for one in occurrences if one.memory.id not in known.products)
    times = _times(occurrences, zone)
    if times < TIMES or (len(fresh) < len(occurrences) and _times(fresh, zone) < TIMES):
        return None
    memories = [one.memory for one in occurrences]
    patterns = [known.products[one.id] for one in memories if one.id in known.products]
    lessons = sum(one.is_lesson for one in occurrences)
    return Proposal(
        number=_number([one.id for one in memories]),
        content=f"{occurrences[0].sentence.rstrip(' .。')} ({times}×, {_period(memories, zone)})",
        kind=Kind.LESSON if 2 * lessons >= len(occurrences) else Kind.PATTERN,
        namespace=memories[0].namespace,
        times=times,
        importance=max(one.importance for one in memories),
        confidence=_confidence(times, max(one.confidence for one in memories)),
        occurrences=occurrences,
        replaces=next((one for one in patterns if one in known.standing), ""),
    )


def _times(occurrences: Sequence[Occurrence], zone: tzinfo) -> int:
    """Count on how many days, or in how many sessions, it was told, whichever is more."""
    days = {dates.show_day(one.memory.created_at, zone) for one in occurrences}
    return max(len(days), len({one.memory.session_id for one in occurrences if one.memory.session_id}))


def _period(memories: Sequence[Memory], zone: tzinfo) -> str:
    days = [dates.show_day(one.created_at, zone) for one in memories]
    return f"{min(days)} – {max(days)}"


def _confidence(times: int, surest: float) -> float:
    """Trust what recurs as inferred (.7) when it was told three times, up to .95 at eight; not above its sources."""
    return round(min(surest, 0.95, 0.55 + 0.05 * times), 2)


def _number(ids: Sequence[str]) -> int:
    """Give the same memories the same six digits."""
    return 100_000 + crc32("".join(sorted(ids)).encode()) % 900_000
