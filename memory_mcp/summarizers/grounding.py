"""Whether what a text names was said: names, numbers, paths, codes and quotations must occur in its source."""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from memory_mcp.summarizers import signs
from memory_mcp.summarizers.figures import LONGEST, MONTHS, WEEKDAYS, readings_of
from memory_mcp.summarizers.items import (
    AFTER_MOMENT,
    ALIASES,
    BEFORE_MOMENT,
    CODE,
    ENDINGS,
    EXACT,
    HEADING,
    MARK,
    MASK,
    NAMED,
    SENTENCE,
    UNSPACED_SIGN,
    WORD,
)
from memory_mcp.summarizers.source import Said, folded_text, stands_in, stripped, without_signs
from memory_mcp.summarizers.vocabulary import (
    DETERMINED,
    GERMAN,
    GERMAN_NAMED,
    GERMAN_NOUN,
    GERMAN_PLACE,
    GERMAN_TITLE,
    OPENING_FORM,
    OPENING_NOUN,
    ORDINARY,
    ORDINARY_KANA,
    ORDINARY_STEM,
    VERB_FORM,
)
from memory_mcp.text import is_cjk
from memory_mcp.tokens import STOP_WORDS


def unsupported(text: str, source: Said) -> tuple[str, ...]:
    """Give what a text names and its source does not hold: as written, in order, without repeats.

    Looked at are proper names, numbers, paths, addresses, code-like words and quotations. A capital that only begins a
    sentence, a German noun and ordinary Japanese words are no names; a number may be written in another way.
    """
    return tuple(dict.fromkeys(text[start:end] for start, end in _unheld(text, source)))


def grounded(text: str, source: Said) -> tuple[str, tuple[str, ...]]:
    """Give a text without the sentences that hold anything `unsupported`, and those sentences.

    Lines and bullets stay; a line of which nothing is left goes, and a heading above a list of which nothing is left.
    """
    spans = _unheld(text, source)
    lines, dropped = list[str | None](), list[str]()
    for line in re.finditer(r"[^\n]+|(?<=\n)(?=\n)", text):
        mark = MARK.match(line[0])
        kept = mark[0] if mark else ""
        for sentence in SENTENCE.finditer(text, line.start() + len(kept), line.end()):
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
        listed = bool(kept) and MARK.match(kept[-1]) is not None
        if line is None:
            lost = True
        elif not (lost and HEADING.fullmatch(line) and not listed):
            lost = lost and not line.strip()
            kept.append(line)
    return kept[::-1]


def _unheld(text: str, source: Said) -> list[tuple[int, int]]:
    """Find where the items of a text stand that its source does not hold."""
    reading = _Reading.of(text, source)
    found: list[tuple[int, int]] = []
    rest = reading.shown
    for match in EXACT.finditer(reading.shown):
        item = match[0] if match.lastgroup == "quoted" else match[0].rstrip(".:~+-/\\,?!")
        if match.lastgroup == "token" and len(item) <= LONGEST and not CODE.fullmatch(item):
            continue
        end = match.start() + len(item)
        rest = rest[: match.start()] + MASK * len(item) + rest[end:]
        if not _is_held(item, source):
            found.append((match.start(), end))
    reading = replace(reading, shown=rest)
    items = (match for match in NAMED.finditer(rest) if match.lastgroup)  # without one: "the two", named before
    named = (match.span() for match in items if not _CHECKS[match.lastgroup or ""](reading, match))
    in_signs = signs.names(rest, "".join(source.folded.split()))
    return sorted({*found, *named, *((start, end) for start, end, said in in_signs if not said)})


def _is_held(item: str, source: Said) -> bool:
    """Whether a quotation, a path, an address or a code was said, perhaps with other signs around or in it."""
    if item[0] in '"“„«「『`':
        inner = item[1:-1]
        return source.holds(inner) or stands_in(without_signs(folded_text(inner)), source.plain)
    bare = re.sub(r"^https?://(?:www\.)?|^www\.", "", item)
    parts = re.split(r"[/\\]", bare)
    said = all(part.isalpha() and _is_said(part, source) for part in parts)  # CI/CD, read/write
    return source.holds(bare) or stripped(bare) in source.words or said


def _is_said(word: str, source: Said) -> bool:
    """Whether a word was said, in the singular or the plural, or says nothing."""
    bare = stripped(word)
    forms = {bare, bare + "s", bare.removesuffix("s"), bare.removesuffix("es"), ALIASES.get(bare, bare)}
    return bare in ORDINARY or not forms.isdisjoint(source.words)


# ---- one check for each sort of item -------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Reading:
    """A text beside its source: `shown` has the same length, `lower` are its words in lower case."""

    shown: str
    source: Said
    japanese: bool
    german: bool
    lower: frozenset[str]

    @classmethod
    def of(cls, text: str, source: Said) -> "_Reading":
        shown = "".join(plain if len(plain := unicodedata.normalize("NFKC", sign)) == 1 else sign for sign in text)
        words = WORD.findall(shown)
        german, english = (sum(word.casefold() in known for word in words) for known in (GERMAN, STOP_WORDS))
        japanese = is_cjk(text) or (not english and UNSPACED_SIGN.search(shown) is not None)
        if german == english:
            german, english = (len(known & source.words) for known in (GERMAN, STOP_WORDS))
        lower = frozenset(word for word in words if word.islower())
        return cls(shown, source, japanese, not japanese and german > english, lower)

    def number(self, match: re.Match[str]) -> bool:
        before = self.shown[max(0, match.start() - 30) : match.start()].casefold()
        is_moment = (
            match.lastgroup == "moment"
            or re.fullmatch(r"(?:19|20)\d\d", match[0]) is not None
            or BEFORE_MOMENT.search(before) is not None
            or AFTER_MOMENT.match(self.shown, match.end()) is not None
        )
        pool = self.source.moments if is_moment else self.source.numbers
        if self.shown[match.end() : match.end() + 1] == "月":
            return any(f"{number}月" in pool for one in readings_of(match) for number in one)
        return any(one <= pool for one in readings_of(match))

    def kana(self, match: re.Match[str]) -> bool:
        known = {one.rstrip("ー") for one in self.source.kana | ORDINARY_KANA}
        words = unicodedata.normalize("NFKC", match[0]).split("・")
        return all(len(word) == 1 or _is_compound(word, known) for word in words)

    def bearer(self, match: re.Match[str]) -> bool:
        """Check who or what bears a title or a kind of place: 田中さん, 大宮駅; お客様 and 最寄駅 are no names."""
        bare = ORDINARY_STEM.sub("", match[0]) if len(match[0]) > 2 else match[0]
        said = match[0] in self.source.folded or (bare != "" and bare in self.source.folded)
        return said or ORDINARY_STEM.fullmatch(match[0]) is not None

    def weekday(self, match: re.Match[str]) -> bool:
        return match[0] in self.source.moments or match[0] in self.source.folded

    def word(self, match: re.Match[str]) -> bool:
        word = match[0].casefold()
        beside = self.shown[max(0, match.start() - 1) : match.start()] + self.shown[match.end() : match.end() + 1]
        japanese = self.japanese or UNSPACED_SIGN.search(beside) is not None
        if match[0].islower() and not japanese:
            return True
        if _is_said(word, self.source) or word in self.source.moments:
            return True
        if word in MONTHS or word in WEEKDAYS:
            return f"{MONTHS.get(word)}月" in self.source.moments
        if self.german and match[0][1:].islower():
            return not self._is_german_name(match)
        return not japanese and self._begins_sentence(match.start()) and self._opens(match)

    def _begins_sentence(self, place: int) -> bool:
        before = self.shown[max(0, place - 40) : place].rstrip(" \t\"'“”„‘’()[]*_#>•·–—-")
        return not before or before[-1] in ".!?:…。！？\n"

    def _opens(self, match: re.Match[str]) -> bool:
        """Whether a first word owes its capital to its place: "Refactored the parser", not "Fred said"."""
        word = match[0].casefold()
        if word in self.lower or DETERMINED.match(self.shown, match.end()) or OPENING_NOUN.fullmatch(word):
            return True
        cut = [word.removesuffix(end) for end in ENDINGS if word.endswith(end)]
        if any(len(stem) > 2 and not self.source.words.isdisjoint((stem, stem + "e", stem + "ed")) for stem in cut):
            return True
        following = self.shown[match.end() : match.end() + 30].lstrip()
        return OPENING_FORM.fullmatch(word) is not None and not VERB_FORM.match(following)

    def _is_german_name(self, match: re.Match[str]) -> bool:
        """Whether a capitalised word of a German text stands as a name, where nouns have capitals, too.

        A name stands after a title, beside another name, or after a preposition without an article and without the
        look of a noun. A compound of what was said is none.
        """
        word, before = match[0].casefold(), self.shown[max(0, match.start() - 40) : match.start()]
        if any(_share_an_edge(word, one) for one in self.source.words):
            return False
        if GERMAN_TITLE.search(before):
            return True
        named = GERMAN_NAMED.search(before)
        beside = named is not None and named[0].strip().casefold() not in ORDINARY
        return (beside or GERMAN_PLACE.search(before) is not None) and not GERMAN_NOUN.fullmatch(word)


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
