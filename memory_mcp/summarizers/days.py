"""Which days a conversation speaks of: dates in the ways people write them, and words such as "last week"."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_WEEKDAY_SIGNS = "月火水木金土日"

Day = tuple[int | None, int, int | None]
"""Year, month, day; what was left open is None."""


@dataclass(frozen=True)
class Mention:
    """Where a date stands in a text, and the days that it may be: 5/4/2026 is one of two."""

    start: int
    end: int
    days: frozenset[Day]


_MONTH = rf"(?P<name>{'|'.join(rf'{month[:3]}(?:{month[3:]})?' for month in MONTHS)}|sept)\b\.?"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        r"(?<!\d)(?P<year>\d{4})[-/.](?P<month>\d{1,2})(?:[-/.](?P<day>\d{1,2}))?(?!\d)",
        r"(?:(?P<year>\d{4})年)(?P<month>\d{1,2})月(?:(?P<day>\d{1,2})日)?",
        r"(?<!\d)(?P<month>\d{1,2})月(?P<day>\d{1,2})日",
        r"(?<![\d/])(?P<month>\d{1,2})/(?P<day>\d{1,2})/(?P<year>\d{4})(?!\d)",
        rf"(?<!\d)(?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?: of)? {_MONTH}(?:,? (?P<year>\d{{4}}))?",
        rf"\b{_MONTH} (?P<day>\d{{1,2}})(?:st|nd|rd|th)?(?!\d)(?:,? (?P<year>\d{{4}}))?",
        rf"\b{_MONTH},? (?P<year>\d{{4}})",
    )
)


def mentions(text: str) -> Iterator[Mention]:
    """Find the dates in a text, which is to be in NFKC; times of day and words do not count."""
    taken: list[Mention] = []
    for form in _FORMS:
        for match in form.finditer(text):
            found = frozenset(_days(match.groupdict()))
            if found and not any(one.start < match.end() and match.start() < one.end for one in taken):
                taken.append(Mention(match.start(), match.end(), found))
    yield from sorted(taken, key=lambda one: one.start)


def _days(parts: dict[str, str | None]) -> Iterator[Day]:
    name, year, day = parts.get("name"), parts.get("year"), parts.get("day")
    first = 1 + next(at for at, month in enumerate(MONTHS) if month.startswith(name[:3].casefold())) if name else 0
    month = first or int(parts.get("month") or 0)
    either = [(month, int(day))] if day else []
    if day and year and not name and "month" in parts and len(parts["month"] or "") <= 2:
        either.append((int(day), month))
    for one, other in either:
        if 1 <= one <= 12 and 1 <= other <= 31:
            yield (int(year) if year else None, one, other)
    if not day and 1 <= month <= 12:
        yield (int(year) if year else None, month, None)


# ---- words that count from a day ------------------------------------------------------------------------------------

_COUNTS = {"a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "couple of": 2}
_LENGTHS = {
    "day": 1,
    "week": 7,
    "month": 31,
    "year": 366,
    "日": 1,
    "週間": 7,
    "か月": 31,
    "ヶ月": 31,
    "カ月": 31,
    "年": 366,
}
_WORDS: tuple[tuple[re.Pattern[str], int, int], ...] = tuple(
    (re.compile(form), first, last)
    for form, first, last in (
        (r"\byesterday\b|\blast night\b|昨日|きのう|昨夜|昨晩", -1, -1),
        (r"\bday before yesterday\b|一昨日|おととい", -2, -2),
        (r"\btomorrow\b|明日|あした", 1, 1),
        (r"\bday after tomorrow\b|明後日|あさって", 2, 2),
        (r"\bthis week\b|今週", -6, 6),
        (r"\bweekend\b|週末", -8, 8),
        (r"\b(?:last|past|previous) week\b|先週", -13, -1),
        (r"\bnext week\b|来週", 1, 13),
        (r"再来週", 8, 20),
        (r"\bthis month\b|今月", -30, 30),
        (r"\b(?:last|past|previous) month\b|先月", -61, -1),
        (r"\bnext month\b|来月", 1, 61),
        (r"\bthis year\b|今年", -365, 365),
        (r"\b(?:last|past|previous) year\b|去年|昨年", -730, -1),
        (r"\bnext year\b|来年", 1, 730),
    )
)
_DISTANCE = re.compile(
    rf"(?P<back>\b(?P<count>\d{{1,3}}|{'|'.join(_COUNTS)}) (?P<unit>day|week|month|year)s? ago\b)"
    rf"|\b(?:in|within) (?P<count2>\d{{1,3}}|{'|'.join(_COUNTS)}) (?P<unit2>day|week|month|year)s?\b"
    r"|(?P<count3>\d{1,3})(?P<unit3>日|週間|[かヶカ]月|年)(?P<way>前|後)"
)


def spans(text: str, day: date) -> Iterator[tuple[date, date]]:
    """Give the days, first and last, that words in a text may mean when they were said on `day`. In NFKC, folded.

    Generous by design: "last month" is the sixty days before. It has to hold what a careful reader makes of it.
    """
    yield (day, day)
    for words, first, last in _WORDS:
        if words.search(text):
            yield _around(day, first, last)
    for match in _DISTANCE.finditer(text):
        count = match["count"] or match["count2"] or match["count3"]
        unit = match["unit"] or match["unit2"] or match["unit3"]
        distance = (int(count) if count.isdecimal() else _COUNTS[count]) * _LENGTHS[unit]
        slack = min(distance // 7, 31) if _LENGTHS[unit] > 1 else 0
        back = -1 if match["back"] or match["way"] == "前" else 1
        yield _around(day, back * distance - slack, back * distance + slack)
    for weekday, name in enumerate(WEEKDAYS):
        if re.search(rf"\b{name}\b|{_WEEKDAY_SIGNS[weekday]}曜", text):
            ahead = (weekday - day.weekday()) % 7
            yield from (_around(day, ahead + back, ahead + back) for back in (-14, -7, 0, 7))


def _around(day: date, first: int, last: int) -> tuple[date, date]:
    try:
        return day + timedelta(days=first), day + timedelta(days=last)
    except OverflowError:
        return day, day
