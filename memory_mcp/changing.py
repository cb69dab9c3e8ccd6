"""How a file comes to another embedding model: all is embedded anew beside the vectors that answer meanwhile."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Literal

from anyio import to_thread

from memory_mcp import processes
from memory_mcp.embedding import is_as_loaded
from memory_mcp.errors import Conflict, EmbedderUnavailable
from memory_mcp.meaning import by_sentences
from memory_mcp.storage.values import MODEL_LEASE

if TYPE_CHECKING:
    from memory_mcp.embedding import Embeddings
    from memory_mcp.models import Memory, ModelIdentity
    from memory_mcp.storage.protocol import Store
    from memory_mcp.storage.values import Vectors

LEASE = timedelta(minutes=1)
"""Renewed before each batch. Who takes it over after a batch that took longer does no harm: writes are idempotent."""

BATCH = 64
"""Memories that are embedded and written at a time: what a kill loses, and how often it is told how far it is."""

OnProgress = Callable[[int, int], object]
"""Is told how many memories are done, of how many."""


@dataclass(frozen=True)
class ChangedModel:
    """What became of a wish for a model. `embedded` counts memories; `refused` those that it could not read."""

    name: str
    status: Literal["changed", "unchanged", "dropped"]
    embedded: int = 0
    refused: int = 0


class Changing:
    """Changes the model of a file, one process at a time. What was done before an interruption is not done again."""

    def __init__(
        self,
        db: Store,
        embeddings: Embeddings,
        now: Callable[[], datetime],
        has_ended: Callable[[str], bool] = processes.has_ended,
    ) -> None:
        self._db = db
        self._embeddings = embeddings
        self._now = now
        self._has_ended = has_ended
        self._owner = processes.this_process()

    async def drop(self) -> ChangedModel:
        """Keep the file without vectors from now on. Raises `Conflict`, `StoreUnavailable`."""
        async with self._held():
            dropped = await self._db.drop_vectors()
            await self._sweep()
        return ChangedModel("none", "dropped" if dropped else "unchanged")

    async def run(self, told: OnProgress) -> ChangedModel:
        """Embed every memory by the model at hand, then answer by its vectors, and delete the old ones.

        Raises `EmbedderUnavailable`, `Conflict`, `StoreUnavailable`: then the old ones answer as before, and what was
        made is kept for the next time.
        """
        async with self._held():
            model = await self._loaded()
            await self._hold()  # loading takes long
            if not await self._db.begin_change(model, now=self._now()):
                await self._sweep()
                return ChangedModel(model.loads_by, "unchanged")
            await self._sweep()  # what an earlier change left, for the room it takes
            embedded, refused = await self._embed_all(model, told)
            await self._sweep()
        return ChangedModel(model.loads_by, "changed", embedded, refused)

    async def _loaded(self) -> ModelIdentity:
        try:
            return (await self._embeddings.embedded(["Is anybody there?"])).model
        except EmbedderUnavailable as error:
            raise EmbedderUnavailable(f"{error} Nothing was changed.") from error

    async def _embed_all(self, model: ModelIdentity, told: OnProgress) -> tuple[int, int]:
        change = await self._db.model_change(now=self._now())
        done, of = (change.done, change.memories) if change else (0, 0)
        after = embedded = refused = 0
        is_checked = False
        while True:
            told(done + embedded, max(of, done + embedded))
            await self._hold()
            memories, last = await self._db.left_to_change(after, BATCH)
            if last == after:
                is_checked = is_checked or await self._require_files(model)
                if await self._db.switch_model(model, after):
                    return embedded, refused
                continue  # somebody stored something meanwhile
            made = await self._embedded(memories)
            if memories and not made and (len(memories) == BATCH or not done + embedded):
                raise EmbedderUnavailable(f"{model.name} embeds none of {len(memories)} memories. {_unchanged(model)}")
            embedded += await self._db.put_changed(made, model)
            refused, after = refused + len(memories) - len(made), last

    async def _require_files(self, model: ModelIdentity) -> bool:
        """Make sure that servers will load the model by which all was embedded."""
        if not await to_thread.run_sync(is_as_loaded, model):
            raise EmbedderUnavailable(f"The files of {model.name} were exchanged meanwhile. {_unchanged(model)}")
        return True

    async def _embedded(self, memories: list[Memory]) -> list[tuple[Memory, Vectors]]:
        """Embed what can be: a text that the model refuses must not hold up the others."""
        if not memories:
            return []
        try:
            vectors, _ = await by_sentences(self._embeddings, memories)
        except EmbedderUnavailable:
            if len(memories) < 2:
                return []
            half = len(memories) // 2
            return await self._embedded(memories[:half]) + await self._embedded(memories[half:])
        return list(zip(memories, vectors, strict=True))

    async def _sweep(self) -> None:
        while await self._db.sweep_vectors():
            pass

    @asynccontextmanager
    async def _held(self) -> AsyncGenerator[None]:
        await self._hold()
        try:
            yield
        finally:
            await self._db.release(MODEL_LEASE, self._owner)

    async def _hold(self) -> None:
        now = self._now()
        if await self._db.lease(MODEL_LEASE, self._owner, now=now, duration=LEASE, has_ended=self._has_ended):
            return
        holder = await self._db.model_holder(now=now)
        who = processes.told(holder.owner) if holder else "another process"
        since = f" from {_clock(holder.until)}" if holder else ""
        raise Conflict(
            f"The model of this file is being changed by {who}. Nothing was changed by this command; if that process"
            f" ended, another may go on{since}."
        )


def _clock(instant: int) -> str:
    return f"{datetime.fromtimestamp(instant / 1000, UTC):%H:%M:%S} UTC"


def _unchanged(model: ModelIdentity) -> str:
    return f"The file's vectors are as they were; `memory-mcp models use {model.loads_by}` tries again."
