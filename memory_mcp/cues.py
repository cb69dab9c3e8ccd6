"""What kind of answer a question wants, and whether a text shows that kind: clues in the wording, by language.

A question with "where" wants a place, and a text that says "at the lake" shows one. Which clues count and how much was
found on five LoCoMo conversations, to which they add 1.7 points of recall@10 (docs/decisions.md, Cues). They are data:
another language is another table, and a language without one is ranked without clues.
"""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from re import Pattern

NAMES = 3
"""So many names in a text count in full; fewer by their share."""


@dataclass(frozen=True)
class Cue:
    """One clue: a question of this wording is answered by a text of that wording; `weight` is on the scale of a core.

    `answer` None counts the names in the text, those of the speakers and first words of sentences aside.
    """

    weight: float
    question: Pattern[str]
    answer: Pattern[str] | None


def asked(question: str) -> tuple[Cue, ...]:
    """Name the clues that a question gives, of all languages that have a table."""
    return tuple(cue for table in TABLES.values() for cue in table if cue.question.search(question))


def answered(cues: Sequence[Cue], text: str, speakers: Collection[str]) -> float:
    """Add up the weights of those clues that a text answers; `speakers` are casefolded."""
    return sum(cue.weight * _shown(cue, text, speakers) for cue in cues)


def _shown(cue: Cue, text: str, speakers: Collection[str]) -> float:
    if cue.answer is not None:
        return float(cue.answer.search(text) is not None)
    named = (match[0] for match in _NAME.finditer(text))
    return min(NAMES, sum(name.casefold() not in speakers for name in named)) / NAMES


def first_person(text: str) -> float:
    """Say how much a text speaks of its own speaker: its first-person words, 0 for none to 1 for three and more."""
    return min(3, len(_FIRST_PERSON.findall(text))) / 3


# ---- English -------------------------------------------------------------------------------------------------------

_FIRST_PERSON = re.compile(r"\b(?:i|i['’](?:m|ve|d|ll)|my|me|mine|we|we['’](?:re|ve)|our|us)\b", re.IGNORECASE)

_MONTHS = (
    "January|February|March|April|May|June|July|August|September|October|November|December|Jan|Feb|Mar|Apr|Jun|Jul"
    "|Aug|Sept?|Oct|Nov|Dec"
)
_WEEKDAYS = "monday|tuesday|wednesday|thursday|friday|saturday|sunday"
_NAME = re.compile(  # a capital inside a sentence
    rf"(?<=[^\s.!?:\]][ ,])(?!(?:{_MONTHS})\b|(?i:{_WEEKDAYS})\b)[A-Z][\w'’-]+"
)
_UNITS = "minutes?|hours?|days?|weeks?|months?|years?|decades?"
_WHEN = r"^(?:when|what (?:date|day|month|year|time)|which (?:month|year|day))\b|\bhow long\b|\bwhat (?:year|month)\b"
_WHERE = r"^where\b|\b(?:what|which) (?:city|country|state|places?|town|location|cities|countries"
_PLACE = "in|at|to|from|near|around|visit(?:ed|ing|s)?"


def _cue(weight: float, question: str, answer: str | None, *, capitals: bool = False) -> Cue:
    """Compile a clue; with `capitals` the case of the answer's letters matters."""
    shown = None if answer is None else re.compile(answer, 0 if capitals else re.IGNORECASE)
    return Cue(weight, re.compile(question, re.IGNORECASE), shown)


ENGLISH = (
    _cue(  # any word of time
        0.3,
        _WHEN,
        rf"\b(?:yesterday|today|tonight|tomorrow|last|next|this (?:week|month|year|morning|weekend|summer|winter|spring"
        rf"|fall)|ago|recently|weekend|{_WEEKDAYS}|{_MONTHS}|\d{{4}}|\d+ (?:days|weeks|months|years)|since|years|months"
        rf"|weeks|days)\b",
    ),
    _cue(  # a point in time
        0.2,
        _WHEN,
        rf"\b(?:yesterday|tonight|tomorrow|(?:last|next|past) (?:week|month|year|night|weekend|summer|winter|spring"
        rf"|fall|{_WEEKDAYS})|ago|the other day|this (?:week|month|year|weekend)|in (?:19|20)\d\d)\b",
    ),
    _cue(  # a stretch of time
        0.5,
        r"\bhow long\b",
        rf"\b(?:(?:\d+|an?|one|two|three|four|five|six|seven|eight|nine|ten|few|couple|several) (?:of |more )?"
        rf"(?:{_UNITS})|years|months|weeks|since|always been|for (?:a while|ages|long))\b",
    ),
    _cue(0.2, rf"{_WHERE})\b", rf"\b(?:{_PLACE}|of) (?:(?:the|a|my) )?[A-Z]", capitals=True),
    _cue(
        0.4,
        rf"{_WHERE}|area)\b",
        rf"\b(?:{_PLACE}) (?:(?:the|a|my|our|this) )?[A-Z]|\b(?:park|beach|mountain|lake|museum|shelter|gym|studio"
        r"|store|shop|caf[eé]|restaurant|home|school|church|city|town|country|forest|trail|farm|garden|theat(?:er|re)|market"
        r"|mall|hotel|coast|cent(?:er|re)|library|hospital|office|concert|festival)s?\b",
        capitals=True,
    ),
    _cue(0.9, r"^(?:who|whose|with whom)\b", None),
    _cue(0.2, r"^(?:what|which)\b", None),
    _cue(  # somebody by kinship or office
        0.3,
        r"^(?:who|whose|with whom)\b|\bwho\b",
        r"\b(?:mom|mother|dad|father|parents?|sister|brother|wife|husband|girlfriend|boyfriend|partner|fianc\w*|friends?"
        r"|buddy|family|kids?|son|daughter|cousin|aunt|uncle|grand\w*|neighbou?rs?|colleagues?|co-?workers?|teammates?"
        r"|team|boss|teacher|mentor|coach|group)\b",
    ),
    _cue(  # what is meant to be
        0.2,
        r"\b(?:plan\w*|will|going to|next|future|goals?|dream\w*|want\w*|hop(?:e|es|ed|ing)|intend\w*"
        r"|looking forward)\b",
        r"\b(?:going to|gonna|will|plan\w*|hoping|hope to|want to|wanna|looking forward|next|soon|upcoming|thinking"
        r" (?:of|about)|dream\w*|goals?|tomorrow|can['’]t wait)\b",
    ),
    _cue(  # a title
        0.3,
        r"\b(?:book|movie|film|song|game|show|series|band|artist|album|novel|podcast|screenplay|title)s?\b",
        r"[\"“‘'][A-Z][^\"“”‘’']*[\"”’']",  # no second beginning within: else a row of them is read over and over
        capitals=True,
    ),
    _cue(  # a feeling
        0.3,
        r"\b(?:feel\w*|felt|react\w*|describe\w*|emotion\w*)\b",
        r"\b(?:feel\w*|felt|happy|sad|proud|excited|nervous|grateful|thankful|scared|anxious|stress\w*|relax\w*|calm"
        r"|peace\w*|joy\w*|love\w*|amazing|overwhelm\w*|upset|disappoint\w*|relieved|blessed|inspired|motivated|tough"
        r"|hard|frustrat\w*)\b",
    ),
)

TABLES = {"en": ENGLISH}
"""The clues of each language; a question in a language without any is asked without."""
