"""How a query is answered: by a ranking, a listing or the briefing, within the bytes that a reply may take."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from memory_mcp import cues, dates, following, requests
from memory_mcp.answers import Hit, Mode, Recall
from memory_mcp.arranging import arranged
from memory_mcp.briefing import Asking, as_read, collect
from memory_mcp.companions import accompanied
from memory_mcp.config import Settings
from memory_mcp.context import LEAST_ENTRY, fitting, room
from memory_mcp.errors import EmbedderUnavailable, InvalidInput, NotFound
from memory_mcp.meaning import Meaning
from memory_mcp.models import Filter, Kind, Memory, Query
from memory_mcp.retrieval import READ, Ranked, rank, sharpened
from memory_mcp.storage.protocol import Store
from memory_mcp.storage.values import Evidence, Probe
from memory_mcp.tokens import query_terms

BLOCK = 24
"""So many of the best candidates are read whole at a time; within them near-copies and history give way."""

EXCERPT = 400
"""Bytes of a memory's content below which a briefing rather tells of fewer; about sixty words."""


class Accesses:
    """Recalled ids, kept until they are written in a batch: recall itself does not write."""

    def __init__(self) -> None:
        self._ids: list[str] = []

    def add(self, ids: Sequence[str]) -> None:
        """Note a recall."""
        self._ids += ids

    def take(self) -> list[str]:
        """Hand over what was noted, and begin anew."""
        taken, self._ids = self._ids, []
        return taken


@dataclass(frozen=True)
class Finder:
    """Answers queries. Recalled ids are noted in `accesses`: recall itself does not write."""

    db: Store
    meaning: Meaning
    settings: Settings
    now: Callable[[], datetime]
    accesses: Accesses

    @property
    def zone(self) -> tzinfo:
        """The zone in which the person reads dates."""
        return dates.zone(self.settings.tz)

    async def recall(self, query: Query) -> Recall:
        """Find what fits a question; without one, list by filters or give the briefing (mode 'briefing')."""
        query = requests.checked(query)
        if query.ids:
            return await self._by_ids(query)
        where = requests.where(query, self.settings, self.zone, self.now())
        window = requests.window(where, self.zone)
        if query.text or query.context:
            return await self._search(query, where, window)
        if requests.narrows(query):
            return await self._list(query, where, window)
        return await self._briefing(query, where)

    async def _by_ids(self, query: Query) -> Recall:
        found = await self.db.get(query.ids)
        gone = [memory_id for memory_id in query.ids if memory_id not in {memory.id for memory in found}]
        if not found:
            raise NotFound(f"No memory with id {', '.join(gone[:5])}. Recall again for current ids.")
        notice = f"No memory with id {', '.join(gone[:5])}." if gone else ""
        return self._fitting(query, [await self._hit(memory) for memory in found], "list", notice=notice)

    async def _search(self, query: Query, where: Filter, window: str) -> Recall:
        text = query.text or query.context
        probe, evidence, notice = await self._gathered([text], where)
        ranked = rank(evidence, text, ceiling=self.meaning.ceiling, now=self._clock())
        if query.text and query.context:
            ranked = await self._followed(ranked, query, where)
        ranked = await self._read(ranked, text, evidence)
        found = await self._found(ranked, _offset(query.cursor), query.limit, where)
        hits = await accompanied(self.db, list(found.values()), where)
        if hits and all(hit.label == "weak" for hit in hits):
            notice = f"{notice} Nothing fits well: these are weak matches.".strip()
        notice = " ".join(filter(None, (window, notice)))
        mode = "keyword" if probe.vectors is None else "hybrid"
        recalled = self._fitting(query, hits, mode, notice=notice, terms=query_terms(text))
        self.accesses.add([hit.memory.id for hit in recalled.hits])
        following = [*found][len(recalled.hits) - 1] + 1 if recalled.hits else len(ranked)
        return replace(recalled, next_cursor=f"r{following}" if following < len(ranked) else "")

    def _clock(self) -> datetime:
        """Read the person's clock."""
        return self.now().astimezone(self.zone)

    async def _found(self, ranked: list[Ranked], offset: int, limit: int, where: Filter) -> dict[int, Hit]:
        """Read the best candidates from a place on, by their places: the same ones whatever the size of a page.

        A damaged memory has a place, and is left out.
        """
        found: dict[int, Hit] = {}
        for start in range(offset - offset % BLOCK, len(ranked), BLOCK):
            block = ranked[start : start + BLOCK]
            memories = await self.db.rows([one.row for one in block])
            whole = [(one, memories[one.row]) for one in block if one.row in memories]
            for place, (one, memory) in enumerate(arranged(whole, past=where.as_of is not None), start):
                if place >= offset and len(found) < limit:
                    found[place] = await self._hit(memory, one)
            if len(found) == limit:
                break
        return found

    async def _read(self, ranked: list[Ranked], text: str, evidence: Evidence) -> list[Ranked]:
        """Rank anew by the wording of the best, where the question gives a clue what to look for."""
        clues = cues.asked(text)
        if not clues and not any(one.is_own for one in ranked):
            return ranked
        texts = await self.db.contents([one.row for one in ranked[:READ]])
        return sharpened(ranked, texts, clues, {speaker.casefold() for speaker in evidence.speakers})

    async def _followed(self, ranked: list[Ranked], query: Query, where: Filter) -> list[Ranked]:
        """Add what the last messages help to find: the question about each name in them, and their own sentences."""
        ceiling, now = self.meaning.ceiling, self._clock()
        by_name: list[list[Ranked]] = []
        if names := following.names(query.context):
            probe, evidence, _ = await self._gathered([" ".join((query.text, *names))], where)
            about = [f"{query.text} {name}" for name in names]
            by_name = following.by_each(evidence, probe.terms, about, ceiling=ceiling, now=now)
        said = following.last_sentences(query.context)
        _, evidence, _ = await self._gathered(said, where)
        return following.merged(ranked, by_name, rank(evidence, " ".join(said), ceiling=ceiling, now=now))

    async def _gathered(self, texts: Sequence[str], where: Filter) -> tuple[Probe, Evidence, str]:
        """Gather the evidence for texts of which any may match, by their vectors, if there is a model, and words."""
        words = Probe(None, query_terms(" ".join(texts)), where)
        if self.db.vector_problem:
            return words, await self.db.search(words), self.db.vector_problem
        try:
            asked = await self.meaning.of_question(texts)
            probe = replace(words, vectors=asked.vectors, model=asked.model)
            evidence = await self.db.search(probe)
        except EmbedderUnavailable as error:
            return words, await self.db.search(words), str(error)
        notice = f"Still without vectors, and so found by words only: {evidence.awaiting} of {evidence.memories}."
        return probe, evidence, notice if evidence.awaiting else ""

    async def _list(self, query: Query, where: Filter, window: str) -> Recall:
        page = await self.db.page(where, query.limit, query.cursor)
        recalled = self._fitting(query, [await self._hit(one) for one in page.memories], "list", notice=window)
        if recalled.omitted:  # a shorter page, so that the next one begins where this one ends
            page = await self.db.page(where, len(recalled.hits), query.cursor)
        nothing = "" if page.memories or page.next_cursor else "No memory passes these filters."
        notice = " ".join(filter(None, (window, nothing)))
        return replace(recalled, notice=notice, omitted=0, next_cursor=page.next_cursor)

    async def _briefing(self, query: Query, where: Filter) -> Recall:
        """Tell what a new conversation should know, as much as the budget shows; the rest is counted."""
        limit = room(query.max_tokens, self.settings.context_tokens)
        asking = Asking(query.asked_in, self.now(), self.zone, self.settings.namespace)
        told = await collect(self.db, where, asking, limit // LEAST_ENTRY)
        notice = told.notice if told.hits or told.notice else "Nothing is stored yet."
        count = fitting(told.hits, limit=limit, zone=self.zone, notice=notice, least=EXCERPT)
        return Recall(as_read(told.hits[:count]), "briefing", notice, told.known - count)

    def _fitting(
        self, query: Query, hits: list[Hit], mode: Mode, *, notice: str, terms: tuple[str, ...] = ()
    ) -> Recall:
        """Keep as many hits as the token budget can show; the rest is counted."""
        limit = room(query.max_tokens, self.settings.context_tokens)
        shown = hits[: fitting(hits, limit=limit, zone=self.zone, notice=notice)]
        return Recall(tuple(shown), mode, notice, len(hits) - len(shown), "", terms)

    async def _hit(self, memory: Memory, ranked: Ranked | None = None) -> Hit:
        episode = await self.db.episode(memory.id) if memory.kind is Kind.EPISODE else None
        outcome = episode.outcome if episode else None
        if ranked is None:
            return Hit(memory, outcome=outcome)
        return Hit(memory, ranked.score, ranked.label, ranked.reasons, outcome=outcome)


def _offset(cursor: str) -> int:
    if not cursor:
        return 0
    if not re.fullmatch(r"r[0-9]{1,9}", cursor):
        raise InvalidInput("That cursor is not of this query. Repeat the query without it.")
    return int(cursor[1:])
