"""Embedding models, and which of them a setting names."""

from collections.abc import Callable
from functools import partial

from memory_mcp.embedding.loading import Embeddings
from memory_mcp.embedding.protocol import Embedder
from memory_mcp.embedding.sentence_transformers import load_sentence_transformer
from memory_mcp.embedding.universal import load_universal
from memory_mcp.errors import InvalidInput

__all__ = ["Embedder", "Embeddings", "load_embedder"]


def load_embedder(name: str) -> Callable[[], Embedder] | None:
    """Say how to load the model that MEMORY_MCP_MODEL names; None for `none`. Loads nothing yet.

    Anything but `universal`, `none` and `english` is a name or folder of a sentence-transformers model.
    Raises `InvalidInput`.
    """
    if name == "none":
        return None
    if name == "universal":
        return load_universal
    if name == "english":
        raise InvalidInput(
            "MEMORY_MCP_MODEL=english arrives in a later version. Use `universal`, which reads English too."
        )
    return partial(load_sentence_transformer, name)
