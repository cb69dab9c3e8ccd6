"""What keeps a file in order while nobody asks: ends of time to live, fading, bounds, vectors still to be made."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from memory_mcp.errors import Conflict, EmbedderUnavailable
from memory_mcp.models import Kind, Memory, new_id
from memory_mcp.scoring import HALF_LIVES

if TYPE_CHECKING:
    from memory_mcp.embedding import Embeddings
    from memory_mcp.meaning import Meaning
    from memory_mcp.storage.protocol import Store

LEASE = timedelta(minutes=1)
"""Longer than one batch takes; renewed before each."""

BATCH = 200
"""Memories that are erased or archived in one transaction, so that others who write wait only for a moment."""

FADED_HALF_LIVES, FADED_AT_LEAST = 4, timedelta(days=365)
"""A memory that nobody told, recalled or rated for so long weighs a sixteenth or less, and is archived."""

FADING = tuple(kind for kind in HALF_LIVES if kind != Kind.TURN)
"""Kinds that may be archived: turns are evidence, and the kinds without a half-life do not fade."""

MOST_AUDIT, KEPT_AUDIT = 20_000, 10_000
"""Lines of the audit: above the first, the oldest but the second go."""

SLOWLY = timedelta(hours=1)
"""How often a process looks for what cannot become due within minutes: it takes a look at every memory."""

EVERYTHING = 1_000_000
"""Memories that one look names at most: more than a file holds."""

DOOR = "background"


def nobody(_done: int) -> None:
    """Hear how many are done, and say nothing of it."""


@dataclass(frozen=True)
class Upkeep:
    """What is due, or was done: ids past their time to live, ids that faded, lines of the audit over its bound.

    `problem` is a sentence about an erasure that is not verified; '' when there is none.
    """

    expired: tuple[str, ...] = ()
    faded: tuple[str, ...] = ()
    audit_lines: int = 0
    problem: str = ""


class Maintenance:
    """Looks after a file, one process at a time. It keeps which texts the model refused, and when it last looked."""

    def __init__(self, db: Store, meaning: Meaning, embeddings: Embeddings, now: Callable[[], datetime]) -> None:
        self._db = db
        self._meaning = meaning
        self._embeddings = embeddings
        self._now = now
        self._owner = new_id()
        self._refused: set[str] = set()
        self._looked_at: datetime | None = None

    async def due(self) -> Upkeep:
        """Say what `run` would do now, exactly, and do nothing."""
        now = self._now()
        expired = await self._db.expired(now, EVERYTHING)
        faded = await self._db.faded(_cutoffs(now), EVERYTHING)
        lines = await self._db.audit_lines()
        return Upkeep(tuple(expired), tuple(faded), lines - KEPT_AUDIT if lines > MOST_AUDIT else 0)

    async def run(self) -> Upkeep:
        """Do all that is due, in small batches. Raises `Conflict` while another process is at it."""
        if not await self._hold():
            raise Conflict(
                "Another process looks after this file just now. Nothing was changed; ask again in a minute."
            )
        try:
            due = await self.due()
            if due.audit_lines:
                await self._db.trim_audit(KEPT_AUDIT)
            await self._in_batches(due.expired, self._expire)
            await self._in_batches(due.faded, self._archive)
        finally:
            await self._db.release("upkeep", self._owner)
        return Upkeep(due.expired, due.faded, due.audit_lines, await self._db.finish_erasure())

    async def tick(self) -> None:
        """Do a little of what is due, in the background: at most a batch of each."""
        if self._embeddings.release_if_idle():
            self._db.rest()
        await self._db.sweep_vectors()
        now = self._now()
        looks = self._looked_at is None or now - self._looked_at >= SLOWLY
        expired = await self._db.expired(now, BATCH)
        faded = await self._db.faded(_cutoffs(now), BATCH) if looks else []
        full = looks and await self._db.audit_lines() > MOST_AUDIT
        if (expired or faded or full) and await self._hold():
            try:
                await self._tidy(expired, faded, full=full)
            finally:
                await self._db.release("upkeep", self._owner)
        if looks:
            await self._db.drop_replaced(door=DOOR)  # an import was interrupted and not repeated
        if looks and len(faded) < BATCH:
            self._looked_at = now
        await self._db.finish_erasure()

    async def _tidy(self, expired: Sequence[str], faded: Sequence[str], *, full: bool) -> None:
        if full:
            await self._db.trim_audit(KEPT_AUDIT)
        if expired:
            await self._expire(expired)
        if faded:
            await self._archive(faded)

    async def _hold(self) -> bool:
        return await self._db.lease("upkeep", self._owner, now=self._now(), duration=LEASE)

    async def _in_batches(self, ids: Sequence[str], act: Callable[[Sequence[str]], Awaitable[object]]) -> None:
        for start in range(0, len(ids), BATCH):
            if not await self._hold():
                raise Conflict("Another process went on with it meanwhile. Ask again for what is left.")
            await act(ids[start : start + BATCH])

    async def _expire(self, ids: Sequence[str]) -> None:
        await self._db.forget(ids, now=self._now(), door=DOOR, cascade=False)

    async def _archive(self, ids: Sequence[str]) -> None:
        await self._db.archive(ids, now=self._now(), door=DOOR)

    # ---- vectors that are missing ------------------------------------------------------------------------------

    async def embed_pending(self, batch: int = 64, told: Callable[[int], object] = nobody) -> int:
        """Make the vectors that are missing; returns how many memories got theirs, and tells it after each batch."""
        if not await self._without_vectors(1) or not await self._meaning.is_ready(self._now()):
            return 0
        try:
            return await self._embed_all(batch, told)
        finally:  # the next process must not wait for a lease that nobody uses
            await self._db.release("vectors", self._owner)

    async def _embed_all(self, batch: int, told: Callable[[int], object]) -> int:
        done = 0
        while pending := await self._without_vectors(batch):
            if not await self._db.lease("vectors", self._owner, now=self._now(), duration=LEASE):
                return done
            written = await self._embed(pending)
            if not written:
                return done
            done += written
            told(done)
        return done

    async def _without_vectors(self, limit: int) -> list[Memory]:
        found = await self._db.unembedded(limit + len(self._refused))
        return [one for one in found if one.id not in self._refused]

    async def _embed(self, pending: list[Memory]) -> int:
        """Embed what can be, and say how many were: a text that the model refuses must not hold up the others."""
        try:
            vectors, model = await self._meaning.of_memories(pending, now=self._now(), wait=True)
        except EmbedderUnavailable:
            if not await self._meaning.is_ready(self._now()):
                return 0
            if len(pending) == 1:
                self._refused.add(pending[0].id)
                return 0
            half = len(pending) // 2
            return await self._embed(pending[:half]) + await self._embed(pending[half:])
        return await self._db.put_vectors(list(zip(pending, vectors, strict=True)), model)


def _cutoffs(now: datetime) -> dict[str, datetime]:
    """Say for each kind that fades since when a memory of it must have been told or used."""
    return {kind: now - max(FADED_HALF_LIVES * HALF_LIVES[kind], FADED_AT_LEAST) for kind in FADING}
