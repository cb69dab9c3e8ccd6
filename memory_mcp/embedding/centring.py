"""What all vectors of a model have in common, and vectors without it: cosines tell little while they all are near 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNRELATED = [
    "The train was late again this morning.",
    "Ken is allergic to buckwheat.",
    "We chose the second offer because it was cheaper.",
    "How long does the warranty last?",
    "The server restarts at midnight.",
    "Her brother repairs bicycles.",
    "明日の会議は三時からです。",
    "猫は窓のそばで眠っている。",
    "新しい鍵は引き出しの中にある。",
    "Der Schlüssel liegt unter der Matte.",
]
"""Texts that have nothing to do with each other. Other texts would give other vectors: they never change."""

SQUEEZED = 0.5
"""Mean cosine of unrelated texts from which the common part is taken out: E5 has about .8, MiniLM and USE under .2."""


def common_part(encode: Callable[[list[str]], NDArray[np.float32]]) -> NDArray[np.float32] | None:
    """Give the mean vector of unrelated texts, shape (dimension,), if it is most of each; None if it is not.

    `encode` turns texts into unit vectors. The squared length of the mean is the mean cosine. On 40 facts in English
    and 40 in Japanese (20 and 19 questions) E5 with it finds the right one first in .45 and .47, without it in .75 and
    .90: relevance divides cosines by a ceiling and knows no floor.
    """
    mean = encode(UNRELATED).mean(axis=0)
    return mean if float(mean @ mean) > SQUEEZED else None


def without(part: NDArray[np.float32] | None, vectors: NDArray[np.float32]) -> NDArray[np.float32]:
    """Take the common part out of unit vectors, shape (n, dimension), and make them unit vectors again."""
    if part is None:
        return vectors
    left = vectors - part
    return left / ((left * left).sum(axis=1, keepdims=True) ** 0.5).clip(1e-9)
