"""Vectors that fit the file: the loaded model and the file's own model, held together."""

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

import anyio
import numpy as np

from memory_mcp.embedding import DEFAULT, Embedded, Embedder, Embeddings
from memory_mcp.embedding.passages import passages
from memory_mcp.errors import EmbedderUnavailable
from memory_mcp.models import Memory, ModelIdentity
from memory_mcp.storage.protocol import Store
from memory_mcp.storage.values import NO_MODEL, FileModel, Vectors

Find = Callable[[str], Callable[[], Embedder] | None]
"""Says by a name how a model is loaded; None for none."""

UNDECIDED = FileModel("", 0)

CHANGED = "The file's model was changed; the new one is loading, and search goes by words only for the moment."

FIRST_LOAD_PATIENCE = timedelta(seconds=1.5)
"""A host's first question comes within a second or two of the handshake, and the model takes about one: a short wait
answers by meaning what words alone miss (seen in four hosts: without it every first recall was by keyword)."""


class Meaning:
    """Turns questions and memories into vectors, or says why it cannot.

    `patient` waits for the first load of the model however long it takes: right for a shell command. A server waits
    for it only with a question, and not long. With `find`, which says how a model is loaded, the model is the one that
    the file had when it was opened (`of_file`), and is exchanged when the file comes to another; else it is the one
    that somebody set.
    """

    def __init__(
        self,
        store: Store,
        embeddings: Embeddings,
        *,
        patient: bool,
        of_file: FileModel = UNDECIDED,
        find: Find | None = None,
    ) -> None:
        self._store = store
        self._embeddings = embeddings
        self._patient = patient
        self._of_file = of_file
        self._find = find

    @property
    def ceiling(self) -> float:
        """The cosine that counts as full agreement for the model at hand."""
        identity = self._embeddings.identity
        return identity.ceiling if identity else 1.0

    async def of_question(self, texts: Sequence[str]) -> Embedded:
        """Embed a question's texts. Raises `EmbedderUnavailable` with a sentence fit for a notice.

        Reads only: a recall must neither write nor wait for whoever does.
        """
        try:
            asked = await self._asked(texts)
        except EmbedderUnavailable:
            if await self._follow():
                return await self._asked(texts)
            raise
        if not await self._store.refuses_model(asked.model):
            return asked
        if await self._follow():
            return await self._asked(texts)
        raise await self._refusal(asked.model)

    async def is_ready(self, now: datetime) -> bool:
        """Wait for the model, and say whether it makes vectors that this file can keep."""
        try:
            await self._accept(now)
        except EmbedderUnavailable:
            return False
        return await self._embeddings.ready()

    async def of_memories(
        self, memories: Sequence[Memory], *, now: datetime, wait: bool | None = None
    ) -> tuple[list[Vectors], ModelIdentity]:
        """Embed memories sentence by sentence, and say which model did. Raises `EmbedderUnavailable`."""
        await self._accept(now)
        made, model = await by_sentences(self._embeddings, memories, wait=self._patient if wait is None else wait)
        await self._accept(now)
        return made, model

    async def of_new(
        self, memories: Sequence[Memory], now: datetime
    ) -> tuple[Sequence[Vectors | None], ModelIdentity | None, str]:
        """Embed memories about to be written and name the model, or say in a notice why their vectors come later."""
        try:
            return *await self.of_memories(memories, now=now), self._store.vector_problem
        except EmbedderUnavailable as error:
            none: list[Vectors | None] = [None] * len(memories)
            return none, None, f"Saved. {error}"

    async def _asked(self, texts: Sequence[str]) -> Embedded:
        if not self._patient:
            with anyio.move_on_after(FIRST_LOAD_PATIENCE.total_seconds()):
                await self._embeddings.ready()
        return await self._embeddings.embedded(texts, query=True, wait=self._patient)

    async def _accept(self, now: datetime) -> None:
        """Refuse a model that the file's vectors were not made by. Another process may have begun with one."""
        identity = self._embeddings.identity
        if identity is None:
            await self._follow()
        elif not await self._store.use_model(identity, now=now):
            raise EmbedderUnavailable(CHANGED) if await self._follow() else await self._refusal(identity)

    async def _follow(self) -> bool:
        """Turn to the model that the file has by now; says whether it is another one than before."""
        if self._find is None:
            return False
        before, self._of_file = self._of_file, await self._store.file_model()
        names = {before.name or DEFAULT, self._of_file.name or DEFAULT}
        if self._of_file == before or (len(names) == 1 and self._embeddings.identity is None):
            return False
        self._embeddings.exchange(self._find(self._of_file.name))
        return True

    async def _refusal(self, identity: ModelIdentity) -> EmbedderUnavailable:
        """Word why a model is of no use to the file."""
        own = await self._store.file_model()
        if own.name == NO_MODEL:
            return EmbedderUnavailable(
                "The file is kept without vectors: search is by keyword only. `memory-mcp models use"
                f" {identity.loads_by}` gives it some."
            )
        same = " of that name, but with other files" if own.name == identity.loads_by else f", {own.name}"
        return EmbedderUnavailable(
            f"The file's vectors were made by another model{same}: {identity.loads_by!r} cannot read them, and search"
            f" is by keyword only. `memory-mcp models use {identity.loads_by}` makes them anew"
            + ("." if self._find else "; or leave MEMORY_MCP_MODEL unset, for the file's own.")
        )


async def by_sentences(
    embeddings: Embeddings, memories: Sequence[Memory], *, wait: bool = True
) -> tuple[list[Vectors], ModelIdentity]:
    """Embed memories sentence by sentence, whatever the file's model is. Raises `EmbedderUnavailable`."""
    texts = [passages(memory) for memory in memories]
    made = await embeddings.embedded([text for own in texts for text in own], wait=wait)
    ends = np.cumsum([len(own) for own in texts])
    return np.split(made.vectors, ends[:-1]), made.model
