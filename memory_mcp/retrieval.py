"""How recall ranks what was found: relevance in two forms, a mild prior, and a label that says how well it fits."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

import numpy as np

from memory_mcp import cues, scoring
from memory_mcp.answers import Label, Reasons
from memory_mcp.cues import Cue
from memory_mcp.forms import WEIGHTS, Relevance, View, Weights, relevance
from memory_mcp.scoring import Array
from memory_mcp.storage.values import Evidence

SALIENCE_WEIGHT = 0.075
"""Mild enough that relevance decides: about the difference of one rank among close hits. On the scale of a core."""

STRONG = 0.5
"""Relevance from which a hit is strong: keeps nine of ten answered questions on chats (docs/decisions.md, Labels)."""

WEAK_MEANING, WEAK_RELEVANCE = 0.4, 0.25
"""Below both a hit is weak (same place)."""

RANKED, READ = 100, 50
"""So many of the best candidates are ranked, and so many of these read for the clues in their wording; on chats a
hundred give the same recall, thirty half a point less."""


@dataclass(frozen=True)
class Ranked:
    """One candidate with its score, the parts that explain it, and what the wording of its text may yet add.

    `gate` is how near its core comes to the best one's, 0..1; `scale` what a core is divided by; `is_own` marks a turn
    of the only speaker that the question names.
    """

    row: int
    score: float
    label: Label
    reasons: Reasons
    gate: float = 0.0
    scale: float = 1.0
    is_own: bool = False


def rank(
    evidence: Evidence,
    question: str,
    *,
    ceiling: float,
    now: datetime,
    limit: int = RANKED,
    weights: Weights = WEIGHTS,
) -> list[Ranked]:
    """Order the candidates of a question, best first, at most `limit`.

    `ceiling` is the model's cosine scale; `now` stands on the person's clock, for the days that a question names.
    """
    if not len(evidence.rows):
        return []
    view = View(evidence, question, ceiling)
    fit = relevance(view, question, weights, now.tzinfo or UTC)
    total, priors = fit.total, _salience(evidence, now)
    scores = total + SALIENCE_WEIGHT * priors / fit.scale
    order = np.lexsort((-evidence.rows, -evidence.created_at, -scores))
    order = order[(evidence.eligible & (total > 0))[order]][:limit].tolist()
    best = max((fit.core[place] for place in order), default=0.0)
    return [
        Ranked(
            row=int(evidence.rows[place]),
            score=float(scores[place]),
            label=_label(float(fit.isolated[place]), float(view.meaning[place])),
            reasons=_reasons(view, fit, place, float(priors[place])),
            gate=float((fit.core[place] / best) ** 2) if best > 0 else 0.0,
            scale=float(fit.scale[place]),
            is_own=bool(fit.speaker[place] > 0),
        )
        for place in order
    ]


def _reasons(view: View, fit: Relevance, place: int, salience: float) -> Reasons:
    return Reasons(
        meaning=float(view.meaning[place]),
        words=float(view.words[place]),
        neighbours=float(fit.neighbours[place]),
        speaker=float(fit.speaker[place]),
        asks=float(fit.asks[place]),
        date=float(fit.date[place]),
        salience=salience,
    )


def sharpened(
    ranked: Sequence[Ranked],
    texts: Mapping[int, str],
    clues: Sequence[Cue],
    speakers: Collection[str],
    weights: Weights = WEIGHTS,
) -> list[Ranked]:
    """Rank anew by the wording of texts (by row): the clues of the question, and how much a speaker tells of himself.

    `speakers` are all that the candidates have, casefolded: their names are no answer to "who".
    """
    read = [_worded(one, texts.get(one.row, ""), clues, speakers, weights) for one in ranked]
    return sorted(read, key=lambda one: -one.score)


def _worded(one: Ranked, text: str, clues: Sequence[Cue], speakers: Collection[str], weights: Weights) -> Ranked:
    shown = weights.cues * one.gate * cues.answered(clues, text, speakers) / one.scale
    own = weights.own_words * cues.first_person(text) / one.scale if one.is_own else 0.0
    if not shown + own:
        return one
    reasons = replace(one.reasons, cues=shown, speaker=one.reasons.speaker + own)
    return replace(one, score=one.score + shown + own, reasons=reasons)


def _salience(evidence: Evidence, now: datetime) -> Array:
    """How much each memory matters by itself: importance x decay x reinforcement, 0..1.5."""
    ages = (now.timestamp() - evidence.created_at / 1000) / scoring.DAY.total_seconds()
    fading = scoring.decay(ages, evidence.kinds)
    return evidence.importance * fading * scoring.reinforcement(evidence.used, evidence.ratings)


def _label(relevance: float, similarity: float) -> Label:
    if relevance >= STRONG:
        return "strong"
    return "weak" if similarity < WEAK_MEANING and relevance < WEAK_RELEVANCE else "fair"
