"""What of an export may come in: each field checked as if it were told anew, and no more trusted than it was."""

import re
from collections.abc import Sequence
from dataclasses import fields, replace
from datetime import datetime
from typing import NamedTuple

from memory_mcp import conversations, privacy, requests
from memory_mcp.config import MAX_CONTENT, MAX_NAME, MAX_TAG, Secrets
from memory_mcp.errors import InvalidInput
from memory_mcp.models import Kind, Memory, Source, Trust
from memory_mcp.storage.carried import (
    CarriedBlock,
    CarriedDocument,
    CarriedEpisode,
    CarriedMemory,
    CarriedSession,
    CarriedUse,
    Links,
    Record,
)

MAX_TITLE = 1_000
MAX_PLACE = 4_096
"""Characters of what hosts and file systems call things."""

MOST_TAGS = 1_000
"""A memory that is told again and again gathers more tags than one request may have."""

MOST = 10**9
"""No count and no place in a session is higher."""

_ID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class Admitted(NamedTuple):
    """A record as it may come in, and what was done to its text, in short sentences."""

    record: Record
    notices: tuple[str, ...] = ()


def admit(record: Record, now: datetime, secrets: Secrets, *, untrusted: bool) -> Admitted:
    """Check a record. With `untrusted`, others wrote it: it is third-party text, whatever it says of itself.

    `secrets` is what becomes of keys and passwords in it.

    Raises `InvalidInput` for whatever must not be kept as it is.
    """
    match record:
        case CarriedMemory():
            return _memory(record, now, secrets, untrusted=untrusted)
        case CarriedSession():
            return Admitted(_session(record, now, secrets))
        case CarriedUse():
            return Admitted(_use(record, secrets))
        case CarriedBlock():
            return Admitted(_block(record, now))


# ---- memories ------------------------------------------------------------------------------------------------------


def _memory(one: CarriedMemory, now: datetime, secrets: Secrets, *, untrusted: bool) -> Admitted:
    memory = one.memory
    _require_whole(one)
    text = privacy.admit(memory.content, "content", MAX_CONTENT, secrets)
    cleaned = replace(
        _at_known_times(memory, now),
        id=_id(memory.id, "id"),
        content=text.text,
        namespace=_named(memory.namespace, "namespace", secrets),
        tags=_tags(memory.tags, secrets),
        key=requests.name(memory.key, "key", secrets),
        session_id=requests.name(memory.session_id, "session_id", secrets),
        speaker=requests.name(memory.speaker, "speaker", secrets),
        title=privacy.admit_name(memory.title, "title", MAX_TITLE, secrets) if memory.title else "",
        sequence=memory.sequence and _count(memory.sequence, "sequence"),
        importance=requests.unit(memory.importance, "importance", 0.5),
        confidence=requests.unit(memory.confidence, "confidence", 1.0),
        trust=privacy.trust_of(memory.source, [memory.trust]),
        access_count=_count(memory.access_count, "access_count"),
        useful=_count(memory.useful, "useful"),
        useless=_count(memory.useless, "useless"),
    )
    if untrusted:
        cleaned = replace(cleaned, source=Source.IMPORT, trust=Trust.UNTRUSTED, pinned=False)
    episode, notices = _episode(one.episode, now, secrets) if one.episode else (None, ())
    beside = (episode.trigger, *(action.tool for action in episode.actions)) if episode else ()
    cleaned = privacy.flagged_if_commanding(cleaned, *beside)
    message = one.message and replace(one.message, **_places(vars(one.message)))
    document = one.document and _document(one.document)
    return Admitted(CarriedMemory(cleaned, _links(one.links), message, episode, document), (*text.notices, *notices))


def _require_whole(one: CarriedMemory) -> None:
    """Refuse what does not belong together: only turns have a place in a session, only episodes sum one up."""
    memory = one.memory
    is_turn, is_episode = memory.kind is Kind.TURN, memory.kind is Kind.EPISODE
    if is_episode != (one.episode is not None) or (is_episode and not memory.session_id):
        raise InvalidInput("only an episode tells of a session, and each does")
    if (one.message or memory.sequence) and not (is_turn and memory.session_id):
        raise InvalidInput("only a turn has a place in a session")
    if one.document and memory.kind is not Kind.DOCUMENT:
        raise InvalidInput("only a document has a place in a file")


def _at_known_times(memory: Memory, now: datetime) -> Memory:
    known: dict[str, datetime | None] = {
        "created_at": _past(memory.created_at, "created_at", now),
        "updated_at": _past(memory.updated_at, "updated_at", now),
    }
    for name in ("valid_from", "valid_to", "expires_at", "superseded_at", "last_accessed_at"):
        value: datetime | None = getattr(memory, name)
        known[name] = value and _instant(value, name)
    return replace(memory, **known)


def _episode(one: CarriedEpisode, now: datetime, secrets: Secrets) -> tuple[CarriedEpisode, tuple[str, ...]]:
    lessons, notices = conversations.lessons(one.lessons, secrets)
    if len(one.actions) > conversations.MAX_ACTIONS:
        raise InvalidInput(f"actions has {len(one.actions):,} entries; at most {conversations.MAX_ACTIONS:,}")
    cleaned = replace(
        one,
        version=_count(one.version, "version") or 1,
        covered_through=_count(one.covered_through, "covered_through"),
        started_at=_past(one.started_at, "started_at", now),
        ended_at=_past(one.ended_at, "ended_at", now),
        engine=_named(one.engine, "engine", secrets),
        trigger=requests.name(one.trigger, "trigger", secrets),
        lessons=lessons,
        actions=tuple(conversations.action(action, secrets) for action in one.actions),
    )
    return cleaned, notices


def _document(one: CarriedDocument) -> CarriedDocument:
    return replace(
        one, **_places({"origin": one.origin, "version": one.version}), position=_count(one.position, "position")
    )


def _links(links: Links) -> Links:
    return Links(
        **{one.name: tuple(_id(other, one.name) for other in getattr(links, one.name)) for one in fields(links)}
    )


def _tags(values: Sequence[str], secrets: Secrets) -> tuple[str, ...]:
    if len(values) > MOST_TAGS:
        raise InvalidInput(f"{len(values):,} tags are too many; at most {MOST_TAGS:,}")
    # Folded, a tag may have grown: ß becomes ss.
    return tuple(dict.fromkeys(privacy.admit_name(tag, "tags", 3 * MAX_TAG, secrets).casefold() for tag in values))


# ---- the rest ------------------------------------------------------------------------------------------------------


def _session(one: CarriedSession, now: datetime, secrets: Secrets) -> CarriedSession:
    return replace(
        one,
        namespace=_named(one.namespace, "namespace", secrets),
        id=_named(one.id, "session_id", secrets),
        host=_place(one.host, "host"),
        started_at=_past(one.started_at, "started_at", now),
        last_at=_past(one.last_at, "last_at", now),
        ended_at=one.ended_at and _past(one.ended_at, "ended_at", now),
        turns=_count(one.turns, "turns"),
        summarized_through=_count(one.summarized_through, "summarized_through"),
    )


def _use(one: CarriedUse, secrets: Secrets) -> CarriedUse:
    use = one.use
    if use.at is None:
        raise InvalidInput("at: field required")
    cleaned = replace(
        use,
        call_id=_place(use.call_id, "call_id"),
        action=conversations.action(use.action, secrets),
        at=_instant(use.at, "at"),
    )
    return CarriedUse(
        _named(one.namespace, "namespace", secrets), _named(one.session_id, "session_id", secrets), cleaned
    )


def _block(one: CarriedBlock, now: datetime) -> CarriedBlock:
    if one.what == "message" and not one.host:
        _count(int(one.message_id) if re.fullmatch(r"[0-9]{1,19}", one.message_id) else MOST + 1, "message_id")
    names = {name: getattr(one, name) for name in ("host", "namespace", "session_id", "message_id")}
    memory_id = one.memory_id and _id(one.memory_id, "memory_id")
    return replace(
        one, **_places(names), memory_id=memory_id, forgotten_at=_past(one.forgotten_at, "forgotten_at", now)
    )


# ---- fields --------------------------------------------------------------------------------------------------------


def _id(value: str, field: str) -> str:
    if not _ID.fullmatch(value):
        raise InvalidInput(f"{field}: an id is 36 characters long, as recall shows it")
    return value


def _named(value: str, field: str, secrets: Secrets) -> str:
    if not value:
        raise InvalidInput(f"{field} is empty")
    return privacy.admit_name(value, field, MAX_NAME, secrets)


def _places(values: dict[str, str]) -> dict[str, str]:
    return {name: _place(value, name) for name, value in values.items()}


def _place(value: str, field: str) -> str:
    """Check what a host calls a thing. It is compared and not shown, so it may hold anything; '' is no name."""
    if len(value) > MAX_PLACE:
        raise InvalidInput(f"{field} has {len(value):,} characters, the limit is {MAX_PLACE:,}")
    return value


def _count(value: int, field: str) -> int:
    if not 0 <= value <= MOST:
        raise InvalidInput(f"{field} must lie between 0 and {MOST:,}")
    return value


def _past(value: datetime, field: str, now: datetime) -> datetime:
    return requests.past(_instant(value, field), field, now) or now


def _instant(value: datetime, field: str) -> datetime:
    """Check an instant, which must say its offset from UTC."""
    if value.tzinfo is None:
        raise InvalidInput(f"{field} does not say its offset from UTC")
    return requests.instant(value, field) or value
