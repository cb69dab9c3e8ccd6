"""How well each candidate fits a question: one small function a term, in two forms chosen by what a memory is.

    dialogue  core = .4 meaning + .7 window + neighbours    a turn, lifted by its neighbours; where no word of the
                                                            question stands near, .5 meaning, and .4 is lent
              s    = core + .4 speaker - .15 asks
    isolated  s    = core = .8 meaning + .7 words           everything else
    both      s   += .6 date, and, where the text was read (`retrieval.sharpened`),
                   + gate cues + .15 own words              gate = (core / the best core)^2
              score = s / scale                             by kind: `SCALES`

The family of rules and its weights come from LoCoMo's conversations and are rounded by hand; what each part is worth,
what they reach out of fold, and why the scales are these, stands in docs/decisions.md, Retrieval forms and weights.
Facts treated as a dialogue are ruined, hence the two forms; an ungated clue lifts short facts that happen to hold a
name, hence the gate; chats and documents hold so many words that on one scale they would crowd out the facts, hence
the scales.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo

import numpy as np

from memory_mcp import dates, scoring
from memory_mcp.mentioned import Mentioned, mentioned
from memory_mcp.models import Kind
from memory_mcp.scoring import Array
from memory_mcp.storage.values import Evidence
from memory_mcp.tokens import index_tokens

NEIGHBOURS = ((-1, 0.6), (1, 0.6), (-2, 0.36), (2, 0.36))
"""Places of neighbours, in turns away, and how much a question's term counts that stands there."""


@dataclass(frozen=True)
class Weights:
    """What each term counts. `benchmarks/weights.py` fits them, leaving one conversation out."""

    meaning: float = 0.4
    window: float = 0.7
    neighbour_meaning: float = 0.5
    neighbour_words: float = 0.6
    wordless_meaning: float = 0.5  # in place of `meaning` and `neighbour_meaning`, where no word stands near
    wordless_neighbour: float = 0.4
    speaker: float = 0.4
    asks: float = 0.15
    date: float = 0.6
    cues: float = 1.0
    own_words: float = 0.15
    isolated_meaning: float = 0.8
    isolated_words: float = 0.7


WEIGHTS = Weights()

SCALE, SCALES = 1.5, {Kind.TURN: 3.4, Kind.EPISODE: 2.8, Kind.DOCUMENT: 2.1}
"""What a sum is divided by, by kind, so that kinds compare.

1.5 is the most that the isolated form reaches by full agreement. In a store of a chat, its episodes and 80 facts, turns
lose .7 points of recall@10 with these; with 2.1 for turns, the most that their core reaches, English facts lose ten
points of recall@1 or more; with 2.1 for episodes turns lose five, and with 3.6 a single episode is hardly found. A part
of a document has many sentences, of which the best one counts; with 2.1 facts beside 117 of them are found first as
often as by themselves, with 1.5 English ones lose 12 points.
"""

WORDLESS = 0.05
"""Coverage up to which no word counts as near: of a question in another language or in quite other words.

Then meaning decides alone, and a turn must not outrank the one that it borrows from: on LoCoMo (five) without any words
recall@10 is .676 so and .659 with the usual weights (+1.7 [0.4, 3.1]); with words it stays as it is.
"""

WORDLESS_SCALE = 2.1
"""That of turns where none stands near a word of the question: words fill the usual one. Facts lose nothing by it
beside a chat (English 20 questions, Japanese 19, each asked of five stores); at 1.5 they lose 2 and 6 points of
recall@1.
"""

EARLIEST, LATEST = (round(datetime(year, 1, 1, tzinfo=UTC).timestamp()) * 1000 for year in (1, 9999))
"""Milliseconds since 1970 that certainly are a date."""


class View:
    """The evidence on absolute scales, with the places of each turn's neighbours; arrays of n candidates, t terms."""

    def __init__(self, evidence: Evidence, question: str, ceiling: float) -> None:
        self.evidence = evidence
        self.average = evidence.tokens_in_all / max(evidence.memories, 1)
        self.weights = scoring.term_weights(evidence.frequencies, evidence.memories)
        self.shares = scoring.saturation(evidence.counts, evidence.tokens, self.average)
        self.meaning = scoring.meaning(evidence.cosine, ceiling)
        self.words = scoring.coverage(self.weights, self.shares)
        self.named = named_speakers(question, evidence.speakers)
        self.neighbours = {
            step: scoring.neighbours(evidence.sessions, evidence.sequences, step) for step, _ in NEIGHBOURS
        }


@dataclass(frozen=True)
class Relevance:
    """How well each of n candidates fits, term by term; `core` and what is added to it are on the scale of all."""

    core: Array
    neighbours: Array  # what a turn's neighbours lend it, part of its core
    speaker: Array
    asks: Array  # 0 or less: the turn itself asks
    date: Array
    isolated: Array  # the isolated form, for every candidate: labels are on its scale
    scale: Array

    @property
    def total(self) -> Array:
        """All terms together."""
        return self.core + self.speaker + self.asks + self.date


def relevance(view: View, question: str, weights: Weights, zone: tzinfo) -> Relevance:
    """Measure every candidate by the form that its kind asks for; days are those of the person's zone."""
    turns = view.evidence.is_turn
    near, joint = window(view), joined(view)
    wordless = (near <= WORDLESS) & (best_neighbour(view, joint) <= WORDLESS)
    own = np.where(wordless, weights.wordless_meaning, weights.meaning) * view.meaning
    lent = np.where(
        wordless,
        best_neighbour(view, weights.wordless_neighbour * view.meaning),
        best_neighbour(view, weights.neighbour_meaning * view.meaning + weights.neighbour_words * joint),
    )
    dialogue = own + weights.window * near + lent
    isolated = weights.isolated_meaning * view.meaning + weights.isolated_words * view.words
    scale = scales(view.evidence.kinds, wordless=bool(wordless[turns].all()))
    return Relevance(
        core=np.where(turns, dialogue, isolated) / scale,
        neighbours=np.where(turns, lent, 0.0) / scale,
        speaker=np.where(turns, weights.speaker * speaker(view), 0.0) / scale,
        asks=np.where(turns & view.evidence.asks, -weights.asks, 0.0) / scale,
        date=weights.date * date(view, mentioned(question), zone) / scale,
        isolated=isolated / SCALE,
        scale=scale,
    )


def scales(kinds: Sequence[str], *, wordless: bool) -> Array:
    """Give the scale of each candidate; `wordless` if no turn stands near a word of the question."""
    by_kind: dict[str, float] = {**SCALES, **({Kind.TURN: WORDLESS_SCALE} if wordless else {})}
    return np.array([by_kind.get(kind, SCALE) for kind in kinds])  # a damaged memory may be of no kind that there is


def window(view: View) -> Array:
    """Coverage where a term may also stand near by: each term's best of the turn itself and its weighed neighbours."""
    best = view.shares
    for step, weight in NEIGHBOURS:
        best = np.maximum(best, weight * scoring.shifted(view.shares, view.neighbours[step]))
    return scoring.coverage(view.weights, best)


def joined(view: View) -> Array:
    """Coverage of a turn and its two neighbours taken as one text."""
    counts, tokens, parts = view.evidence.counts, view.evidence.tokens, np.ones(len(view.evidence.rows))
    for step in (-1, 1):
        counts = counts + scoring.shifted(view.evidence.counts, view.neighbours[step])
        tokens = tokens + scoring.shifted(view.evidence.tokens, view.neighbours[step])
        parts = parts + (view.neighbours[step] >= 0)
    return scoring.coverage(view.weights, scoring.saturation(counts, tokens / parts, view.average))


def best_neighbour(view: View, fit: Array) -> Array:
    """What the better fitting of a turn's two neighbours has; 0 without one."""
    return np.maximum(scoring.shifted(fit, view.neighbours[-1]), scoring.shifted(fit, view.neighbours[1]))


def speaker(view: View) -> Array:
    """1 where the only speaker that the question names wrote the turn, else 0."""
    if len(view.named) != 1:
        return np.zeros(len(view.evidence.rows))
    return np.array([speaker.casefold() in view.named for speaker in view.evidence.speakers], np.float64)


def date(view: View, asked: Mentioned, zone: tzinfo) -> Array:
    """How well the day of each memory agrees with the dates that the question names, 0..1; 0 where it names none."""
    if not asked:
        return np.zeros(len(view.evidence.rows))
    known = np.clip(view.evidence.created_at, EARLIEST, LATEST)  # a damaged memory says any number
    instants = (datetime.fromtimestamp(at / 1000, UTC) for at in known.tolist())
    return np.array([asked.fits(dates.day_of(instant, zone)) for instant in instants])


def named_speakers(question: str, speakers: Sequence[str]) -> set[str]:
    """Which of the speakers the question names, by their whole name or its first word; casefolded whole names."""
    words = set(index_tokens(question).split())
    known = {speaker.casefold() for speaker in speakers if speaker}
    return {name for name in known if set(index_tokens(name).split()[:1]) & words}
