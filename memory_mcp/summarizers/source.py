"""What was said, folded once so that many texts can be compared with it."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import accumulate

from memory_mcp.summarizers.figures import ALSO, MONTHS, NUMERAL, WEEKDAYS, WORDLIKE, parts_of, read_kanji, readings_of
from memory_mcp.summarizers.items import (
    CAMEL,
    DATE,
    EVE,
    HOUR,
    KANA,
    LETTERS,
    MONTH,
    MORROW,
    NAMED,
    STAMP,
    TOKEN,
    TURN,
    WORD,
)
from memory_mcp.tokens import fold


@dataclass(frozen=True)
class Said:
    """What was said, folded once for many lookups; times, speakers' names and the like belong to it.

    `numbers` are those of the words, `moments` also those of dates and times of day, and the names of months and
    weekdays they fall on: a turn's time stamp does not make a quantity true.
    """

    folded: str
    plain: str
    words: frozenset[str]
    kana: frozenset[str]
    numbers: frozenset[str]
    moments: frozenset[str]

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Said":
        """Fold texts; a turn may begin with its number in square brackets, which does not count as said."""
        said = TURN.sub("", unicodedata.normalize("NFKC", "\n".join(texts)))
        folded = folded_text(said)
        numbers = frozenset(_numbers(STAMP.sub(" ", folded)))
        moments = numbers | frozenset(_moments(folded))
        return cls(
            folded, without_signs(folded), frozenset(_known(said)), frozenset(KANA.findall(folded)), numbers, moments
        )

    def holds(self, literal: str) -> bool:
        """Whether something occurs as it is written: not as a part of a longer word or number."""
        return stands_in(folded_text(literal).strip(), self.folded)


def folded_text(text: str) -> str:
    """Fold a text for comparing: case, width, blanks and unseen characters do not count."""
    text = fold(text).replace("\\", "/").replace("’", "'")
    return " ".join("".join(sign for sign in text if unicodedata.category(sign) != "Cf").split())


def without_signs(folded: str) -> str:
    """Leave only words, one blank between them."""
    return " ".join(re.sub(r"[\W_]+", " ", folded).split())


def stands_in(literal: str, text: str) -> bool:
    """Whether something occurs as it is written: not as a part of a longer word or number."""
    before = rf"(?<!{WORDLIKE})" if re.match(WORDLIKE, literal) else ""
    after = rf"(?!{WORDLIKE})" if re.search(rf"{WORDLIKE}\Z", literal) else ""
    return bool(literal) and re.search(before + re.escape(literal) + after, text) is not None


def stripped(word: str) -> str:
    """Take case, accents and all signs off a word."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", fold(word)) if sign.isalnum())


def _known(said: str) -> Iterator[str]:
    """Give the words of a text in every form in which they are looked up: whole, in their parts, without signs."""
    yield from map(stripped, set(TOKEN.findall(said)))
    for word in {*WORD.findall(said), *LETTERS.findall(said)}:
        yield stripped(word)
        yield from (stripped(part) for part in CAMEL.findall(word) if part != word)


def _numbers(folded: str) -> Iterator[str]:
    for match in NAMED.finditer(folded):
        if match.lastgroup in ("figure", "moment", "kanji", "spoken"):
            for value in (value for reading in readings_of(match) for value in reading):
                yield from accumulate(value.split("."), "{}.{}".format) if value.count(".") > 1 else (value,)
    yield from (str(ALSO[word]) for word in WORD.findall(folded) if word in ALSO)
    yield from (read_kanji(run) for run in re.findall(f"[{NUMERAL}]+", folded))


def _moments(folded: str) -> Iterator[str]:
    """Give the numbers of dates and times, on both clocks, and the names of the months and weekdays they fall on."""
    for moment in STAMP.findall(folded) + [match[0] for match in DATE.finditer(folded)]:
        yield from parts_of(moment)
    for hour in HOUR.finditer(folded):
        value = int(next(filter(None, hour.group(1, 3, 4, 5))))
        if value > 12 or hour[3] or (hour[2] or "").startswith("p"):
            yield str(value - 12 if value > 12 else value + 12)
    months = [MONTHS[word] for word in WORD.findall(folded) if word in MONTHS]
    months += [int(read_kanji(number)) for found in MONTH.findall(folded) for number in found if number]
    yield from (form for month in months for form in (str(month), f"{month}月"))
    near = [0] + [1] * bool(MORROW.search(folded)) + [-1] * bool(EVE.search(folded))
    for year, month, day in set(DATE.findall(folded)):
        with suppress(ValueError, OverflowError):
            stated = date(int(year), int(month), int(day))
            for days in near:
                yield from _day(stated + timedelta(days))


def _day(day: date) -> Iterator[str]:
    yield from (str(day.year), str(day.year % 100), str(day.month), f"{day.month}月", str(day.day))
    yield from (name for name, weekday in WEEKDAYS.items() if weekday == day.weekday())
