"""Which language a text is in, as far as its script and its commonest words tell."""

import re
from collections import Counter

SCRIPTS = (
    ("Japanese", re.compile("[ぁ-んァ-ヺ]")),
    ("Korean", re.compile("[가-힣]")),
    ("Chinese", re.compile("[一-鿿]")),
    ("Russian", re.compile("[а-яё]", re.IGNORECASE)),
    ("Thai", re.compile("[ก-๙]")),
    ("Arabic", re.compile("[ء-ي]")),
)
"""Scripts that tell a language; the first that makes up a tenth of the letters counts."""

WORDS = {
    "English": "the and is are was to of in that it you we have with for not my will this",
    "German": "der die das und ist sind nicht ich wir mit auf für ein eine den dem zu von habe wird",
    "French": "le la les et est sont des une dans pour pas je nous vous avec sur que qui du",
    "Spanish": "el los las y es son una para con no por que se del mi nos está como",
    "Portuguese": "o os as e é são uma para com não por que do da em eu nós está",
    "Italian": "il gli e è sono una per con non di che del della mi noi questo sul",
    "Dutch": "de het een en is zijn niet ik wij met op voor van dat wordt heb naar",
}
"""Words that a few sentences of a language can hardly do without."""

_KNOWN = {language: frozenset(words.split()) for language, words in WORDS.items()}
_CODE = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|\S*[_/\\{}<>=]\S*", re.DOTALL)
_LETTER = re.compile(r"[^\W\d_]")
_WORD = re.compile(r"[^\W\d_]+")

SCRIPTED = frozenset(language for language, _ in SCRIPTS)
"""Languages that are told by their script, beyond doubt."""


def language(text: str) -> str:
    """Name the language of a text in English, code left out; '' when it cannot be told."""
    prose = _CODE.sub(" ", text)
    letters = len(_LETTER.findall(prose))
    for name, script in SCRIPTS:
        if letters and len(script.findall(prose)) * 10 >= letters:
            return name
    words = Counter(word.casefold() for word in _WORD.findall(prose))
    counts = Counter({name: sum(words[word] for word in known) for name, known in _KNOWN.items()})
    (first, most), (_, next_most) = counts.most_common(2)
    return first if most >= 2 and most > next_most else ""
