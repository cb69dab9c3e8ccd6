"""How a conversation becomes an episode: its turns, its summary, its key facts."""

from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING

from memory_mcp import privacy, requests
from memory_mcp.config import (
    MAX_ACTIONS,
    MAX_CONTENT,
    MAX_KEY_FACTS,
    MAX_LESSONS,
    MAX_MESSAGES,
    MAX_NAME,
    Secrets,
    Settings,
)
from memory_mcp.errors import InvalidInput
from memory_mcp.injection import commands_assistant
from memory_mcp.models import (
    LESSONS,
    OWN_WORDS,
    Action,
    Conversation,
    Episode,
    KeyFact,
    Kind,
    Memory,
    Message,
    Source,
    Trust,
    new_id,
)
from memory_mcp.redaction import redact
from memory_mcp.storage.values import Coordinates, Draft
from memory_mcp.text import parts
from memory_mcp.tokens import normalise

if TYPE_CHECKING:  # a hook, which has turns to make and no summary, must not wait for the libraries behind it
    from memory_mcp.summarizers.protocol import Summary

MAX_MESSAGE = 1_000_000
"""Characters of one message; over `MAX_CONTENT` it is kept as several turns."""

MAX_LESSON = 1_000
TELLING = 20
"""Characters from which the same words at the same places are no coincidence; "Yes." at place 5 may be one."""

MAX_SECONDS = 366 * 86_400.0
SOURCES = {"user": Source.USER, "assistant": Source.AGENT, "tool": Source.TOOL}
SPEAKING = ("user", "assistant")
"""Roles whose words are kept; system text and, unless asked for, tool output are not part of what was said."""

ROLES = (*SOURCES, "system")

COMMANDING = (
    "What commands the assistant is kept as a quotation, left out of summaries and not shown unasked:"
    " memory-mcp list --flagged."
)


def require_bounded(told: Conversation) -> None:
    """Refuse more than one conversation can reasonably hold, before any of it is worked on."""
    bounds = (
        ("messages", len(told.messages), MAX_MESSAGES),
        ("key_facts", len(told.key_facts), MAX_KEY_FACTS),
        ("lessons", len(told.lessons), MAX_LESSONS),
        ("actions", len(told.actions), MAX_ACTIONS),
    )
    for field, count, most in bounds:
        if count > most:
            raise InvalidInput(f"{field} has {count:,} entries; at most {most:,}. Nothing was saved.")


def spoken(
    messages: Sequence[Message], secrets: Secrets, roles: Collection[str] = SPEAKING
) -> tuple[list[Message], tuple[str, ...]]:
    """Keep what people and assistants said, cleaned, with notices; raises `InvalidInput` naming the message."""
    kept: list[Message] = []
    notices: list[str] = []
    for place, message in enumerate(messages):
        if message.role not in ROLES:
            raise InvalidInput(f"messages[{place}].role must be one of {', '.join(ROLES)}. Nothing was saved.")
        if message.role not in roles or not privacy.without_private(message.content)[0].strip():
            continue
        # Admitted whole and then cut: a secret at a cut would be recognised in neither half.
        admitted = privacy.admit(message.content, f"messages[{place}].content", MAX_MESSAGE, secrets)
        name = requests.name(message.name.strip(), f"messages[{place}].name", secrets)
        flagged = bool(commands_assistant(admitted.text, name))
        kept += [
            replace(message, content=part, name=name, flagged=flagged) for part in parts(admitted.text, MAX_CONTENT)
        ]
        notices += (*admitted.notices, *([COMMANDING] if flagged else []))
    return kept, tuple(dict.fromkeys(notices))


Said = tuple[str, str]
"""Who said it, and what."""


def unseen(
    kept: Sequence[Memory], messages: Sequence[Message], gone: Mapping[int, datetime] = MappingProxyType({})
) -> tuple[list[Message], int]:
    """Find the messages that the session does not hold yet; gives how many stand where something was forgotten, too.

    A host may hand in the whole conversation again, or its last part: what overlaps with the end of the kept turns, or
    lies wholly within them, is known. `gone` are the places whose turns were forgotten, and when: only a message that
    was said later is new there, or, where nothing shows its place, in the session.
    """
    held = {turn.sequence: (turn.speaker, turn.content) for turn in kept if turn.sequence}
    start = _first_place(held, [(speaker(message), message.content) for message in messages]) if held else bool(gone)
    if not start:
        since = max(gone.values(), default=None)
        new = [one for one in messages if since is None or one.at is None or one.at > since]
        return new, len(messages) - len(new)
    last = max(held, default=0)
    after = [(place, message) for place, message in enumerate(messages, start) if place > last]
    new = [one for place, one in after if place not in gone or (one.at is not None and one.at > gone[place])]
    return new, len(after) - len(new)


def _first_place(held: Mapping[int, Said], given: Sequence[Said]) -> int:
    """Find the place of the first message among the held turns; 0 if it is not told by them.

    The longest overlap with their end counts first. One place in common is enough where the messages begin with it;
    elsewhere it may be chance ("Yes."), and the words in common must be telling.
    """
    places, last = sorted(held), max(held)
    longest = max(range(len(given)), key=lambda place: len(given[place][1]), default=0)
    within = (place - longest for place in places if given and held[place] == given[longest])
    reaching = range(max(1, last - len(given) + 1), last + 1)
    for start in (*reaching, *(start for start in within if 0 < start < reaching.start)):
        common = places[bisect_left(places, start) : bisect_left(places, start + len(given))]
        if (
            common
            and all(held[place] == given[place - start] for place in common)
            and (start in held or sum(len(held[place][1]) for place in common) >= TELLING)
        ):
            return start
    return 0


def speaker(message: Message) -> str:
    """Who spoke: the name if there is one, else the role."""
    return message.name or message.role


def turn(message: Message, conversation: Conversation, settings: Settings, now: datetime) -> Memory:
    """Make the memory of one message."""
    at = requests.past(message.at, "time", now) or now
    return Memory(
        id=new_id(now),
        content=message.content,
        kind=Kind.TURN,
        namespace=conversation.namespace,
        session_id=conversation.session_id,
        speaker=speaker(message),
        source=SOURCES[message.role],
        trust=privacy.trust_of(SOURCES[message.role]),
        created_at=at,
        updated_at=now,
        expires_at=requests.expiry(None, Kind.TURN, settings, now),
        flagged=message.flagged or bool(commands_assistant(conversation.session_id)),
    )


@dataclass(frozen=True)
class Coming:
    """Turns as they come in from a host's record or a file, and what was wrong with those that cannot be kept."""

    drafts: tuple[Draft, ...] = ()
    skipped: tuple[str, ...] = ()
    notices: tuple[str, ...] = ()


def coming(
    told: Iterable[tuple[str, Message]],
    of: Conversation,
    host: str,
    settings: Settings,
    now: datetime,
    roles: Collection[str] = SPEAKING,
) -> Coming:
    """Make drafts of messages, each with its name at its host; one that cannot be kept holds up no other.

    A message that is kept in several parts has one name a part.
    """
    drafts: list[Draft] = []
    skipped: list[str] = []
    notices: list[str] = []
    for name, message in told:
        try:
            said, more = spoken([message], settings.secrets, roles)
            memories = [turn(one, of, settings, now) for one in said]
        except InvalidInput as error:
            skipped.append(f"message {name}: {error}")
            continue
        notices += more
        drafts += [
            Draft(memory, coordinates=Coordinates(host, of.session_id, _part(name, number), message.role))
            for number, memory in enumerate(memories)
        ]
    return Coming(tuple(drafts), tuple(skipped), tuple(dict.fromkeys(notices)))


def agree(drafts: Iterable[Draft], kept: Mapping[str, str]) -> bool:
    """Whether turns that come in say what is kept under their names; what was forgotten cannot be compared."""
    named = ((draft.coordinates.message_id, draft.memory.content) for draft in drafts if draft.coordinates)
    return all(_same(text, kept[name]) for name, text in named if name in kept)


def _same(one: str, other: str) -> bool:
    """Compare two texts, of which one may have been kept before its secrets were redacted."""
    return normalise(one) == normalise(other) or normalise(redact(one)[0]) == normalise(redact(other)[0])


def _part(name: str, number: int) -> str:
    return f"{name}/{number}" if number else name


def message(turn: Memory) -> Message:
    """Give a kept turn back as the message it was."""
    roles = {source: role for role, source in SOURCES.items()}
    return Message(roles.get(turn.source, "user"), turn.content, turn.speaker, turn.created_at, turn.flagged)


def episode(
    conversation: Conversation, summary: "Summary", turns: Sequence[Memory], settings: Settings, now: datetime
) -> Episode:
    """Make the episode of a session from its summary; its lessons stand in its content, so that they are found."""
    lessons = tuple(conversation.lessons or summary.lessons)
    started_at, ended_at = _period(conversation, turns, now)
    memory = Memory(
        id=new_id(now),
        content=_told(summary.summary, lessons),
        kind=Kind.EPISODE,
        namespace=conversation.namespace,
        tags=requests.tags(conversation.tags, settings.secrets),
        session_id=conversation.session_id,
        trust=_trust(turns, summary),
        created_at=now,
        updated_at=now,
        expires_at=requests.expiry(None, Kind.EPISODE, settings, now),
    )
    return Episode(
        memory=privacy.flagged_if_commanding(memory, conversation.trigger, *(one.tool for one in conversation.actions)),
        started_at=started_at,
        ended_at=ended_at,
        trigger=conversation.trigger,
        outcome=conversation.outcome or summary.outcome,
        lessons=lessons,
        actions=conversation.actions,
        engine=summary.engine,
        covered_through=max((one.sequence or 0 for one in turns), default=0),
    )


def _trust(turns: Sequence[Memory], summary: "Summary") -> Trust:
    """Trust a summary as what it was made of: our summarizers do not read what tools printed, a host's model did."""
    read = (one.trust for one in turns if summary.engine == OWN_WORDS or one.source is not Source.TOOL)
    return Trust.UNTRUSTED if Trust.UNTRUSTED in read else Trust.TRUSTED


def _told(summary: str, lessons: Sequence[str]) -> str:
    content = summary + LESSONS + "\n".join(f"- {one}" for one in lessons) if lessons else summary
    if len(content) > MAX_CONTENT:
        raise InvalidInput(
            f"summary and lessons have {len(content):,} characters together; at most {MAX_CONTENT:,}."
            " Shorten them. Nothing was saved."
        )
    return content


def _period(conversation: Conversation, turns: Sequence[Memory], now: datetime) -> tuple[datetime, datetime]:
    """Say from when to when a session lasted: from its turns, the start also from whoever tells of it."""
    times = [one.created_at for one in turns] or [now]
    started_at = requests.past(conversation.started_at, "started_at", now) or min(times)
    if started_at > max(times):
        raise InvalidInput("started_at lies after the end of the conversation. Nothing was saved.")
    return started_at, max(times)


def lessons(told: Sequence[str], secrets: Secrets) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Check what was learned; gives it cleaned, with notices."""
    admitted = [privacy.admit(one, "lessons", MAX_LESSON, secrets) for one in told]
    return tuple(one.text for one in admitted), tuple(notice for one in admitted for notice in one.notices)


def action(told: Action, secrets: Secrets) -> Action:
    """Check one tool use. Its duration may be unknown, but not negative."""
    duration = told.duration
    if duration is not None and not 0 <= duration < MAX_SECONDS:
        raise InvalidInput("actions: duration is in seconds, 0 or more. Nothing was saved.")
    tool = privacy.admit_name(told.tool, "actions.tool", MAX_NAME, secrets)
    return replace(told, tool=tool, input_digest=requests.name(told.input_digest, "actions.input_digest", secrets))


def key_fact(fact: KeyFact, of: Episode, settings: Settings, now: datetime) -> tuple[Memory, tuple[str, ...]]:
    """Make the memory of one key fact; what a summary distils is inferred (.7) unless it says otherwise."""
    admitted = privacy.admit(fact.content, "key_facts", MAX_CONTENT, settings.secrets)
    if fact.kind in requests.NOT_BY_STORE or fact.kind is Kind.TURN:
        raise InvalidInput(f"A key fact cannot be of kind {fact.kind.value!r}. Nothing was saved.")
    memory = Memory(
        id=new_id(now),
        content=admitted.text,
        kind=fact.kind,
        namespace=of.memory.namespace,
        key=requests.name(fact.key, "key", settings.secrets),
        session_id=of.memory.session_id,
        importance=requests.unit(fact.importance, "importance", 0.5),
        confidence=requests.unit(fact.confidence, "confidence", 0.7),
        trust=of.memory.trust,
        created_at=of.ended_at,
        updated_at=now,
        expires_at=requests.expiry(None, fact.kind, settings, now),
    )
    return privacy.flagged_if_commanding(memory), admitted.notices


def without_secrets(summary: "Summary") -> "Summary":
    """Take secrets out of what a summarizer wrote: it may have read turns that were kept when secrets were."""
    told = privacy.admit(summary.summary, "summary", MAX_CONTENT, "redact")
    learned, more = lessons(summary.lessons, "redact")
    facts = tuple(
        replace(one, content=redact(one.content)[0], key="" if redact(one.key)[1] else one.key)
        for one in summary.key_facts
    )
    notice = " ".join(dict.fromkeys(filter(None, (summary.notice, *told.notices, *more))))
    return replace(summary, summary=told.text, lessons=learned, key_facts=facts, notice=notice)


def require_short(summary: str) -> None:
    """Refuse a summary of the caller's over 200 words, or 200 characters of text written without spaces."""
    from memory_mcp.summarizers.protocol import too_long  # noqa: PLC0415 - as Summary

    if length := too_long(summary):
        raise InvalidInput(f"summary has {length}. Shorten it. Nothing was saved.")
