"""What the service asks of a place that keeps memories, in the domain's words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import datetime, timedelta
from typing import Protocol

from memory_mcp.answers import AuditPage, Changed, Forgotten, Stats, Wiped
from memory_mcp.models import Episode, Filter, Memory, ModelIdentity, PendingSession, Revision
from memory_mcp.storage.carried import Inlet, Outlet
from memory_mcp.storage.values import (
    Block,
    Captured,
    CaptureResult,
    Change,
    Check,
    Document,
    Draft,
    Evidence,
    FileModel,
    Holder,
    ModelState,
    Page,
    Probe,
    Reading,
    Rewriting,
    Rewritten,
    Sentences,
    Shelved,
    Standing,
    StoredText,
    Vectors,
    Written,
    nobody_ended,
)


class Store(Protocol):
    """A durable place for memories. Every method is one transaction; errors are `StoreUnavailable` and its kinds."""

    @property
    def is_lost(self) -> bool:
        """Whether what was opened is there no longer: only opening it again helps."""
        ...

    @property
    def vector_problem(self) -> str:
        """Why vectors cannot be searched, as a sentence; '' when they can."""
        ...

    async def warnings(self) -> list[str]:
        """What is doubtful about the file's place or state, one sentence each."""
        ...

    async def write(self, drafts: Sequence[Draft], *, door: str, most_a_minute: int | None = None) -> list[Written]:
        """Write drafts, wholly or not at all: rows, words and vectors. Repeating it is harmless.

        Identical text in the same place (namespace and key, if both have one; for a turn, session and sequence or
        coordinates) is the same memory, unless its time is up: its tags are merged, a given key, a higher importance
        or confidence and a later expiry take effect (none is the latest), and its time is renewed; its source and
        trust stay. An untrusted draft renews nothing but the time of a trusted memory. What was learned before the
        holder of its key becomes history. Coordinates that were forgotten raise `Conflict`, and so does an untrusted
        draft that would replace a trusted memory. A text that an untrusted memory says anywhere word for word is not
        trusted either. Where `most_a_minute` came in by this door within a minute, it raises `TooFast`.
        """
        ...

    async def require_slow_summaries(self, most: int, *, door: str) -> None:
        """Raise `TooFast` where summaries by this door brought in so many memories within a minute."""
        ...

    async def write_episode(
        self,
        episode: Episode,
        vectors: Vectors | None,
        facts: Sequence[Draft],
        *,
        turns: Sequence[Draft] = (),
        model: ModelIdentity | None = None,
        door: str,
    ) -> tuple[Episode, list[Written]]:
        """Write new turns of a session, their summary and the memories distilled from it in one transaction.

        The same text for the same session is the same episode: it takes over an outcome and a trigger that are given,
        tags, and actions if it had none. Another text supersedes the session's earlier episode and raises `version`.
        An earlier one that had lost a source is erased instead. `model` made `vectors`, as in `Draft`.
        """
        ...

    async def capture(self, captured: Captured, *, door: str) -> CaptureResult:
        """Write what is new of a conversation, in one transaction; repeating it is harmless."""
        ...

    async def captured(self, host: str, session_id: str) -> dict[str, str]:
        """The texts that are kept of a host's conversation, in whatever namespace, by the names of its messages."""
        ...

    async def reading(self, host: str, session_id: str) -> Reading | None:
        """How far a host's record of a conversation was read; None when it never was."""
        ...

    async def get(self, ids: Sequence[str]) -> list[Memory]:
        """Read memories in the order asked; unknown ids are left out."""
        ...

    async def rows(self, rows: Sequence[int]) -> dict[int, Memory]:
        """Read memories by the row numbers that `search` gave; a damaged one is left out."""
        ...

    async def neighbours(self, ids: Sequence[str], where: Filter) -> dict[str, list[Memory]]:
        """Read the turns just before and after each of these turns, in order, those that the filter lets through."""
        ...

    async def contents(self, rows: Sequence[int]) -> dict[int, str]:
        """Read only the texts of memories, by row number; unknown ones are left out."""
        ...

    async def episode(self, memory_id: str) -> Episode | None:
        """Read one episode with its actions and key facts."""
        ...

    async def episodes(self, where: Filter, limit: int) -> list[Episode]:
        """Read the newest episodes."""
        ...

    async def page(self, where: Filter, limit: int, cursor: str = "") -> Page:
        """List memories newest first. A cursor that is not ours raises `InvalidInput`."""
        ...

    async def weightiest(self, where: Filter, limit: int) -> list[Memory]:
        """Read what matters most: pinned first, then by importance and use, then newest. No turns, no episodes."""
        ...

    async def count(self, where: Filter) -> int:
        """How many memories the filter lets through."""
        ...

    async def turns(self, session_id: str, namespace: str, limit: int = 10_000) -> list[Memory]:
        """Read the kept turns of a session in order; with namespace '' of every session of that id."""
        ...

    async def search(self, probe: Probe) -> Evidence:
        """Gather the evidence for a question."""
        ...

    async def similar(self, vectors: Vectors, where: Filter, at_least: float, limit: int) -> list[tuple[str, float]]:
        """Ids of the memories nearest to any of the vectors, with the cosine, best first."""
        ...

    async def sentences(self, where: Filter, memories: int, most: int) -> Sentences:
        """The vectors of the newest memories, at most so many memories and sentences; none if not yet made."""
        ...

    async def consolidated(self) -> dict[str, str]:
        """For each memory that went into a pattern or a lesson, which one that was: the latest, if several did."""
        ...

    async def unhelpful(self, where: Filter, shown: int, limit: int) -> tuple[int, list[Memory]]:
        """What was recalled so often and never found useful: how many, and the most shown; 0 where nobody rates."""
        ...

    async def unused(self, where: Filter, before: datetime, limit: int) -> tuple[int, list[Memory]]:
        """What was told before an instant and never recalled: how many, and the oldest."""
        ...

    async def stale(
        self, where: Filter, cutoffs: Mapping[str, datetime], now: datetime, limit: int
    ) -> tuple[int, list[Memory]]:
        """What was true until some time ago, or was neither told nor used since its kind's cutoff: count, oldest."""
        ...

    async def select(self, where: Filter, *, before: datetime | None, limit: int) -> list[tuple[str, int]]:
        """Ids and versions (updated_at in ms) of everything the filter lets through, oldest first."""
        ...

    async def versions(self, ids: Sequence[str]) -> list[tuple[str, int]]:
        """The same for exact ids; unknown ones are left out."""
        ...

    async def revise(
        self, memory_id: str, change: Revision, *, expires_at: datetime | None, now: datetime, door: str
    ) -> Memory:
        """Change one memory's facets in rows and indexes. Raises `NotFound`, `Conflict`."""
        ...

    async def archive(self, ids: Sequence[str], *, now: datetime, door: str) -> Changed:
        """Archive active memories; others stay as they are."""
        ...

    async def restore(self, ids: Sequence[str], *, now: datetime, door: str) -> Changed:
        """Take archived memories back, and superseded ones: what replaced such a one is archived instead.

        Raises `Conflict` where a key slot is taken, the same text stands there already, or the later memory was itself
        replaced.
        """
        ...

    async def carried_along(self, ids: Sequence[str]) -> tuple[str, ...]:
        """Name what a forget of these would take with it: older versions, replaced episodes, facts of nothing else."""
        ...

    async def forget(
        self,
        ids: Sequence[str],
        *,
        now: datetime,
        door: str,
        cascade: bool = True,
        expected: Sequence[tuple[str, int]] | None = None,
    ) -> Forgotten:
        """Erase memories from rows, words, vectors, log and free pages, with key facts that have no other evidence.

        `expected` is what a person confirmed: ids and versions, in any order, of these and all that is carried along.
        If anything else would go by now, nothing goes and `Conflict` is raised.

        Older versions go too; episodes that lose a source go if they are history, else they are marked. Without
        `cascade` exactly these memories go, as when their time is up: a fact outlives the turn it came from. Verified
        by a scan of the file (`Forgotten.verification`).
        """
        ...

    async def texts(self, after: int, limit: int) -> tuple[list[StoredText], int]:
        """The texts of the next memories, in every state, and from the first (0) those that are of no memory.

        Gives the number after which to go on, 0 at the end.
        """
        ...

    async def rewrite(self, changes: Sequence[Rewriting], *, now: datetime, door: str) -> Rewritten:
        """Replace texts, so that nothing is left of the old ones, verified like a forget.

        Words and digest are made anew; the vectors are still to be made. What is gone, or another text by now, stays.
        """
        ...

    async def beside(self) -> list[str]:
        """Name the files that we made beside this one: copies of what it held."""
        ...

    async def wipe(self, expected: int, *, door: str) -> Wiped:
        """Erase everything, in place, with the copies beside it, and go on as a new file; whoever has it open may stay.

        Raises `Conflict` unless it holds so many memories as expected; then nothing was erased.
        """
        ...

    async def blocks(self, limit: int, after: int = 0) -> list[Block]:
        """The places that a person had us forget, in that order, after the block of a number."""
        ...

    async def lift(self, numbers: Sequence[int], *, door: str) -> list[int]:
        """Let these be learned from again; returns the numbers that stood."""
        ...

    async def blocked_for_conclusions(self, ids: Sequence[str]) -> set[str]:
        """Those of these memories of which nothing is concluded by itself, since what was had to be forgotten."""
        ...

    async def forgotten_places(self, session_id: str, namespace: str) -> dict[int, datetime]:
        """The places in a session of turns told by a tool that were forgotten, or whose time was up, and when."""
        ...

    async def was_forgotten_in(self, session_id: str, namespace: str) -> bool:
        """Whether a person had us forget something of a session."""
        ...

    async def export(self, outlet: Outlet) -> int:
        """Hand everything to an outlet, in one state of the file, and write nothing; returns how much was damaged."""
        ...

    def importing(self, *, brings_back: bool, door: str) -> AbstractAsyncContextManager[Inlet]:
        """Open a way in for an export. Memories keep their ids; what is known stays as it is.

        What was forgotten on request stays away unless `brings_back`, and what is past its time does in any case.
        What collides with something of before the import comes into the history, in order, or is skipped.
        """
        ...

    def rehearsing(self, *, brings_back: bool) -> AbstractAsyncContextManager[Inlet]:
        """The same, without keeping anything: it says exactly what would become of each record."""
        ...

    async def document_standing(self, origin: str, namespace: str) -> Standing:
        """How a file given as reference is kept."""
        ...

    async def document_origins(self, folder: str, namespace: str) -> list[str]:
        """The files below a folder, whose path ends in no separator, of which something is kept, in order."""
        ...

    async def put_document(self, document: Document, *, brings_back: bool, door: str) -> Shelved:
        """Take a file in, or its next version, a bounded number of chunks at a time: again, while some are `left`.

        Chunks that stand already with the same title and text stay, under their ids. A file of which something was
        forgotten on request is left as it is unless `brings_back`. What it no longer holds is for `drop_replaced`.
        """
        ...

    async def foresee_document(self, document: Document, *, brings_back: bool) -> Shelved:
        """Say what that would do in all, and do nothing."""
        ...

    async def drop_replaced(self, *, door: str) -> Rewritten | None:
        """Erase some of the chunks that files no longer hold, verified like a forget; None when there are no more."""
        ...

    async def finish_erasure(self) -> str:
        """Go on with an erasure that could not be verified; returns what stands now, '' when there was none."""
        ...

    async def unembedded(self, limit: int) -> list[Memory]:
        """Memories that still need vectors of the active model, oldest first."""
        ...

    async def put_vectors(self, made: Sequence[tuple[Memory, Vectors]], model: ModelIdentity | None = None) -> int:
        """Write vectors that `model` made later, as in `Draft`; memories gone or rewritten since are skipped.

        Returns for how many they were written.
        """
        ...

    async def use_model(self, identity: ModelIdentity, *, now: datetime) -> bool:
        """Make sure vectors of this model can be kept. False when the file's model is another one."""
        ...

    async def refuses_model(self, identity: ModelIdentity) -> bool:
        """Whether the file is searched by vectors that another model than this one made, or is kept without any."""
        ...

    async def file_model(self) -> FileModel:
        """Which model the file has."""
        ...

    async def model_state(self, *, now: datetime) -> ModelState:
        """Which model the file has, what it embedded, and the change to another one, if one is under way."""
        ...

    async def model_change(self, *, now: datetime) -> Change | None:
        """The change to another model that is under way, or rests; None where there is none."""
        ...

    async def model_holder(self, *, now: datetime) -> Holder | None:
        """Who holds the lease `model`, under which one process at a time changes the model."""
        ...

    async def begin_change(self, identity: ModelIdentity, *, now: datetime) -> bool:
        """Begin to change the file's model, or go on with it; False if it has this one.

        What was made for a change to another model is given up.
        """
        ...

    async def left_to_change(self, after: int, limit: int) -> tuple[list[Memory], int]:
        """Memories after a row that the new model did not embed yet, and the last row read; `after` at the end."""
        ...

    async def put_changed(self, made: Sequence[tuple[Memory, Vectors]], identity: ModelIdentity) -> int:
        """Keep vectors of the new model beside those that answer; what was forgotten or rewritten since gets none.

        Returns for how many memories. Raises `Conflict` when the change was given up meanwhile.
        """
        ...

    async def switch_model(self, identity: ModelIdentity, through: int) -> bool:
        """Answer by the new vectors from now on, at once; False while a memory after that row has none.

        Raises `Conflict` when the change was given up meanwhile.
        """
        ...

    async def drop_vectors(self) -> bool:
        """Keep the file without vectors from now on; False if it was."""
        ...

    async def sweep_vectors(self) -> bool:
        """Delete some of the vectors that a change left; whether there may be more."""
        ...

    async def count_access(self, ids: Sequence[str], *, now: datetime) -> None:
        """Count recalls, in a batch."""
        ...

    async def rate(self, ids: Sequence[str], *, useful: bool, now: datetime, door: str) -> list[str]:
        """Count ratings; returns the ids that exist."""
        ...

    async def pending_sessions(self, namespaces: Sequence[str], limit: int) -> list[PendingSession]:
        """Sessions with turns that no summary covers, or with a summary that lost a source; newest first."""
        ...

    async def pending_session(self, session_id: str, namespace: str) -> PendingSession | None:
        """One session, if it is such a one."""
        ...

    async def note_failure(self, session_id: str, namespace: str, reason: str, *, now: datetime) -> None:
        """Note that a summary of a session failed, and why, in words without content; the next summary forgets it."""
        ...

    async def settle(self, session_id: str, namespace: str, *, door: str) -> None:
        """Count the turns of a session as summarized: there is nothing in them to summarize.

        A summary of it that lost a source is erased.
        """
        ...

    async def expired(self, now: datetime, limit: int) -> list[str]:
        """Ids past their time to live that may go: not pinned, no turn of a session still to be summarized."""
        ...

    async def expired_since(self, since: datetime) -> int:
        """How many memories went because their time was up, after an instant."""
        ...

    async def faded(self, cutoffs: Mapping[str, datetime], limit: int) -> list[str]:
        """Ids of what was neither told, recalled nor rated since its kind's cutoff, is not pinned and has no end."""
        ...

    async def faded_since(self, since: datetime) -> int:
        """How many memories were archived because they had faded, after an instant."""
        ...

    async def audit(self, limit: int, *, since: datetime | None, verb: str, cursor: str) -> AuditPage:
        """Read what was done, newest first; '' stands for every verb. A foreign cursor raises `InvalidInput`."""
        ...

    async def audit_lines(self) -> int:
        """How many lines the audit has."""
        ...

    async def trim_audit(self, keep: int) -> None:
        """Drop the oldest lines of the audit but so many."""
        ...

    async def lease(
        self,
        name: str,
        owner: str,
        *,
        now: datetime,
        duration: timedelta,
        has_ended: Callable[[str], bool] = nobody_ended,
    ) -> bool:
        """Take or renew a lease; False while another owner holds it who has not ended, as far as that is known."""
        ...

    async def release(self, name: str, owner: str) -> None:
        """Give a lease back before its time."""
        ...

    def rest(self) -> None:
        """Give back the memory that only searching by meaning needs; the next such question takes it again."""
        ...

    async def spent(self, day: str) -> float:
        """What was spent on a day (YYYY-MM-DD) on a paid service, in dollars."""
        ...

    async def spend(self, day: str, dollars: float) -> None:
        """Add to that; a negative number gives back."""
        ...

    async def secret(self) -> bytes:
        """The file's own key for confirmation handles."""
        ...

    async def changes(self) -> int:
        """A number that moves whenever any process commits to the file."""
        ...

    async def stats(self) -> Stats:
        """Counts and sizes."""
        ...

    async def check(self) -> Check:
        """Compare indexes with rows and ask SQLite for the file's integrity."""
        ...

    async def rebuild(self) -> None:
        """Drop the words' index and make it again from the rows, in one transaction."""
        ...

    async def close(self) -> None:
        """Checkpoint the log and close every connection."""
        ...
