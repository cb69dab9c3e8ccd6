"""What an order to an assistant is, and whether a text gives it."""

import re
from dataclasses import dataclass
from functools import cache

DROP = "tells the assistant to drop its instructions"
POSE = "poses as the system or as somebody with authority"
CALL = "asks for tool calls"
SEND = "asks to send private data away"
HIDE = "asks to hide something from the user"
STAY = "asks to be kept for ever or to be spread"


@dataclass(frozen=True)
class Order:
    """One form of order, for folded text. `why` ends a sentence that begins with "it".

    `cues` are first words of which it must have one: to look at them first is many times as fast. An `imperative` one
    is no order where a report, a ban or a wish stands before it ("tells it to", "never").
    """

    why: str
    cues: frozenset[str]
    form: str
    imperative: bool

    def is_in(self, text: str) -> bool:
        """Whether a folded text gives this order."""
        begins = _is_begun if self.imperative else _is_word
        return any(begins(text, found.start()) for found in _compiled(self.form).finditer(text))


def imperative(why: str, first: str, rest: str) -> Order:
    """Make an order that begins with one of these words and commands; a blank stands for any white space."""
    return _order(why, first, rest, imperative=True)


def anywhere(why: str, first: str, rest: str) -> Order:
    """Make an order that begins with one of these words, wherever that stands."""
    return _order(why, first, rest, imperative=False)


def _order(why: str, first: str, rest: str, *, imperative: bool) -> Order:
    starts = first.split("|")
    either = "|".join(map(re.escape, starts)).replace(r"\ ", " ")
    return Order(why, frozenset(map(_cue, starts)), _spaced(f"(?:{either})" + rest), imperative)


def _spaced(form: str) -> str:
    return form.replace(" ?", r"\s*").replace(" ", r"\s+")


@cache
def _compiled(form: str) -> re.Pattern[str]:
    return re.compile(form)


_WORD = re.compile("[a-z]+")


def _cue(start: str) -> str:
    """Give the first word of an order, or where that is not Latin its first sign."""
    start = start.lstrip()
    return next(
        (start[:end] for end in range(len(start), 0, -1) if start[:end].isalpha() and start[:end].isascii()), start[0]
    )


def cues(text: str) -> frozenset[str]:
    """Give the Latin words of a folded text and all its characters."""
    return frozenset(_WORD.findall(text)).union(text)


# ---- what stands before an order -----------------------------------------------------------------------------------

_LOOKED_BACK = 60
_READER = (
    r"(?:ai(?: (?:agent|assistant|model|system|reviewer|tool)s?)?|llms?|(?:large )?language models?|assistants?"
    r"|chatbots?|agents?|models?|bots?|claude|chatgpt|gpt|gemini|copilot|codex)"
)
_BEFORE = _spaced(
    r"(?:(?:^|[.!?:;,()\[\]\"'|>#=/。！？、【「])\s*|\n\W*|[–—-]+ ?"
    r"|\b(?:and|then|now|please|just|also|so|but|or|instead|simply|kindly|immediately|first|always|silently|ever) "
    rf"|\b(?:you|{_READER}) (?:now )?(?:must|should|shall|will|may|can|have to|has to|need to|needs to|are to|is to"
    r"|(?:are|is) (?:required|instructed|ordered|asked|told|authori[sz]ed|allowed|free) to) (?:now |always )?"
    r"|\b(?:want|wants|need|needs|order|orders|ask|asks|command|commands|instruct|instructs) you to )\Z"
)


def _is_begun(text: str, place: int) -> bool:
    return _compiled(_BEFORE).search(text, max(0, place - _LOOKED_BACK), place) is not None


def _is_word(text: str, place: int) -> bool:
    return not ("a" <= text[place] <= "z" and "a" <= text[place - 1 : place] <= "z")
