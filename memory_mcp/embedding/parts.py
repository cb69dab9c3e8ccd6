"""How a text of any length becomes one vector of a model that reads only so much at a time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def embed_by_parts(
    texts: Sequence[str],
    *,
    fits: Callable[[str], bool],
    encode: Callable[[list[str]], NDArray[np.float32]],
) -> NDArray[np.float32]:
    """Embed n texts, n >= 1, to n unit vectors; one that does not fit is the normalised mean of its parts.

    `encode` turns any number of fitting texts into as many unit vectors. Lone surrogates, which no tokenizer
    reads, count as question marks.
    """
    parts = [split_to_fit(text.encode("utf-8", "replace").decode(), fits) for text in texts]
    vectors = encode([part for of_text in parts for part in of_text])
    if len(vectors) == len(parts):
        return vectors
    np = import_module("numpy")
    starts = np.cumsum([0, *(len(of_text) for of_text in parts[:-1])])
    sums = np.add.reduceat(vectors, starts, axis=0)
    return sums / np.maximum(np.linalg.norm(sums, axis=1, keepdims=True), np.finfo(np.float32).tiny)


def split_to_fit(text: str, fits: Callable[[str], bool]) -> list[str]:
    """Halve a text, at a space where one is near the middle, until every part fits. Nothing of it is lost."""
    if len(text) < 2 or fits(text):
        return [text]
    space = text.rfind(" ", len(text) // 4, len(text) // 2)
    middle = space if space > 0 else len(text) // 2
    return split_to_fit(text[:middle], fits) + split_to_fit(text[middle:], fits)
