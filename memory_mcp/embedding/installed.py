"""Which sentence-transformers models are on this machine, found without importing that library."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

ORGANISATION = "sentence-transformers/"
"""Models of this organisation are loaded by their bare names too."""

MARKS = ("modules.json", "config_sentence_transformers.json")
"""Files by which a folder says that it holds a model of the library, one of them enough."""


@dataclass(frozen=True)
class Installed:
    """A model in the library's cache: the name by which it is loaded, its folder, and the bytes of its weights."""

    name: str
    folder: Path
    size: int


def has_library(name: str = "sentence_transformers") -> bool:
    """Whether a library is there; importing it would take seconds."""
    return find_spec(name) is not None


def installed(environ: Mapping[str, str], home: Path) -> list[Installed]:
    """List the models in the hub's cache, by their names.

    The cache's layout is that of huggingface_hub: `models--OWNER--NAME/snapshots/COMMIT/`, and the commit in
    `refs/main`. Where it lies: HF_HUB_CACHE, else HF_HOME/hub, else XDG_CACHE_HOME/huggingface/hub, else ~/.cache.
    """
    return sorted(_found(cache_folder(environ, home)), key=lambda one: one.name)


def is_cached(repository: str, environ: Mapping[str, str], home: Path) -> bool:
    """Whether the hub's cache holds anything of OWNER/NAME."""
    folder = cache_folder(environ, home) / f"models--{repository.replace('/', '--')}"
    return any(folder.glob("snapshots/*"))


def holds_model(folder: Path) -> bool:
    """Whether a folder says that it holds a model, of the library or of transformers, which the library loads too."""
    return any((folder / mark).is_file() for mark in (*MARKS, "config.json"))


def cache_folder(environ: Mapping[str, str], home: Path) -> Path:
    """Say where the hub's cache lies, whether it is there or not."""
    if own := environ.get("HF_HUB_CACHE") or environ.get("HUGGINGFACE_HUB_CACHE"):
        return Path(own).expanduser()
    caches = environ.get("XDG_CACHE_HOME") or home / ".cache"
    return Path(environ.get("HF_HOME") or Path(caches) / "huggingface").expanduser() / "hub"


def weights(folder: Path) -> list[Path]:
    """Find the files of weights in a model's folder, in the order of their names; none in one that holds no model."""
    for pattern in ("*.safetensors", "*.bin"):
        if files := sorted(folder.rglob(pattern)):
            return files
    return []


def _found(cache: Path) -> Iterator[Installed]:
    for repository in cache.glob("models--*--*"):
        try:
            commit = (repository / "refs" / "main").read_text().strip()
            folder = repository / "snapshots" / os.path.basename(commit)  # noqa: PTH119 - never out of the cache
            if not any((folder / mark).is_file() for mark in MARKS):
                continue
            size = sum(file.stat().st_size for file in weights(folder))
        except (OSError, UnicodeDecodeError):  # half a download, or somebody else's folder
            continue
        if size:
            name = "/".join(repository.name.split("--", 2)[1:])
            yield Installed(name.removeprefix(ORGANISATION), folder, size)
