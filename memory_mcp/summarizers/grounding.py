"""Whether what a text names was said: names, numbers, paths, codes and quotations must occur in its source."""

import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import date, timedelta
from decimal import Decimal
from itertools import accumulate

from memory_mcp.summarizers import signs
from memory_mcp.text import is_cjk
from memory_mcp.tokens import STOP_WORDS, UNSPACED, fold


def _words(listed: str) -> frozenset[str]:
    return frozenset(listed.split())


# ---- words that are no names ---------------------------------------------------------------------------------------

_GERMAN = _words(
    "der die das den dem des ein eine einen einem einer und oder ist sind war wird werden wurde hat haben nicht kein "
    "ich wir sie er es mit auf für von vom zu zum zur bei im am aus nach als auch sich dass wenn nur noch soll will"
)
_ORDINARY = STOP_WORDS | _GERMAN | _words(
    "may let yes see run read check make start stop call write keep several most "
    "both since although though however instead still never always one many much another every everyone "
    "everything someone something nothing today tomorrow yesterday tonight next last first second third finally later "
    "later afterwards currently initially overall meanwhile additionally therefore thus hence besides despite due per "
    "against among across along around beyond toward towards via within without upon unless whether either neither "
    "rather otherwise currently already else yet also like likely "
    "user users assistant assistants ai person people they'll step steps decision decisions outcome result results "
    "lesson lessons summary note notes key topic topics goal goals plan plans problem cause root fix issue question "
    "questions action actions item items open point points fact facts preference preferences status context background "
    "details remaining total work task tasks todo ok mr mrs ms dr prof am pm vs etc eg ie "
    "added agreed asked asks bought booked built changed chose confirmed created decided discussed explored found "
    "fixed gave got helped kept learned likes lives made moved needs paid planned prefers put ran read recommended "
    "removed "
    "replaced said says sent set showed solved suggested switched took told tried turned use used uses using wants "
    "went works wrote looks owns enjoys plays speaks studies visits knows hopes tries budget cost costs price "
    "le la les un une des il elle ils elles et est pour dans avec sur el los las una y en con por para lo gli per che "
    "os as uma no na de het een "
    "nutzer nutzerin benutzer assistent assistentin anwender diese dieser dieses danach dabei dafür dadurch damit "
    "daher deshalb außerdem zuerst schließlich künftig ab bis um man sein seine ihr ihre alle ursache ergebnis "
    "entscheidung nächste schritte schritt offen problem lösung ziel frage fragen"
)  # fmt: skip
"""Function words, and what summaries call their parts and parties."""

_ORDINARY_KANA = _words(
    "ユーザー アシスタント メンバー プロジェクト チーム データ テスト エラー バグ コード ファイル システム サーバー "
    "サービス アプリ リスト プラン スケジュール タスク テーマ ポイント ケース レベル タイプ ルール トラブル アドバイス "
    "コスト メモ メール ミーティング リリース バージョン ログ オプション ステップ"
)
_ORDINARY_STEM = re.compile(
    r"(?:昨日|今日|明日|先日|先週|今週|来週|先月|今月|来月|去年|今年|来年|毎日|毎週|担当|同僚|上司)+|"
    "[皆客奥娘子父母兄姉妹弟嫁孫各同当本他自御]|息子|家族|主人|隣|業者|患者|店員|医者|大家|最寄|株式|旅行|先方|担任|主治医|"
    "[一二三四五六七八九十百千数何]+"
)
_OPENING_FORM = re.compile(r"\w{3,}(?:ed|ing|ly)")
_OPENING_NOUN = re.compile(r"\w{3,}(?:tion|sion|ness|ship|able|ible)s?|\w{4,}ments?|\w{6,}[ae]nces?")
_VERB_FORM = re.compile(r"(?:is|are|was|were|has|had|have|will|would|can|could|should|and|'s|’s|\w+ed|\w+[^s\W]s)\b")
_DETERMINED = re.compile(
    r"\s+(?:\x00|(?:the|a|an|to|that|this|these|all|it|its|his|her|their|my|our|how|why|whether)\b)"
)
_GERMAN_TITLE = re.compile(r"\b(?:Herrn?|Frau|Dr\.|Prof\.|Firma|Kolleg(?:e|en|in)|Chef(?:in)?)\s+$")
_GERMAN_PLACE = re.compile(r"\b(?:in|nach|bei|von|aus|mit|an|durch|für)\s+$", re.IGNORECASE)
_GERMAN_NAMED = re.compile(r"(?<![.!?:\w] )(?<!\n)\b[A-ZÄÖÜ]\w+\s+$")
_GERMAN_NOUN = re.compile(
    r"\w+(?:ung|heit|keit|schaft|tion|tät|nis|ment|ling|ing|tum|e|en|er|n|el)s?|betrieb|bedarf|bezug|kraft|hand|erfolg"
    r"|zeit|ende|anfang|art|sicht|form|recht|hilfe|druck|grund|zugriff|test|start|plan|stand|weg|tag|monat|jahr"
)

# ---- numbers -------------------------------------------------------------------------------------------------------

_L = rf"[^\W{UNSPACED}]"  # a digit, "_" or a letter of a script with spaces


def _counted(first: int, listed: str) -> dict[str, int]:
    return {word: number for number, word in enumerate(listed.split(), first)}


_UNITS = (
    _counted(2, "two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen")
    | _counted(17, "seventeen eighteen nineteen")
    | _counted(2, "zwei drei vier fünf sechs sieben acht neun zehn elf zwölf")
)
_TENS = {word: 10 * n for word, n in _counted(2, "twenty thirty forty fifty sixty seventy eighty ninety").items()}
_MANY = {
    "dozen": 12, "hundred": 100, "thousand": 1_000, "million": 10**6, "billion": 10**9, "hundert": 100,
    "tausend": 1_000, "millionen": 10**6, "k": 1_000, "m": 10**6, "mio": 10**6, "bn": 10**9, "b": 10**9,
}  # fmt: skip
_SAID = _UNITS | _TENS | {word: many for word, many in _MANY.items() if len(word) > 3} | {"one": 1, "eins": 1}
_ALSO = (
    _SAID
    | dict.fromkeys(("both", "pair", "couple", "beide", "beiden", "twice"), 2)
    | _counted(1, "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth")
)
_KANJI = {sign: value for value, sign in enumerate("〇一二三四五六七八九")}
_KANJI_MANY = {"十": 10, "百": 100, "千": 1_000, "万": 10_000, "億": 10**8}
_NUMERAL = "〇一二三四五六七八九十百千万億"
_COUNTER = "月日年時分秒週人個円階歳才本枚台匹頭冊度回件番号名室世代倍割つ歩杯泊点種社棟ヶかカ箇ドユキパ"
_MAGNITUDE = rf"(?:\s?(?:hundred|thousand|million|billion|dozen|hundert|tausend|millionen|mio)|[kmb]|bn)(?!{_L})"
_DAY = (
    r"\d{4}[-/.]\d{1,2}[-/.]\d{1,2}(?![\d.])|\d{1,2}(?P<sep>[./])\d{1,2}(?P=sep)(?:\d{4}|\d\d)(?![\d.])"
    r"|\d{1,2}[:/]\d{1,2}(?::\d\d)?"
)
_FIGURE = r"\d{1,3}(?:[,.'’_ ]\d{3})+(?:[.,]\d+)?(?![\d,])|\d+(?:[.,]\d+)*"
_SPOKEN = "|".join(_TENS) + "|" + "|".join([*_UNITS, *(word for word in _MANY if len(word) > 3)])

_MONTHS = (
    _counted(1, "january february march april may june july august september october november december")
    | _counted(1, "januar februar märz april mai juni juli august september oktober november dezember")
    | _counted(1, "jan feb mar apr may jun jul aug sep oct nov dec")
)
_WEEKDAYS = (
    _counted(0, "monday tuesday wednesday thursday friday saturday sunday")
    | _counted(0, "montag dienstag mittwoch donnerstag freitag samstag sonntag")
    | _counted(0, "mon tue wed thu fri sat sun")
    | _counted(0, "月曜 火曜 水曜 木曜 金曜 土曜 日曜")
)

# ---- what to look for ----------------------------------------------------------------------------------------------

_A = rf"[^\W\d_{UNSPACED}]"  # such a letter
_QUOTED = "|".join(rf"{a}[^{a}{b}\n]{{2,200}}{b}" for a, b in ('""', "“”", "„“", "«»", "「」", "『』", "``"))
_TOKEN = re.compile(rf"(?:[.@+~/\\-]|:(?=[\w/\\])|{_L})+")
_EXACT = re.compile(
    rf"(?P<quoted>{_QUOTED})|(?P<address>(?:https?://|www\.)[^\s\"'<>()「」『』、。，`{UNSPACED}]+)"
    rf"|(?P<token>{_TOKEN.pattern})"
)
_CODE = re.compile(
    rf".*{_A}{{2}}.*[/\\].*|.*[/\\].*{_A}{{2}}.*|--?[A-Za-z].*|.*[^\W_]_[^\W_].*|__.*|.*{_A}.*@.*|@{_A}.*"
    rf"|(?!\d+\.).*{_L}{{2}}\.{_A}{{2}}{_L}*|[a-z]\.[a-z]{{2,4}}|\.[a-z]{_L}+|(?!.\.{_A}\.?$){_L}+(?:\.{_A}{_L}*){{2,}}"
    rf"|(?=.*[a-f])(?=.*\d)(?:[0-9a-f]{{7,40}}|[0-9a-f-]{{20,}})|(?![vV]\d){_A}+\d.*|[^\W\d]*[A-Z]{_A}*-\d.*"
    r"|v?\d+(?:\.\d+)+-[A-Za-z].*"
)
_NAMED = re.compile(
    rf"(?P<moment>(?<![\d.])(?:{_DAY}))"
    rf"|(?P<kanji>\d[\d,.]*[十百千万億][\d{_NUMERAL}]*"
    rf"|(?<![何数十第{_NUMERAL}])(?!一[^{_NUMERAL}]|十分)[{_NUMERAL}]+(?=[{_COUNTER}]))"
    rf"|(?P<figure>(?:{_FIGURE})(?:{_MAGNITUDE})?)"
    rf"|(?:(?<!{_L})(?:the|these|those|all|die|alle) (?:{_SPOKEN})(?!{_L}))"
    rf"|(?P<spoken>(?<!{_L})(?:{_SPOKEN})(?:[ -](?:one|{'|'.join(_UNITS)}))?(?:{_MAGNITUDE}|(?!{_L})))"
    r"|(?P<kana>[ァ-ヺー゙゚]{2,}(?:・[ァ-ヺー゙゚]{2,})*)|(?P<weekday>[月火水木金土日]曜)"
    r"|(?P<bearer>[一-鿿々]{1,6}(?=さん|様|氏|くん|ちゃん|君|先生)"
    r"|[一-鿿々]{2,6}?(?=(?:会社|(?<!会)社|駅|(?<!都)市|県|町|(?<!地)区|大学|病院)(?![一-鿿々])))"
    rf"|(?P<word>(?<!{_L}){_A}{{2,}}|(?<=\d){_A}{{2,}})",
    re.IGNORECASE,
)
_UNSPACED = re.compile(f"[{UNSPACED}]")
_CAMEL = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|\d+")
_WORD = re.compile(rf"{_A}+|[^\W_{UNSPACED}]+")
_LETTERS = re.compile(f"{_A}+")
_KANA = re.compile("[ァ-ヺー]{2,}")
_STAMP = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?(?:Z|[+-]\d\d:?\d\d)?")
_MORROW, _EVE = re.compile(r"\b(?:tomorrow|morgen)\b|明日"), re.compile(r"\b(?:yesterday|gestern)\b|昨日")
_MASK = "\x00"
_LONGEST = 500
"""Characters of a word; what is longer is taken as it stands, for the expressions take quadratic time."""

_ALIASES = {"postgresql": "postgres", "javascript": "js", "typescript": "ts", "kubernetes": "k8s"} | {
    "postgres": "postgresql", "js": "javascript", "ts": "typescript", "k8s": "kubernetes",
}  # fmt: skip
_ENDINGS = ("s", "es", "d", "ed", "ing", "ly", "ment", "ation", "ion", "er", "al")
_MARK = re.compile(r"[ \t]*(?:[-*•・]|\d{1,3}[.)])\s+")
_HEADING = re.compile(r"\s*#.*|.*[:：]\**\s*")
_ABBREVIATED = "".join(
    rf"(?<!\b{one})" for one in (r"[A-Za-z]", "Dr", "Mr", "Mrs", "Ms", "Prof", "St", "No", "Nr", "vs")
)
_SENTENCE = re.compile(
    rf"[^\n]+?(?:(?:{_ABBREVIATED}\.(?!\s(?:{'|'.join(_MONTHS)})\b)|[!?])[.!?]*[\"'”’)\]*_]*(?=\s|$)\s*"
    r"|[。！？]+[」』）)\"”]*|$)",
    re.IGNORECASE,
)
_MONTH = re.compile(rf"(\d{{1,2}}|[{_NUMERAL}]{{1,3}})月|(\d{{1,2}})[./](\d{{1,2}})\b")
_AS_MANY = re.compile(rf"(?<=.){_MAGNITUDE}\Z")
_PLAIN = re.compile(r"\d+(?:\.\d+)?")
_TURN = re.compile(r"^\[\d+\] ", re.MULTILINE)
_DATE = re.compile(r"(\d{4})(?:[-/.]|年)(\d{1,2})(?:[-/.]|月)(\d{1,2})")
_HOUR = re.compile(r"(\d{1,2})(?:[:.]\d\d)?\s?(a\.?m|p\.?m)\b|午後\s*(\d{1,2})|\b(\d{1,2}):\d\d|(\d{1,2})時")
_BEFORE_MOMENT = re.compile(
    rf"(?:\b(?:{'|'.join(_MONTHS)})\.?\s(?:\d+\s?(?:and|to|-|–|,)\s?)?|\b(?:at|until|by|around|um|gegen|ab)\s)$"
)
_AFTER_MOMENT = re.compile(
    rf"(?i:\s?(?:[月日年時分]|[ap]\.?m\b|uhr\b|o'clock|(?:st|nd|rd|th)\b|\.?\s(?:of\s)?(?:{'|'.join(_MONTHS)})\b))"
)


# ---- the source ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Source:
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
    def of(cls, texts: Iterable[str]) -> "Source":
        """Fold texts; a turn may begin with its number in square brackets, which does not count as said."""
        said = _TURN.sub("", unicodedata.normalize("NFKC", "\n".join(texts)))
        folded = _fold(said)
        numbers = frozenset(_numbers(_STAMP.sub(" ", folded)))
        moments = numbers | frozenset(_moments(folded))
        return cls(folded, _plain(folded), frozenset(_known(said)), frozenset(_KANA.findall(folded)), numbers, moments)

    def holds(self, literal: str) -> bool:
        """Whether something occurs as it is written: not as a part of a longer word or number."""
        return _bounded(_fold(literal).strip(), self.folded)


def _fold(text: str) -> str:
    text = fold(text).replace("\\", "/").replace("’", "'")
    return " ".join("".join(sign for sign in text if unicodedata.category(sign) != "Cf").split())


def _plain(folded: str) -> str:
    return " ".join(re.sub(r"[\W_]+", " ", folded).split())


def _bounded(literal: str, text: str) -> bool:
    before = rf"(?<!{_L})" if re.match(_L, literal) else ""
    after = rf"(?!{_L})" if re.search(rf"{_L}\Z", literal) else ""
    return bool(literal) and re.search(before + re.escape(literal) + after, text) is not None


def _bare(word: str) -> str:
    """Take case, accents and all signs off a word."""
    return "".join(sign for sign in unicodedata.normalize("NFKD", fold(word)) if sign.isalnum())


def _known(said: str) -> Iterator[str]:
    """Give the words of a text in every form in which they are looked up: whole, in their parts, without signs."""
    yield from map(_bare, set(_TOKEN.findall(said)))
    for word in {*_WORD.findall(said), *_LETTERS.findall(said)}:
        yield _bare(word)
        yield from (_bare(part) for part in _CAMEL.findall(word) if part != word)


def _numbers(folded: str) -> Iterator[str]:
    for match in _NAMED.finditer(folded):
        if match.lastgroup in ("figure", "moment", "kanji", "spoken"):
            for value in (value for reading in _readings(match) for value in reading):
                yield from accumulate(value.split("."), "{}.{}".format) if value.count(".") > 1 else (value,)
    yield from (str(_ALSO[word]) for word in _WORD.findall(folded) if word in _ALSO)
    yield from (_kanji(run) for run in re.findall(f"[{_NUMERAL}]+", folded))


def _moments(folded: str) -> Iterator[str]:
    """Give the numbers of dates and times, on both clocks, and the names of the months and weekdays they fall on."""
    for moment in _STAMP.findall(folded) + [match[0] for match in _DATE.finditer(folded)]:
        yield from _parts(moment)
    for hour in _HOUR.finditer(folded):
        value = int(next(filter(None, hour.group(1, 3, 4, 5))))
        if value > 12 or hour[3] or (hour[2] or "").startswith("p"):
            yield str(value - 12 if value > 12 else value + 12)
    months = [_MONTHS[word] for word in _WORD.findall(folded) if word in _MONTHS]
    months += [int(_kanji(number)) for found in _MONTH.findall(folded) for number in found if number]
    yield from (form for month in months for form in (str(month), f"{month}月"))
    near = [0] + [1] * bool(_MORROW.search(folded)) + [-1] * bool(_EVE.search(folded))
    for year, month, day in set(_DATE.findall(folded)):
        with suppress(ValueError, OverflowError):
            stated = date(int(year), int(month), int(day))
            for days in near:
                yield from _day(stated + timedelta(days))


def _day(day: date) -> Iterator[str]:
    yield from (str(day.year), str(day.year % 100), str(day.month), f"{day.month}月", str(day.day))
    yield from (name for name, weekday in _WEEKDAYS.items() if weekday == day.weekday())


# ---- numbers, whatever their form ----------------------------------------------------------------------------------


def _readings(match: re.Match[str]) -> list[frozenset[str]]:
    """Give the numbers that an item may stand for: each reading is what must occur together."""
    item = match[0].casefold()
    if match.lastgroup == "moment":
        return [frozenset(_parts(item))]
    if match.lastgroup == "kanji":
        return [frozenset({_kanji(item)})]
    magnitude = _AS_MANY.search(item)
    bare = item[: magnitude.start()] if magnitude else item
    values = [_spoken(bare)] if match.lastgroup == "spoken" else _figures(bare)
    if magnitude:
        many = magnitude[0].strip()
        scaled = [_canonical(f"{Decimal(value) * _MANY[many]:f}") for value in values if _PLAIN.fullmatch(value)]
        values = scaled if len(many) > 2 else scaled + values  # 5m may be metres
    return [frozenset({value}) for value in values]


def _parts(moment: str) -> Iterator[str]:
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


def _kanji(run: str) -> str:
    """Read a Japanese number, its digits perhaps Western: 三百二十, 1億2000万, 二〇二六."""
    if len(run) > _LONGEST:
        return run  # no number: Python reads 4300 digits at most
    if not set(run) & set(_KANJI_MANY):
        return str(int("".join(str(_KANJI.get(sign, sign)) for sign in run)))
    total, section, current = Decimal(0), Decimal(0), Decimal(0)
    for sign in re.findall(rf"\d+(?:\.\d+)?|[{_NUMERAL}]", run.replace(",", "")):
        many = _KANJI_MANY.get(sign)
        if many is None:
            current = Decimal(str(_KANJI.get(sign, sign)))
        elif many < 10_000:
            section, current = section + (current or 1) * many, Decimal(0)
        else:
            total, section, current = total + (section + current or 1) * many, Decimal(0), Decimal(0)
    return _canonical(f"{total + section + current:f}")


# ---- the check -----------------------------------------------------------------------------------------------------


def unsupported(text: str, source: Source) -> tuple[str, ...]:
    """Give what a text names and its source does not hold: as written, in order, without repeats.

    Looked at are proper names, numbers, paths, addresses, code-like words and quotations. A capital that only begins a
    sentence, a German noun and ordinary Japanese words are no names; a number may be written in another way.
    """
    return tuple(dict.fromkeys(text[start:end] for start, end in _unheld(text, source)))


def grounded(text: str, source: Source) -> tuple[str, tuple[str, ...]]:
    """Give a text without the sentences that hold anything `unsupported`, and those sentences.

    Lines and bullets stay; a line of which nothing is left goes, and a heading above a list of which nothing is left.
    """
    spans = _unheld(text, source)
    lines, dropped = list[str | None](), list[str]()
    for line in re.finditer(r"[^\n]+|(?<=\n)(?=\n)", text):
        mark = _MARK.match(line[0])
        kept = mark[0] if mark else ""
        for sentence in _SENTENCE.finditer(text, line.start() + len(kept), line.end()):
            if any(start < sentence.end() and end > sentence.start() for start, end in spans):
                dropped.append(sentence[0].strip())
            else:
                kept += sentence[0]
        lines.append(kept.rstrip() if kept.strip() != (mark[0].strip() if mark else "") or not line[0] else None)
    return "\n".join(_with_content(lines)).strip(), tuple(dropped)


def _with_content(lines: Sequence[str | None]) -> list[str]:
    """Leave out lines that were dropped (None), and headings under which nothing else stood."""
    kept: list[str] = []
    lost = False
    for line in reversed(lines):
        listed = bool(kept) and _MARK.match(kept[-1]) is not None
        if line is None:
            lost = True
        elif not (lost and _HEADING.fullmatch(line) and not listed):
            lost = lost and not line.strip()
            kept.append(line)
    return kept[::-1]


def _unheld(text: str, source: Source) -> list[tuple[int, int]]:
    """Find where the items of a text stand that its source does not hold."""
    reading = _Reading.of(text, source)
    found: list[tuple[int, int]] = []
    rest = reading.shown
    for match in _EXACT.finditer(reading.shown):
        item = match[0] if match.lastgroup == "quoted" else match[0].rstrip(".:~+-/\\,?!")
        if match.lastgroup == "token" and len(item) <= _LONGEST and not _CODE.fullmatch(item):
            continue
        end = match.start() + len(item)
        rest = rest[: match.start()] + _MASK * len(item) + rest[end:]
        if not _is_held(item, source):
            found.append((match.start(), end))
    reading = replace(reading, shown=rest)
    items = (match for match in _NAMED.finditer(rest) if match.lastgroup)  # without one: "the two", named before
    named = (match.span() for match in items if not _CHECKS[match.lastgroup or ""](reading, match))
    in_signs = signs.names(rest, "".join(source.folded.split()))
    return sorted({*found, *named, *((start, end) for start, end, said in in_signs if not said)})


def _is_held(item: str, source: Source) -> bool:
    """Whether a quotation, a path, an address or a code was said, perhaps with other signs around or in it."""
    if item[0] in '"“„«「『`':
        inner = item[1:-1]
        return source.holds(inner) or _bounded(_plain(_fold(inner)), source.plain)
    bare = re.sub(r"^https?://(?:www\.)?|^www\.", "", item)
    parts = re.split(r"[/\\]", bare)
    said = all(part.isalpha() and _is_said(part, source) for part in parts)  # CI/CD, read/write
    return source.holds(bare) or _bare(bare) in source.words or said


def _is_said(word: str, source: Source) -> bool:
    """Whether a word was said, in the singular or the plural, or says nothing."""
    bare = _bare(word)
    forms = {bare, bare + "s", bare.removesuffix("s"), bare.removesuffix("es"), _ALIASES.get(bare, bare)}
    return bare in _ORDINARY or not forms.isdisjoint(source.words)


# ---- one check for each sort of item -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Reading:
    """A text beside its source: `shown` has the same length, `lower` are its words in lower case."""

    shown: str
    source: Source
    japanese: bool
    german: bool
    lower: frozenset[str]

    @classmethod
    def of(cls, text: str, source: Source) -> "_Reading":
        shown = "".join(plain if len(plain := unicodedata.normalize("NFKC", sign)) == 1 else sign for sign in text)
        words = _WORD.findall(shown)
        german, english = (sum(word.casefold() in known for word in words) for known in (_GERMAN, STOP_WORDS))
        japanese = is_cjk(text) or (not english and _UNSPACED.search(shown) is not None)
        if german == english:
            german, english = (len(known & source.words) for known in (_GERMAN, STOP_WORDS))
        lower = frozenset(word for word in words if word.islower())
        return cls(shown, source, japanese, not japanese and german > english, lower)

    def number(self, match: re.Match[str]) -> bool:
        before = self.shown[max(0, match.start() - 30) : match.start()].casefold()
        is_moment = (
            match.lastgroup == "moment"
            or re.fullmatch(r"(?:19|20)\d\d", match[0]) is not None
            or _BEFORE_MOMENT.search(before) is not None
            or _AFTER_MOMENT.match(self.shown, match.end()) is not None
        )
        pool = self.source.moments if is_moment else self.source.numbers
        if self.shown[match.end() : match.end() + 1] == "月":
            return any(f"{number}月" in pool for one in _readings(match) for number in one)
        return any(one <= pool for one in _readings(match))

    def kana(self, match: re.Match[str]) -> bool:
        known = {one.rstrip("ー") for one in self.source.kana | _ORDINARY_KANA}
        words = unicodedata.normalize("NFKC", match[0]).split("・")
        return all(len(word) == 1 or _is_compound(word, known) for word in words)

    def bearer(self, match: re.Match[str]) -> bool:
        """Check who or what bears a title or a kind of place: 田中さん, 大宮駅; お客様 and 最寄駅 are no names."""
        bare = _ORDINARY_STEM.sub("", match[0]) if len(match[0]) > 2 else match[0]
        said = match[0] in self.source.folded or (bare != "" and bare in self.source.folded)
        return said or _ORDINARY_STEM.fullmatch(match[0]) is not None

    def weekday(self, match: re.Match[str]) -> bool:
        return match[0] in self.source.moments or match[0] in self.source.folded

    def word(self, match: re.Match[str]) -> bool:
        word = match[0].casefold()
        beside = self.shown[max(0, match.start() - 1) : match.start()] + self.shown[match.end() : match.end() + 1]
        japanese = self.japanese or _UNSPACED.search(beside) is not None
        if match[0].islower() and not japanese:
            return True
        if _is_said(word, self.source) or word in self.source.moments:
            return True
        if word in _MONTHS or word in _WEEKDAYS:
            return f"{_MONTHS.get(word)}月" in self.source.moments
        if self.german and match[0][1:].islower():
            return not self._is_german_name(match)
        return not japanese and self._begins_sentence(match.start()) and self._opens(match)

    def _begins_sentence(self, place: int) -> bool:
        before = self.shown[max(0, place - 40) : place].rstrip(" \t\"'“”„‘’()[]*_#>•·–—-")
        return not before or before[-1] in ".!?:…。！？\n"

    def _opens(self, match: re.Match[str]) -> bool:
        """Whether a first word owes its capital to its place: "Refactored the parser", not "Fred said"."""
        word = match[0].casefold()
        if word in self.lower or _DETERMINED.match(self.shown, match.end()) or _OPENING_NOUN.fullmatch(word):
            return True
        cut = [word.removesuffix(end) for end in _ENDINGS if word.endswith(end)]
        if any(len(stem) > 2 and not self.source.words.isdisjoint((stem, stem + "e", stem + "ed")) for stem in cut):
            return True
        following = self.shown[match.end() : match.end() + 30].lstrip()
        return _OPENING_FORM.fullmatch(word) is not None and not _VERB_FORM.match(following)

    def _is_german_name(self, match: re.Match[str]) -> bool:
        """Whether a capitalised word of a German text stands as a name, where nouns have capitals, too.

        A name stands after a title, beside another name, or after a preposition without an article and without the
        look of a noun. A compound of what was said is none.
        """
        word, before = match[0].casefold(), self.shown[max(0, match.start() - 40) : match.start()]
        if any(_share_an_edge(word, one) for one in self.source.words):
            return False
        if _GERMAN_TITLE.search(before):
            return True
        named = _GERMAN_NAMED.search(before)
        beside = named is not None and named[0].strip().casefold() not in _ORDINARY
        return (beside or _GERMAN_PLACE.search(before) is not None) and not _GERMAN_NOUN.fullmatch(word)


def _share_an_edge(word: str, other: str) -> bool:
    shorter, longer = sorted((word, other), key=len)
    return len(shorter) > 3 and (longer.startswith(shorter) or longer.endswith(shorter))


def _is_compound(word: str, known: Set[str]) -> bool:
    """Whether a katakana word is known: whole, as a part of a compound, or as a compound itself."""
    bare = word.rstrip("ー")
    if bare in known or (len(bare) > 2 and any(one.startswith(bare) or one.endswith(bare) for one in known)):
        return True
    heads = (place for place in range(2, len(word) - 1) if word[:place].rstrip("ー") in known)
    return any(_is_compound(word[place:], known) for place in heads)


_CHECKS: Mapping[str, Callable[[_Reading, re.Match[str]], bool]] = {
    **dict.fromkeys(("moment", "kanji", "figure", "spoken"), _Reading.number),
    "kana": _Reading.kana,
    "weekday": _Reading.weekday,
    "bearer": _Reading.bearer,
    "word": _Reading.word,
}
