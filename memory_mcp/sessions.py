"""How a session becomes an episode: by the caller's own words, or by a summarizer, now or when somebody gets to it."""

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from anyio import to_thread

from memory_mcp import conversations, privacy, relearning, requests
from memory_mcp.answers import Similar, Stored, Summarized
from memory_mcp.config import Settings
from memory_mcp.errors import Conflict, InvalidInput, NotFound, SummaryFailed
from memory_mcp.likeness import near
from memory_mcp.meaning import Meaning
from memory_mcp.models import (
    OWN_WORDS,
    Conversation,
    Episode,
    Filter,
    Memory,
    Message,
    PendingSession,
    Source,
    Trust,
    new_id,
)
from memory_mcp.storage.protocol import Store
from memory_mcp.storage.values import Captured, CaptureResult, Draft, Written
from memory_mcp.summarizers import NOTHING_SAID, Progress, Summarizer, Summary, no_progress, says_something
from memory_mcp.summarizers.grounding import unsupported
from memory_mcp.summarizers.source import Said

LEASE = timedelta(minutes=3)
"""Longer than one call of a summarizer with its retries takes; renewed after each."""

QUIET = timedelta(minutes=30)
"""After so long without a turn, a session whose host did not say that it ended is taken for ended."""

FIRST_RETRY, LAST_RETRY = timedelta(minutes=10), timedelta(days=1)
"""A summary that failed is tried again after this, twice as long each time, at most the last."""

LOOKED_AT = 1_000
"""Pending sessions among which those are sought that are due; a few that keep failing must not hide the others."""

UNHEARD_NAMED = 10

IMPORTED = "file"
"""What stands for a host where turns come from a file."""

BATCH = 500
"""Turns that are written in one transaction, so that others who write wait only for a moment."""

KEPT = " What was said is kept; the session stays to be summarized."


@dataclass(frozen=True)
class Attempt:
    """What became of one pending session: a summary, or why there is none."""

    session: PendingSession
    summarized: Summarized | None = None
    problem: str = ""


@dataclass(frozen=True)
class Imported:
    """What became of a conversation from a file: turns stored, known already, forgotten on request and left so."""

    session_id: str
    stored: int
    known: int
    forgotten: int
    skipped: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sessions:
    """Summarizes sessions. `door` names the edge that calls, for the audit."""

    db: Store
    meaning: Meaning
    summarizer: Summarizer
    settings: Settings
    now: Callable[[], datetime]
    door: str = "mcp"

    async def summarize(self, conversation: Conversation, progress: Progress = no_progress) -> Summarized:
        """Turn one session into an episode and its key facts; messages are kept verbatim as turns.

        Raises `InvalidInput` and `NotFound` (nothing was saved), `SummaryFailed` (nothing to summarize: nothing was
        saved; nothing usable came back: the turns are kept), `Conflict` (another process is at it), `StoreUnavailable`.
        """
        conversations.require_bounded(conversation)
        lessons, reworded = conversations.lessons(conversation.lessons, self.settings.secrets)
        asked = replace(self._named(conversation), lessons=lessons)
        kept = await self.db.turns(asked.session_id, asked.namespace)
        said, notices = await to_thread.run_sync(conversations.spoken, asked.messages, self.settings.secrets)
        gone = await self.db.forgotten_places(asked.session_id, asked.namespace)
        said, left = await to_thread.run_sync(conversations.unseen, kept, said, gone)
        turns = [conversations.turn(message, asked, self.settings, self.now()) for message in said]
        told = (*notices, *reworded, relearning.told_of(left))
        if asked.summary.strip():
            summary = self._own(asked)
            unheard = await to_thread.run_sync(_unheard, summary.summary, [*kept, *turns])
            return await self._written(asked, summary, [*kept, *turns], new=turns, told=(*told, unheard))
        return await self._by_engine(asked, kept, turns, told, progress)

    async def summarize_pending(
        self, limit: int, progress: Progress = no_progress, *, only_due: bool = False
    ) -> list[Attempt]:
        """Summarize at most `limit` sessions that nobody did yet, newest first; a failure holds up no other.

        `only_due` leaves alone those that may go on, and those that failed a while ago.
        """
        pending = [one for one in await self.db.pending_sessions((), LOOKED_AT) if one.turns]
        due = [one for one in pending if not only_due or _is_due(one, self.now())][:limit]
        attempts: list[Attempt] = []
        for done, session in enumerate(due):
            await progress(done, len(due))
            attempts.append(await self._attempt(session))
        return attempts

    async def require_agreeing(self, told: Sequence[tuple[str, Message]], into: Conversation) -> None:
        """Refuse a conversation from a file if another one is kept under its name.

        A message is known by its name, which may be only its place: of another conversation it would be passed over as
        known. Raises `Conflict`, `InvalidInput` (session_id, namespace), `StoreUnavailable`.
        """
        into = self._named(into)
        kept = await self.db.captured(IMPORTED, into.session_id)
        common = [(name, message) for name, message in told if name in kept]
        come = await to_thread.run_sync(conversations.coming, common, into, IMPORTED, self.settings, self.now())
        if not await to_thread.run_sync(conversations.agree, come.drafts, kept):
            raise Conflict(
                f"A conversation {into.session_id[:60]!r} with other content is kept already. Nothing was saved: name"
                " this one by --session NAME."
            )

    async def take_in(
        self, told: Sequence[tuple[str, Message]], into: Conversation, *, trusted: bool = True
    ) -> Imported:
        """Keep a conversation from a file as turns; each message has a name, by which it is known again.

        One that cannot be kept is skipped and told. Raises `InvalidInput` (session_id, namespace), `StoreUnavailable`.
        """
        into = self._named(into)
        come = await to_thread.run_sync(conversations.coming, told, into, IMPORTED, self.settings, self.now())
        drafts = come.drafts if trusted else tuple(map(_third_party, come.drafts))
        taken = CaptureResult(0)
        for start in range(0, len(drafts), BATCH):
            captured = Captured(IMPORTED, into.session_id, into.namespace, drafts[start : start + BATCH])
            taken = _sum(taken, await self.db.capture(captured, door=self.door))
        return Imported(into.session_id, taken.written, taken.known, taken.forgotten, come.skipped, come.notices)

    async def _attempt(self, session: PendingSession) -> Attempt:
        try:
            done = await self.summarize(Conversation(session.session_id, namespace=session.namespace))
        except (SummaryFailed, Conflict) as error:
            return Attempt(session, problem=str(error))
        except (InvalidInput, NotFound) as error:  # what came back cannot be kept, or the turns went meanwhile
            await self.db.note_failure(session.session_id, session.namespace, str(error), now=self.now())
            return Attempt(session, problem=str(error))
        return Attempt(session, done)

    def _named(self, conversation: Conversation) -> Conversation:
        """Check and complete what names a session."""
        session_id = requests.name(conversation.session_id.strip(), "session_id", self.settings.secrets)
        if not session_id:
            raise InvalidInput("session_id is needed: any name that stays the same through one conversation.")
        namespace = requests.name(conversation.namespace, "namespace", self.settings.secrets) or self.settings.namespace
        return replace(
            conversation,
            session_id=session_id,
            namespace=namespace,
            trigger=requests.name(conversation.trigger, "trigger", self.settings.secrets),
            actions=tuple(conversations.action(one, self.settings.secrets) for one in conversation.actions),
            useful_ids=requests.ids(conversation.useful_ids),
        )

    def _own(self, asked: Conversation) -> Summary:
        """Take the caller's own summary."""
        admitted = privacy.admit(asked.summary, "summary", requests.MAX_CONTENT, self.settings.secrets)
        conversations.require_short(admitted.text)
        return Summary(admitted.text, asked.key_facts, asked.lessons, OWN_WORDS, " ".join(admitted.notices))

    # ---- by a summarizer ---------------------------------------------------------------------------------------

    async def _by_engine(
        self,
        asked: Conversation,
        kept: Sequence[Memory],
        turns: Sequence[Memory],
        told: tuple[str, ...],
        progress: Progress,
    ) -> Summarized:
        """Keep the turns first, so that nothing is lost when no summary comes; one process at a time asks for one."""
        if not kept and not turns and not asked.messages:
            raise NotFound(
                f"No turn of a session {asked.session_id[:60]!r} is kept. Give messages, or your own summary."
                " Nothing was saved."
            )
        heard = await relearning.open_turns(self.db, [*kept, *turns])
        if not await to_thread.run_sync(says_something, [conversations.message(turn) for turn in heard]):
            await self.db.settle(asked.session_id, asked.namespace, door=self.door)
            raise SummaryFailed(f"{NOTHING_SAID} Nothing was saved.")
        async with self._lease(asked) as renew:
            stored = await self._keep(turns)
            standing = await self._standing(asked)
            if standing and _adds_nothing(asked):
                return Summarized(standing, status="unchanged", turns_stored=stored, notice=" ".join(told))
            everything = await self.db.turns(asked.session_id, asked.namespace)

            async def renewing(done: int, of: int) -> None:
                await renew()
                await progress(done, of)

            heard = await relearning.open_turns(self.db, everything)
            summary = await self._summary(asked, heard, renewing)
            done = await self._written(asked, summary, everything, heard=heard, told=told)
        return replace(done, turns_stored=stored)

    @asynccontextmanager
    async def _lease(self, asked: Conversation) -> AsyncGenerator[Callable[[], Awaitable[object]]]:
        """Hold the session while a summarizer works on it; gives what renews the hold. Raises `Conflict`."""
        name, owner = f"summary/{asked.namespace}/{asked.session_id}", new_id()

        async def renew() -> bool:
            return await self.db.lease(name, owner, now=self.now(), duration=LEASE)

        if not await renew():
            raise Conflict(
                f"Session {asked.session_id[:60]!r} is being summarized by another process. Nothing was saved;"
                " ask again in a minute."
            )
        try:
            yield renew
        finally:
            await self.db.release(name, owner)

    async def _keep(self, turns: Sequence[Memory]) -> int:
        """Write the turns that are new; returns how many."""
        if not turns:
            return 0
        vectors, made_by, _ = await self.meaning.of_new(turns, self.now())
        drafts = [Draft(turn, own, model=made_by) for turn, own in zip(turns, vectors, strict=True)]
        written = await self.db.write(drafts, door=self.door)
        return sum(not one.duplicate for one in written)

    async def _standing(self, asked: Conversation) -> Episode | None:
        """Give the session's episode if it covers all that was said."""
        if await self.db.pending_session(asked.session_id, asked.namespace):
            return None
        where = Filter(namespaces=(asked.namespace,), session_id=asked.session_id)
        return next(iter(await self.db.episodes(where, 1)), None)

    async def _summary(self, asked: Conversation, turns: Sequence[Memory], progress: Progress) -> Summary:
        try:
            made = await self.summarizer.summarize([conversations.message(turn) for turn in turns], progress)
        except SummaryFailed as error:
            await self.db.note_failure(asked.session_id, asked.namespace, str(error), now=self.now())
            raise SummaryFailed(f"{error}{KEPT}") from error
        return made if self.settings.secrets == "keep" else conversations.without_secrets(made)

    # ---- what is written ---------------------------------------------------------------------------------------

    async def _written(
        self,
        asked: Conversation,
        summary: Summary,
        turns: Sequence[Memory],
        *,
        heard: Sequence[Memory] = (),
        new: Sequence[Memory] = (),
        told: tuple[str, ...] = (),
    ) -> Summarized:
        """Write turns that are new, the episode and its facts, in one transaction.

        `heard` are the turns that an engine was shown, which its evidence counts.
        """
        now = self.now()
        asked, forgotten = await self._without_relearned(asked, turns)
        if summary.engine == OWN_WORDS:
            summary = replace(summary, key_facts=asked.key_facts, lessons=asked.lessons)
        episode = conversations.episode(asked, summary, turns, self.settings, now)
        facts, more = self._key_facts(asked, summary, episode, heard)
        texts = [*new, episode.memory, *(draft.memory for draft in facts)]
        vectors, made_by, problem = await self.meaning.of_new(texts, now)
        of_facts = vectors[len(new) + 1 :]
        alike = [
            await near(self.db, self.meaning, one.memory, own, now) for one, own in zip(facts, of_facts, strict=True)
        ]
        kept, written = await self.db.write_episode(
            episode,
            vectors[len(new)],
            [replace(draft, vectors=own, model=made_by) for draft, own in zip(facts, of_facts, strict=True)],
            turns=[Draft(turn, own, model=made_by) for turn, own in zip(new, vectors, strict=False)],
            model=made_by,
            door=self.door,
        )
        same = kept.memory.id != episode.memory.id
        return Summarized(
            episode=kept,
            facts=_stored(written, alike),
            status="unchanged" if same else "updated" if kept.version > 1 else "stored",
            turns_stored=len(new),
            notice=" ".join(filter(None, dict.fromkeys((*told, *forgotten, *more, summary.notice, problem)))),
        )

    async def _without_relearned(
        self, asked: Conversation, turns: Sequence[Memory]
    ) -> tuple[Conversation, tuple[str, ...]]:
        """Leave out the caller's own facts and lessons that may be forgotten ones again, with notices."""
        place = asked.session_id, asked.namespace
        lessons = await relearning.relearned(self.db, asked.lessons, turns, *place)
        facts = await relearning.relearned(self.db, [one.content for one in asked.key_facts], turns, *place)
        kept = replace(
            asked,
            lessons=tuple(one for one in asked.lessons if one not in lessons),
            key_facts=tuple(one for one in asked.key_facts if one.content not in facts),
        )
        notices = relearning.told_left_out(lessons, "lesson"), relearning.told_left_out(facts, "key fact")
        return kept, notices

    def _key_facts(
        self, asked: Conversation, summary: Summary, episode: Episode, turns: Sequence[Memory]
    ) -> tuple[list[Draft], tuple[str, ...]]:
        drafts: list[Draft] = []
        notices: list[str] = []
        for fact in asked.key_facts or summary.key_facts:
            memory, more = conversations.key_fact(fact, episode, self.settings, self.now())
            evidence = tuple(turns[place].id for place in fact.evidence if place < len(turns))
            drafts.append(Draft(replace(memory, derived_from=evidence), supersedes=requests.ids(fact.supersedes)))
            notices += more
        return drafts, tuple(dict.fromkeys(notices))


def _unheard(summary: str, turns: Sequence[Memory]) -> str:
    """Say what a host's summary names that was not said in the turns that are kept: they may not be all there were."""
    if not turns:
        return ""
    said = Said.of(
        [*(f"{turn.speaker}: {turn.content}" for turn in turns), *(turn.created_at.isoformat() for turn in turns)]
    )
    unheard = unsupported(summary, said)
    named = ", ".join(unheard[:UNHEARD_NAMED])
    return f"Not in the kept turns: {named}. Summarize again without it if it was not said." if named else ""


def _third_party(draft: Draft) -> Draft:
    """Mark what others said, of whom nobody knows whether they are right."""
    return replace(draft, memory=replace(draft.memory, source=Source.IMPORT, trust=Trust.UNTRUSTED))


def _sum(one: CaptureResult, other: CaptureResult) -> CaptureResult:
    return CaptureResult(one.written + other.written, one.known + other.known, one.forgotten + other.forgotten)


def _stored(written: Sequence[Written], alike: Sequence[Sequence[Similar]]) -> tuple[Stored, ...]:
    return tuple(
        Stored(
            one.id,
            one.status,
            one.superseded,
            tuple(other for other in similar if other.id not in (one.id, *one.superseded)),
        )
        for one, similar in zip(written, alike, strict=True)
    )


def _adds_nothing(asked: Conversation) -> bool:
    return not (asked.outcome or asked.lessons or asked.actions or asked.tags or asked.trigger or asked.key_facts)


def _is_due(session: PendingSession, now: datetime) -> bool:
    """Whether a session is over and its last failure long enough ago."""
    over = session.ended_at is not None or now - session.last_at >= QUIET
    if not over or session.failed_at is None:
        return over
    return now - session.failed_at >= min(LAST_RETRY, FIRST_RETRY * 2 ** min(session.failures - 1, 10))
