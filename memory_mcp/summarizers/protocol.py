"""What is asked of whoever summarizes, and what comes back."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from memory_mcp.models import KeyFact, Message, Outcome

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
