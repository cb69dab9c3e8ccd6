"""Any model of the sentence-transformers library, by its name or its folder, without a network."""

from __future__ import annotations

import hashlib
import math
import os
import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Protocol, cast

from memory_mcp.embedding.centring import common_part, without
from memory_mcp.embedding.installed import has_library, holds_model, is_cached, weights
from memory_mcp.embedding.naming import repository, unknown
from memory_mcp.embedding.parts import embed_by_parts
from memory_mcp.errors import EmbedderUnavailable
from memory_mcp.models import ModelIdentity

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BATCH = 32
"""Texts a forward pass. Larger batches are not faster on a processor, they only take more memory."""

CEILINGS = {"53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db": 0.63}
"""The cosine of full agreement by checksum of the weights, where it was measured: all-MiniLM-L6-v2."""

_SEARCH_PASSAGES = "Represent this sentence for searching relevant passages: "
_WEB_SEARCH = "Instruct: Given a web search query, retrieve relevant passages that answer the query\nQuery:"

_PREFIXES = (
    (r"(^|[/-])e5-(small|base|large)(?!.*instruct)", "query: ", "passage: "),
    (r"bge-(small|base|large)-en", _SEARCH_PASSAGES, ""),
    (r"bge-(small|base|large)-zh", "为这个句子生成表示以用于检索相关文章：", ""),
    (r"mxbai-embed-large", _SEARCH_PASSAGES, ""),
    (r"snowflake-arctic-embed-(xs|s|m|l)(-long|-v1\.5)?$", _SEARCH_PASSAGES, ""),
    (r"snowflake-arctic-embed-[ml]-v2", "query: ", ""),
    (r"nomic-embed-text", "search_query: ", "search_document: "),
    (r"ruri-v3", "検索クエリ: ", "検索文書: "),
    (r"ruri-(small|base|large)", "クエリ: ", "文章: "),
    (r"embeddinggemma", "task: search result | query: ", "title: none | text: "),
    (r"qwen3-embedding", _WEB_SEARCH, ""),
)
"""(name, before questions, before texts) for families whose model cards ask for it.

From the cards of intfloat/e5-* and multilingual-e5-*, BAAI/bge-*-en and -zh (v1.5 too; bge-m3 wants nothing),
mixedbread-ai/mxbai-embed-large-v1, Snowflake/snowflake-arctic-embed-* (v2.0 shorter), nomic-ai/nomic-embed-text-*
(v1, v1.5, v2-moe), cl-nagoya/ruri-* (v1 and v2 alike, v3 by task), google/embeddinggemma-300m and
Qwen/Qwen3-Embedding-*. Newer ones also say so in their own files, which count first. thenlper/gte-* and
jinaai/jina-embeddings-v2-* want nothing.
Code that a model brings is never run: one that the library does not know by itself does not load.
"""

WITHOUT_LIBRARY = (
    "A model of this kind needs the extra `sentence-transformers` (with torch, about 3 GB on Linux):"
    " pip install '.[sentence-transformers]' in the clone of this package. `universal` is built in."
)


class _Model(Protocol):
    """What is used of `sentence_transformers.SentenceTransformer`, which is not there by default."""

    max_seq_length: float | None
    tokenizer: Any
    prompts: dict[str, str]

    def get_embedding_dimension(self) -> int | None: ...

    def encode(self, inputs: list[str], **options: Any) -> NDArray[np.float32]: ...


@dataclass(frozen=True)
class Prefixes:
    """What a model wants before a question and before a text."""

    query: str = ""
    text: str = ""


@dataclass(frozen=True)
class SentenceTransformersEmbedder:
    """A loaded model. One call at a time: the tokenizers of this library may not be shared by threads."""

    model: _Model
    identity: ModelIdentity
    prefixes: Prefixes
    common: NDArray[np.float32] | None = None
    _turn: threading.Lock = field(default_factory=threading.Lock)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        """Embed n texts to unit vectors, shape (n, dimension); long ones by parts."""
        prefix = self.prefixes.query if query else self.prefixes.text
        if not texts:
            return import_module("numpy").empty((0, self.identity.dimension), dtype="float32")
        try:
            with self._turn:
                return embed_by_parts(
                    texts, fits=lambda text: self._fits(prefix + text), encode=partial(self._encode, prefix)
                )
        except (LookupError, RuntimeError, ValueError) as error:
            raise EmbedderUnavailable(f"{self.identity.name} failed ({type(error).__name__}).") from error

    def _encode(self, prefix: str, texts: list[str]) -> NDArray[np.float32]:
        vectors = self.model.encode(
            texts, prompt=prefix, batch_size=BATCH, normalize_embeddings=True, show_progress_bar=False
        )
        return without(self.common, vectors)

    def _fits(self, text: str) -> bool:
        window = self.model.max_seq_length
        if window is None or math.isinf(window):  # static models read any length, by another tokenizer
            return True
        return len(self.model.tokenizer(text, truncation=False, verbose=False)["input_ids"]) <= window


def load_sentence_transformer(name: str) -> SentenceTransformersEmbedder:
    """Load a model that is on this machine: a folder, or a name in the library's cache. It runs on the CPU.

    Raises `EmbedderUnavailable` saying what to install or to set. Never downloads.
    """
    folder = _locate(name)  # before the library, whose import takes seconds
    if not holds_model(folder):
        raise EmbedderUnavailable(f"{folder} holds no model: neither a modules.json nor a config.json is in it.")
    library = _library()
    import_module("transformers.utils.logging").disable_progress_bar()  # it would stand in a server's log
    try:
        model = cast(
            "_Model",
            library.SentenceTransformer(str(folder), device="cpu", local_files_only=True, trust_remote_code=False),
        )
    except (OSError, ValueError, RuntimeError) as error:
        raise EmbedderUnavailable(f"The model in {folder} cannot be loaded: {error}") from error
    dimension = model.get_embedding_dimension()
    if dimension is None:
        raise EmbedderUnavailable(f"The model in {folder} does not say how long its vectors are.")
    checksum = _checksum(folder)
    by_folder = Path(name).expanduser().is_dir()
    known_as = folder.name if by_folder else name
    prefixes = prefixes_for(known_as, model.prompts)
    ceiling = CEILINGS.get(checksum, ModelIdentity.ceiling)
    identity = ModelIdentity(
        known_as, checksum, dimension, ceiling, prefixes.text, folder=str(folder) if by_folder else ""
    )
    embedder = SentenceTransformersEmbedder(model, identity, prefixes)
    _try(embedder, folder)
    return replace(embedder, common=common_part(embedder.embed))


def checksum_of(name: str) -> str:
    """Give the SHA-256 of the weights of a model on this machine. Raises `EmbedderUnavailable`."""
    return _checksum(_locate(name))


def _try(embedder: SentenceTransformersEmbedder, folder: Path) -> None:
    """Embed one text: weights that were cut or mixed up give another number of numbers, or none."""
    [vector] = embedder.embed(["Is anybody there?"])
    promised = embedder.identity.dimension
    if len(vector) != promised:
        raise EmbedderUnavailable(f"The model in {folder} promises {promised} numbers a text and gives {len(vector)}.")
    if not abs(float(vector @ vector) - 1) < 0.01:
        raise EmbedderUnavailable(f"The model in {folder} gives no usable numbers: its weights are damaged.")


def prefixes_for(name: str, prompts: dict[str, str]) -> Prefixes:
    """Take the prefixes that a model's own files name, else those that are known for its family."""
    own = Prefixes(prompts.get("query", ""), prompts.get("document") or prompts.get("passage", ""))
    if own != Prefixes():
        return own
    for pattern, query, text in _PREFIXES:
        if re.search(pattern, name, re.IGNORECASE):
            return Prefixes(query, text)
    return own


def _library() -> ModuleType:
    try:
        return import_module("sentence_transformers")
    except ImportError as error:
        raise EmbedderUnavailable(WITHOUT_LIBRARY) from error


def _locate(name: str) -> Path:
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder.resolve()
    owned = repository(name)
    if not owned or not is_cached(owned, os.environ, Path.home()):
        needs = "" if has_library() else f" {WITHOUT_LIBRARY}"
        raise EmbedderUnavailable(unknown(name, needs))
    try:
        hub = import_module("huggingface_hub")
    except ImportError as error:
        raise EmbedderUnavailable(WITHOUT_LIBRARY) from error
    try:
        return Path(hub.snapshot_download(owned, local_files_only=True))
    except (OSError, ValueError) as error:
        raise EmbedderUnavailable(unknown(name)) from error


def _checksum(folder: Path) -> str:
    """SHA-256 of the file of weights; where it is split, of all of them in the order of their names."""
    files = weights(folder)
    if not files:
        raise EmbedderUnavailable(f"{folder} holds no weights (*.safetensors or *.bin).")
    digest = hashlib.sha256()
    for path in files:
        with path.open("rb") as file:
            while block := file.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()
