"""Where the parts are put together: the only place that knows every concrete class."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from datetime import datetime, timedelta
from functools import partial
from typing import TYPE_CHECKING, Any

from memory_mcp import dates, maintenance
from memory_mcp.budget import DailyBudget
from memory_mcp.config import Settings
from memory_mcp.embedding import Embeddings, load_embedder
from memory_mcp.errors import MemoryMcpError
from memory_mcp.finding import Accesses, Finder
from memory_mcp.maintenance import Maintenance
from memory_mcp.meaning import Meaning
from memory_mcp.models import utc_now
from memory_mcp.service import MemoryService
from memory_mcp.sessions import Sessions
from memory_mcp.storage import open_store
from memory_mcp.storage.protocol import Store
from memory_mcp.summarizers import AnthropicSummarizer, ExtractiveSummarizer, Summarizer

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UPKEEP_EVERY = timedelta(seconds=30)

AT_ONCE = 20
"""Sessions that are summarized in one round of the upkeep."""

log = logging.getLogger(__name__)


@asynccontextmanager
async def open_memory(
    settings: Settings, *, door: str = "mcp", now: Callable[[], datetime] = utc_now, reads_only: bool = False
) -> AsyncGenerator[MemoryService]:
    """Open the file, begin to load the model, and close both at the end.

    A server (door 'mcp' or 'web') does not wait for the model and looks after the file in the background; a shell
    command waits and leaves; a hook, which a host waits for, only reads, by words, what is there, and so does what
    `reads_only`. Raises `StoreUnavailable` and its kinds.
    """
    serves, glances = door in {"mcp", "web"}, reads_only or door == "hook"
    named = "none" if glances else settings.model
    store = await open_store(settings.db, key=settings.encryption_key(), now=now, reads_only=glances)
    own = await store.file_model()
    embeddings = Embeddings(load_embedder(named or own.name))
    find = None if named else load_embedder
    meaning = Meaning(store, embeddings, patient=not serves, of_file=own, find=find)
    summarizer = _summarizer(settings, store, partial(embeddings.embed, wait=not serves), now)
    memory = MemoryService(
        store,
        meaning,
        embeddings,
        Sessions(store, meaning, summarizer, settings, now, door),
        settings,
        now,
        Finder(store, meaning, settings, now, Accesses()),
        Maintenance(store, meaning, embeddings, now),
        door,
    )
    upkeep = [asyncio.create_task(task) for task in (_upkeep(memory) if serves else ())]
    if serves:
        embeddings.start()
    try:
        yield memory
    finally:
        for task in upkeep:
            task.cancel()
        await asyncio.gather(*upkeep, return_exceptions=True)
        await _close(memory, counts=not glances)


async def _close(memory: MemoryService, *, counts: bool) -> None:
    try:
        if counts:
            await memory.flush()
    except MemoryMcpError as error:  # a recall that was answered is not undone because it could not be counted
        log.warning("Recalls were not counted: %s", error)
    finally:
        await memory.embeddings.close()
        await memory.db.close()


def _summarizer(
    settings: Settings,
    store: Store,
    embed: Callable[[Sequence[str]], Awaitable[NDArray[np.float32]]],
    now: Callable[[], datetime],
) -> Summarizer:
    if settings.summarizer != "anthropic":
        return ExtractiveSummarizer(embed)
    zone = dates.zone(settings.tz)
    budget = DailyBudget(store, settings.anthropic_daily_usd, zone, now)
    return AnthropicSummarizer(settings.anthropic_model, budget, zone)


def _upkeep(memory: MemoryService) -> Iterator[Coroutine[Any, Any, None]]:
    """What a server does besides answering. Sessions are summarized unasked only by an engine somebody chose."""
    yield _repeat(memory.maintain)
    yield _catch_up(memory)
    if memory.settings.summarizer != "host":
        sessions = replace(memory.sessions, door=maintenance.DOOR)
        yield _repeat(partial(sessions.summarize_pending, AT_ONCE, only_due=True))


async def _catch_up(memory: MemoryService) -> None:
    """Make the vectors of what was stored before the model was there, then of what another process left."""
    await memory.embeddings.ready()
    await _repeat(memory.embed_pending)


async def _repeat(due: Callable[[], Awaitable[object]]) -> None:
    """Do what is due, again and again: a failure of one round is logged and must not end the next."""
    while True:
        try:
            await due()
        except MemoryMcpError as error:
            log.warning("Upkeep put off: %s", error)
        await asyncio.sleep(UPKEEP_EVERY.total_seconds())
