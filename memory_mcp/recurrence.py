"""Which of many sentences say nearly the same: groups around a middle, and the closest pairs."""

import heapq
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]
Places = NDArray[np.int64]

BLOCK = 1_000
"""Sentences that are compared with all others at once: 40 MB where there are ten thousand."""

SENTENCES_A_PAIR = 4
"""Close sentences that are looked at for each pair that is asked for: two memories may share several."""


def groups(vectors: Vectors, owners: Places, at_least: float, least: int) -> Iterator[Places]:
    """Give groups of sentences of `least` or more owners, the largest first, each from its middle outwards.

    The middle is the sentence with the most owners that have one within `at_least` (a cosine) of it; each owner is
    there with its nearest, and no sentence is in two groups. `vectors` are unit vectors, a row each, and `owners` go up
    from 0, each next to itself.
    """
    free = np.ones(len(vectors), np.bool_)
    heap = [(-count, place) for count, place in _counts(vectors, owners, at_least, least)]
    heapq.heapify(heap)
    while heap:
        _, middle = heapq.heappop(heap)
        if not free[middle]:
            continue
        cosines = vectors @ vectors[middle]
        near = np.flatnonzero((cosines >= at_least) & free)
        near = near[np.argsort(-cosines[near], kind="stable")]
        group = near[np.sort(np.unique(owners[near], return_index=True)[1])]
        if len(group) < least:
            continue
        if heap and len(group) < -heap[0][0]:  # others may have more left, now that some are taken
            heapq.heappush(heap, (-len(group), middle))
            continue
        free[near] = False
        yield group


def close_pairs(vectors: Vectors, owners: Places, at_least: float, most: int) -> list[tuple[int, int, float]]:
    """Name pairs of owners whose best sentences are within `at_least` of each other, closest first, at most so many."""
    best: dict[tuple[int, int], float] = {}
    for start in range(0, len(vectors), BLOCK):
        cosines = vectors[start : start + BLOCK] @ vectors.T
        own = owners[start : start + BLOCK, None]
        one, other = np.nonzero((cosines >= at_least) & (own < owners))
        closest = _largest(cosines[one, other], SENTENCES_A_PAIR * most)
        for first, second in zip(one[closest].tolist(), other[closest].tolist(), strict=True):
            pair = int(own[first, 0]), int(owners[second])
            best[pair] = max(float(cosines[first, second]), best.get(pair, -1.0))
    ranked = heapq.nsmallest(most, best.items(), key=lambda pair: (-pair[1], pair[0]))
    return [(first, second, cosine) for (first, second), cosine in ranked]


def _counts(vectors: Vectors, owners: Places, at_least: float, least: int) -> Iterator[tuple[int, int]]:
    """Count for each sentence how many owners have one near it, its own among them; gives counts and places.

    Sentences with fewer than `least` near ones are left out.
    """
    begins = np.flatnonzero(np.diff(owners, prepend=-1))
    for start in range(0, len(vectors), BLOCK):
        near = vectors[start : start + BLOCK] @ vectors.T >= at_least
        rows = np.flatnonzero(near.sum(axis=1) >= least)
        for row, count in zip(
            rows.tolist(), np.logical_or.reduceat(near[rows], begins, axis=1).sum(axis=1), strict=True
        ):
            yield int(count), start + row


def _largest(values: Vectors, most: int) -> Places:
    """Find the places of the largest values, in any order."""
    return np.argpartition(-values, most)[:most] if len(values) > most else np.arange(len(values))
