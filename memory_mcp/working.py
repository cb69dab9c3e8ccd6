"""What of a conversation still fits: how many tokens a text takes, what falls out, where a long conversation is cut."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from memory_mcp.models import Message
from memory_mcp.text import cut
from memory_mcp.tokens import HANGUL, UNSPACED

BYTES_A_TOKEN = 4
"""Of text with spaces between its words; the usual estimate for English."""

FRAME = 4
"""Tokens around a message: its role, and where it begins and ends."""

LEAST_BUDGET = 256
"""Tokens that hold a message with the longest name and still something of what it says."""

_PACKED = re.compile(f"[{UNSPACED}{HANGUL}]")


def estimate(text: str) -> int:
    """Say about how many tokens a text takes: 4 bytes a token, and a token a character of Japanese, Thai and the like.

    A model's own count differs by a third either way; it is asked for nowhere, so that this works offline.
    """
    size = len(text.encode("utf-8", "surrogatepass"))
    if not text.isascii():
        packed = "".join(_PACKED.findall(text))
        size += BYTES_A_TOKEN * len(packed) - len(packed.encode())
    return -(-size // BYTES_A_TOKEN)


def cost(message: Message) -> int:
    """Say about how many tokens a message takes, with its name and frame."""
    return FRAME + estimate(message.name) + estimate(message.content)


# ---- the running conversation --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class WorkingMemory:
    """The last messages of a running conversation, oldest first, within `budget` tokens.

    A system text is not held here: whoever passes it gives what it leaves as the budget. Raises `ValueError` for a
    budget below `LEAST_BUDGET`.
    """

    budget: int
    messages: tuple[Message, ...] = ()

    def __post_init__(self) -> None:
        _require(self.budget)

    def add(self, *messages: Message) -> tuple["WorkingMemory", tuple[Message, ...]]:
        """Take in what was said; gives the memory as it is then, and what fell out of it, oldest first.

        Whole exchanges fall out: a question with all that came of it. Of an exchange that is too long by itself, what
        is oldest goes; results of a tool go with the call before them. A message over the budget is cut where a line,
        a clause or a word ends. What fell out, followed by what is held, is all that was said, in order.
        """
        added = (part for message in messages for part in _parts(message, self.budget))
        held = [*self.messages, *added]
        left = sum(map(cost, held))
        out = 0
        while left > self.budget:
            after = _after_the_oldest(held, out)
            left -= sum(map(cost, held[out:after]))
            out = after
        return replace(self, messages=tuple(held[out:])), tuple(held[:out])


def _after_the_oldest(held: Sequence[Message], start: int) -> int:
    """Find where the oldest exchange ends; if it is the only one, the oldest step of it, and if that is, a message."""
    later = range(start + 1, len(held))
    exchange = (at for at in later if held[at].role == "user" and held[at - 1].role != "user")
    step = (at for at in later if held[at].role != "tool")
    return next(exchange, next(step, start + 1))


# ---- a long conversation -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Part:
    """A message, or a piece of one that is too long. `place` is that of the message in its conversation, from 0."""

    place: int
    message: Message


def windows(messages: Sequence[Message], budget: int) -> list[tuple[Part, ...]]:
    """Cut a conversation into consecutive stretches of at most `budget` tokens, as few as there can be.

    Nothing is left out and nothing stands in two of them; a message over the budget is cut where a line or a word
    ends. Raises `ValueError` for a budget below `LEAST_BUDGET`.
    """
    _require(budget)
    found: list[list[Part]] = []
    left = 0
    for place, message in enumerate(messages):
        for piece in _parts(message, budget):
            taken = cost(piece)
            if not found or taken > left:
                found.append([])
                left = budget
            found[-1].append(Part(place, piece))
            left -= taken
    return [tuple(window) for window in found]


def _parts(message: Message, budget: int) -> Iterator[Message]:
    room = budget - cost(replace(message, content=""))
    text = message.content
    start = 0
    while True:
        end = _end(text, start, room)
        yield replace(message, content=text[start:end])
        if end == len(text):
            return
        start = end


def _end(text: str, start: int, room: int) -> int:
    """Find where the piece of at most `room` tokens that begins at `start` best ends."""
    longest = range(min(len(text) - start, BYTES_A_TOKEN * room) + 1)
    size = bisect_right(longest, room, key=lambda length: estimate(text[start : start + length])) - 1
    latest = start + max(1, size)
    if latest >= len(text):
        return len(text)
    line = text.rfind("\n", start + size // 2, latest) + 1
    return line or cut(text, start + size // 2, latest)


def _require(budget: int) -> None:
    if budget < LEAST_BUDGET:
        raise ValueError(f"A budget of {budget} tokens is too small; at least {LEAST_BUDGET}.")
