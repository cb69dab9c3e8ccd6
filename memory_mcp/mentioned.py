"""Which days a question names, and how well a memory's day agrees: "in May 2023", "on 3 July", 2023年5月3日."""

import re
import unicodedata
from dataclasses import dataclass
from datetime import date

_NAMES = (
    ("jan", "january"), ("feb", "february"), ("mar", "march"), ("apr", "april"), ("may",), ("jun", "june"),
    ("jul", "july"), ("aug", "august"), ("sep", "sept", "september"), ("oct", "october"), ("nov", "november"),
    ("dec", "december"),
)  # fmt: skip
_NUMBERS = {name: number for number, names in enumerate(_NAMES, 1) for name in names}
_DAY = r"(\d{1,2})(?:st|nd|rd|th)?"
_AFTER_MONTH = re.compile(rf"\s+{_DAY}\b(?!:)", re.IGNORECASE)
_BEFORE_MONTH = re.compile(rf"\b{_DAY}(?:\s+of)?\s+$", re.IGNORECASE)
_MONTH = re.compile(rf"\b({'|'.join(sorted(_NUMBERS, key=len, reverse=True))})\b", re.IGNORECASE)
_MAY_IS_MONTH = re.compile(
    r"\b(?:in|on|of|since|until|by|during|early|late|mid|last|next|\d+(?:st|nd|rd|th)?)\s+$", re.IGNORECASE
)
BESIDE = 16
"""Characters that are looked at on either side of a month: "31st of " has eight."""

_NUMBER_FOLLOWS = re.compile(r"\s+\d")
_YEAR = re.compile(r"(?<![\d.,])((?:19|20)\d\d)(?![\d年]|[.,]\d)")
_NUMERIC = re.compile(
    r"(?<!\d)((?:19|20)\d\d)"
    r"(?:[-/](\d{1,2})(?:[-/](\d{1,2}))?(?!\d)|年(?:\s*(\d{1,2})月(?:\s*(\d{1,2})日)?)?)"
)
_JAPANESE = re.compile(r"(?<![\d年])(\d{1,2})月(?:\s*(\d{1,2})日)?")


@dataclass(frozen=True)
class Mentioned:
    """Years, months and days of the month that a question names; nothing named is nothing asked."""

    years: frozenset[int] = frozenset()
    months: frozenset[int] = frozenset()
    days: frozenset[int] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.years or self.months)

    def fits(self, day: date) -> float:
        """Say how well a day agrees: 0 outside the named year or month, 1 on the named day, .5 on another, else .6.

        The measures are those of the question's date in docs/decisions.md, Retrieval forms and weights.
        """
        if (self.years and day.year not in self.years) or (self.months and day.month not in self.months):
            return 0.0
        if not self.days:
            return 0.6
        return 1.0 if day.day in self.days else 0.5


def mentioned(question: str) -> Mentioned:
    """Read which dates a question names. A day counts only beside its month; "may" only where a month can stand."""
    question = " ".join(unicodedata.normalize("NFKC", question).split())
    months: set[int] = set()
    days: set[int] = set()
    for match in _MONTH.finditer(question):
        before = question[max(0, match.start() - BESIDE) : match.start()]
        after = question[match.end() : match.end() + BESIDE]
        if match[0].casefold() == "may" and not (_MAY_IS_MONTH.search(before) or _NUMBER_FOLLOWS.match(after)):
            continue
        months.add(_NUMBERS[match[0].casefold()])
        beside = _BEFORE_MONTH.search(before) or _AFTER_MONTH.match(after)
        days |= {int(beside[1])} if beside else set()
    years = {int(year) for year in _YEAR.findall(question)}
    for year, *rest in _NUMERIC.findall(question):
        years.add(int(year))
        months |= _numbers(rest[0], rest[2])
        days |= _numbers(rest[1], rest[3])
    for month, day in _JAPANESE.findall(question):
        months |= _numbers(month)
        days |= _numbers(day)
    return Mentioned(frozenset(years), frozenset(months & {*range(1, 13)}), frozenset(days & {*range(1, 32)}))


def _numbers(*written: str) -> set[int]:
    return {int(number) for number in written if number}
