"""The words of a text: how it is indexed, asked for, compared with another."""

import re
import unicodedata
from collections.abc import Iterable, Iterator
from functools import lru_cache
from hashlib import blake2b
from itertools import groupby

TOKENS_VERSION = 1
"""Goes up with every change of `index_tokens`; a file indexed under another number is indexed anew."""

WORD_CHARACTERS = 64
QUERY_CHARACTERS = 4_000

HANGUL = "\u1100-\u11ff\u3130-\u318f\ua960-\ua97f\uac00-\ud7ff"
UNSPACED = (
    "\u3005-\u3007\u3021-\u3029\u3038-\u303b\u3041-\u30ff\u31f0-\u31ff"  # kana, and the signs used like kanji
    "\u3105-\u312f\u31a0-\u31bf\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"  # bopomofo, kanji
    "\U0001aff0-\U0001b16f\U00020000-\U0003ffff"  # more kana, rare kanji
    "\u0e00-\u0eff\u1000-\u109f\ua9e0-\ua9ff\uaa60-\uaa7f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
)
"""Scripts written without spaces, as the inside of a regular expression's character class."""

_ASCII_WORD = re.compile("[a-z0-9]+")
_PACKED = re.compile(f"[{UNSPACED}{HANGUL}]")
_HIRAGANA = re.compile(r"[\u3041-\u309f\u30fc]+\*?")
_POSSESSIVE = re.compile(r"(?<=\w)['’＇]s\b", re.IGNORECASE)
_INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]"
)

STOP_WORDS = frozenset(
    re.findall(
        "[a-z]+",
        """
        a about after again all also am an and any are aren as at be because been before being
        between but by can could couldn d did didn do does doesn doing don during each few for from
        had hadn has hasn have haven having he her here hers him his how i if in into is isn it its
        just ll m me more most my no nor not now of off on once only or other our ours out over own
        re s same she should shouldn so some such t than that the their theirs them then there these
        they this those through to too under until up ve very was wasn we were weren what when where
        which while who whom whose why will with would wouldn you your yours tell know please ever
        """,
    )
)
"""English words too common to tell texts apart. 'may' (the month) and 'won' are not among them."""


def fold(text: str) -> str:
    """Bring spelling variants together: compatibility forms (NFKC) and case (full case folding)."""
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


# ---- the index -----------------------------------------------------------------------------------------------------


def index_tokens(text: str) -> str:
    """Give the tokens of a text for the full-text index, separated by spaces.

    Words stay whole, up to 64 characters. Runs of a script without spaces between words become overlapping
    pairs and the last single character, so that any part of two or more characters can be found; a change
    between the sorts ends a token. Tokens hold letters, digits and combining marks only: inert in MATCH.
    """
    return " ".join(_tokens(text))


def query_terms(text: str, *, limit: int = 32, every: bool = False) -> tuple[str, ...]:
    """Give the distinct tokens of a question, in order, to be looked up in the index.

    English stop words and pairs of nothing but hiragana are dropped unless nothing else is left; with `every` nothing
    is, and there is no limit. A trailing star marks a prefix: a lone Japanese or Chinese character is found wherever it
    begins a pair.
    """
    folded = _POSSESSIVE.sub("", text[:QUERY_CHARACTERS])
    terms = list(dict.fromkeys(term for run, packed in _runs(folded) for term in _terms(run, packed)))
    if every:
        return tuple(terms)
    telling = [term for term in terms if term not in STOP_WORDS and not _HIRAGANA.fullmatch(term)]
    return tuple((telling or terms)[:limit])


def _tokens(text: str) -> Iterator[str]:
    for run, packed in _runs(text):
        if packed:
            yield from _pairs(run)
            if run[-1].isalnum():
                yield run[-1]
        else:
            yield run[:WORD_CHARACTERS]


def _terms(run: str, packed: bool) -> Iterable[str]:
    if not packed:
        return (run[:WORD_CHARACTERS],)
    return _pairs(run) if len(run) > 1 else (run + "*",)


def _pairs(run: str) -> Iterator[str]:
    return (run[i : i + 2] for i in range(len(run) - 1))


def _runs(text: str) -> Iterator[tuple[str, bool]]:
    """Cut a text into runs of one sort of character; true marks the scripts without spaces."""
    if text.isascii():  # nothing to fold but case: many times as fast, and many texts are
        yield from ((word, False) for word in _ASCII_WORD.findall(text.lower()))
        return
    for sort, characters in groupby(_INVISIBLE.sub("", fold(text)), _sort):
        run = "".join(characters)
        if sort is not None and any(character.isalnum() for character in run):
            yield run, sort


@lru_cache(maxsize=4_096)
def _sort(character: str) -> bool | None:
    if character.isalnum() or unicodedata.category(character) in ("Mn", "Mc"):
        return _PACKED.match(character) is not None
    return None


# ---- sameness ------------------------------------------------------------------------------------------------------

_THOUSANDS = re.compile(r"(?<![\d.,])\d{1,3}(?:,\d{3})+(?!,?\d)", re.ASCII)
_TRAILING = " .,;:。、!"
_QUOTES = {'"': '"', "'": "'", "“": "”", "‘": "’", "「": "」", "『": "』", "«": "»"}


def normalise(text: str) -> str:
    """Reduce a text to what makes it itself: not letter forms, case, spacing, closing punctuation.

    Signs that can carry meaning stay (C++, C#, -5, a question mark, an emoticon, "5!").
    """
    folded = " ".join(_without_thousands(fold(text)).split())
    bare = _bare(folded)
    while bare != folded:
        folded, bare = bare, _bare(bare)
    return bare


def digest(text: str) -> bytes:
    """Name a text by what `normalise` leaves of it, in 16 bytes of BLAKE2b; equal digests are duplicates."""
    return blake2b(normalise(text).encode(), digest_size=16).digest()


def _without_thousands(text: str) -> str:
    return _THOUSANDS.sub(lambda number: number[0].replace(",", ""), text)


def _bare(text: str) -> str:
    """Take one layer of closing punctuation or quotes off; a text of nothing else stays as it is."""
    bare = text.rstrip(_TRAILING)
    if bare[-1:].isdigit() and text[len(bare) :].startswith("!"):
        bare += "!"
    if len(bare) > 2 and _QUOTES.get(bare[0]) == bare[-1]:
        bare = bare[1:-1].strip()
    return bare or text


# ---- what differs --------------------------------------------------------------------------------------------------

_COUNTERS = "月日年時分秒週人個円階歳才本枚台匹頭冊度回件番号名室世代倍割キグメパトド"
_NUMERALS = "〇一二三四五六七八九十百千万億"
_NUMBER_WORDS = (
    "two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|sixty|seventy|eighty"
    "|ninety|hundred|thousand|million"  # not 'one', which is mostly a pronoun
)
_NUMBER = re.compile(
    rf"(?<![\w.])-?\d+(?:[.:/]\d+)*|\d+(?:[.:/]\d+)*|\b(?:{_NUMBER_WORDS})\b"
    rf"|(?<![{_NUMERALS}])[{_NUMERALS}]++(?=[{_COUNTERS}])"
)
_OBLIGATION = re.compile("な(?:ければ|くては|いと)(?:なら|いけ)(?:ない|ません)|かもしれ(?:ない|ません)|すみません")
_NEGATION = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|can't)\b|n['’]t\b"
    r"|(?<![少危汚切])な(?:い|かった|く(?=て|な|、))|ません|ず(?=に|、)|禁止|[不非未無](?=[\u4e00-\u9fff])"
)
_NAME = re.compile(
    r"(?<=[^\s.!?:][ \"'(])[A-Z]\w*"  # a capital inside a sentence
    r"|\b(?:[A-Z]{2,}|[A-Za-z]+[a-z][A-Z])\w*"  # acronyms, PostgreSQL, iPhone
    r"|(?<=[\u3041-\u30ff\u4e00-\u9fff])[A-Za-z]\w+"  # Latin letters in Japanese text
    r"|[\u30a1-\u30fa\u30fc]{2,}"  # katakana
    r"|[\u4e00-\u9fff々]{1,4}(?=さん|様|氏|君|ちゃん)|[\u4e00-\u9fff々]{1,3}[都道府県市区町村駅](?![\u4e00-\u9fff])"
)
_BEGINNING = re.compile(r"(?:^|(?<=[.!?:]\s)|(?<=[\"“(]))[A-Z]\w+", re.MULTILINE)
_QUOTED = re.compile(r"(?<=[\"“「『«])[^\"“”「」『』«»\n]{2,60}(?=[\"”」』»])")
_NEVER_NAMES = STOP_WORDS | {"always", "never", "usually", "often", "sometimes", "use", "prefer", "prefers"}


def names(text: str) -> tuple[str, ...]:
    """Give what seems to be named in a text, in order, with repeats: proper names, quoted words.

    By spelling alone (English and Japanese): a capital at the beginning of a sentence may be no name.
    """
    found = [match for form in (_NAME, _BEGINNING, _QUOTED) for match in form.finditer(text)]
    found.sort(key=lambda match: match.start())
    return tuple(match[0] for match in found if match[0].casefold() not in _NEVER_NAMES)


def differs(old: str, new: str) -> str:
    """Say what seems to differ between two similar texts: 'number', 'negation', 'name', joined by commas.

    A hint for a reader, by spelling alone (English and Japanese); '' means nothing in particular.
    """
    old, new = unicodedata.normalize("NFKC", old), unicodedata.normalize("NFKC", new)
    changed = {
        "number": _numbers(old) != _numbers(new),
        "negation": _negations(old) != _negations(new),
        "name": _other_names(old, new) or _other_subject(old, new),
    }
    return ",".join(hint for hint, true in changed.items() if true)


def _numbers(text: str) -> list[str]:
    text = _without_thousands(text.casefold())
    return sorted(_NUMBER.findall(text))


def _negations(text: str) -> int:
    return len(_NEGATION.findall(_OBLIGATION.sub("", text.casefold())))


def _other_names(old: str, new: str) -> bool:
    """Whether a name made place for another, or the same words name them in another order (who beat whom)."""
    before, after = ([name.casefold() for name in _NAME.findall(text)] for text in (old, new))
    old_folded, new_folded = old.casefold(), new.casefold()
    if any(name not in new_folded for name in before) and any(name not in old_folded for name in after):
        return True
    return before != after and sorted(_tokens(old)) == sorted(_tokens(new))


def _other_subject(old: str, new: str) -> bool:
    """Whether only the first word is another: elsewhere its capital would not tell it from a name."""
    (before, _, rest), (after, _, other_rest) = old.partition(" "), new.partition(" ")
    subjects = {before.casefold(), after.casefold()} - _NEVER_NAMES
    same_rest = bool(rest) and normalise(rest) == normalise(other_rest)
    return same_rest and len(subjects) == 2 and before[:1].isupper() and after[:1].isupper()
