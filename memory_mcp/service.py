"""The verbs: what can be asked of a memory. Every edge calls these and nothing below them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo

from anyio import to_thread

from memory_mcp import conversations, dates, privacy, requests, selection
from memory_mcp.config import MAX_FORGET_AT_ONCE, Settings
from memory_mcp.context import BYTES_A_TOKEN, fitting
from memory_mcp.embedding import Embeddings
from memory_mcp.errors import EmbedderUnavailable, InvalidInput, NotFound
from memory_mcp.meaning import Meaning
from memory_mcp.models import (
    Conversation,
    Episode,
    Filter,
    Forgotten,
    Hit,
    Kind,
    Memory,
    Mode,
    NewMemory,
    PendingSession,
    Preview,
    Query,
    Recall,
    Revision,
    Selection,
    Similar,
    State,
    Stats,
    Stored,
    Summarized,
    Trust,
)
from memory_mcp.retrieval import Ranked, rank, varied
from memory_mcp.storage.protocol import Check, Draft, Page, Probe, Store, Vectors
from memory_mcp.summarizers import Summarizer, Summary
from memory_mcp.text import excerpt
from memory_mcp.tokens import differs, query_terms

DEFAULT_TOKENS = 1_000
LEAST_TOKENS = 100
SAMPLE = 10
BLOCK = 24
"""So many of the best candidates are read whole at a time; within them near-copies and history give way."""

HISTORY_WEIGHT = 0.5
"""What was superseded comes after what replaced it, unless the question is about that time."""

SIMILAR_ABOVE_CEILING = 0.18
"""Near matches begin here above a model's ceiling: .75 for USE, .80 for MiniLM (research, retrieval section 6)."""

CONTEXT_WEIGHT = 0.6
"""What the last messages find counts less than what the question finds."""

EPISODES_IN_BRIEFING = 3
ALL_STATES = tuple(State)


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
class MemoryService:
    """A memory, opened. `door` names the edge that calls (mcp, cli, web, hook, background) for the audit."""

    db: Store
    meaning: Meaning
    embeddings: Embeddings
    summarizer: Summarizer
    settings: Settings
    now: Callable[[], datetime]
    accesses: Accesses
    door: str = "mcp"

    @property
    def zone(self) -> tzinfo:
        """The zone in which the person reads dates."""
        return dates.zone(self.settings.tz)

    def room(self, max_tokens: int | None = None) -> int:
        """How many bytes a reply may take: as asked, by default 4,000, never over a tenth of the context window.

        Less than 400 does not hold one memory with its id and date, and is raised to that.
        """
        tokens = DEFAULT_TOKENS if max_tokens is None else max(LEAST_TOKENS, max_tokens)
        return BYTES_A_TOKEN * min(tokens, self.settings.context_tokens // 10)

    # ---- keep --------------------------------------------------------------------------------------------------

    async def store(self, new: NewMemory) -> Stored:
        """Keep one text. Raises `InvalidInput`, `NotFound` (supersedes, derived_from), `StoreUnavailable`."""
        now = self.now()
        memory, notices = requests.new_memory(new, self.settings, now)
        memory = replace(memory, derived_from=requests.ids(new.derived_from))
        memory = replace(memory, trust=await self._derived_trust(memory))
        vectors, problem = await self._vectors([memory], now)
        near = await self._similar(memory, vectors[0], now)
        draft = Draft(memory, vectors[0], supersedes=requests.ids(new.supersedes))
        [written] = await self.db.write([draft], door=self.door)
        return Stored(
            id=written.id,
            status="duplicate" if written.duplicate else "superseded" if written.superseded else "stored",
            superseded=written.superseded,
            similar=tuple(one for one in near if one.id not in (written.id, *written.superseded)),
            notice=" ".join(filter(None, (*notices, problem))),
        )

    async def _derived_trust(self, memory: Memory) -> Trust:
        """Take the lowest trust of what a memory comes from."""
        origins = await self.db.get(memory.derived_from)
        if len(origins) < len(memory.derived_from):
            raise NotFound("derived_from names a memory that does not exist. Nothing was saved.")
        return privacy.trust_of(memory.source, (origin.trust for origin in origins))

    async def _vectors(self, memories: Sequence[Memory], now: datetime) -> tuple[Sequence[Vectors | None], str]:
        """Embed memories, or say why their vectors come later."""
        try:
            return await self.meaning.of_memories(memories, now=now), self.db.vector_problem
        except EmbedderUnavailable as error:
            none: list[Vectors | None] = [None] * len(memories)
            return none, f"Saved, but for now found by keyword only: {error}"

    async def _similar(self, memory: Memory, vectors: Vectors | None, now: datetime) -> tuple[Similar, ...]:
        """Find near matches in the same namespace; a conversation's turns have none worth telling."""
        if vectors is None or memory.kind is Kind.TURN or self.db.vector_problem:
            return ()
        kinds = tuple(kind for kind in Kind if kind not in (Kind.TURN, Kind.EPISODE, Kind.DOCUMENT))
        where = Filter(namespaces=(memory.namespace,), kinds=kinds, now=now)
        near = await self.db.similar(vectors, where, self.meaning.ceiling + SIMILAR_ABOVE_CEILING, 3)
        found = await self.db.get([memory_id for memory_id, _ in near])
        return tuple(
            Similar(one.id, excerpt(one.content, (), 200), differs(one.content, memory.content)) for one in found
        )

    # ---- find --------------------------------------------------------------------------------------------------

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
            whole = [one for one in block if one.row in memories]
            weighed = [(self._weight(one, memories[one.row], where), memories[one.row].content) for one in whole]
            for place, number in enumerate(varied(weighed), start):
                if place >= offset and len(found) < limit:
                    found[place] = await self._hit(memories[whole[number].row], whole[number])
            if len(found) == limit:
                break
        return found

    @staticmethod
    def _weight(ranked: Ranked, memory: Memory, where: Filter) -> float:
        is_history = memory.state is State.SUPERSEDED and where.as_of is None
        return ranked.score * (HISTORY_WEIGHT if is_history else 1)

    async def _ranked(self, text: str, where: Filter) -> tuple[list[Ranked], Mode, str]:
        now = self.now()
        notice = self.db.vector_problem
        vectors: Vectors | None = None
        if not notice:
            try:
                vectors = await self.meaning.of_question([text])
            except EmbedderUnavailable as error:
                notice = f"{error} Found by keyword only."
        evidence = await self.db.search(Probe(vectors, query_terms(text), where))
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
        pending = await self.db.pending_sessions(where.namespaces, 3)
        notice = " ".join(self._pending(one) for one in pending)
        hits = [Hit(one.memory, outcome=one.outcome) for one in episodes] + [Hit(memory) for memory in weighty]
        if not hits:
            notice = f"Nothing is stored yet. {notice}".strip()
        return self._fitting(query, hits, "briefing", notice=notice)

    def _pending(self, one: PendingSession) -> str:
        elsewhere = f", namespace={one.namespace!r}" if one.namespace != self.settings.namespace else ""
        call = f"summarize(session_id={one.session_id!r}{elsewhere})"
        return f"{one.turns} turns of session {one.session_id!r} are not summarized: call {call}."

    def _fitting(
        self, query: Query, hits: list[Hit], mode: Mode, *, notice: str, terms: tuple[str, ...] = ()
    ) -> Recall:
        """Keep as many hits as the token budget can show; the rest is counted."""
        shown = hits[: fitting(hits, limit=self.room(query.max_tokens), zone=self.zone, notice=notice)]
        return Recall(tuple(shown), mode, notice, len(hits) - len(shown), "", terms)

    async def _hit(self, memory: Memory, ranked: Ranked | None = None) -> Hit:
        episode = await self.db.episode(memory.id) if memory.kind is Kind.EPISODE else None
        outcome = episode.outcome if episode else None
        if ranked is None:
            return Hit(memory, outcome=outcome)
        return Hit(memory, ranked.score, ranked.label, ranked.meaning, ranked.words, ranked.salience, outcome)

    # ---- summarize ---------------------------------------------------------------------------------------------

    async def summarize(self, conversation: Conversation) -> Summarized:
        """Turn one session into an episode and its key facts; messages are kept verbatim as turns.

        Raises `InvalidInput`, `SummaryFailed` (nothing to summarize), `StoreUnavailable`; then nothing was saved.
        """
        now = self.now()
        lessons, reworded = conversations.lessons(conversation.lessons)
        asked = replace(self._named(conversation), lessons=lessons)
        kept = await self.db.turns(asked.session_id, asked.namespace)
        said, notices = await to_thread.run_sync(conversations.spoken, asked.messages)
        said = conversations.unseen(kept, said)
        turns = [conversations.turn(message, asked, self.settings, now) for message in said]
        summary = await self._summary(asked, [*kept, *turns])
        episode = conversations.episode(asked, summary, [*kept, *turns], self.settings, now)
        facts, more = self._key_facts(asked, summary, episode, now)
        texts = [*turns, episode.memory, *(draft.memory for draft in facts)]
        vectors, problem = await self._vectors(texts, now)
        written_episode, written = await self.db.write_episode(
            episode,
            vectors[len(turns)],
            [replace(draft, vectors=own) for draft, own in zip(facts, vectors[len(turns) + 1 :], strict=True)],
            turns=[Draft(turn, own) for turn, own in zip(turns, vectors, strict=False)],
            door=self.door,
        )
        if asked.useful_ids:
            await self.rate(asked.useful_ids, useful=True)
        same = written_episode.memory.id != episode.memory.id
        return Summarized(
            episode=written_episode,
            facts=tuple(
                Stored(
                    one.id,
                    "duplicate" if one.duplicate else "superseded" if one.superseded else "stored",
                    one.superseded,
                )
                for one in written
            ),
            status="unchanged" if same else "updated" if written_episode.version > 1 else "stored",
            turns_stored=len(turns),
            notice=" ".join(filter(None, dict.fromkeys((*notices, *reworded, *more, summary.notice, problem)))),
        )

    def _named(self, conversation: Conversation) -> Conversation:
        """Check and complete what names a session."""
        session_id = requests.name(conversation.session_id.strip(), "session_id")
        if not session_id:
            raise InvalidInput("session_id is needed: any name that stays the same through one conversation.")
        namespace = requests.name(conversation.namespace, "namespace") or self.settings.namespace
        return replace(
            conversation,
            session_id=session_id,
            namespace=namespace,
            trigger=requests.name(conversation.trigger, "trigger"),
            actions=tuple(map(conversations.action, conversation.actions)),
            useful_ids=requests.ids(conversation.useful_ids),
        )

    async def _summary(self, asked: Conversation, turns: Sequence[Memory]) -> Summary:
        """Take the caller's own summary, else make one of the turns."""
        if not asked.summary.strip():
            return await self.summarizer.summarize([conversations.message(turn) for turn in turns])
        admitted = privacy.admit(asked.summary, "summary", requests.MAX_CONTENT)
        conversations.require_short(admitted.text)
        return Summary(admitted.text, asked.key_facts, asked.lessons, "host", " ".join(admitted.notices))

    def _key_facts(
        self, asked: Conversation, summary: Summary, episode: Episode, now: datetime
    ) -> tuple[list[Draft], tuple[str, ...]]:
        drafts: list[Draft] = []
        notices: list[str] = []
        for fact in asked.key_facts or summary.key_facts:
            memory, more = conversations.key_fact(fact, episode, self.settings, now)
            drafts.append(Draft(memory, supersedes=requests.ids(fact.supersedes)))
            notices += more
        return drafts, tuple(dict.fromkeys(notices))

    # ---- forget ------------------------------------------------------------------------------------------------

    async def forget(self, chosen: Selection) -> Forgotten | Preview:
        """Erase exact ids, or what a confirm handle stands for; anything wider gives a preview."""
        resolved = await self._confirmed("forget", chosen, ALL_STATES)
        if isinstance(resolved, Preview):
            return resolved
        forgotten = await self.db.forget(resolved, now=self.now(), door=self.door)
        gone = tuple(one for one in requests.ids(chosen.ids) if one not in resolved)
        return replace(forgotten, missing=gone)

    async def archive(self, chosen: Selection) -> list[str] | Preview:
        """Stop recalling memories, reversibly; the same rules as `forget`."""
        resolved = await self._confirmed("archive", chosen, (State.ACTIVE,))
        if isinstance(resolved, Preview):
            return resolved
        return await self.db.set_state(resolved, State.ARCHIVED, now=self.now(), door=self.door)

    async def restore(self, chosen: Selection) -> list[str] | Preview:
        """Take archived memories back."""
        resolved = await self._confirmed("restore", chosen, (State.ARCHIVED,))
        if isinstance(resolved, Preview):
            return resolved
        return await self.db.set_state(resolved, State.ACTIVE, now=self.now(), door=self.door)

    async def _confirmed(self, verb: str, chosen: Selection, states: tuple[State, ...]) -> list[str] | Preview:
        """Find the ids to act on, or the preview that must be confirmed first."""
        chosen = replace(chosen, ids=requests.ids(chosen.ids), query=requests.question(chosen.query, "query"))
        where = requests.selected(chosen, states, self.settings, self.zone, self.now())
        versions = await selection.resolve(self.db, chosen, where)
        selection.missing(chosen.ids, versions)
        ids = [memory_id for memory_id, _ in versions]
        if chosen.ids and len(ids) <= MAX_FORGET_AT_ONCE:
            return ids
        along = await self.db.carried_along(ids) if verb == "forget" else ()
        expected = selection.handle(await self.db.secret(), verb, versions + await self.db.versions(along))
        if chosen.confirm:
            selection.require_match(chosen.confirm, expected)
            return ids
        sample = await self.db.get(ids[:SAMPLE])
        return Preview(len(ids), expected if ids else "", tuple(sample), tuple(ids), along)

    # ---- tend --------------------------------------------------------------------------------------------------

    async def revise(self, memory_id: str, change: Revision) -> Memory:
        """Change importance, confidence, tags, kind, namespace, pinned or expiry of one memory."""
        now = self.now()
        cleaned, expires_at = requests.revision(change, await self.get(memory_id), self.settings, now)
        return await self.db.revise(memory_id, cleaned, expires_at=expires_at, now=now, door=self.door)

    async def rate(self, ids: Sequence[str], *, useful: bool) -> list[str]:
        """Say that recalled memories helped, or not. Returns the ids that exist."""
        return await self.db.rate(requests.ids(ids), useful=useful, now=self.now())

    async def get(self, memory_id: str) -> Memory:
        """Read one memory by its id. Raises `NotFound`."""
        found = await self.db.get([memory_id])
        if not found:
            raise NotFound(f"No memory with id {memory_id}. Recall again for current ids.")
        return found[0]

    async def episode(self, memory_id: str) -> Episode:
        """Read one episode by its id. Raises `NotFound`."""
        found = await self.db.episode(memory_id)
        if found is None:
            raise NotFound(f"No episode with id {memory_id}.")
        return found

    async def recent_episodes(self, limit: int = 20) -> list[Episode]:
        """Read the newest episodes of every namespace."""
        return await self.db.episodes(Filter(now=self.now()), limit)

    async def session(self, session_id: str) -> tuple[list[Memory], list[Episode]]:
        """Read a session's kept turns, in order, and its episodes. Raises `NotFound`."""
        turns = await self.db.turns(session_id, "")
        episodes = await self.db.episodes(Filter(session_id=session_id, now=self.now()), 20)
        if not turns and not episodes:
            raise NotFound(f"Nothing is kept of a session {session_id!r}.")
        return turns, episodes

    async def page(self, query: Query) -> Page:
        """List memories by filters, newest first, whole, without a token budget; for people and exports."""
        query = requests.checked(query)
        return await self.db.page(
            requests.where(query, self.settings, self.zone, self.now()), query.limit, query.cursor
        )

    async def stats(self) -> Stats:
        """Counts and sizes."""
        return await self.db.stats()

    async def check(self) -> Check:
        """Compare indexes with rows."""
        return await self.db.check()

    async def changes(self) -> int:
        """A number that moves whenever any process commits to the file."""
        return await self.db.changes()

    async def problems(self) -> list[str]:
        """Every degraded state, one sentence each; empty is health."""
        stats = await self.db.stats()
        waiting = f"{stats.awaiting_vectors} memories wait for their vectors." if stats.awaiting_vectors else ""
        return [
            one for one in (self.db.vector_problem, self.embeddings.problem, waiting, *await self.db.warnings()) if one
        ]

    async def maintain(self) -> None:
        """Do what is due: counted recalls, expired memories, an unfinished erasure, an idle model."""
        await self.flush()
        now = self.now()
        expired = await self.db.expired(now, 200)
        if expired:
            await self.db.forget(expired, now=now, door="background", cascade=False)
        await self.db.finish_erasure()
        self.embeddings.release_if_idle()

    async def embed_pending(self, batch: int = 64) -> int:
        """Make the vectors that are missing; returns how many memories got theirs."""
        done, refused = 0, set[str]()
        if not await self.db.unembedded(1) or not await self.meaning.is_ready(self.now()):
            return done
        while pending := [one for one in await self.db.unembedded(batch + len(refused)) if one.id not in refused]:
            made = await self._embedded(pending)
            refused |= {memory.id for memory in pending} - made.keys()
            written = await self.db.put_vectors(list(made.items())) if made else 0
            if not written:
                return done
            done += written
        return done

    async def _embedded(self, pending: list[Memory]) -> dict[str, Vectors]:
        """Embed what can be: a text that the model refuses must not hold up the others."""
        try:
            vectors = await self.meaning.of_memories(pending, now=self.now(), wait=True)
        except EmbedderUnavailable:
            if len(pending) == 1:
                return {}
            half = len(pending) // 2
            return await self._embedded(pending[:half]) | await self._embedded(pending[half:])
        return {memory.id: own for memory, own in zip(pending, vectors, strict=True)}

    async def flush(self) -> None:
        """Write the counted recalls."""
        ids = self.accesses.take()
        if ids:
            await self.db.count_access(ids, now=self.now())


def _offset(cursor: str) -> int:
    if not cursor:
        return 0
    if not cursor.startswith("r") or not cursor[1:].isdecimal():
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
