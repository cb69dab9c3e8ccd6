"""What a host's hook tells us: something happened in a conversation."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Event = Literal["start", "prompt", "compact", "stop", "end"]
"""A conversation starts, goes on, or has just been compacted (`start`); the person wrote something (`prompt`); the host
is about to compact (`compact`); an answer is finished (`stop`); the conversation is over (`end`)."""


@dataclass(frozen=True)
class HookEvent:
    """One call of a hook, the same for every host. Members that the host did not fill in are empty.

    `session_id` is the host's own name of the conversation, `transcript_path` its record of it, `cwd` the folder that
    the conversation is about, `prompt` what the person wrote, `source` the host's word for why it happened (such as
    startup, resume, clear, compact).
    """

    host: str
    event: Event
    session_id: str = ""
    transcript_path: Path | None = None
    cwd: Path | None = None
    prompt: str = ""
    source: str = ""
