"""Which numbers and times of day a text holds, however they are written: 1,000, 1000, 千, one thousand, 3 pm, 15時."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True)
class Number:
    """Where a number stands in a text, and what it may mean: '1.500' is one and a half, or fifteen hundred."""

    start: int
    end: int
    readings: frozenset[str]


_KANJI = {sign: value for value, sign in enumerate("〇一二三四五六七八九")} | {"零": 0}
_TENS = {"十": 10, "百": 100, "千": 1_000}
_MYRIADS = {"万": 10**4, "億": 10**8, "兆": 10**12}
_SUFFIXES = {
    "k": 10**3, "thousand": 10**3, "M": 10**6, "million": 10**6, "bn": 10**9, "billion": 10**9, "hundred": 100,
}  # fmt: skip
_SIGNS = "〇零一二三四五六七八九十百千"

_TIME = re.compile(
    r"(?<![\d.:])(?P<hour>\d{1,2}):(?P<minute>\d\d)(?::\d\d)?(?!\d)\s?(?P<half>[ap]\.?m\b\.?)?"
    r"|(?<![\d.:])(?P<hour2>\d{1,2})\s?(?P<half2>[ap]\.?m\b\.?|o'clock)"
    r"|(?P<half3>午前|午後)?(?P<hour3>\d{1,2})時(?!間)(?:(?P<minute3>\d{1,2})分|(?P<thirty>半))?",
    re.IGNORECASE,
)
_DIGITS = re.compile(
    rf"(?<![A-Za-z_\d])(?P<digits>\d+(?:[.,]\d+)*)"
    rf"(?:\s?(?P<suffix>k|M|bn|thousand|million|billion|hundred)(?![A-Za-z])"
    rf"|(?P<myriads>[十百千]?[{''.join(_MYRIADS)}](?:(?:\d[\d,]*|[{_SIGNS}]+)[{''.join(_MYRIADS)}]?)*|[百千](?![{_SIGNS}])))?"
)
_PACKED = re.compile(rf"[{_SIGNS}][{_SIGNS}{''.join(_MYRIADS)}]*")
_COUNTED = re.compile(
    "円|人|名|個|件|本|台|回|日|か月|ヶ月|カ月|年|週間|時間|秒|歳|才|枚|冊|つ|ドル|ユーロ|%|パーセント|メートル|キロ|階|号|社|泊|点|倍|割"
)
_VAGUE = re.compile("一(?![十百千万億兆〇一二三四五六七八九])|十分|千葉|万一")

_SMALL = (
    "zero", "one first", "two second twice", "three third", "four fourth", "five fifth", "six sixth", "seven seventh",
    "eight eighth", "nine ninth", "ten tenth", "eleven", "twelve dozen", "thirteen", "fourteen", "fifteen", "sixteen",
    "seventeen", "eighteen", "nineteen",
)  # fmt: skip
_ROUND = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_UNITS = {word: value for value, words in enumerate(_SMALL) for word in words.split()} | {
    word: 10 * value for value, word in enumerate(_ROUND, 2)
}
_SCALES = {"hundred": 100, "thousand": 10**3, "million": 10**6, "billion": 10**9}
_WORDS = re.compile(
    rf"\b(?:{'|'.join([*_UNITS, *_SCALES])})\b(?:[\s-]+(?:and\s+)?(?:{'|'.join([*_UNITS, *_SCALES])})\b)*"
)


def written(text: str) -> Iterator[Number]:
    """Find what is written in digits, or in Japanese signs with what is counted. The text is to be in NFKC."""
    taken = list(_times(text))
    for match in _DIGITS.finditer(text):
        if not any(one.start <= match.start() < one.end for one in taken):
            taken.append(Number(match.start(), match.end(), _of_digits(match)))
    for match in _PACKED.finditer(text):
        inside = any(one.start <= match.start() < one.end for one in taken)
        if not inside and _COUNTED.match(text, match.end()) and not _VAGUE.match(text, match.start()):
            taken.append(Number(match.start(), match.end(), frozenset({_plain(_packed(match[0]))})))
    yield from sorted(taken, key=lambda one: one.start)


def values(text: str) -> frozenset[str]:
    """Give all that numbers in a text may mean, also those in words."""
    folded = unicodedata.normalize("NFKC", text)
    found = {reading for number in written(folded) for reading in number.readings}
    found |= {_plain(_packed(match[0])) for match in _PACKED.finditer(folded)}
    return frozenset(found | set(_in_words(folded.casefold())))


def _times(text: str) -> Iterator[Number]:
    for match in _TIME.finditer(text):
        hour = int(match["hour"] or match["hour2"] or match["hour3"])
        minute = int(match["minute"] or match["minute3"] or (30 if match["thirty"] else 0))
        half = (match["half"] or match["half2"] or match["half3"] or "").casefold()[:1]
        if hour > 24 or minute > 59:
            continue
        if half in ("p", "a") or match["half3"]:
            later = half == "p" or match["half3"] == "午後"
            hours = {hour % 12 + 12 * later}
        else:
            hours = {hour, hour + 12} if hour <= 12 and (match["half2"] or match["hour3"]) else {hour}
        yield Number(match.start(), match.end(), frozenset(f"{one}:{minute:02}" for one in hours))


def _of_digits(match: re.Match[str]) -> frozenset[str]:
    digits, suffix, myriads = match["digits"], match["suffix"], match["myriads"]
    if myriads:
        return frozenset({_plain(_packed(digits.replace(",", "") + myriads.replace(",", "")))})
    times = _SUFFIXES.get(suffix or "", 1)
    plain = [_plain(Decimal(one) * times) for one in _decimals(digits)]
    return frozenset(plain) or frozenset({digits})


def _decimals(digits: str) -> set[str]:
    """Read digits with separators in every way that makes one number; none for a version such as 3.11.7."""
    readings: set[str] = set()
    for grouping, point in (",.", ".,"):
        if re.fullmatch(rf"\d{{1,3}}(?:\{grouping}\d{{3}})+(?:\{point}\d+)?", digits):
            readings.add(digits.replace(grouping, "").replace(point, "."))
        if re.fullmatch(rf"\d+(?:\{point}\d+)?", digits):
            readings.add(digits.replace(point, "."))
    return readings


def _packed(signs: str) -> Decimal:
    """Read Japanese signs, digits among them: 一億二千万, 8万, 3千."""
    total = Decimal(0)
    for section, unit in re.findall(rf"([^{''.join(_MYRIADS)}]*)([{''.join(_MYRIADS)}]?)", signs):
        if section or unit:
            total += (_section(section) if section else 1) * _MYRIADS.get(unit, 1)
    return total


def _section(signs: str) -> Decimal:
    total, open_digits = Decimal(0), ""
    for sign in signs:
        if sign in _TENS:
            total += Decimal(open_digits or 1) * _TENS[sign]
            open_digits = ""
        else:
            open_digits += str(_KANJI.get(sign, sign))
    return total + Decimal(open_digits.strip(".") or 0)


def _in_words(text: str) -> Iterator[str]:
    for match in _WORDS.finditer(text):
        total = section = 0
        for word in re.findall("[a-z]+", match[0]):
            if word in _UNITS:
                section += _UNITS[word]
            elif word == "hundred":
                section = (section or 1) * 100
            elif word in _SCALES:
                total += (section or 1) * _SCALES[word]
                section = 0
        yield _plain(Decimal(total + section))


def _plain(value: Decimal) -> str:
    return f"{value.normalize():f}"
