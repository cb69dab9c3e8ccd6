"""Whether what a summary names was said: names, numbers, paths, codes and quotations must occur in its source."""

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

_ITEM = re.compile(r"\d[\d.,:]*\d|\d|(?<=[^.!?\s] )[A-Z][\w-]+|[\w.-]*[_/\\][\w./\\-]+|[ァ-ヺー]{2,}")
_SENTENCE = re.compile(r"[^.!?。！？\n]*(?:[.!?。！？]+(?=\s|$|[^\d\s])|\n|$)")


@dataclass(frozen=True)
class Source:
    """What was said, folded once for many lookups."""

    folded: str

    @classmethod
    def of(cls, texts: Iterable[str]) -> "Source":
        """Fold texts."""
        return cls(_fold("\n".join(texts)))


def unsupported(text: str, source: Source) -> tuple[str, ...]:
    """Give what a text names and the source does not hold, in order."""
    return tuple(dict.fromkeys(one for one in _ITEM.findall(text) if _fold(one) not in source.folded))


def grounded(text: str, source: Source) -> tuple[str, tuple[str, ...]]:
    """Give a text without the sentences that name what was not said, and those sentences."""
    pieces = [piece for piece in _SENTENCE.findall(text) if piece]
    dropped = tuple(piece.strip() for piece in pieces if unsupported(piece, source))
    return "".join(piece for piece in pieces if not unsupported(piece, source)).strip(), dropped


def _fold(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())
