"""What comes back: recalled memories, what became of a request, counts."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from memory_mcp.models import Episode, Memory, Outcome, Trust

Label = Literal["strong", "fair", "weak", ""]


Relation = Literal["before", "after", "evidence"]
"""How what comes along with a hit stands to it: the turn before or after it, or what it was concluded from."""

Mode = Literal["hybrid", "keyword", "briefing", "list"]


@dataclass(frozen=True)
class Reasons:
    """Why a memory ranked where it did.

    `meaning` (cosine on an absolute scale, 0..1.3), `words` (share of the question's terms, 0..1.2) and `salience`
    (0..1.5) are measures of the memory itself. The others are what they add to the score: a turn's neighbours, its
    speaker, that it asks (0 or less), its date, the clues in its wording.
    """

    meaning: float = 0.0
    words: float = 0.0
    neighbours: float = 0.0
    speaker: float = 0.0
    asks: float = 0.0
    date: float = 0.0
    cues: float = 0.0
    salience: float = 0.0


@dataclass(frozen=True)
class Companion:
    """A memory that comes along with a hit."""

    relation: Relation
    memory: Memory


@dataclass(frozen=True)
class Hit:
    """One recalled memory. `score` only orders, from 0 to about 2; in a listing it is 0, and so are the reasons.

    `companions` are shown where there is room for them.
    """

    memory: Memory
    score: float = 0.0
    label: Label = ""
    reasons: Reasons = Reasons()
    companions: tuple[Companion, ...] = ()
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
    `resummarize` are sessions whose summary lost a source and must be made again; `origins` are memories that it was
    learned from, such as the turn in which it was said, and that still stand.

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
    origins: tuple[str, ...] = ()


@dataclass(frozen=True)
class Changed:
    """What was archived or restored. `aside` was archived because a restore undid that it had replaced something."""

    ids: tuple[str, ...]
    aside: tuple[str, ...] = ()


@dataclass(frozen=True)
class AuditLine:
    """One act: when, by which door (mcp, cli, web, hook, background), what, and on how many; `ids` are the first."""

    at: datetime
    door: str
    verb: str
    count: int
    ids: tuple[str, ...] = ()


@dataclass(frozen=True)
class AuditPage:
    """One page of the audit, newest first; `next_cursor` is '' at the end."""

    lines: tuple[AuditLine, ...]
    next_cursor: str = ""


@dataclass(frozen=True)
class Holdings:
    """All that would go if everything were erased: the memory file, and what we made beside it."""

    path: str
    memories: int
    by_kind: dict[str, int]
    beside: tuple[str, ...] = ()


@dataclass(frozen=True)
class Wiped:
    """What became of everything. `removed` are files that are gone, `stuck` sentences about those that are not.

    `verification` and `detail` are as in `Forgotten`.
    """

    memories: int
    verification: Verification
    detail: str
    removed: tuple[str, ...] = ()
    stuck: tuple[str, ...] = ()


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


@dataclass(frozen=True)
class Exported:
    """How much was exported. `damaged` rows made no sense and were left out."""

    memories: int
    others: int = 0
    damaged: int = 0


@dataclass(frozen=True)
class TakenIn:
    """What became of a file given as reference: how many chunks were added, were here already, were removed.

    `forgotten`: something of it was forgotten on request, so it was left as it is. `flagged` of its chunks command the
    assistant; `notices` say what was done to its text. `trust` is what it is from now on, where that changed.
    """

    origin: str
    outcome: Literal["imported", "changed", "unchanged", "forgotten"]
    added: int = 0
    kept: int = 0
    removed: int = 0
    flagged: int = 0
    notices: tuple[str, ...] = ()
    trust: Trust | None = None


@dataclass(frozen=True)
class Skipped:
    """A line of an export that did not come in, and why."""

    line: int
    reason: str


@dataclass(frozen=True)
class BroughtIn:
    """What became of the memories of an export: imported, known already, forgotten here on request, past their time.

    `skipped` are the lines that could not be used, the first of `skipped_in_all`; `others` counts what came in besides
    memories; of the imported, `trusted` are as the file says, `flagged` command the assistant, `brought_back` had been
    forgotten here; `missing` counts what the file said to hold and did not.
    """

    imported: int = 0
    known: int = 0
    forgotten: int = 0
    expired: int = 0
    skipped: tuple[Skipped, ...] = ()
    skipped_in_all: int = 0
    others: int = 0
    trusted: int = 0
    flagged: int = 0
    brought_back: int = 0
    missing: int = 0
    notices: tuple[str, ...] = ()
