"""The nouns: what a memory is, and what is asked of the memory."""

import os
import time
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import Literal
from uuid import UUID


class Kind(StrEnum):
    """What sort of memory it is: semantic, procedural, episodic or reference."""

    FACT = "fact"
    PREFERENCE = "preference"
    INSTRUCTION = "instruction"
    RELATIONSHIP = "relationship"
    DECISION = "decision"
    METRIC = "metric"
    PATTERN = "pattern"
    LESSON = "lesson"
    EPISODE = "episode"
    TURN = "turn"
    DOCUMENT = "document"


class State(StrEnum):
    """Where a memory stands; a forgotten one has no state because it has no row."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    ARCHIVED = "archived"


class Source(StrEnum):
    """Who a memory came from."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    IMPORT = "import"
    HOOK = "hook"


class Trust(StrEnum):
    """Whether a memory may be shown without being asked for."""

    TRUSTED = "trusted"
    UNTRUSTED = "untrusted"


class Outcome(StrEnum):
    """How an episode ended."""

    SUCCESS = "success"
    FAILURE = "failure"
    PARTIAL = "partial"


UNTRUSTED_SOURCES = frozenset({Source.TOOL, Source.IMPORT})
"""Third-party text: what a tool printed and what somebody else's file said."""


@dataclass(frozen=True)
class Memory:
    """One text worth knowing later, with everything that is known about it.

    Instants are aware and in UTC. `importance` and `confidence` lie in 0..1. `sequence` is the place of a turn within
    its session, from 1, numbered by the store. `title` and `place` are those of a part of a document: its headings, and
    which part of which file it is. `valid_from`/`valid_to` say when the text was true in the world, `created_at` when
    it was learned, `superseded_at` when a newer memory replaced it. One that is `flagged` commands the assistant and
    is not shown unasked until a person vouches for it.
    """

    id: str
    content: str
    created_at: datetime
    updated_at: datetime
    kind: Kind = Kind.FACT
    namespace: str = "user"
    tags: tuple[str, ...] = ()
    key: str = ""
    pinned: bool = False
    session_id: str = ""
    sequence: int | None = None
    speaker: str = ""
    title: str = ""
    place: str = ""
    importance: float = 0.5
    confidence: float = 1.0
    source: Source = Source.AGENT
    trust: Trust = Trust.TRUSTED
    state: State = State.ACTIVE
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    expires_at: datetime | None = None
    superseded_at: datetime | None = None
    superseded_by: str = ""
    derived_from: tuple[str, ...] = ()
    access_count: int = 0
    last_accessed_at: datetime | None = None
    useful: int = 0
    useless: int = 0
    flagged: bool = False

    @property
    def may_come_unasked(self) -> bool:
        """Whether it may be shown where nobody asked for it: it is trusted, and does not command the assistant."""
        return self.trust is Trust.TRUSTED and not self.flagged


@dataclass(frozen=True)
class Action:
    """One tool use of an episode. `input_digest` is opaque; `duration` is in seconds."""

    tool: str
    ok: bool
    input_digest: str = ""
    duration: float | None = None


LESSONS = "\nLessons:\n"
"""Between what happened and what was learned from it, in the content of an episode."""


FILE = "file"
"""Stands for a host in the block on a file given as reference, whose session is the file's path."""


OWN_WORDS = "host"
"""The engine of a summary that the host's own model wrote."""


@dataclass(frozen=True)
class Episode:
    """What an episode knows beyond its memory: one session, summarized.

    `covered_through` is the sequence of the last turn that the summary covers (0: no turns were kept); `version` counts
    the summaries of the session from 1; `key_facts` are the ids of the memories that were distilled from it.
    """

    memory: Memory
    started_at: datetime
    ended_at: datetime
    trigger: str = ""
    outcome: Outcome | None = None
    lessons: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
    key_facts: tuple[str, ...] = ()
    engine: str = OWN_WORDS
    version: int = 1
    covered_through: int = 0


@dataclass(frozen=True)
class Message:
    """One turn of a conversation as it comes in; `at` is None when nobody knows the time.

    One that is `flagged` commands the assistant: it is kept, and no summary is made of it.
    """

    role: str
    content: str
    name: str = ""
    at: datetime | None = None
    flagged: bool = False


# ---- what is asked -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class NewMemory:
    """A request to store one text. None means: by the kind's default."""

    content: str
    kind: Kind = Kind.FACT
    tags: tuple[str, ...] = ()
    importance: float | None = None
    confidence: float | None = None
    key: str = ""
    supersedes: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    valid_from: datetime | None = None
    expires_in_days: float | None = None
    session_id: str = ""
    speaker: str = ""
    created_at: datetime | None = None
    namespace: str = ""
    source: Source = Source.AGENT
    pinned: bool = False


@dataclass(frozen=True)
class Filter:
    """Which memories a question is about. Empty members do not restrict; `tags` must all be present.

    `since` and `until` bound `created_at` (until is exclusive); `as_of` asks what was held true at that instant;
    `now` hides what has expired by then.
    """

    namespaces: tuple[str, ...] = ()
    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = ()
    states: tuple[State, ...] = (State.ACTIVE,)
    session_id: str = ""
    file: str = ""
    source: Source | None = None
    trust: Trust | None = None
    flagged: bool | None = None
    outcome: Outcome | None = None
    min_confidence: float = 0.0
    since: datetime | None = None
    until: datetime | None = None
    as_of: datetime | None = None
    now: datetime | None = None


@dataclass(frozen=True)
class Query:
    """A question to the memory, as an edge understood it. Dates are still the user's words; the service reads them.

    `asked_in` names the conversation that asks: it is told nothing of itself. `limit` bounds what a question or a
    listing gives; a briefing, asked by nothing but perhaps namespace and max_tokens, fills its budget.
    """

    text: str = ""
    limit: int = 8
    kinds: tuple[Kind, ...] = ()
    tags: tuple[str, ...] = ()
    since: str = ""
    until: str = ""
    as_of: str = ""
    outcome: Outcome | None = None
    min_confidence: float = 0.0
    source: Source | None = None
    session_id: str = ""
    namespace: str = ""
    include_history: bool = False
    archived: bool = False
    trust: Trust | None = None
    flagged: bool | None = None
    context: str = ""
    ids: tuple[str, ...] = ()
    cursor: str = ""
    max_tokens: int | None = None
    asked_in: str = ""


@dataclass(frozen=True)
class KeyFact:
    """A memory distilled from a conversation by whoever summarized it.

    `evidence` are the places, from 0, of the messages that it was taken from; () when nobody knows.
    """

    content: str
    kind: Kind = Kind.FACT
    importance: float | None = None
    confidence: float | None = None
    key: str = ""
    supersedes: tuple[str, ...] = ()
    evidence: tuple[int, ...] = ()


@dataclass(frozen=True)
class Conversation:
    """A request to summarize one session: by the caller's own words, or from messages."""

    session_id: str
    summary: str = ""
    key_facts: tuple[KeyFact, ...] = ()
    messages: tuple[Message, ...] = ()
    trigger: str = ""
    outcome: Outcome | None = None
    lessons: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()
    tags: tuple[str, ...] = ()
    started_at: datetime | None = None
    namespace: str = ""
    useful_ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class Selection:
    """Which memories a forget, archive or restore is about: exact ids, or a query, tags, session, source, date, file.

    `file` is the origin of a document, or of the folder that it was in.
    """

    ids: tuple[str, ...] = ()
    query: str = ""
    tags: tuple[str, ...] = ()
    session_id: str = ""
    source: Source | None = None
    before: str = ""
    namespace: str = ""
    confirm: str = ""
    file: str = ""


@dataclass(frozen=True)
class Revision:
    """Changes to one memory; None leaves a field as it is. `expires_in_days` of 0 means: never.

    `flagged` can only be taken off: a person vouches for a memory that commands the assistant.
    """

    importance: float | None = None
    confidence: float | None = None
    tags: tuple[str, ...] | None = None
    kind: Kind | None = None
    namespace: str | None = None
    pinned: bool | None = None
    expires_in_days: float | None = None
    flagged: Literal[False] | None = None


# ---- what goes with them -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ModelIdentity:
    """Which model made a vector; vectors of different identities are never compared.

    `ceiling` is the cosine that counts as full agreement for this model (docs/decisions.md, Embedding model); `prefix`
    is what the model wants before each stored text. `folder` is where it lies, if it was named by its folder: the same
    model in another folder is the same.
    """

    name: str
    checksum: str
    dimension: int
    ceiling: float = 0.6
    prefix: str = ""
    folder: str = field(default="", compare=False)

    @property
    def loads_by(self) -> str:
        """The name or folder by which it is loaded."""
        return self.folder or self.name


@dataclass(frozen=True)
class PendingSession:
    """A session whose kept turns are not all covered by a summary.

    `turns` is 0 where a summary lost a source and must be made again. `ended_at` is None while the session may go on;
    `failures` counts the summaries that failed since the last turn, the last one at `failed_at` for `reason`.
    """

    session_id: str
    namespace: str
    turns: int
    last_at: datetime
    ended_at: datetime | None = None
    failures: int = 0
    failed_at: datetime | None = None
    reason: str = ""


def new_id(now: datetime | None = None) -> str:
    """Make a UUIDv7 (RFC 9562, section 5.7): 48 bits of milliseconds, then random bits, so ids sort by time."""
    milliseconds = int(now.timestamp() * 1000) if now else time.time_ns() // 1_000_000
    value = (milliseconds & 0xFFFF_FFFF_FFFF) << 80 | int.from_bytes(os.urandom(10))
    value = value & ~(0xF << 76) | 0x7 << 76
    value = value & ~(0x3 << 62) | 0x2 << 62
    return str(UUID(int=value))


def utc_now() -> datetime:
    """Read the clock."""
    return datetime.now(UTC)
