"""How recall ranks what was found: two forms of relevance, chosen by what a memory is, and a mild prior."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np

from memory_mcp import scoring
from memory_mcp.models import Label
from memory_mcp.scoring import Array
from memory_mcp.storage.protocol import Evidence
from memory_mcp.tokens import index_tokens

SALIENCE_WEIGHT = 0.05
"""Mild enough that relevance decides: about the difference of one rank among close hits."""

STRONG = 0.58
"""Relevance from which a hit is strong: keeps nine of ten answered questions on chats (research, retrieval 5.4)."""

WEAK_MEANING, WEAK_RELEVANCE = 0.4, 0.25
"""Below both a hit is weak (the medians of unanswerable questions on short facts, same place)."""

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


def rank(evidence: Evidence, question: str, *, ceiling: float, now: datetime, limit: int = 200) -> list[Ranked]:
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
    that the question names wrote the turn; - .15 where the turn itself asks; all / 2.1 (beyond.md sections 2 and 3:
    hand weights, without what is bound to English).
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


def varied(found: Sequence[tuple[float, str]]) -> list[int]:
    """Order places of (score, text), best first, where a near-copy of a better one counts only half."""
    seen: list[set[str]] = []
    order: list[tuple[float, int]] = []
    for place in sorted(range(len(found)), key=lambda place: -found[place][0]):
        score, text = found[place]
        tokens = set(index_tokens(text).split())
        copy = any(_overlap(tokens, other) >= NEAR_COPY for other in seen)
        order.append((-score / 2 if copy else -score, place))
        seen.append(tokens)
    return [place for _, place in sorted(order)]


def _overlap(one: set[str], other: set[str]) -> float:
    return len(one & other) / max(len(one | other), 1)
