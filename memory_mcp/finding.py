"""How a query is answered: by a ranking, a listing or the briefing, within the bytes that a reply may take."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta, tzinfo

from memory_mcp import dates, requests
from memory_mcp.config import Settings
from memory_mcp.context import fitting, room
from memory_mcp.errors import EmbedderUnavailable, InvalidInput, NotFound
from memory_mcp.meaning import Meaning
from memory_mcp.models import (
    Filter,
    Hit,
    Kind,
    Memory,
    Mode,
    PendingSession,
    Query,
    Recall,
    Trust,
)
from memory_mcp.retrieval import Ranked, arranged, rank
from memory_mcp.storage.protocol import Probe, Store, Vectors
from memory_mcp.tokens import query_terms

BLOCK = 24
"""So many of the best candidates are read whole at a time; within them near-copies and history give way."""

CONTEXT_WEIGHT = 0.6
"""What the last messages find counts less than what the question finds."""

EPISODES_IN_BRIEFING = 3
PENDING_IN_BRIEFING = 3


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
        ranked, mode, notice = await self._ranked(text, where)
        if query.text and query.context:
            beside, _, _ = await self._ranked(query.context, where)
            ranked = _merged(ranked, beside)
        found = await self._found(ranked, _offset(query.cursor), query.limit, where)
        hits = list(found.values())
        if hits and all(hit.label == "weak" for hit in hits):
            notice = f"{notice} Nothing fits well: these are weak matches.".strip()
        notice = " ".join(filter(None, (window, notice)))
        recalled = self._fitting(query, hits, mode, notice=notice, terms=query_terms(text))
        self.accesses.add([hit.memory.id for hit in recalled.hits])
        following = [*found][len(recalled.hits) - 1] + 1 if recalled.hits else len(ranked)
        return replace(recalled, next_cursor=f"r{following}" if following < len(ranked) else "")

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

    async def _ranked(self, text: str, where: Filter) -> tuple[list[Ranked], Mode, str]:
        now = self.now()
        notice = self.db.vector_problem
        vectors: Vectors | None = None
        if not notice:
            try:
                vectors = await self.meaning.of_question([text])
            except EmbedderUnavailable as error:
                notice = str(error)
        evidence = await self.db.search(Probe(vectors, query_terms(text), where))
        if vectors is not None and evidence.awaiting:
            notice = f"Still without vectors, and so found by words only: {evidence.awaiting} of {evidence.memories}."
        ranked = rank(evidence, text, ceiling=self.meaning.ceiling, now=now)
        return ranked, "keyword" if vectors is None else "hybrid", notice

    async def _list(self, query: Query, where: Filter, window: str) -> Recall:
        page = await self.db.page(where, query.limit, query.cursor)
        recalled = self._fitting(query, [await self._hit(one) for one in page.memories], "list", notice=window)
        if recalled.omitted:  # a shorter page, so that the next one begins where this one ends
            page = await self.db.page(where, len(recalled.hits), query.cursor)
        nothing = "" if page.memories or page.next_cursor else "No memory passes these filters."
        notice = " ".join(filter(None, (window, nothing)))
        return replace(recalled, notice=notice, omitted=0, next_cursor=page.next_cursor)

    async def _briefing(self, query: Query, where: Filter) -> Recall:
        """Tell what a new session should know: recent episodes, the weightiest memories, pending work."""
        trusted = replace(where, trust=Trust.TRUSTED)
        episodes = await self.db.episodes(trusted, EPISODES_IN_BRIEFING)
        weighty = await self.db.weightiest(trusted, query.limit)
        waiting = await self.db.pending_sessions(where.namespaces, PENDING_IN_BRIEFING + 1)
        pending = [one for one in waiting if one.session_id != query.asked_in][:PENDING_IN_BRIEFING]
        expired = await self.db.expired_since(self.now() - timedelta(days=1))
        faded = f"Erased since yesterday, at the end of their time to live: {expired}." if expired else ""
        notice = " ".join(filter(None, (*(self._pending(one) for one in pending), faded)))
        hits = [Hit(one.memory, outcome=one.outcome) for one in episodes] + [Hit(memory) for memory in weighty]
        if not hits:
            notice = f"Nothing is stored yet. {notice}".strip()
        return self._fitting(query, hits, "briefing", notice=notice)

    def _pending(self, one: PendingSession) -> str:
        elsewhere = f", namespace={one.namespace!r}" if one.namespace != self.settings.namespace else ""
        if not one.turns:
            call = f"summarize(session_id={one.session_id!r}{elsewhere}, summary=...)"
            return f"The summary of session {one.session_id!r} lost a source and must be written anew: call {call}."
        call = f"summarize(session_id={one.session_id!r}{elsewhere})"
        return f"{one.turns} turns of session {one.session_id!r} are not summarized: call {call}."

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
        return Hit(memory, ranked.score, ranked.label, ranked.meaning, ranked.words, ranked.salience, outcome)


def _offset(cursor: str) -> int:
    if not cursor:
        return 0
    if not re.fullmatch(r"r[0-9]{1,9}", cursor):
        raise InvalidInput("That cursor is not of this query. Repeat the query without it.")
    return int(cursor[1:])


def _merged(ranked: list[Ranked], beside: list[Ranked]) -> list[Ranked]:
    """Add what the context found, at less weight and without repeats."""
    best = {one.row: one for one in ranked}
    for other in beside:
        lighter = replace(other, score=round(other.score * CONTEXT_WEIGHT, 4))
        if other.row not in best or lighter.score > best[other.row].score:
            best[other.row] = lighter
    return sorted(best.values(), key=lambda one: -one.score)
