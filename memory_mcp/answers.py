"""What comes back: recalled memories, what became of a request, counts."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from memory_mcp.models import Episode, Memory, Outcome

Label = Literal["strong", "fair", "weak", ""]


Mode = Literal["hybrid", "keyword", "briefing", "list"]


@dataclass(frozen=True)
class Hit:
    """One recalled memory and why it ranked where it did.

    `score` only orders, from 0 to about 1.3; `meaning` (cosine on an absolute scale, 0..1.3), `words` (share of the
    question's terms, 0..1.2) and `salience` (0..1.5) explain it. All are 0 in a listing.
    """

    memory: Memory
    score: float = 0.0
    label: Label = ""
    meaning: float = 0.0
    words: float = 0.0
    salience: float = 0.0
    outcome: Outcome | None = None


@dataclass(frozen=True)
class Recall:
    """The answer to a query. `notice` names every degraded state; `omitted` counts what did not fit.

    `terms` are the question's words as the index holds them, for excerpts around the match.
    """

    hits: tuple[Hit, ...]
    mode: Mode
    notice: str = ""
    omitted: int = 0
    next_cursor: str = ""
    terms: tuple[str, ...] = ()


@dataclass(frozen=True)
class Similar:
    """A near match of what was just stored, with what differs: number, negation, name, or nothing in particular.

    `trust` is said where it is not trusted.
    """

    id: str
    content: str
    differs: str = ""
    trust: Literal["untrusted", ""] = ""


@dataclass(frozen=True)
class Stored:
    """What became of one text. `superseded` lists the ids it replaced."""

    id: str
    status: Literal["stored", "duplicate", "superseded"]
    superseded: tuple[str, ...] = ()
    similar: tuple[Similar, ...] = ()
    notice: str = ""


@dataclass(frozen=True)
class Summarized:
    """What became of one session."""

    episode: Episode
    facts: tuple[Stored, ...] = ()
    status: Literal["stored", "updated", "unchanged"] = "stored"
    turns_stored: int = 0
    notice: str = ""


@dataclass(frozen=True)
class Preview:
    """What a wide forget would touch, and the handle that confirms exactly that.

    `count` and `ids` are what was selected; `cascaded` would go with it.
    """

    count: int
    confirm: str
    sample: tuple[Memory, ...] = ()
    ids: tuple[str, ...] = ()
    cascaded: tuple[str, ...] = ()


Verification = Literal["clean", "pending", "residue", "unverified"]


@dataclass(frozen=True)
class Forgotten:
    """What was erased.

    `cascaded` went with it: older versions, replaced summaries, and key facts that have no other evidence;
    `resummarize` are sessions whose summary lost a source and must be made again.

    `verification`: clean (the file was scanned and nothing is left), pending (a reader blocks; finished at the next
    start), residue (still found), unverified (the file is encrypted or unreadable, or the text too short to be told
    from chance); `detail` says it in a sentence.
    """

    ids: tuple[str, ...]
    cascaded: tuple[str, ...] = ()
    resummarize: tuple[str, ...] = ()
    verification: Verification = "clean"
    detail: str = ""
    missing: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stats:
    """Counts and sizes, for people and for `memory://stats`."""

    path: str
    schema_version: int
    memories: int
    by_kind: dict[str, int] = field(default_factory=dict[str, int])
    by_state: dict[str, int] = field(default_factory=dict[str, int])
    by_namespace: dict[str, int] = field(default_factory=dict[str, int])
    sentences: int = 0
    awaiting_vectors: int = 0
    pending_sessions: int = 0
    bytes_on_disk: int = 0
    model: str = ""
    oldest: datetime | None = None
    newest: datetime | None = None
