"""What is asked of whoever summarizes, and what comes back."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from memory_mcp.models import KeyFact, Message, Outcome
from memory_mcp.text import is_cjk

MAX_WORDS = 200
MAX_CHARACTERS = 200
"""Of Japanese and other text that is written without spaces."""

Progress = Callable[[int, int], Awaitable[None]]
"""Told how many of how many steps are done."""


async def no_progress(_done: int, _of: int) -> None:
    """Tell nobody."""


@dataclass(frozen=True)
class Summary:
    """What a conversation was about. `engine` names who wrote it, `notice` what a reader must know about how."""

    summary: str
    key_facts: tuple[KeyFact, ...] = ()
    lessons: tuple[str, ...] = ()
    engine: str = ""
    notice: str = ""
    outcome: Outcome | None = None


def too_long(summary: str) -> str:
    """Say how long a summary is, such as '231 words', if that is too long; else ''."""
    if is_cjk(summary):
        characters = len("".join(summary.split()))
        return f"{characters} characters; at most {MAX_CHARACTERS}" if characters > MAX_CHARACTERS else ""
    words = len(summary.split())
    return f"{words} words; at most {MAX_WORDS}" if words > MAX_WORDS else ""


class Budget(Protocol):
    """What may be spent on a paid service, in dollars."""

    async def left(self) -> float:
        """What is left of today's."""
        ...

    async def spend(self, dollars: float) -> None:
        """Count what was spent, or with a negative number given back."""
        ...


class Summarizer(Protocol):
    """Makes a summary of a conversation."""

    @property
    def name(self) -> str:
        """What episodes record as their engine."""
        ...

    async def summarize(self, messages: Sequence[Message], progress: Progress = no_progress) -> Summary:
        """Summarize in at most 200 words, or 200 characters of Japanese, in the language of the conversation.

        Raises `SummaryFailed` when there is nothing to summarize or nothing usable came back.
        """
        ...
