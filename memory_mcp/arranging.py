"""In which order what was found is shown: near-copies and history give way, corrections and conclusions come first."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from memory_mcp.models import Kind, Memory, State
from memory_mcp.retrieval import Ranked
from memory_mcp.tokens import index_tokens

COMPARED = 2_000
"""Characters of each memory that are compared for near-copies; a whole chapter would cost 5 ms."""

RECORDS = frozenset({Kind.TURN, Kind.EPISODE, Kind.DOCUMENT})
"""Kinds that say what happened, or what stands elsewhere: a later one does not correct an earlier one."""

REPEATED, LEAST_WORDS = 0.75, 3
"""Share of a statement's words, if it has so many, that a later one repeats which may correct it. An estimate."""

JUST_ABOVE = 1e-6
"""Enough to come first."""

NEAR_COPY = 0.8
"""Share of common tokens from which a memory gives way to a better one that says the same."""


def arranged(found: Sequence[tuple[Ranked, Memory]], *, past: bool) -> list[tuple[Ranked, Memory]]:
    """Order what was found, best first, so that near-copies and history give way; scores are as they count then.

    With `past` the question is about an earlier time, and what was superseded since is no history but the answer.
    """
    scores = {memory.id: one.score for one, memory in found}
    words = {memory.id: set(index_tokens(memory.content[:COMPARED]).split()) for _, memory in found}
    scores = _conclusions_first(found, scores)
    if not past:
        scores = _latest_first(found, words, _history_last(found, scores))
    order = varied([(scores[memory.id], words[memory.id]) for _, memory in found])
    return [(replace(found[place][0], score=score), found[place][1]) for place, score in order]


def _conclusions_first(found: Sequence[tuple[Ranked, Memory]], scores: Mapping[str, float]) -> dict[str, float]:
    """Let what was concluded from a memory come before it, where it answers too; a summary of it is no conclusion."""
    best = dict(scores)
    for one, memory in found:
        if memory.kind not in RECORDS and one.label != "weak":
            sources = [best[source] for source in memory.derived_from if source in best]
            if sources and max(sources) >= best[memory.id]:
                best[memory.id] = max(sources) + JUST_ABOVE
    return best


def _latest_first(
    found: Sequence[tuple[Ranked, Memory]], words: Mapping[str, set[str]], scores: Mapping[str, float]
) -> dict[str, float]:
    """Let a later statement that repeats most words of an earlier one come before it: it may well be its correction."""
    best = dict(scores)
    statements = [pair for pair in found if pair[1].kind not in RECORDS and len(words[pair[1].id]) >= LEAST_WORDS]
    statements.sort(key=lambda pair: (pair[1].created_at, pair[0].row))
    for place, (_, earlier) in enumerate(statements):
        said = words[earlier.id]
        for _, later in statements[place + 1 :]:
            if len(said & words[later.id]) >= REPEATED * len(said) and best[later.id] <= best[earlier.id]:
                best[later.id] = best[earlier.id] + JUST_ABOVE
    return best


def _history_last(found: Sequence[tuple[Ranked, Memory]], scores: dict[str, float]) -> dict[str, float]:
    """Let what was superseded count half, and what replaced it as much as it: the correction of a match is a match."""
    best, history = dict(scores), {memory.id for _, memory in found if memory.state is State.SUPERSEDED}
    for _, memory in sorted(found, key=lambda pair: pair[0].row):
        if memory.id in history and memory.superseded_by in best:
            best[memory.superseded_by] = max(best[memory.superseded_by], best[memory.id])
    return {memory_id: score / 2 if memory_id in history else score for memory_id, score in best.items()}


def varied(found: Sequence[tuple[float, set[str]]]) -> list[tuple[int, float]]:
    """Order places of (score, words), best first, where a near-copy of a better one counts only half."""
    seen: list[set[str]] = []
    order: list[tuple[int, float]] = []
    for place in sorted(range(len(found)), key=lambda place: -found[place][0]):
        score, tokens = found[place]
        copy = any(_overlap(tokens, other) >= NEAR_COPY for other in seen)
        order.append((place, score / 2 if copy else score))
        seen.append(tokens)
    return sorted(order, key=lambda one: -one[1])


def _overlap(one: set[str], other: set[str]) -> float:
    shared = len(one & other)
    return shared / max(len(one) + len(other) - shared, 1)
