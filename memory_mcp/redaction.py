"""A text without its secrets."""

import re
from collections.abc import Iterable, Sequence

from memory_mcp.secret_forms import Found, candidates

INVISIBLE = re.compile(
    "[\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f"
    "\ufeff\uffa0\ufff0-\ufffb\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff]"
)
"""Unicode's Default_Ignorable_Code_Point (DerivedCoreProperties.txt) and the marks of interlinear annotation."""


def redact(text: str) -> tuple[str, tuple[str, ...]]:
    """Replace secrets by `[redacted: KIND]`; gives the text and the kind of each secret, in order.

    Found are keys of known services by their form (our own rules, then those of detect-secrets; nothing is ever
    verified over a network), private key blocks, passwords in addresses, and what is assigned to a word such as
    password, api_key or パスワード, unless it looks like prose, code or a placeholder. Invisible characters inside it,
    or their escapes like `[U+200B]`, hide no secret and go with it. Repeating it changes nothing.
    """
    kinds: list[str] = []
    while found := _find(text):  # again, since one that is gone can have hidden where another begins
        kinds += [kind for _, _, kind in found]
        text = _replaced(text, found)
    return text, tuple(kinds)


_LABEL = re.compile(r"\[redacted: [a-z ]+\]")
_PASSED_OVER = re.compile(rf"{INVISIBLE.pattern}|\[U\+[0-9A-F]{{4,6}}\]")


_NARROW = {wide: wide - 0xFEE0 for wide in range(0xFF01, 0xFF5F)}
"""Fullwidth letters, digits and signs (Unicode, Halfwidth and Fullwidth Forms): a key in them is a key."""


def _find(text: str) -> list[Found]:
    # `<` begins no value: a label is neither a secret nor the word before one, else each would uncover the next.
    masked = _LABEL.sub(lambda label: "<" * len(label[0]), text)
    visible, places = _visible(masked.translate(_NARROW))
    return [(places[start], places[end - 1] + 1, kind) for start, end, kind in _apart(candidates(visible))]


def _visible(text: str) -> tuple[str, Sequence[int]]:
    """Leave out what cannot be seen; gives what remains and the place of each character in `text`."""
    gaps = [gap.span() for gap in _PASSED_OVER.finditer(text)]
    if not gaps:
        return text, range(len(text))
    starts, ends = [0, *(end for _, end in gaps)], [*(start for start, _ in gaps), len(text)]
    places = [place for start, end in zip(starts, ends, strict=True) for place in range(start, end)]
    return "".join(map(text.__getitem__, places)), places


def _replaced(text: str, found: Iterable[Found]) -> str:
    parts: list[str] = []
    kept_from = 0
    for start, end, kind in found:
        parts += (text[kept_from:start], f"[redacted: {kind}]")
        kept_from = end
    return "".join((*parts, text[kept_from:]))


def _apart(candidates: Iterable[Found]) -> list[Found]:
    """Merge what overlaps, under the kind that begins first."""
    found: list[Found] = []
    for start, end, kind in sorted(candidates, key=lambda candidate: (candidate[0], -candidate[1])):
        if found and start < found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]), found[-1][2])
        else:
            found.append((start, end, kind))
    return found
