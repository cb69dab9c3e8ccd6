"""Which language a text is in, as far as its script and its commonest words tell."""

import re
from collections import Counter
from collections.abc import Iterable

from memory_mcp.tokens import UNSPACED

SCRIPTS = (
    ("Japanese", re.compile("[ぁ-んァ-ヺ]"), 0.1),
    ("Korean", re.compile("[가-힣]"), 0.1),
    ("Chinese", re.compile("[一-鿿]"), 0.3),
    ("Russian", re.compile("[а-яё]", re.IGNORECASE), 0.3),
    ("Thai", re.compile("[ก-๙]"), 0.1),
    ("Arabic", re.compile("[ء-ي]"), 0.1),
)
"""Scripts that tell a language, and the share of the letters that they make up at least; the first counts."""

WORDS = {
    "English": "the a and is are was to of in that it you we have with for not my will this i be on at",
    "German": "der die das und ist sind nicht ich wir mit auf für ein eine den dem zu von habe wird es in auch",
    "French": "de la le les et en est sont des une un dans pour pas je nous vous avec sur que qui du au il elle",
    "Spanish": "de la el los las y en es son una un para con no por que se del mi nos está como al lo su",
    "Portuguese": "de a o os as e é em são uma um para com não por que do da no na eu nós está ao mas se",
    "Italian": "di la il gli e è in sono una un per con non che del della mi noi questo sul lo si ma",
    "Dutch": "de het een en is zijn niet ik wij met voor van dat wordt heb naar ook op te maar",
}
"""Words that a few sentences of a language can hardly do without, those included that others share."""

_KNOWN = {name: frozenset(words.split()) for name, words in WORDS.items()}
_JOINED = rf"[^\s{UNSPACED}]*"
_CODE = re.compile(rf"```.*?(?:```|\Z)|`[^`\n]*`|{_JOINED}[_/\\{{}}<>=]{_JOINED}", re.DOTALL)
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+")
_SCRIPTED = frozenset(name for name, *_ in SCRIPTS)


def language(text: str) -> str:
    """Name the language of a text in English, code left out; '' when it cannot be told."""
    prose = _CODE.sub(" ", text)
    letters = len(_LETTER.findall(prose))
    for name, script, share in SCRIPTS:
        if letters and len(script.findall(prose)) >= share * letters:
            return name
    words = Counter(word.casefold() for word in _WORD.findall(prose))
    counts = Counter({name: sum(words[word] for word in known) for name, known in _KNOWN.items()})
    (first, most), (_, next_most) = counts.most_common(2)
    return first if most >= 2 and most > next_most else ""


def spoken_in(turns: Iterable[str]) -> str:
    """Name the language of most turns; a turn of Chinese signs alone is Japanese where others are."""
    votes = Counter[str](found for turn in turns if (found := language(turn)))
    if votes["Japanese"]:
        votes["Japanese"] += votes.pop("Chinese", 0)
    return max(votes, key=votes.__getitem__, default="")


def contradicts(text: str, wanted: str) -> bool:
    """Whether a text is in another language than wanted, as far as can be told; '' is content with any."""
    found = language(text)
    return bool(wanted) and found != wanted and (bool(found) or wanted in _SCRIPTED)
