"""How recall ranks what was found: two forms of relevance, chosen by what a memory is, and a mild prior."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from memory_mcp import scoring
from memory_mcp.answers import Label
from memory_mcp.models import Kind, Memory, State
from memory_mcp.scoring import Array
from memory_mcp.storage.values import Evidence
from memory_mcp.tokens import index_tokens

SALIENCE_WEIGHT = 0.05
"""Mild enough that relevance decides: about the difference of one rank among close hits."""

STRONG = 0.58
"""Relevance from which a hit is strong: keeps nine of ten answered questions on chats (docs/decisions.md, Labels)."""

WEAK_MEANING, WEAK_RELEVANCE = 0.4, 0.25
"""Below both a hit is weak (same place)."""

COMPARED = 2_000
"""Characters of each memory that are compared for near-copies; a whole chapter would cost 5 ms."""

TOLD = frozenset({Kind.TURN, Kind.EPISODE, Kind.DOCUMENT})
"""Kinds that say what happened, or what stands elsewhere: a later one does not correct an earlier one."""

REPEATED, LEAST_WORDS, JUST_ABOVE = 0.75, 3, 1e-6

NEAR_COPY = 0.8
"""Share of common tokens from which a memory gives way to a better one that says the same."""


@dataclass(frozen=True)
class Ranked:
    """One candidate with its score and the parts that explain it."""

    row: int
    score: float
    label: Label
    meaning: float
    words: float
    salience: float


def rank(evidence: Evidence, question: str, *, ceiling: float, now: datetime, limit: int = 100) -> list[Ranked]:
    """Order the candidates of a question, best first, at most `limit`. `ceiling` is the model's cosine scale."""
    if not len(evidence.rows):
        return []
    view = _View(evidence, question, ceiling)
    alone = 0.53 * view.meaning + 0.47 * view.words
    relevance = np.where(evidence.is_turn, _dialogue(view), alone)
    priors = _salience(evidence, now)
    scores = relevance + SALIENCE_WEIGHT * priors
    order = np.lexsort((-evidence.rows, -evidence.created_at, -scores))
    order = order[(evidence.eligible & (relevance > 0))[order]][:limit]
    return [
        Ranked(
            row=int(evidence.rows[i]),
            score=float(scores[i]),
            label=_label(float(alone[i]), float(view.meaning[i])),
            meaning=float(view.meaning[i]),
            words=float(view.words[i]),
            salience=float(priors[i]),
        )
        for i in order
    ]


class _View:
    """The evidence on absolute scales, with each turn's neighbours at hand."""

    def __init__(self, evidence: Evidence, question: str, ceiling: float) -> None:
        self.evidence = evidence
        self.average = evidence.tokens_in_all / max(evidence.memories, 1)
        self.weights = scoring.term_weights(evidence.frequencies, evidence.memories)
        self.shares = scoring.saturation(evidence.counts, evidence.tokens, self.average)
        self.meaning = scoring.meaning(evidence.cosine, ceiling)
        self.words = scoring.coverage(self.weights, self.shares)
        self.named = _named_speakers(question, evidence.speakers)
        self.around = {step: scoring.neighbours(evidence.sessions, evidence.sequences, step) for step in (-2, -1, 1, 2)}

    def window(self) -> Array:
        """Coverage where a term may also stand near by: each term's best of the turn (1), its neighbours (.6, .36)."""
        best = self.shares
        for step, weight in ((-1, 0.6), (1, 0.6), (-2, 0.36), (2, 0.36)):
            best = np.maximum(best, weight * scoring.shifted(self.shares, self.around[step]))
        return scoring.coverage(self.weights, best)

    def context(self) -> Array:
        """Coverage of a turn and its two neighbours taken as one text."""
        counts, tokens, parts = self.evidence.counts, self.evidence.tokens, np.ones(len(self.evidence.rows))
        for step in (-1, 1):
            counts = counts + scoring.shifted(self.evidence.counts, self.around[step])
            tokens = tokens + scoring.shifted(self.evidence.tokens, self.around[step])
            parts = parts + (self.around[step] >= 0)
        return scoring.coverage(self.weights, scoring.saturation(counts, tokens / parts, self.average))


def _dialogue(view: _View) -> Array:
    """Relevance of turns, on the scale of memories that stand alone.

    core = .4 meaning + .7 window + max over the neighbours of (.5 meaning + .6 context); + .4 where the only speaker
    that the question names wrote the turn; - .15 where the turn itself asks; all / 2.1 (docs/decisions.md, Retrieval
    forms and weights: rounded by hand, without what is bound to English).
    """
    near = 0.5 * view.meaning + 0.6 * view.context()
    beside = np.maximum(scoring.shifted(near, view.around[-1]), scoring.shifted(near, view.around[1]))
    core = 0.4 * view.meaning + 0.7 * view.window() + beside
    spoken = np.array([speaker.casefold() in view.named for speaker in view.evidence.speakers], np.float64)
    return (core + (0.4 * spoken if len(view.named) == 1 else 0.0) - 0.15 * view.evidence.asks) / 2.1


def _named_speakers(question: str, speakers: Sequence[str]) -> set[str]:
    """Which of the speakers the question names, by their whole name or its first word; casefolded whole names."""
    words = set(index_tokens(question).split())
    known = {speaker.casefold() for speaker in speakers if speaker}
    return {name for name in known if set(index_tokens(name).split()[:1]) & words}


def _salience(evidence: Evidence, now: datetime) -> Array:
    """How much each memory matters by itself: importance x decay x reinforcement, 0..1.5."""
    ages = (now.timestamp() - evidence.created_at / 1000) / scoring.DAY.total_seconds()
    fading = scoring.decay(ages, evidence.kinds)
    return evidence.importance * fading * scoring.reinforcement(evidence.used, evidence.ratings)


def _label(relevance: float, similarity: float) -> Label:
    if relevance >= STRONG:
        return "strong"
    return "weak" if similarity < WEAK_MEANING and relevance < WEAK_RELEVANCE else "fair"


def arranged(found: Sequence[tuple[Ranked, Memory]], *, past: bool) -> list[tuple[Ranked, Memory]]:
    """Order what was found, best first, so that near-copies and history give way; scores are as they count then.

    With `past` the question is about an earlier time, and what was superseded since is no history but the answer.
    """
    scores = {memory.id: one.score for one, memory in found}
    words = {memory.id: set(index_tokens(memory.content[:COMPARED]).split()) for _, memory in found}
    if not past:
        scores = _latest_first(found, words, _history_last(found, scores))
    order = varied([(scores[memory.id], words[memory.id]) for _, memory in found])
    return [(replace(found[place][0], score=score), found[place][1]) for place, score in order]


def _latest_first(
    found: Sequence[tuple[Ranked, Memory]], words: Mapping[str, set[str]], scores: Mapping[str, float]
) -> dict[str, float]:
    """Let a later statement that repeats most words of an earlier one come before it: it may well be its correction."""
    best = dict(scores)
    stated = [pair for pair in found if pair[1].kind not in TOLD and len(words[pair[1].id]) >= LEAST_WORDS]
    stated.sort(key=lambda pair: (pair[1].created_at, pair[0].row))
    for place, (_, earlier) in enumerate(stated):
        said = words[earlier.id]
        for _, later in stated[place + 1 :]:
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
