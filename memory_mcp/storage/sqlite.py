"""The store that keeps memories in one SQLite file."""

from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from memory_mcp.answers import AuditPage, Changed, Forgotten, Stats, Wiped
from memory_mcp.errors import EmbedderUnavailable
from memory_mcp.models import Episode, Filter, Memory, ModelIdentity, PendingSession, Revision
from memory_mcp.storage import (
    audit,
    blocking,
    capturing,
    changing,
    documents,
    driver,
    episodes,
    erasure,
    flags,
    listing,
    memories,
    pace,
    pending,
    place,
    porting,
    relevance,
    revising,
    rewriting,
    schema,
    spending,
    upkeep,
    vectors,
    words,
)
from memory_mcp.storage.audit import Act
from memory_mcp.storage.carried import Fate, Inlet, Outlet, Record
from memory_mcp.storage.database import Database, open_database, open_in_haste
from memory_mcp.storage.filters import to_ms
from memory_mcp.storage.taking_in import Into, drop_empty, newest_row, take_in
from memory_mcp.storage.values import (
    Block,
    Captured,
    CaptureResult,
    Change,
    Check,
    Document,
    Draft,
    Evidence,
    FileModel,
    Holder,
    ModelState,
    Page,
    Probe,
    Reading,
    Rewriting,
    Rewritten,
    Sentences,
    Shelved,
    Standing,
    StoredText,
    Vectors,
    Written,
    nobody_ended,
)
from memory_mcp.storage.wiping import Wiper

if TYPE_CHECKING:
    from memory_mcp.storage import search, signs


EXCHANGED = "The file's model was changed just now; this was searched by keyword only. Ask again."


class SqliteStore:
    """`Store` over one file; each method is one transaction of functions that know one subject each."""

    def __init__(self, database: Database, now: Callable[[], datetime], patience: timedelta) -> None:
        self._database = database
        self._now = now
        self._eraser = Wiper(database, patience)
        self._stemmer: search.Stemmer | None = None
        self._signs: signs.Signs | None = None

    @property
    def is_lost(self) -> bool:
        """Whether the file was found replaced or removed."""
        return self._database.is_lost

    @property
    def vector_problem(self) -> str:
        """Why vectors cannot be searched; '' when they can."""
        return self._database.vector_problem

    async def warnings(self) -> list[str]:
        """What is doubtful about the file's place or state."""
        return place.warnings(self._database.path, place.mounts()) + await self._eraser.warnings()

    async def write(self, drafts: Sequence[Draft], *, door: str, most_a_minute: int | None = None) -> list[Written]:
        """Write drafts with words and vectors."""
        return await self._database.write(memories.write, drafts, Act(door, to_ms(self._now())), most_a_minute)

    async def require_slow_summaries(self, most: int, *, door: str) -> None:
        """Refuse summaries that bring in too much."""
        await self._database.read(pace.require_slow_summaries, most, Act(door, to_ms(self._now())))

    async def write_episode(
        self,
        episode: Episode,
        vectors: Vectors | None,
        facts: Sequence[Draft],
        *,
        turns: Sequence[Draft] = (),
        model: ModelIdentity | None = None,
        door: str,
    ) -> tuple[Episode, list[Written]]:
        """Write a session's turns, its summary and its facts."""
        told = episodes.Told(episode, vectors, turns, facts, model)
        kept = await self._database.write(episodes.write_episode, told, Act(door, to_ms(self._now())))
        if kept.erased:
            await self._eraser.follow_up(kept.erased)
        return kept.episode, kept.facts

    async def capture(self, captured: Captured, *, door: str) -> CaptureResult:
        """Write what is new of a conversation."""
        return await self._database.write(capturing.capture, captured, Act(door, to_ms(self._now())))

    async def captured(self, host: str, session_id: str) -> dict[str, str]:
        """Read what is kept of a conversation."""
        return await self._database.read(capturing.texts, host, session_id)

    async def reading(self, host: str, session_id: str) -> Reading | None:
        """Read how far a host's record was read."""
        return await self._database.read(capturing.reading, host, session_id)

    async def get(self, ids: Sequence[str]) -> list[Memory]:
        """Read memories in the order asked."""
        return await self._database.read(listing.by_ids, ids)

    async def rows(self, rows: Sequence[int]) -> dict[int, Memory]:
        """Read memories by row numbers."""
        return await self._database.read(listing.numbered, rows)

    async def neighbours(self, ids: Sequence[str], where: Filter) -> dict[str, list[Memory]]:
        """Read the turns beside turns."""
        return await self._database.read(listing.neighbours, ids, where)

    async def contents(self, rows: Sequence[int]) -> dict[int, str]:
        """Read only texts."""
        return await self._database.read(listing.contents, rows)

    async def episode(self, memory_id: str) -> Episode | None:
        """Read one episode."""
        return await self._database.read(episodes.read_episode, memory_id)

    async def episodes(self, where: Filter, limit: int) -> list[Episode]:
        """Read the newest episodes."""
        return await self._database.read(episodes.newest_episodes, where, limit)

    async def page(self, where: Filter, limit: int, cursor: str = "") -> Page:
        """List memories newest first."""
        return await self._database.read(listing.page, where, limit, cursor)

    async def weightiest(self, where: Filter, limit: int) -> list[Memory]:
        """Read what matters most."""
        return await self._database.read(listing.weightiest, where, limit)

    async def count(self, where: Filter) -> int:
        """Count everything the filter lets through."""
        return await self._database.read(listing.count, where)

    async def turns(self, session_id: str, namespace: str, limit: int = 10_000) -> list[Memory]:
        """Read the kept turns of a session in order."""
        return await self._database.read(episodes.turns, session_id, namespace, limit)

    async def search(self, probe: Probe) -> Evidence:
        """Gather the evidence for a question, by words alone where vectors cannot be searched."""
        if self.vector_problem:
            probe = replace(probe, vectors=None)
        from memory_mcp.storage import search  # noqa: PLC0415 - it imports numpy, which takes a hook's time

        self._stemmer = stemmer = self._stemmer or search.Stemmer(driver.scratch)
        held = self._held_signs()

        def gather(connection: driver.Connection) -> Evidence:
            """Gather in the same state of the file in which the vectors were found to be of its model."""
            if probe.model and vectors.refuses(connection, probe.model):
                raise EmbedderUnavailable(EXCHANGED)
            return search.gather(connection, held, stemmer, probe)

        return await self._database.read(gather)

    async def similar(self, vectors: Vectors, where: Filter, at_least: float, limit: int) -> list[tuple[str, float]]:
        """Name the memories nearest to any of the vectors; none where vectors cannot be searched."""
        if self.vector_problem:
            return []
        from memory_mcp.storage import search  # noqa: PLC0415 - as in `search`

        return await self._database.read(search.similar, self._held_signs(), vectors, where, at_least, limit)

    def _held_signs(self) -> "signs.Signs":
        from memory_mcp.storage.signs import Signs  # noqa: PLC0415 - as in `search`

        self._signs = self._signs or Signs()
        return self._signs

    async def sentences(self, where: Filter, memories: int, most: int) -> Sentences:
        """Read the vectors of the newest memories."""
        from memory_mcp.storage import sentences  # noqa: PLC0415 - as in `search`

        return await self._database.read(sentences.sentences, where, memories, most)

    async def consolidated(self) -> dict[str, str]:
        """Name what went into patterns and lessons."""
        from memory_mcp.storage import sentences  # noqa: PLC0415 - as in `search`

        return await self._database.read(sentences.consolidated)

    async def unhelpful(self, where: Filter, shown: int, limit: int) -> tuple[int, list[Memory]]:
        """Read what was recalled often and never found useful."""
        return await self._database.read(relevance.unhelpful, where, shown, limit)

    async def unused(self, where: Filter, before: datetime, limit: int) -> tuple[int, list[Memory]]:
        """Read what was never recalled."""
        return await self._database.read(relevance.unused, where, before, limit)

    async def stale(
        self, where: Filter, cutoffs: Mapping[str, datetime], now: datetime, limit: int
    ) -> tuple[int, list[Memory]]:
        """Read what is past its truth or its time."""
        return await self._database.read(relevance.stale, where, cutoffs, now, limit)

    async def select(self, where: Filter, *, before: datetime | None, limit: int) -> list[tuple[str, int]]:
        """Name everything the filter lets through."""
        return await self._database.read(listing.select, where, before, limit)

    async def versions(self, ids: Sequence[str]) -> list[tuple[str, int]]:
        """Give the versions of exact ids."""
        return await self._database.read(listing.versions, ids)

    async def revise(
        self, memory_id: str, change: Revision, *, expires_at: datetime | None, now: datetime, door: str
    ) -> Memory:
        """Change one memory's facets."""
        return await self._database.write(revising.revise, memory_id, change, expires_at, Act(door, to_ms(now)))

    async def archive(self, ids: Sequence[str], *, now: datetime, door: str) -> Changed:
        """Archive active memories."""
        return await self._database.write(revising.archive, ids, Act(door, to_ms(now)))

    async def restore(self, ids: Sequence[str], *, now: datetime, door: str) -> Changed:
        """Take archived and superseded memories back."""
        return await self._database.write(revising.restore, ids, Act(door, to_ms(now)))

    async def carried_along(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Name what a forget would take with it."""
        return await self._database.read(erasure.carried_along, ids)

    async def forget(
        self,
        ids: Sequence[str],
        *,
        now: datetime,
        door: str,
        cascade: bool = True,
        expected: Sequence[tuple[str, int]] | None = None,
    ) -> Forgotten:
        """Erase memories and verify it."""
        return await self._eraser.forget(ids, Act(door, to_ms(now)), cascade=cascade, expected=expected)

    async def texts(self, after: int, limit: int) -> tuple[list[StoredText], int]:
        """Read the texts of the next memories."""
        return await self._database.read(rewriting.texts, after, limit)

    async def rewrite(self, changes: Sequence[Rewriting], *, now: datetime, door: str) -> Rewritten:
        """Replace texts and verify that the old ones are gone."""
        erased = await self._database.write(rewriting.rewrite, changes, Act(door, to_ms(now)))
        return Rewritten(erased.ids, *await self._eraser.follow_up(erased))

    async def beside(self) -> list[str]:
        """Name the backups."""
        return [str(copy) for copy in schema.backups(self._database.path)]

    async def wipe(self, expected: int, *, door: str) -> Wiped:
        """Erase everything and verify it."""
        return await self._eraser.wipe(expected, Act(door, to_ms(self._now())))

    async def blocks(self, limit: int, after: int = 0) -> list[Block]:
        """List what a person had us forget."""
        return await self._database.read(blocking.blocks, limit, after)

    async def lift(self, numbers: Sequence[int], *, door: str) -> list[int]:
        """Lift blocks."""
        return await self._database.write(blocking.lift, numbers, Act(door, to_ms(self._now())))

    async def blocked_for_conclusions(self, ids: Sequence[str]) -> set[str]:
        """Name what nothing is concluded from."""
        return await self._database.read(blocking.blocked_for_conclusions, ids)

    async def forgotten_places(self, session_id: str, namespace: str) -> dict[int, datetime]:
        """Give the places of told turns that are gone."""
        return await self._database.read(blocking.forgotten_places, session_id, namespace)

    async def was_forgotten_in(self, session_id: str, namespace: str) -> bool:
        """Say whether something of a session was forgotten."""
        return await self._database.read(blocking.was_forgotten_in, session_id, namespace)

    async def export(self, outlet: Outlet) -> int:
        """Read everything out."""
        return await self._database.read(porting.carry_out, outlet)

    @asynccontextmanager
    async def importing(self, *, brings_back: bool, door: str) -> AsyncGenerator[Inlet]:
        """Take an export in."""
        into = Into(await self._database.read(newest_row), brings_back)
        yield _Import(self._database, into, lambda: Act(door, to_ms(self._now())))

    @asynccontextmanager
    async def rehearsing(self, *, brings_back: bool) -> AsyncGenerator[Inlet]:
        """Take an export in, into a copy in memory."""
        from memory_mcp.storage.rehearsing import Rehearsal, copy_of  # noqa: PLC0415 - a hook rehearses nothing

        copy = await self._database.read(copy_of)
        rehearsal = Rehearsal(copy, Into(newest_row(copy), brings_back), Act("", to_ms(self._now())))
        try:
            yield rehearsal
        finally:
            rehearsal.close()

    async def document_standing(self, origin: str, namespace: str) -> Standing:
        """Say how a file is kept."""
        return await self._database.read(documents.standing, origin, namespace)

    async def document_origins(self, folder: str, namespace: str) -> list[str]:
        """Name the files below a folder that are kept."""
        return await self._database.read(documents.origins, folder, namespace)

    async def put_document(self, document: Document, *, brings_back: bool, door: str) -> Shelved:
        """Take the next chunks of a file in."""
        act = Act(door, to_ms(self._now()))
        return await self._database.write(documents.shelve, document, act, brings_back=brings_back)

    async def foresee_document(self, document: Document, *, brings_back: bool) -> Shelved:
        """Say what that would do."""
        return await self._database.read(documents.foresee, document, brings_back=brings_back)

    async def drop_replaced(self, *, door: str) -> Rewritten | None:
        """Erase what files no longer hold and verify it."""
        if not await self._database.read(documents.any_replaced):
            return None
        erased = await self._database.write(documents.drop_replaced, Act(door, to_ms(self._now())))
        return Rewritten(erased.ids, *await self._eraser.follow_up(erased)) if erased else None

    async def finish_erasure(self) -> str:
        """Go on with an erasure that could not be verified."""
        return await self._eraser.finish()

    async def unembedded(self, limit: int) -> list[Memory]:
        """Read memories that still need vectors."""
        return await self._database.read(vectors.unembedded, limit)

    async def put_vectors(self, made: Sequence[tuple[Memory, Vectors]], model: ModelIdentity | None = None) -> int:
        """Write vectors that were made later."""
        return await self._database.write(vectors.put_all, made, model)

    async def use_model(self, identity: ModelIdentity, *, now: datetime) -> bool:
        """Make sure vectors of this model can be kept."""
        return await self._database.read(vectors.is_active, identity) or await self._database.write(
            vectors.use_model, identity, to_ms(now)
        )

    async def refuses_model(self, identity: ModelIdentity) -> bool:
        """Say whether the file is searched by other vectors, or by none."""
        return await self._database.read(vectors.refuses, identity)

    async def file_model(self) -> FileModel:
        """Say which model the file has."""
        return await self._database.read(vectors.of_file)

    async def model_state(self, *, now: datetime) -> ModelState:
        """Count what the file's model embedded."""
        return await self._database.read(changing.state, to_ms(now))

    async def model_change(self, *, now: datetime) -> Change | None:
        """Say to which model the file is to come."""
        return await self._database.read(changing.change, to_ms(now))

    async def model_holder(self, *, now: datetime) -> Holder | None:
        """Say who changes the model just now."""
        return await self._database.read(changing.holder, to_ms(now))

    async def begin_change(self, identity: ModelIdentity, *, now: datetime) -> bool:
        """Begin to change the model, or go on."""
        return await self._database.write(changing.begin, identity, to_ms(now))

    async def left_to_change(self, after: int, limit: int) -> tuple[list[Memory], int]:
        """Read what the new model did not embed yet."""
        return await self._database.read(changing.left, after, limit)

    async def put_changed(self, made: Sequence[tuple[Memory, Vectors]], identity: ModelIdentity) -> int:
        """Write vectors of the new model beside the old ones."""
        return await self._database.write(changing.put, made, identity)

    async def switch_model(self, identity: ModelIdentity, through: int) -> bool:
        """Put the new vectors in the place of the old ones."""
        return await self._database.write(changing.switch, identity, through)

    async def drop_vectors(self) -> bool:
        """Keep the file without vectors."""
        return await self._database.write(changing.drop)

    async def sweep_vectors(self) -> bool:
        """Delete vectors that nobody needs any more."""
        return await self._database.read(changing.are_strays) and await self._database.write(changing.sweep)

    async def count_access(self, ids: Sequence[str], *, now: datetime) -> None:
        """Count recalls."""
        await self._database.write(revising.count_access, ids, to_ms(now))

    async def rate(self, ids: Sequence[str], *, useful: bool, now: datetime, door: str) -> list[str]:
        """Count ratings."""
        return await self._database.write(_rate, ids, Act(door, to_ms(now)), useful=useful)

    async def pending_sessions(self, namespaces: Sequence[str], limit: int) -> list[PendingSession]:
        """Read the sessions that are still to be summarized."""
        return await self._database.read(pending.sessions, namespaces, limit)

    async def pending_session(self, session_id: str, namespace: str) -> PendingSession | None:
        """Read one session, if it is still to be summarized."""
        return await self._database.read(pending.one, session_id, namespace)

    async def note_failure(self, session_id: str, namespace: str, reason: str, *, now: datetime) -> None:
        """Note that a summary failed."""
        await self._database.write(pending.note_failure, session_id, namespace, reason, to_ms(now))

    async def settle(self, session_id: str, namespace: str, *, door: str) -> None:
        """Count a session's turns as summarized."""
        erased = await self._database.write(episodes.settle, session_id, namespace, Act(door, to_ms(self._now())))
        if erased:
            await self._eraser.follow_up(erased)

    async def expired(self, now: datetime, limit: int) -> list[str]:
        """Name what is past its time to live."""
        return await self._database.read(upkeep.expired, now, limit)

    async def expired_since(self, since: datetime) -> int:
        """Count what went because its time was up."""
        return await self._database.read(upkeep.expired_since, to_ms(since))

    async def faded(self, cutoffs: Mapping[str, datetime], limit: int) -> list[str]:
        """Name what nobody used since its kind's cutoff."""
        return await self._database.read(relevance.faded, cutoffs, limit)

    async def faded_since(self, since: datetime) -> int:
        """Count what was archived because it had faded."""
        return await self._database.read(audit.archived_unasked, to_ms(since))

    async def audit(self, limit: int, *, since: datetime | None, verb: str, cursor: str) -> AuditPage:
        """Read what was done."""
        at = since and to_ms(since)
        return await self._database.read(audit.page, limit, since=at, verb=verb, cursor=cursor)

    async def audit_lines(self) -> int:
        """Count the lines of the audit."""
        return await self._database.read(audit.lines)

    async def trim_audit(self, keep: int) -> None:
        """Drop the oldest lines of the audit."""
        await self._database.write(audit.trim, keep)

    async def lease(
        self,
        name: str,
        owner: str,
        *,
        now: datetime,
        duration: timedelta,
        has_ended: Callable[[str], bool] = nobody_ended,
    ) -> bool:
        """Take or renew a lease."""
        return await self._database.write(upkeep.lease, name, owner, now, duration, has_ended)

    async def release(self, name: str, owner: str) -> None:
        """Give a lease back."""
        await self._database.write(upkeep.release, name, owner)

    def rest(self) -> None:
        """Let go of what is held of the vectors."""
        self._signs = None

    async def spent(self, day: str) -> float:
        """Read what was spent on a day."""
        return await self._database.read(spending.spent, day)

    async def spend(self, day: str, dollars: float) -> None:
        """Add to what was spent on a day."""
        await self._database.write(spending.spend, day, dollars)

    async def secret(self) -> bytes:
        """Read the file's own key for handles."""
        return await self._database.read(upkeep.secret)

    async def changes(self) -> int:
        """Read a number that moves with every commit."""
        return await self._database.read(upkeep.changes)

    async def stats(self) -> Stats:
        """Count what is there."""
        return await self._database.read(upkeep.stats, self._database.path)

    async def check(self) -> Check:
        """Compare indexes with rows; only the words' own check needs the writer, by a command of FTS5."""
        words_are_sound = await self._database.write(upkeep.words_are_sound)
        return await self._database.read(upkeep.check, words_are_sound=words_are_sound)

    async def rebuild(self) -> None:
        """Make the words' index again."""
        await self._database.write(words.rebuild_words)

    async def close(self) -> None:
        """Checkpoint the log and close."""
        await self._database.close()
        if self._stemmer:
            self._stemmer.close()


def _rate(connection: driver.Connection, ids: Sequence[str], act: Act, *, useful: bool) -> list[str]:
    known = revising.rate(connection, ids, act.now, useful=useful)
    if known:
        audit.record(connection, "rate", known, act)
    return known


@dataclass(frozen=True)
class _Import:
    """Takes records of an export into the file."""

    database: Database
    into: Into
    act: Callable[[], Act]

    async def put(self, records: Sequence[Record]) -> list[Fate]:
        """Take records in, in one transaction."""
        return await self.database.write(take_in, records, self.into, self.act())

    async def drop_empty(self, sessions: Sequence[tuple[str, str]]) -> None:
        """Drop sessions that are empty."""
        await self.database.write(drop_empty, sessions)


async def open_store(
    path: Path,
    *,
    key: str = "",
    now: Callable[[], datetime],
    reads_only: bool = False,
    patience: timedelta = timedelta(seconds=10),
    extension: str = "",
) -> SqliteStore:
    """Open or create the memory file.

    `key` is 64 hexadecimal digits for an encrypted file; with `reads_only` nothing is made or written, and a lock is
    waited for only briefly; `patience` bounds how long a forget waits for other readers; `extension` replaces
    sqlite-vec's own binary. Raises `StoreUnavailable` and its kinds.
    """
    database = await open_database(path, key=key, reads_only=reads_only, extension=extension)
    if not reads_only and not await database.read(words.are_current):
        await database.write(words.renew_words)
    if not reads_only and not await database.read(flags.are_current):
        await database.write(flags.flag, await database.read(flags.overlooked))
    return SqliteStore(database, now, patience)


async def open_store_in_haste(path: Path, *, key: str = "", now: Callable[[], datetime]) -> SqliteStore:
    """Open or create the memory file for a host that waits, to write a little; as `database.open_in_haste` says."""
    return SqliteStore(await open_in_haste(path, key=key), now, patience=timedelta())
