"""How a hook keeps what was said: what is new in the host's own record of a conversation, if the person wants that."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from os.path import normcase
from pathlib import Path

from memory_mcp import conversations, requests
from memory_mcp.config import Secrets, Settings
from memory_mcp.errors import InvalidInput
from memory_mcp.hooks import HookEvent
from memory_mcp.models import Conversation, Message
from memory_mcp.storage.protocol import Store
from memory_mcp.storage.values import Captured, Reading, ToolUse
from memory_mcp.transcripts import READERS, Heard, Transcript, Used, mark_at

AT_ONCE = 200_000
"""Characters of one call: to look through them for secrets and orders takes 0.2 s. What is more waits for the next."""

DOOR = "hook"

_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]")
"""A terminal's, mostly; nobody said them, and what holds them is not kept."""


@dataclass(frozen=True)
class Kept:
    """What became of the messages of one call. `skipped` could not be kept, and is not tried again.

    `notices` say what was done to messages, and why the first of the skipped ones could not be kept.
    """

    written: int = 0
    skipped: int = 0
    notices: tuple[str, ...] = ()


def is_wanted(event: HookEvent, settings: Settings) -> bool:
    """Whether the person has opted in and the event is about a conversation that can be read."""
    return settings.capture != "off" and event.host in READERS and bool(event.session_id)


def is_forbidden(event: HookEvent, settings: Settings) -> bool:
    """Whether capture is paused, or the conversation is about an excluded folder, or about nobody knows which."""
    if settings.pause_marker.exists():
        return True
    if not settings.exclude:
        return False
    return event.cwd is None or any(_is_within(event.cwd, folder) for folder in settings.exclude)


async def capture(event: HookEvent, store: Store, settings: Settings, now: datetime) -> Kept:
    """Keep what a conversation's record says since the last call; its end is marked.

    What is forbidden is passed over for good, so that it is not kept once that changes. Raises `InvalidInput`,
    `StoreUnavailable` and `OSError`; the next call then does it all.
    """
    session_id = requests.name(event.session_id, "session_id", settings.secrets)
    known = await store.reading(event.host, session_id) or Reading(0, b"")
    told = _read(event, known)
    roles = ("user", "assistant", "tool") if settings.capture == "tools" else conversations.SPEAKING
    if is_forbidden(event, settings):
        told, roles = replace(told, uses=()), ()
    turns, reading = _fitting(event, replace(told, turns=tuple(turn for turn in told.turns if turn.role in roles)))
    of = Conversation(session_id, namespace=settings.namespace)
    come = conversations.coming(_messages(turns, now), of, event.host, settings, now, roles)
    captured = Captured(
        event.host,
        session_id,
        settings.namespace,
        come.drafts,
        _tool_uses(told.uses, settings.secrets),
        ended_at=now if event.event == "end" else None,
        reading=reading,
    )
    if reading == known and not (captured.turns or captured.uses or captured.ended_at):
        return Kept()
    done = await store.capture(captured, door=DOOR)
    return Kept(done.written, len(come.skipped), (*come.notices, *come.skipped[:1]))


def _read(event: HookEvent, known: Reading) -> Transcript:
    """Read on in the host's record, if there is one yet."""
    path = event.transcript_path
    if path is None or not path.exists():
        return Transcript((), (), known.place, known.mark)
    return READERS[event.host](path, known.place, known.mark)


def _fitting(event: HookEvent, transcript: Transcript) -> tuple[Sequence[Heard], Reading]:
    """Take as much as one call may; the reading goes on where the rest begins."""
    room = AT_ONCE
    for number, turn in enumerate(transcript.turns):
        room -= len(turn.content)
        if room < 0 < number and event.transcript_path:
            place = min(later.place for later in transcript.turns[number:])
            return transcript.turns[:number], Reading(place, mark_at(event.transcript_path, place))
    return transcript.turns, Reading(transcript.place, transcript.mark)


def _messages(turns: Iterable[Heard], now: datetime) -> list[tuple[str, Message]]:
    """Take a time that has not come yet for an unknown one, and leave out what is no text."""
    return [
        (
            turn.message_id,
            Message(
                turn.role, _CONTROLS.sub("\ufffd", turn.content), at=turn.at if turn.at and turn.at <= now else None
            ),
        )
        for turn in turns
    ]


def _tool_uses(uses: Iterable[Used], secrets: Secrets) -> tuple[ToolUse, ...]:
    """Take the uses that can be told of; a name that looks like a secret cannot."""
    told: list[ToolUse] = []
    for use in uses:
        try:
            told.append(ToolUse(use.call_id, conversations.action(use.action, secrets), use.at))
        except InvalidInput:
            continue
    return tuple(told)


def _is_within(folder: Path, excluded: Path) -> bool:
    """Whether a folder is another one or lies in it, whatever links lead there."""
    return Path(normcase(folder.resolve())).is_relative_to(normcase(excluded.resolve()))
