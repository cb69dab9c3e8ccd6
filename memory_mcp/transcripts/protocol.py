"""What a transcript says, whichever host wrote it: what was said, which tools were used, how far it was read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Literal, Protocol

from memory_mcp.models import Action

Role = Literal["user", "assistant", "tool"]
"""Who is heard; `tool` is what a tool printed."""


@dataclass(frozen=True)
class Heard:
    """One message, without what the host added to it. `at` is None where nobody noted the time.

    `message_id` is the same at every reading of the transcript; `place` is where its line begins, in bytes.
    """

    message_id: str
    role: Role
    content: str
    at: datetime | None
    place: int


@dataclass(frozen=True)
class Used:
    """One use of a tool that has come to its end; `call_id` is the host's own name of it."""

    call_id: str
    action: Action
    at: datetime | None


@dataclass(frozen=True)
class Transcript:
    """What was read of a transcript, in order. The next reading goes on at `place` if `mark` still stands before it."""

    turns: tuple[Heard, ...]
    uses: tuple[Used, ...]
    place: int
    mark: bytes


@dataclass(frozen=True)
class Record:
    """One line of a transcript that is a JSON object, and where it begins, in bytes."""

    place: int
    data: Mapping[str, object]


class Reader(Protocol):
    """Reads one host's transcripts."""

    def __call__(self, path: Path, place: int = 0, mark: bytes = b"") -> Transcript:
        """Read on from `place`, or from the start if the file is shorter by now or another one stands there.

        What cannot be understood is passed over, and a last line without an end is left for the next reading. Raises
        `OSError`.
        """
        ...


Records = Sequence[Record]
