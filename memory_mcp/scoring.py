"""The arithmetic of recall: coverage, meaning, decay, salience. Pure functions over arrays; no clock, no database."""

from collections.abc import Sequence
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from memory_mcp.models import Kind

Array = NDArray[np.float64]
Places = NDArray[np.int64]

# How fast a memory fades, by kind (docs/decisions.md, Lifetimes and half-lives). Kinds that are not named do not fade.
HALF_LIVES: dict[str, timedelta] = {
    Kind.PREFERENCE: timedelta(days=365),
    Kind.DECISION: timedelta(days=180),
    Kind.METRIC: timedelta(days=30),
    Kind.EPISODE: timedelta(days=14),
    Kind.TURN: timedelta(days=14),
    Kind.PATTERN: timedelta(days=365),
    Kind.LESSON: timedelta(days=365),
}

DAY = timedelta(days=1)


def term_weights(frequencies: Places, memories: int) -> Array:
    """Weigh terms by rarity: ln((N - n + .5) / (n + .5)), at least 1e-6; a term nobody holds counts as n = 0.

    BM25's idf as SQLite's FTS5 computes it, with its floor.
    """
    n = frequencies.astype(np.float64)
    return np.maximum(np.log((memories - n + 0.5) / (n + 0.5)), 1e-6)


def saturation(counts: Array, tokens: Array, average: float) -> Array:
    """Let repeated terms count less: 2.2 tf / (tf + 1.2 (.25 + .75 length / average)), BM25 with k1 = 1.2, b = .75."""
    length = 0.25 + 0.75 * tokens / max(average, 1e-9)
    return 2.2 * counts / (counts + 1.2 * length)


def coverage(weights: Array, shares: Array) -> Array:
    """Share of what the question's terms could score: sum of weight x share over the sum of weights, at most 1.2.

    `weights` has a value a term, `shares` a row a term and a column a memory. Zeros where there is no term.
    """
    covered: Array = np.matmul(weights, shares)
    total = float(weights.sum())
    return np.minimum(covered / total, 1.2) if total > 0 else np.zeros_like(covered)


def meaning(cosines: Array, ceiling: float) -> Array:
    """Map cosines to an absolute scale: cosine / ceiling in 0..1.3; 0 where there is no vector.

    A fixed map per model costs nothing against a per-question one (docs/decisions.md, Embedding model).
    """
    return np.clip(np.nan_to_num(cosines) / ceiling, 0.0, 1.3)


def neighbours(sessions: Places, sequences: Places, step: int) -> Places:
    """Find for each turn the index of the one `step` places further in its session; -1 where there is none."""
    places = (sessions << 32) | sequences
    order = np.argsort(places)
    wanted = places + step
    found = order[np.clip(np.searchsorted(places, wanted, sorter=order), 0, len(places) - 1)]
    return np.where((sequences > 0) & (sequences + step > 0) & (places[found] == wanted), found, -1)


def shifted(values: Array, places: Places) -> Array:
    """Take along the last axis what stands at `places`; 0 where a place is -1."""
    return np.where(places >= 0, values[..., places], 0.0) if values.shape[-1] else values


def decay(ages: Array, kinds: Sequence[str]) -> Array:
    """Fade with age in days: 1 when new, 1/2 after the kind's half-life; always 1 for kinds that do not fade."""
    half_lives = np.array([HALF_LIVES[kind] / DAY if kind in HALF_LIVES else np.inf for kind in kinds], np.float64)
    return 0.5 ** (np.maximum(ages, 0.0) / half_lives)


def reinforcement(used: Places, ratings: Places) -> Array:
    """Grow slowly with use and with ratings: 1 + .1 ln(1 + used) + .1 rating, within .5 .. 1.5."""
    return np.clip(1.0 + 0.1 * np.log1p(used) + 0.1 * ratings, 0.5, 1.5)
