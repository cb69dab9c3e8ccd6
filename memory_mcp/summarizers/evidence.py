"""Whether the turns that a model names as the evidence for a fact bear it out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from memory_mcp.models import KeyFact
from memory_mcp.tokens import query_terms
from memory_mcp.working import Part

if TYPE_CHECKING:
    from memory_mcp.summarizers.replies import Fact

LONGEST = 1_000
"""Characters of a fact or a lesson; what runs on longer is not one statement."""

LONGEST_KEY = 60
SHARE = 0.25
"""Of the words of a fact that must have been said: enough to tell a paraphrase from an invention."""

_STEM = 5
_SOMEBODY = re.compile(r"\b(?:the )?(?:user|assistant)(?:'s)?\b|ユーザー|アシスタント", re.IGNORECASE)


def distilled(fact: Fact, part: Sequence[Part]) -> KeyFact | None:
    """Make a key fact that points to its turns; None if there are none or they do not speak of it.

    A turn may be an answer, so the words of the one before it count as well.
    """
    cited = dict.fromkeys(number - 1 for number in fact.turns if 1 <= number <= len(part))
    told = [part[place].message.content for one in cited for place in {one, max(0, one - 1)}]
    content = fact.content.strip()
    if not 0 < len(content) <= LONGEST or share(told, content) < SHARE:
        return None
    key = fact.key if fact.key.isidentifier() and len(fact.key) <= LONGEST_KEY else ""
    evidence = tuple(dict.fromkeys(part[place].place for place in cited))
    return KeyFact(content, fact.kind, fact.importance, fact.confidence, key, evidence=evidence)


def share(told: Iterable[str], fact: str) -> float:
    """Give the share of a fact's words that texts hold, from 0 to 1; words count as the same from five letters on.

    A fact without a telling word is held by any text that has words.
    """
    words = {one.rstrip("*") for text in told for one in query_terms(text, every=True)}
    stems = {one[:_STEM] for one in words if one.isascii()}
    terms = [one.rstrip("*") for one in query_terms(_SOMEBODY.sub(" ", fact))]
    shared = sum(one in words or (len(one) >= _STEM and one[:_STEM] in stems) for one in terms)
    return (shared / len(terms) if terms else 1.0) if words else 0.0
