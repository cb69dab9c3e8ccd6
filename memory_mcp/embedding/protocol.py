"""What every embedding model offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from memory_mcp.models import ModelIdentity

if TYPE_CHECKING:  # numpy takes 0.1 s to import, and a handshake must not wait for it
    import numpy as np
    from numpy.typing import NDArray


class Embedder(Protocol):
    """A loaded model. Its methods block and may be called from any thread."""

    @property
    def identity(self) -> ModelIdentity:
        """Name, checksum of the weights, dimension and cosine scale."""
        ...

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Turn n texts into n unit vectors, shape (n, dimension).

        A text longer than the model's window is embedded by parts and averaged, never cut. `query` adds the
        prefix that some models want for questions. Raises `EmbedderUnavailable`.
        """
        ...
