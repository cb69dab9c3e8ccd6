"""When the embedding model is in memory: loaded in the background, shared by all, released when idle."""

from __future__ import annotations

import asyncio
import gc
import threading
import time
from collections.abc import Callable, Generator, Sequence
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Literal

from anyio import to_thread

from memory_mcp.embedding.protocol import Embedder
from memory_mcp.errors import EmbedderUnavailable
from memory_mcp.models import ModelIdentity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

IDLE = timedelta(minutes=10)
RETRY_AFTER = timedelta(minutes=1)

HOP = 32
"""Texts embedded in one thread hop, a tenth of a second: others get a turn, and an exit waits no longer."""

State = Literal["off", "idle", "loading", "ready", "failed", "released"]

OFF = (
    "No embedding model is in use (MEMORY_MCP_MODEL=none, or `memory-mcp models use none`); search goes by words only."
)
EXCHANGED = "The embedding model was exchanged for another one meanwhile; search goes by words only for the moment."
LOADING = "The embedding model is still loading; search goes by words only for the moment."


@dataclass(frozen=True)
class Embedded:
    """Vectors, a row a text, and the model that made them."""

    vectors: NDArray[np.float32]
    model: ModelIdentity


class Embeddings:
    """The one embedding model of this process, or none.

    `load` makes it and may take long; it runs in a daemon thread, never twice at once.
    `clock` counts seconds.
    """

    def __init__(
        self,
        load: Callable[[], Embedder] | None,
        *,
        idle: timedelta = IDLE,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._load = load
        self._idle = idle.total_seconds()
        self._clock = clock
        self._lock = threading.Lock()  # held for field access only, never while loading or embedding
        self._closed = False
        self._model: Future[Embedder] | None = None  # the last attempt; None before it, and once released
        self._identity: ModelIdentity | None = None
        self._calls = 0
        self._used_at = clock()
        self._failed_at = 0.0

    @property
    def state(self) -> State:
        """`off`: none wanted; `idle`: not begun; `released`: unused for long, loaded again by a call."""
        model = self._model
        if self._load is None or self._closed:
            return "off"
        if model is None:
            return "released" if self._identity else "idle"
        if not model.done():
            return "loading"
        return "failed" if model.exception() else "ready"

    @property
    def problem(self) -> str:
        """Why texts are not embedded now, as a sentence for a notice; empty if they are."""
        state, model = self.state, self._model
        if state == "off":
            return OFF
        if state == "failed" and model:
            return str(model.exception())
        return LOADING if state in {"idle", "loading"} and self._identity is None else ""

    @property
    def identity(self) -> ModelIdentity | None:
        """Which model it is; None until it was loaded once, kept after it was released."""
        return self._identity

    def start(self) -> None:
        """Begin to load, unless that was done or failed a moment ago, and return at once."""
        if self._load is not None and not self._closed:
            self._attempt(self._load)

    async def ready(self) -> bool:
        """Wait until the model is there (True), or is known not to come for now (False)."""
        try:
            await self._loaded(wait=True)
        except EmbedderUnavailable:
            return False
        return True

    async def embed(self, texts: Sequence[str], *, query: bool = False, wait: bool = True) -> NDArray[np.float32]:
        """Turn n texts into n unit vectors, shape (n, dimension), as `embedded` does."""
        return (await self.embedded(texts, query=query, wait=wait)).vectors

    async def embedded(self, texts: Sequence[str], *, query: bool = False, wait: bool = True) -> Embedded:
        """Turn texts into unit vectors, in worker threads, and say which model did.

        `wait=False` does not sit out the first load. Loading again after an idle time is always waited for.
        Raises `EmbedderUnavailable` with the reason.
        """
        with self._call():
            model = await self._loaded(wait=wait)
            hops = [texts[start : start + HOP] for start in range(0, len(texts), HOP)] or [texts]
            vectors = [await to_thread.run_sync(partial(model.embed, hop, query=query)) for hop in hops]
        together = vectors[0] if len(vectors) == 1 else import_module("numpy").concatenate(vectors)
        return Embedded(together, model.identity)

    def exchange(self, load: Callable[[], Embedder] | None) -> None:
        """Turn to another model, and begin to load it; calls under way are finished with the one they began with."""
        with self._lock:
            self._load, self._model, self._identity = load, None, None
        gc.collect()  # as in `release_if_idle`
        self.start()

    def release_if_idle(self) -> bool:
        """Give the model's memory back if nothing was embedded for the idle time; True if that was done.

        To be called now and then by whoever looks after the process.
        """
        with self._lock:
            unused = self._calls == 0 and self._clock() - self._used_at >= self._idle
            if not unused or self.state != "ready":
                return False
            self._model = None
        gc.collect()  # its parts refer to each other; without this 110 MB stay
        return True

    async def close(self) -> None:
        """Let go of the model; a load under way is abandoned. Calls after this are refused."""
        with self._lock:
            self._closed = True
            self._model = None

    @contextmanager
    def _call(self) -> Generator[None]:
        with self._lock:
            self._calls += 1
        try:
            yield
        finally:
            with self._lock:
                self._calls -= 1
                self._used_at = self._clock()

    async def _loaded(self, *, wait: bool) -> Embedder:
        if self._load is None or self._closed:
            raise EmbedderUnavailable(OFF)
        model = self._attempt(self._load)
        if not model.done() and not wait and self._identity is None:
            raise EmbedderUnavailable(LOADING)
        try:
            return await asyncio.wrap_future(model)
        except EmbedderUnavailable as error:
            raise EmbedderUnavailable(str(error)) from error  # the attempt's error is shared by its waiters

    def _attempt(self, load: Callable[[], Embedder]) -> Future[Embedder]:
        """Give the attempt that stands, or begin one."""
        with self._lock:
            failed = self.state == "failed" and self._clock() - self._failed_at >= RETRY_AFTER.total_seconds()
            if self._model is None or failed:
                self._model = Future[Embedder]()
                self._model.set_running_or_notify_cancel()  # a cancelled waiter cannot cancel the load
                work = partial(self._fulfil, self._model, load)
                threading.Thread(target=work, name="embedding model", daemon=True).start()
            return self._model

    def _fulfil(self, model: Future[Embedder], load: Callable[[], Embedder]) -> None:
        try:
            embedder = load()
            self._recognise(embedder, load)
        except Exception as error:  # noqa: BLE001 - a thread's outermost edge: every waiting call must hear of it
            self._failed_at = self._clock()
            model.set_exception(_explained(error))
            return
        self._used_at = self._clock()
        model.set_result(embedder)

    def _recognise(self, embedder: Embedder, load: Callable[[], Embedder]) -> None:
        with self._lock:
            if self._load is not load:
                raise EmbedderUnavailable(EXCHANGED)
            if self._identity not in {None, embedder.identity}:
                raise EmbedderUnavailable("The model's files were exchanged. Restart to use the new ones.")
            self._identity = embedder.identity


def _explained(error: Exception) -> EmbedderUnavailable:
    if isinstance(error, EmbedderUnavailable):
        return error
    return EmbedderUnavailable(f"The embedding model does not load: {type(error).__name__}: {error}")
