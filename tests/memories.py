"""Memories put together by hand, for tests that need a model of their own, and what most tests ask of an answer."""

import threading
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import lru_cache, partial
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from memory_mcp.answers import Recall
from memory_mcp.config import Settings
from memory_mcp.embedding import Embedder, Embeddings
from memory_mcp.embedding.universal import load_universal
from memory_mcp.errors import EmbedderUnavailable
from memory_mcp.finding import Accesses, Finder
from memory_mcp.maintenance import Maintenance
from memory_mcp.meaning import Find, Meaning
from memory_mcp.models import ModelIdentity, NewMemory, Query
from memory_mcp.service import MemoryService
from memory_mcp.sessions import Sessions
from memory_mcp.storage import open_store
from memory_mcp.summarizers import ExtractiveSummarizer, Summarizer
from memory_mcp.tokens import index_tokens

universal = lru_cache(maxsize=1)(load_universal)
"""The real default model, loaded once for all tests of a process."""


WORDS = ModelIdentity("words", "a" * 64, dimension=256)


@dataclass
class WordsEmbedder:
    """An honest small model: a text's words, hashed. Texts that hold a word of `hates` cannot be embedded."""

    identity: ModelIdentity = WORDS
    hates: set[str] = field(default_factory=set)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        if any(word in text for word in self.hates for text in texts):
            raise EmbedderUnavailable("This text makes the model stumble.")
        vectors = np.full((len(texts), self.identity.dimension), 1e-3, dtype=np.float32)
        for vector, text in zip(vectors, texts, strict=True):
            for token in index_tokens(text).split():
                vector[crc32(token.encode()) % len(vector)] += 1
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


class GatedLoader:
    """A model whose first load takes as long as a test wants."""

    def __init__(self) -> None:
        self.gate = threading.Event()

    def __call__(self) -> Embedder:
        assert self.gate.wait(60), "the test never opened the gate"
        return WordsEmbedder()


@asynccontextmanager
async def memory_with(
    settings: Settings,
    load: Callable[[], Embedder] | None,
    now: Callable[[], datetime],
    *,
    patient: bool = True,
    extension: str = "",
    summarizer: Summarizer | None = None,
    find: Find | None = None,
) -> AsyncIterator[MemoryService]:
    """Open a memory with this model; `patient` waits for it, as a shell command does and a server does not.

    With `find`, the model is the file's own, which that loads.
    """
    store = await open_store(settings.db, now=now, extension=extension, patience=timedelta(seconds=0.2))
    own = await store.file_model()
    embeddings = Embeddings(find(own.name) if find else load)
    meaning = Meaning(store, embeddings, patient=patient, of_file=own, find=find)
    memory = MemoryService(
        store,
        meaning,
        embeddings,
        Sessions(store, meaning, summarizer or _extractive(embeddings, patient), settings, now, "cli"),
        settings,
        now,
        Finder(store, meaning, settings, now, Accesses()),
        Maintenance(store, meaning, embeddings, now),
        "cli",
    )
    try:
        yield memory
    finally:
        await embeddings.close()
        await store.close()


def _extractive(embeddings: Embeddings, patient: bool) -> ExtractiveSummarizer:
    return ExtractiveSummarizer(partial(embeddings.embed, wait=patient))


def contents(found: Recall) -> list[str]:
    return [hit.memory.content for hit in found.hits]


async def keep(memory: MemoryService, content: str, **fields) -> str:
    """Store a text; gives its id."""
    return (await memory.store(NewMemory(content, **fields))).id


async def ask(memory: MemoryService, text: str = "", **fields) -> list[str]:
    """Recall; gives the contents in their order."""
    return contents(await memory.recall(Query(text=text, **fields)))
