"""What goes into a store and what it gives: drafts and what became of them, a question and its evidence."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from memory_mcp.answers import Verification
from memory_mcp.models import Action, Filter, Memory, ModelIdentity
from memory_mcp.tokens import digest

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
    """One row a sentence, unit length."""
else:
    Vectors = object  # numpy takes 0.1 s to import, and a hook has no vectors


@dataclass(frozen=True)
class Coordinates:
    """Where a host keeps a message; a message is stored once."""

    host: str
    session_id: str
    message_id: str
    role: str


MODEL_LEASE = "model"
"""The name of the lease under which one process at a time changes the model."""

NO_MODEL = "none"
"""What stands in the place of a model's name where a file is kept without vectors."""


@dataclass(frozen=True)
class FileModel:
    """Which model a file has: the name or folder by which it is loaded, 'none' for no vectors, '' before the first.

    `number` is the file's own for it, 0 while there is none.
    """

    name: str
    number: int


def nobody_ended(_owner: str) -> bool:
    """Say of any holder of a lease that it has not ended: only time takes a lease from it."""
    return False


@dataclass(frozen=True)
class Holder:
    """Who holds a lease, and until when unless it is renewed, in milliseconds since 1970."""

    owner: str
    until: int


@dataclass(frozen=True)
class Change:
    """A change to another model under way: of so many memories it embedded `done`. Without a holder, it rests."""

    name: str
    dimension: int
    done: int
    memories: int
    holder: Holder | None


@dataclass(frozen=True)
class ModelState:
    """Which model a file has, the length of its vectors (0: none yet), and how many memories have theirs.

    `preparing` is who is about to change it, or tidies up after a change, while no memory is being embedded.
    """

    name: str
    dimension: int
    memories: int
    embedded: int
    sentences: int
    change: Change | None
    preparing: Holder | None = None


GONE = "gone "
"""How the version of a chunk begins that its file no longer holds; it is about to be erased."""


@dataclass(frozen=True)
class Document:
    """A file given as reference, in chunks in the order of its text. `origin` is its path, `version` a digest of it."""

    origin: str
    namespace: str
    version: str
    chunks: tuple[Memory, ...]

    @cached_property
    def digests(self) -> tuple[bytes, ...]:
        """Those of the chunks' texts, made once: they are compared before every transaction."""
        return tuple(digest(chunk.content) for chunk in self.chunks)


@dataclass(frozen=True)
class Standing:
    """How a file is kept: its `version`, '' unless it is kept wholly and alone; `own` if the person vouched for it.

    `own` is None where nothing of it is kept.
    """

    version: str = ""
    own: bool | None = None


@dataclass(frozen=True)
class Shelved:
    """What became of chunks: written, here already, to be erased; `left` are still to be written.

    A file is `forgotten` if something of it was forgotten on request: it is left as it is.
    """

    outcome: Literal["imported", "changed", "unchanged", "forgotten"]
    added: int = 0
    kept: int = 0
    removed: int = 0
    left: int = 0


@dataclass(frozen=True)
class Draft:
    """A memory ready to be written. `vectors` is None while the model is not there: they are filled in later.

    `model` made the vectors; when it is not the file's active one by the time of the write, they are left out. None
    vouches for them: they are of the active one.

    `supersedes` names memories that this one replaces, besides the one in the same key slot. A turn with a session and
    without a sequence is numbered by the store.
    """

    memory: Memory
    vectors: Vectors | None = None
    supersedes: tuple[str, ...] = ()
    coordinates: Coordinates | None = None
    model: ModelIdentity | None = None


@dataclass(frozen=True)
class ToolUse:
    """One use of a tool in a captured conversation. `call_id` is the host's own name of it."""

    call_id: str
    action: Action
    at: datetime | None = None


@dataclass(frozen=True)
class Reading:
    """How far a host's record was read: bytes from its start, and a digest of what stands just before."""

    place: int
    mark: bytes


@dataclass(frozen=True)
class Captured:
    """What is new of a conversation as its host recorded it. The turns bear coordinates.

    `ended_at` is given when the host says that the conversation is over; `reading` when its record was read on.
    """

    host: str
    session_id: str
    namespace: str
    turns: tuple[Draft, ...] = ()
    uses: tuple[ToolUse, ...] = ()
    ended_at: datetime | None = None
    reading: Reading | None = None


@dataclass(frozen=True)
class CaptureResult:
    """What became of captured turns: written, known already, or forgotten on request and left so."""

    written: int
    known: int = 0
    forgotten: int = 0


@dataclass(frozen=True)
class Block:
    """A place that was forgotten and is not learned from again by itself; `number` is its name.

    `what`: a `message` of a conversation (or, where host is `FILE`, a file) that is not kept again, a `memory` that no
    import brings back, or one (or a whole session) of which nothing is concluded again: no key fact, no pattern.
    """

    number: int
    what: Literal["message", "memory", "conclusion"]
    forgotten_at: datetime
    host: str = ""
    namespace: str = ""
    session_id: str = ""
    message_id: str = ""
    memory_id: str = ""


@dataclass(frozen=True)
class StoredText:
    """A text as it stands in the file. `field` says what it is to the memory; `memory_id` is '' if it is of none."""

    memory_id: str
    field: str
    text: str


TextField = Literal["content", "title", "trigger", "lessons"]
"""What of a memory can be replaced: texts, not names."""


@dataclass(frozen=True)
class Rewriting:
    """A text that is to take the place of another; of the lessons, one."""

    memory_id: str
    field: TextField
    old: str
    new: str


@dataclass(frozen=True)
class Rewritten:
    """Which memories got another text, and whether nothing is left of the old one, as `Forgotten` says it."""

    ids: tuple[str, ...]
    verification: Verification = "clean"
    detail: str = ""


@dataclass(frozen=True)
class Written:
    """What became of one draft. `duplicate`: identical text stood there already and was reinforced."""

    id: str
    duplicate: bool = False
    superseded: tuple[str, ...] = ()

    @property
    def status(self) -> Literal["stored", "duplicate", "superseded"]:
        """The same in a word."""
        return "duplicate" if self.duplicate else "superseded" if self.superseded else "stored"


@dataclass(frozen=True)
class Probe:
    """What to look for: the question's vectors (any may match) and its terms, as tokens.query_terms gives them.

    In a large collection `dense_limit` sentences survive the scan of sign bits; of what is found, so many memories are
    kept by meaning and by words (on chats 60 and 40 lose nothing that 200 and 100 find). `model` made the vectors: when
    it is not the file's by the time of the search, that is refused; None vouches for them.
    """

    vectors: Vectors | None
    terms: tuple[str, ...]
    where: Filter
    dense_limit: int = 400
    kept_by_meaning: int = 200
    kept_by_words: int = 100
    model: ModelIdentity | None = None


@dataclass(frozen=True)
class Evidence:
    """All that is known about the candidates of a probe, a row each, in arrays of equal length n; t terms.

    Candidates are what the filter lets through, best by vectors and best by terms, then, with `eligible` false, the
    turns up to two places before and after a candidate turn. `cosine` is the best over a memory's sentences and the
    probe's vectors, nan where there is none. `counts[j, i]` is how often term j stands in memory i.
    """

    rows: NDArray[np.int64]
    eligible: NDArray[np.bool_]
    cosine: NDArray[np.float64]
    counts: NDArray[np.float64]  # (t, n)
    tokens: NDArray[np.float64]  # length of each memory in tokens
    sessions: NDArray[np.int64]  # 0: none
    sequences: NDArray[np.int64]  # 0: none
    is_turn: NDArray[np.bool_]
    asks: NDArray[np.bool_]  # content ends with a question mark
    importance: NDArray[np.float64]
    created_at: NDArray[np.int64]  # ms
    used: NDArray[np.int64]  # access count
    ratings: NDArray[np.int64]  # useful minus useless
    kinds: list[str]
    speakers: list[str]
    frequencies: NDArray[np.int64]  # (t,) in how many memories each term stands
    memories: int  # size of the whole collection
    tokens_in_all: int
    awaiting: int = 0  # how many memories have no vectors yet, in the whole collection


@dataclass(frozen=True)
class Page:
    """One page of a listing, newest first; `next_cursor` is '' at the end."""

    memories: tuple[Memory, ...]
    next_cursor: str = ""


@dataclass(frozen=True)
class Check:
    """Whether indexes agree with rows. `problems` are sentences; an empty tuple is health."""

    integrity: str
    counts: dict[str, int] = field(default_factory=dict[str, int])
    problems: tuple[str, ...] = ()


@dataclass(frozen=True)
class Sentences:
    """Sentences of memories as unit vectors, a row each, memory by memory in the order of its text.

    `owners` is the place of a sentence's memory in `ids`, `places` that of the sentence within its memory, from 0.
    """

    ids: tuple[str, ...]
    owners: NDArray[np.int64]
    places: NDArray[np.int64]
    vectors: Vectors
