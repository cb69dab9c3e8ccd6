"""Whether a text commands the assistant that reads it, instead of telling it something."""

import re

from memory_mcp.injection.english import ENGLISH
from memory_mcp.injection.japanese import JAPANESE
from memory_mcp.injection.marks import MARKS
from memory_mcp.injection.order import Order, cues
from memory_mcp.injection.others import OTHERS
from memory_mcp.redaction import INVISIBLE
from memory_mcp.tokens import fold

ORDERS_VERSION = 1
"""Goes up with the orders: a file whose memories were judged by others is judged anew."""

ORDERS = (*ENGLISH, *MARKS, *JAPANESE, *OTHERS)
_PLACES: dict[str, list[int]] = {}
"""Where in `ORDERS` those stand that begin with a cue."""

for _place, _order in enumerate(ORDERS):
    for _cue in _order.cues:
        _PLACES.setdefault(_cue, []).append(_place)


def commands_assistant(*texts: str) -> str:
    """Say how the texts command an assistant against its person, such as "poses as the system"; '' if they do not.

    Found are orders to drop its instructions, voices of authority and fake delimiters, tool calls, orders to send
    private data away, to hide something from the user, to be kept for ever: in English and Japanese, the commonest
    forms also in Chinese, German, Spanish and French. What a person wishes ("never use tabs") is no such order, nor is
    a quotation in a text that speaks of attacks. Forms are found, not meanings: other words pass.
    """
    return next((order.why for text in texts if (order := _given(text))), "")


def _given(text: str) -> Order | None:
    """Find an order that a text gives; where it speaks of attacks, what it quotes is only mentioned."""
    plain = _plain(text)
    order = _first(plain)
    if order is None:
        return None
    outside = re.sub(_QUOTATION, "", re.sub(_CODE, "", plain))
    return _first(outside) if re.search(_ABOUT, outside) else order


def _first(text: str) -> Order | None:
    likely = {place for cue in cues(text) & _PLACES.keys() for place in _PLACES[cue]}
    return next((ORDERS[place] for place in sorted(likely) if ORDERS[place].is_in(text)), None)


_ABOUT = (
    r"injection|jailbreak|\battack|phishing|malicious|suspicious|red team|payload|poisoning|chat template|chatml"
    r"|\btest suite|\bfilter flags|インジェクション|攻撃|不審|悪意|フィッシング|注入|恶意|攻击"
)
_QUOTATION = r"\"[^\"\n]{1,200}\"|(?<!\w)'[^'\n]{1,200}'(?!\w)|「[^」\n]{1,200}」|『[^』\n]{1,200}』|«[^»\n]{1,200}»"
_CODE = r"`[^`\n]{1,200}`"


# ---- the same text, however it is written --------------------------------------------------------------------------

_TAG_LETTER = r"\[U\+E00([2-7][0-9A-F])\]|([\U000e0020-\U000e007e])"
_ESCAPE = r"\[U\+[0-9A-F]{4,6}\]"
_SPACED_OUT = re.compile(r"\w[ .-](?<!\S\w.)(?:\w[ .-]){3,}\w(?!\S)")
_LOOKALIKES = str.maketrans("аеорсухіѕјԁһѵαεορυχικν’‘“”", "aeopcyxisjdhvaeopyxikv''\"\"")
"""Cyrillic and Greek letters that look like Latin ones, after case folding."""


def _plain(text: str) -> str:
    """Undo what hides words: tag letters, unseen characters, lookalikes, emphasis, spaced-out letters."""
    if "[U+" in text or not text.isascii():
        text = re.sub(_TAG_LETTER, lambda tag: chr(int(tag[1], 16) if tag[1] else ord(tag[2]) - 0xE0000), text)
        text = INVISIBLE.sub("", re.sub(_ESCAPE, "", text))
    folded = text.lower() if text.isascii() else fold(text).translate(_LOOKALIKES)
    bare = folded.replace("*", "").replace("~", "").replace("__", "").replace("e-mail", "email")
    return _SPACED_OUT.sub(lambda word: re.sub(r"[ .-]", "", word[0]), bare)
