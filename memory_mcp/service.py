"""The verbs: what can be asked of a memory. Every edge calls these and nothing below them."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import datetime, tzinfo
from pathlib import Path
from typing import IO

from memory_mcp import consolidation, dates, leaks, portability, privacy, reference, relevance, requests, selection
from memory_mcp.answers import (
    AuditPage,
    BroughtIn,
    Changed,
    Exported,
    Forgotten,
    Holdings,
    Preview,
    Recall,
    Stats,
    Stored,
    Summarized,
    TakenIn,
    Wiped,
)
from memory_mcp.changing import ChangedModel, Changing, OnProgress
from memory_mcp.config import MAX_FORGET_AT_ONCE, Settings
from memory_mcp.consolidation import Proposal, Proposals
from memory_mcp.context import room
from memory_mcp.embedding import Embeddings
from memory_mcp.errors import NotFound, StoreUnavailable
from memory_mcp.finding import Finder
from memory_mcp.leaks import Leaks
from memory_mcp.likeness import near
from memory_mcp.maintenance import Maintenance, Upkeep, nobody
from memory_mcp.meaning import Meaning
from memory_mcp.models import (
    Conversation,
    Episode,
    Filter,
    Kind,
    Memory,
    Message,
    NewMemory,
    PendingSession,
    Query,
    Revision,
    Selection,
    State,
)
from memory_mcp.portability import Manner
from memory_mcp.processes import has_ended
from memory_mcp.relevance import Review
from memory_mcp.selection import Chosen
from memory_mcp.sessions import Attempt, Imported, Sessions
from memory_mcp.storage.protocol import Store
from memory_mcp.storage.values import Block, Change, Check, Draft, Holder, ModelState, Page, Rewritten
from memory_mcp.summarizers import Progress, no_progress

SAMPLE = 10
SESSION_SHOWS = 50
ALL_STATES = tuple(State)


@dataclass(frozen=True)
class MemoryService:
    """A memory, opened. `door` names the edge that calls (mcp, cli, web, hook, background) for the audit."""

    db: Store
    meaning: Meaning
    embeddings: Embeddings
    sessions: Sessions
    settings: Settings
    now: Callable[[], datetime]
    finder: Finder
    maintenance: Maintenance
    door: str = "mcp"

    @property
    def zone(self) -> tzinfo:
        """The zone in which the person reads dates."""
        return dates.zone(self.settings.tz)

    @property
    def _most_a_minute(self) -> int | None:
        """How many memories may come in a minute; a person at a shell, a hook and an import are not slowed."""
        return self.settings.stores_a_minute if self.door == "mcp" else None

    def room(self, max_tokens: int | None = None) -> int:
        """How many bytes a reply may take."""
        return room(max_tokens, self.settings.context_tokens)

    # ---- keep --------------------------------------------------------------------------------------------------

    async def store(self, new: NewMemory) -> Stored:
        """Keep one text.

        Raises `InvalidInput`, `NotFound` (supersedes, derived_from), `Conflict`, `TooFast`, `StoreUnavailable`.
        """
        now = self.now()
        memory, notices = requests.new_memory(new, self.settings, now)
        commands = memory.flagged
        memory = await self._derived(replace(memory, derived_from=requests.ids(new.derived_from)))
        vectors, made_by, problem = await self.meaning.of_new([memory], now)
        alike = await near(self.db, self.meaning, memory, vectors[0], now)
        draft = Draft(memory, vectors[0], supersedes=requests.ids(new.supersedes), model=made_by)
        [written] = await self.db.write([draft], door=self.door, most_a_minute=self._most_a_minute)
        flagged = await self._flagged([written.id], own=commands) if memory.flagged else ""
        return Stored(
            id=written.id,
            status=written.status,
            superseded=written.superseded,
            similar=tuple(one for one in alike if one.id not in (written.id, *written.superseded)),
            notice=" ".join(filter(None, (*notices, flagged, problem, await self._on_purpose(memory)))),
        )

    async def _on_purpose(self, memory: Memory) -> str:
        """Say that something of this memory's session was forgotten: what is stored on purpose is kept all the same."""
        if not memory.session_id or not await self.db.was_forgotten_in(memory.session_id, memory.namespace):
            return ""
        return "Something of this session was forgotten on request; this was kept because it was stored on purpose."

    async def _derived(self, memory: Memory) -> Memory:
        """Give a memory the lowest trust of what it comes from, and its flag."""
        origins = await self.db.get(memory.derived_from)
        if len(origins) < len(memory.derived_from):
            raise NotFound("derived_from names a memory that does not exist. Nothing was saved.")
        trust = privacy.trust_of(memory.source, (origin.trust for origin in origins))
        return replace(memory, trust=trust, flagged=memory.flagged or any(origin.flagged for origin in origins))

    async def _flagged(self, ids: Sequence[str], *, own: bool = True) -> str:
        """Say which of these command the assistant: as they stand, for a known text may have been vouched for."""
        try:
            made = await self.db.get(ids)
        except StoreUnavailable:
            return "Saved, but not read again, to see whether it commands the assistant: memory-mcp list --flagged."
        return _on_flagged([one.id for one in made if one.flagged], own=own)

    async def recall(self, query: Query) -> Recall:
        """Find what fits a question; without one, list by filters or give the briefing (mode 'briefing').

        Raises `InvalidInput`, `NotFound` (none of the ids), `StoreUnavailable`.
        """
        return await self.finder.recall(query)

    # ---- summarize ---------------------------------------------------------------------------------------------

    async def summarize(self, conversation: Conversation, progress: Progress = no_progress) -> Summarized:
        """Turn one session into an episode and its key facts; messages are kept verbatim as turns.

        Raises as `Sessions.summarize` does, and `TooFast`.
        """
        if self._most_a_minute is not None:
            await self.db.require_slow_summaries(self._most_a_minute, door=self.door)
        summarized = await self.sessions.summarize(conversation, progress)
        flagged = await self._flagged([summarized.episode.memory.id, *(fact.id for fact in summarized.facts)])
        notices = (summarized.notice, flagged, await self._rated(conversation.useful_ids))
        return replace(summarized, notice=" ".join(filter(None, notices)))

    async def summarize_pending(
        self, limit: int = 20, progress: Progress = no_progress, *, only_due: bool = False
    ) -> list[Attempt]:
        """Summarize the sessions that were kept and not summarized; see `Sessions.summarize_pending`."""
        return await self.sessions.summarize_pending(limit, progress, only_due=only_due)

    async def require_agreeing(self, told: Sequence[tuple[str, Message]], into: Conversation) -> None:
        """Refuse a conversation from a file if another one is kept under its name; see `Sessions.require_agreeing`."""
        await self.sessions.require_agreeing(told, into)

    async def take_in(
        self, told: Sequence[tuple[str, Message]], into: Conversation, *, trusted: bool = True
    ) -> Imported:
        """Keep a conversation from a file as turns; see `Sessions.take_in`."""
        return await self.sessions.take_in(told, into, trusted=trusted)

    async def pending_sessions(self, limit: int = 20) -> list[PendingSession]:
        """Name the sessions that are still to be summarized, newest first, of every namespace."""
        return await self.db.pending_sessions((), limit)

    async def _rated(self, useful_ids: Sequence[str]) -> str:
        """Count the ratings that came with a summary; says so when they could not be, for the summary stands."""
        try:
            await self.rate(useful_ids, useful=True)
        except StoreUnavailable:
            return "Saved, but useful_ids were not counted."
        return ""

    # ---- forget ------------------------------------------------------------------------------------------------

    async def forget(self, chosen: Selection) -> Forgotten | Preview:
        """Erase exact ids, or what a confirm handle stands for; anything wider gives a preview."""
        resolved = await self._confirmed("forget", chosen, ALL_STATES)
        if isinstance(resolved, Preview):
            return resolved
        forgotten = await self.db.forget(resolved.ids, now=self.now(), door=self.door, expected=resolved.expected)
        return replace(forgotten, missing=(*resolved.missing, *forgotten.missing))

    async def archive(self, chosen: Selection) -> Changed | Preview:
        """Stop recalling memories, reversibly; the same rules as `forget`."""
        resolved = await self._confirmed("archive", chosen, (State.ACTIVE,))
        if isinstance(resolved, Preview):
            return resolved
        return await self.db.archive(resolved.ids, now=self.now(), door=self.door)

    async def restore(self, chosen: Selection) -> Changed | Preview:
        """Take archived memories back, and by exact ids also superseded ones: what replaced them is archived."""
        resolved = await self._confirmed("restore", chosen, (State.ARCHIVED,))
        if isinstance(resolved, Preview):
            return resolved
        return await self.db.restore(resolved.ids, now=self.now(), door=self.door)

    async def blocks(self, limit: int = 100, after: int = 0) -> list[Block]:
        """List the places that a person had us forget, which are not learned from again by themselves."""
        return await self.db.blocks(limit, after)

    async def lift(self, numbers: Sequence[int]) -> list[int]:
        """Let these be learned from again; returns the numbers of those that stood."""
        return await self.db.lift(numbers, door=self.door)

    async def _confirmed(self, verb: str, chosen: Selection, states: tuple[State, ...]) -> Chosen | Preview:
        """Find what to act on, or the preview that must be confirmed first."""
        chosen = replace(chosen, ids=requests.ids(chosen.ids), query=requests.question(chosen.query, "query"))
        where = requests.selected(chosen, states, self.settings, self.zone, self.now())
        versions = await selection.resolve(self.db, chosen, where)
        missing = selection.missing(chosen.ids, versions)
        ids = [memory_id for memory_id, _ in versions]
        if chosen.ids and len(ids) <= MAX_FORGET_AT_ONCE:
            return Chosen(ids, missing)
        along = await self.db.carried_along(ids) if verb == "forget" else ()
        expected = versions + await self.db.versions(along)
        handle = selection.handle(await self.db.secret(), verb, expected)
        if chosen.confirm:
            selection.require_match(chosen.confirm, handle)
            return Chosen(ids, missing, expected)
        sample = await self.db.get(ids[:SAMPLE])
        return Preview(len(ids), handle if ids else "", tuple(sample), tuple(ids), along)

    async def holdings(self) -> Holdings:
        """Say what `wipe` would erase."""
        stats, beside = await self.db.stats(), await self.db.beside()
        marker = self.settings.pause_marker
        paused = [str(marker)] if marker.exists() else []
        return Holdings(stats.path, stats.memories, stats.by_kind, (*beside, *paused))

    async def wipe(self, expected: int) -> Wiped:
        """Erase everything, if it is so many memories: also history, blocks, audit, backups and the pause marker.

        What is left is an empty file. Raises `Conflict` (nothing was erased), `StoreUnavailable`.
        """
        wiped = await self.db.wipe(expected, door=self.door)
        marker = self.settings.pause_marker
        if marker.exists():
            marker.unlink(missing_ok=True)
            wiped = replace(wiped, removed=(*wiped.removed, str(marker)))
        return wiped

    # ---- tend --------------------------------------------------------------------------------------------------

    async def revise(self, memory_id: str, change: Revision) -> Memory:
        """Change importance, confidence, tags, kind, namespace, pinned or expiry of one memory."""
        now = self.now()
        cleaned, expires_at = requests.revision(change, await self.get(memory_id), self.settings, now)
        return await self.db.revise(memory_id, cleaned, expires_at=expires_at, now=now, door=self.door)

    async def rate(self, ids: Sequence[str], *, useful: bool) -> list[str]:
        """Say that recalled memories helped, or not. Returns the ids that exist."""
        return await self.db.rate(requests.ids(ids), useful=useful, now=self.now(), door=self.door)

    async def get(self, memory_id: str) -> Memory:
        """Read one memory by its id. Raises `NotFound`."""
        found = await self.db.get([memory_id])
        if not found:
            raise NotFound(f"No memory with id {memory_id[:60]}. Recall again for current ids.")
        return found[0]

    async def episode(self, memory_id: str) -> Episode:
        """Read one episode by its id. Raises `NotFound`."""
        found = await self.db.episode(memory_id)
        if found is None:
            raise NotFound(f"No episode with id {memory_id[:60]}.")
        return found

    async def recent_episodes(self, limit: int = 20) -> list[Episode]:
        """Read the newest episodes of every namespace."""
        return await self.db.episodes(Filter(now=self.now()), limit)

    async def session(self, session_id: str) -> tuple[list[Memory], list[Episode], list[Memory]]:
        """Read a session's kept turns, in order, its episodes, and what else was stored in it. Raises `NotFound`."""
        where = Filter(session_id=session_id, now=self.now())
        turns = await self.db.turns(session_id, "")
        episodes = await self.db.episodes(where, SESSION_SHOWS)
        others = tuple(kind for kind in Kind if kind not in (Kind.TURN, Kind.EPISODE))
        facts = await self.db.page(replace(where, kinds=others), SESSION_SHOWS)
        if not (turns or episodes or facts.memories):
            raise NotFound(f"Nothing is kept of a session {session_id[:60]!r}.")
        return turns, episodes, list(facts.memories)

    async def page(self, query: Query) -> Page:
        """List memories by filters, newest first, whole, without a token budget; for people and exports."""
        query = requests.checked(query)
        return await self.db.page(
            requests.where(query, self.settings, self.zone, self.now()), query.limit, query.cursor
        )

    async def audit_log(self, limit: int, *, since: str = "", verb: str = "", cursor: str = "") -> AuditPage:
        """Read what was done to the memory, newest first, by any process. Raises `InvalidInput`."""
        begin = dates.since(since, zone=self.zone, now=self.now()) if since else None
        return await self.db.audit(requests.bounded(limit), since=begin, verb=verb, cursor=cursor)

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
        change = _without_ended(await self.db.model_change(now=self.now()))
        degraded = (self.db.vector_problem, self.embeddings.problem, _waiting(stats.awaiting_vectors), _rests(change))
        return [one for one in (*degraded, *await self.db.warnings()) if one]

    # ---- look back ---------------------------------------------------------------------------------------------

    async def leaks(self) -> Leaks:
        """Find the texts that hold a secret, in every namespace and state."""
        found = await leaks.find(self.db)
        return Leaks(found, await self._handle(leaks.ids_of(found)))

    async def take_out_secrets(self, found: Leaks, confirm: str) -> Rewritten:
        """Take the secrets out of what was found, if the handle stands for it as it is now, and embed it anew.

        Raises `Conflict`; then nothing was changed.
        """
        selection.require_match(confirm, await self._handle(found.ids))
        done = await leaks.take_out(self.db, found.ids, self.now(), self.door)
        with suppress(StoreUnavailable):  # it is done; a server, or the next recall in a shell, makes the vectors
            await self.embed_pending()
        return done

    async def _handle(self, ids: Sequence[str]) -> str:
        return selection.handle(await self.db.secret(), "redact", await self.db.versions(ids)) if ids else ""

    async def proposals(self, namespace: str = "") -> Proposals:
        """Find what recurs in a namespace and in that of the person, as proposals of patterns and lessons."""
        await self.embed_pending()
        where = replace(self._near(namespace), flagged=False)
        return await consolidation.propose(self.db, self.meaning, where, self.now(), self.zone)

    async def accept(self, proposal: Proposal, text: str = "") -> Stored:
        """Store what was proposed, in these words, else Anthropic's if it is set, else one of its memories'.

        Raises as `store` does.
        """
        notice = ""
        if not text and self.settings.summarizer == "anthropic":
            text, notice = await consolidation.worded(proposal, self.sessions.summarizer)
        stored = await self.store(proposal.as_new(text))
        return replace(stored, notice=" ".join(filter(None, (notice, stored.notice))))

    async def review(self, namespace: str = "") -> Review:
        """Name what may not be worth keeping as it is, in a namespace and in that of the person."""
        await self.embed_pending()
        return await relevance.review(self.db, self.meaning, self._near(namespace), self.now())

    def _near(self, namespace: str) -> Filter:
        return requests.where(Query(namespace=namespace), self.settings, self.zone, self.now())

    # ---- to other files and from them ------------------------------------------------------------------------

    async def export(self, write: Callable[[str], object]) -> Exported:
        """Write everything that is kept, as lines of JSON; see `portability.export`."""
        return await portability.export(self.db, write, self.now())

    async def bring_in(self, source: IO[bytes], manner: Manner) -> BroughtIn:
        """Take an export in; see `portability.bring_in`. Vectors are made later, by `embed_pending`."""
        return await portability.bring_in(self.db, source, manner, now=self.now, door=self.door)

    async def take_in_document(self, path: Path, manner: reference.Manner) -> TakenIn:
        """Keep a file as reference, or its next version; see `reference.take_in`. Vectors are made later."""
        return await reference.take_in(self.db, path, manner, self.settings, now=self.now, door=self.door)

    async def missing_documents(self, folders: Sequence[Path]) -> list[str]:
        """Name the files below folders that are kept as reference and no longer there; see `reference.missing`."""
        found = [await reference.missing(self.db, folder, self.settings) for folder in folders]
        return sorted({origin for some in found for origin in some})

    async def drop_replaced(self) -> str:
        """Erase what files given as reference no longer hold; says in a sentence what of that is not verified."""
        detail = ""
        while dropped := await self.db.drop_replaced(door=self.door):
            detail = "" if dropped.verification == "clean" else dropped.detail
        return detail

    # ---- upkeep ------------------------------------------------------------------------------------------------

    async def maintain(self) -> None:
        """Do a little of what is due, in the background: counted recalls, expired and faded memories, bounds."""
        await self.flush()
        await self.maintenance.tick()

    async def upkeep(self, *, dry_run: bool = False) -> Upkeep:
        """Do all that is due, and say what was done; with `dry_run` only say what would be. Raises `Conflict`."""
        return await (self.maintenance.due() if dry_run else self.maintenance.run())

    async def embed_pending(self, batch: int = 64, told: Callable[[int], object] = nobody) -> int:
        """Make the vectors that are missing; returns how many memories got theirs, and tells it after each batch."""
        return await self.maintenance.embed_pending(batch, told)

    async def model_state(self) -> ModelState:
        """Say which model the file has, what of it is embedded, and how far a change to another one is."""
        state = await self.db.model_state(now=self.now())
        return replace(state, change=_without_ended(state.change), preparing=_living(state.preparing))

    async def use_model(self, told: OnProgress) -> ChangedModel:
        """Let the file come to the model that this memory was opened with; see `Changing.run`."""
        changing = Changing(self.db, self.embeddings, self.now)
        if self.embeddings.state == "off":
            return await changing.drop()
        changed = await changing.run(told)
        await self.embed_pending()
        return changed

    async def flush(self) -> None:
        """Write the counted recalls."""
        ids = self.finder.accesses.take()
        try:
            await self.db.count_access(ids, now=self.now())
        except StoreUnavailable:
            self.finder.accesses.add(ids)
            raise


def _on_flagged(ids: Sequence[str], *, own: bool) -> str:
    """Say what becomes of memories that command the assistant (not their `own` text: what they come from)."""
    if len(ids) > 1:
        return (
            f"{len(ids)} of these command the assistant, so they are kept as quotations and not shown unasked until the"
            " user vouches for them: memory-mcp list --flagged."
        )
    what = "commands" if own else "is derived from what commands"
    return (
        f"It {what} the assistant, so it is kept as a quotation and not shown unasked until the user vouches for it:"
        f" memory-mcp edit {ids[0]} --vouch."
        if ids
        else ""
    )


def _living(holder: Holder | None) -> Holder | None:
    """Leave out a holder that ended without a word: nobody has to wait for its lease."""
    return None if holder is None or has_ended(holder.owner) else holder


def _without_ended(change: Change | None) -> Change | None:
    return change and replace(change, holder=_living(change.holder))


def _rests(change: Change | None) -> str:
    """Say that a change of the model waits for somebody to go on with it; '' when none does."""
    if change is None or change.holder:
        return ""
    return (
        f"The change of the file's model to {change.name} rests at {change.done} of {change.memories} memories:"
        f" `memory-mcp models use {change.name}` goes on with it."
    )


def _waiting(count: int) -> str:
    """Say how many vectors are missing and who makes them; '' when none is."""
    if not count:
        return ""
    one = count == 1
    waiting = "1 memory waits for its vector" if one else f"{count} memories wait for their vectors"
    return f"{waiting}; a running server or the next `memory-mcp recall` makes {'it' if one else 'them'}."
