"""Vectors that fit the file: the loaded model and the file's own model, held together."""

from collections.abc import Sequence
from datetime import datetime, timedelta

import anyio
import numpy as np

from memory_mcp.embedding import Embeddings
from memory_mcp.embedding.passages import passages
from memory_mcp.errors import EmbedderUnavailable
from memory_mcp.models import Memory, ModelIdentity
from memory_mcp.storage.protocol import Store
from memory_mcp.storage.values import Vectors

FIRST_LOAD_PATIENCE = timedelta(seconds=1.5)
"""A host's first question comes within a second or two of the handshake, and the model takes about one: a short wait
answers by meaning what words alone miss (seen in four hosts: without it every first recall was by keyword)."""


class Meaning:
    """Turns questions and memories into vectors, or says why it cannot.

    `patient` waits for the first load of the model however long it takes: right for a shell command. A server waits
    for it only with a question, and not long.
    """

    def __init__(self, store: Store, embeddings: Embeddings, *, patient: bool) -> None:
        self._store = store
        self._embeddings = embeddings
        self._patient = patient

    @property
    def identity(self) -> ModelIdentity | None:
        """Which model makes the vectors; None until it was loaded once."""
        return self._embeddings.identity

    @property
    def ceiling(self) -> float:
        """The cosine that counts as full agreement for the model at hand."""
        identity = self._embeddings.identity
        return identity.ceiling if identity else 1.0

    async def of_question(self, texts: Sequence[str]) -> Vectors:
        """Embed a question's texts. Raises `EmbedderUnavailable` with a sentence fit for a notice.

        Reads only: a recall must neither write nor wait for whoever does.
        """
        if not self._patient:
            with anyio.move_on_after(FIRST_LOAD_PATIENCE.total_seconds()):
                await self._embeddings.ready()
        vectors = await self._embeddings.embed(texts, query=True, wait=self._patient)
        identity = self._embeddings.identity
        if identity and await self._store.has_vectors_of_another(identity):
            raise _refused(identity)
        return vectors

    async def is_ready(self, now: datetime) -> bool:
        """Wait for the model, and say whether it makes vectors that this file can keep."""
        try:
            await self._accept(now)
        except EmbedderUnavailable:
            return False
        return await self._embeddings.ready()

    async def of_memories(
        self, memories: Sequence[Memory], *, now: datetime, wait: bool | None = None
    ) -> list[Vectors]:
        """Embed memories sentence by sentence. Raises `EmbedderUnavailable`."""
        await self._accept(now)
        texts = [passages(memory) for memory in memories]
        flat = [text for own in texts for text in own]
        vectors = await self._embeddings.embed(flat, wait=self._patient if wait is None else wait)
        await self._accept(now)
        ends = np.cumsum([len(own) for own in texts])
        return np.split(vectors, ends[:-1])

    async def of_new(self, memories: Sequence[Memory], now: datetime) -> tuple[Sequence[Vectors | None], str]:
        """Embed memories about to be written, or say in a notice why their vectors come later."""
        try:
            return await self.of_memories(memories, now=now), self._store.vector_problem
        except EmbedderUnavailable as error:
            none: list[Vectors | None] = [None] * len(memories)
            return none, f"Saved. {error}"

    async def _accept(self, now: datetime) -> None:
        """Refuse a model that the file's vectors were not made by. Another process may have begun with one."""
        identity = self._embeddings.identity
        if identity and not await self._store.use_model(identity, now=now):
            raise _refused(identity)


def _refused(identity: ModelIdentity) -> EmbedderUnavailable:
    return EmbedderUnavailable(
        f"The file's vectors were made by another model than {identity.name!r}: search is by keyword only."
        " Set MEMORY_MCP_MODEL to the model that made them."
    )
