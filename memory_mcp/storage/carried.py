"""What an export carries: every record of a memory file, whole, and what becomes of each in another file."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal, NamedTuple, Protocol

from memory_mcp.models import Action, Memory, Outcome
from memory_mcp.storage.values import Coordinates, ToolUse


@dataclass(frozen=True)
class Links:
    """The memories that one is related to, by id, in both directions: whichever comes later finds the other."""

    supersedes: tuple[str, ...] = ()
    superseded_by: tuple[str, ...] = ()
    derived_from: tuple[str, ...] = ()
    origin_of: tuple[str, ...] = ()
    key_fact_of: tuple[str, ...] = ()
    key_facts: tuple[str, ...] = ()


@dataclass(frozen=True)
class CarriedEpisode:
    """What an episode knows beyond its text."""

    version: int
    covered_through: int
    started_at: datetime
    ended_at: datetime
    engine: str
    trigger: str = ""
    outcome: Outcome | None = None
    lessons: tuple[str, ...] = ()
    actions: tuple[Action, ...] = ()


@dataclass(frozen=True)
class CarriedDocument:
    """Where a chunk of a file comes from."""

    origin: str
    version: str
    position: int


@dataclass(frozen=True)
class CarriedMemory:
    """One memory with all that hangs on it. Its relations are in `links` alone."""

    memory: Memory
    links: Links = field(default_factory=Links)
    message: Coordinates | None = None
    episode: CarriedEpisode | None = None
    document: CarriedDocument | None = None


@dataclass(frozen=True)
class CarriedSession:
    """One conversation and what it counts."""

    namespace: str
    id: str
    started_at: datetime
    last_at: datetime
    host: str = ""
    turns: int = 0
    summarized_through: int = 0
    stale: bool = False
    ended_at: datetime | None = None


@dataclass(frozen=True)
class CarriedUse:
    """One use of a tool in a session, which is in the file already."""

    namespace: str
    session_id: str
    use: ToolUse


@dataclass(frozen=True)
class CarriedBlock:
    """A place that was forgotten (`asked`), or whose time was up: `Block` says what each means."""

    what: Literal["message", "memory", "conclusion"]
    asked: bool
    forgotten_at: datetime
    host: str = ""
    namespace: str = ""
    session_id: str = ""
    message_id: str = ""
    memory_id: str = ""


Record = CarriedMemory | CarriedSession | CarriedUse | CarriedBlock


class Outlet(Protocol):
    """Where an export goes. Called in the store's own thread, while one state of the file is held."""

    def begin(self, memories: int) -> None:
        """Hear how many memories there are, before anything else."""
        ...

    def put(self, records: Sequence[Record]) -> None:
        """Take the next records."""
        ...


class Fate(NamedTuple):
    """What became of one record. `reason` says why it was skipped; `lifted` counts the blocks that gave way to it."""

    outcome: Literal["imported", "known", "forgotten", "expired", "skipped"]
    reason: str = ""
    lifted: int = 0


class Inlet(Protocol):
    """Where an import goes: a file, or a rehearsal of it."""

    async def put(self, records: Sequence[Record]) -> list[Fate]:
        """Take records in, in one transaction; says what became of each. What is known stays as it is."""
        ...

    async def drop_empty(self, sessions: Sequence[tuple[str, str]]) -> None:
        """At the end: drop those of these sessions (namespace and id) of which no memory came in or is here."""
        ...
