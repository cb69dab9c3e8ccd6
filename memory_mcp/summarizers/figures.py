"""Numbers, dates and times as texts write them, and which numbers they may stand for."""

import re
from collections.abc import Iterator
from decimal import Decimal

from memory_mcp.tokens import UNSPACED

LONGEST = 500
"""Characters of a word; what is longer is taken as it stands, for the expressions take quadratic time."""

WORDLIKE = rf"[^\W{UNSPACED}]"  # a digit, "_" or a letter of a script with spaces


def _counted(first: int, listed: str) -> dict[str, int]:
    return {word: number for number, word in enumerate(listed.split(), first)}


UNITS = (
    _counted(2, "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen")
    | _counted(17, "seventeen eighteen nineteen")
    | _counted(2, "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf")
)
_TENS = {word: 10 * n for word, n in _counted(2, "twenty thirty forty fifty sixty seventy eighty ninety").items()}
_MANY = {
    "dozen": 12, "hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "hundert": 100,
    "tausend": 1_000, "millionen": 10**6, "k": 1_000, "m": 10**6, "mio": 10**6, "bn": 10**9, "b": 10**9,
}  # fmt: skip
_SAID = UNITS | _TENS | {word: many for word, many in _MANY.items() if len(word) > 3} | {"one": 1, "eins": 1}
ALSO = (
    _SAID
    | dict.fromkeys(("both", "pair", "couple", "beide", "beiden", "twice"), 2)
    | _counted(1, "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth")
)
_KANJI = {sign: value for value, sign in enumerate("〇一二三四五六七八九")}
_KANJI_MANY = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "億": 10**8}
NUMERAL = "〇一二三四五六七八九十百千万億"
COUNTER = "月日年時分秒週人個円階歳才本枚台匹頭冊度回件番号名室世代倍割つ歩杯泊点種社棟ヶかカ箇ドユキパ"
MAGNITUDE = rf"(?:\s?(?:hundred|thousand|million|billion|dozen|hundert|tausend|millionen|mio)|[kmb]|bn)(?!{WORDLIKE})"
DAY = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?![\d.])|\d{1,2}(?P<sep>[./])\d{1,2}(?P=sep)(?:\d{4}|\d\d)(?![\d.])"
    r"|\d{1,2}[:/]\d{1,2}(?::\d\d)?"
)
FIGURE = r"\d{1,3}(?:[,.'’_ ]\d{3})+(?:[.,]\d+)?(?![\d,])|\d+(?:[.,]\d+)*"
SPOKEN = "|".join(_TENS) + "|" + "|".join([*UNITS, *(word for word in _MANY if len(word) > 3)])

MONTHS = (
    _counted(1, "january february march april may june july august september october november december")
    | _counted(1, "januar februar märz april mai juni juli august september oktober november dezember")
    | _counted(1, "jan feb mar apr may jun jul aug sep oct nov dec")
)
WEEKDAYS = (
    _counted(0, "monday tuesday wednesday thursday friday saturday sunday")
    | _counted(0, "montag dienstag mittwoch donnerstag freitag samstag sonntag")
    | _counted(0, "mon tue wed thu fri sat sun")
    | _counted(0, "月曜 火曜 水曜 木曜 金曜 土曜 日曜")
)


_AS_MANY = re.compile(rf"(?<=.){MAGNITUDE}\Z")
_PLAIN = re.compile(r"\d+(?:\.\d+)?")


def readings_of(match: re.Match[str]) -> list[frozenset[str]]:
    """Give the numbers that an item may stand for: each reading is what must occur together."""
    item = match[0].casefold()
    if match.lastgroup == "moment":
        return [frozenset(parts_of(item))]
    if match.lastgroup == "kanji":
        return [frozenset({read_kanji(item)})]
    magnitude = _AS_MANY.search(item)
    bare = item[: magnitude.start()] if magnitude else item
    values = [_spoken(bare)] if match.lastgroup == "spoken" else _figures(bare)
    if magnitude:
        many = magnitude[0].strip()
        scaled = [_canonical(f"{Decimal(value) * _MANY[many]:f}") for value in values if _PLAIN.fullmatch(value)]
        values = scaled if len(many) > 2 else scaled + values  # 5m may be metres
    return [frozenset({value}) for value in values]


def parts_of(moment: str) -> Iterator[str]:
    """Give the numbers of a date or time; a nought says nothing: 9:00 is 9."""
    return (str(int(part)) for part in re.findall(r"\d+", moment) if int(part))


def _figures(item: str) -> list[str]:
    """Read a figure in every way it may be meant: 1.500 is 1500 to a German."""
    values = [_canonical(item)]
    if grouped := re.fullmatch(r"(\d{1,3}(?:[,.'’_ ]\d{3})+)((?:[.,]\d+)?)", item):
        whole = "".join(re.findall(r"\d+", grouped[1]))
        values.append(_canonical(whole + grouped[2].replace(",", ".")))
    elif item.count(",") == 1:
        values.append(_canonical(item.replace(",", ".")))
    return values


def _canonical(number: str) -> str:
    bare = number.lstrip("0") or "0"
    bare = "0" + bare if bare.startswith(".") else bare
    return bare.rstrip("0").rstrip(".") if bare.count(".") == 1 and "," not in bare else bare


def _spoken(item: str) -> str:
    return str(sum(_SAID[word] for word in re.split(r"[ -]", item)))


def read_kanji(run: str) -> str:
    """Read a Japanese number, its digits perhaps Western: 三百二十, 1億2000万, 二〇二六."""
    if len(run) > LONGEST:
        return run  # no number: Python reads 4300 digits at most
    if not set(run) & set(_KANJI_MANY):
        return str(int("".join(str(_KANJI.get(sign, sign)) for sign in run)))
    total, section, current = Decimal(0), Decimal(0), Decimal(0)
    for sign in re.findall(rf"\d+(?:\.\d+)?|[{NUMERAL}]", run.replace(",", "")):
        many = _KANJI_MANY.get(sign)
        if many is None:
            current = Decimal(str(_KANJI.get(sign, sign)))
        elif many < 10_000:
            section, current = section + (current or 1) * many, Decimal(0)
        else:
            total, section, current = total + (section + current or 1) * many, Decimal(0), Decimal(0)
    return _canonical(f"{total + section + current:f}")
