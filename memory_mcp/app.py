"""Where the parts are put together: the only place that knows every concrete class."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from datetime import datetime, timedelta

from memory_mcp.config import Settings
from memory_mcp.embedding import Embeddings, load_embedder
from memory_mcp.errors import MemoryMcpError
from memory_mcp.meaning import Meaning
from memory_mcp.models import utc_now
from memory_mcp.service import Accesses, MemoryService
from memory_mcp.storage import open_store
from memory_mcp.summarizers import ExtractiveSummarizer

UPKEEP_EVERY = timedelta(seconds=30)

log = logging.getLogger(__name__)


@asynccontextmanager
async def open_memory(
    settings: Settings, *, door: str = "mcp", now: Callable[[], datetime] = utc_now
) -> AsyncIterator[MemoryService]:
    """Open the file, begin to load the model, and close both at the end.

    A server (door 'mcp' or 'web') does not wait for the model and looks after the file in the background; a shell
    command waits and leaves. Raises `StoreUnavailable` and its kinds.
    """
    serves = door in {"mcp", "web"}
    store = await open_store(settings.db, key=settings.encryption_key(), now=now)
    embeddings = Embeddings(load_embedder(settings.model))
    memory = MemoryService(
        store,
        Meaning(store, embeddings, patient=not serves),
        embeddings,
        ExtractiveSummarizer(embeddings.embed),
        settings,
        now,
        Accesses(),
        door,
    )
    if serves:
        embeddings.start()
    upkeep = asyncio.create_task(_look_after(memory)) if serves else None
    try:
        yield memory
    finally:
        if upkeep:
            upkeep.cancel()
            with suppress(asyncio.CancelledError):
                await upkeep
        await memory.flush()
        await embeddings.close()
        await store.close()


async def _look_after(memory: MemoryService) -> None:
    """Do what is due, again and again: a failure of one round is logged and must not end the next."""
    await memory.embeddings.ready()
    while True:
        try:
            await memory.maintain()
        except MemoryMcpError as error:
            log.warning("Upkeep put off: %s", error)
        memory.embeddings.release_if_idle()
        await asyncio.sleep(UPKEEP_EVERY.total_seconds())
