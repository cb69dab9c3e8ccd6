"""How all that is kept leaves a file as an export, and how an export comes into a file."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from typing import IO, NamedTuple

from anyio import to_thread

from memory_mcp import admission, export_lines
from memory_mcp.admission import Admitted
from memory_mcp.answers import BroughtIn, Exported, Skipped
from memory_mcp.config import Secrets
from memory_mcp.errors import InvalidInput
from memory_mcp.export_lines import Header, Numbered
from memory_mcp.models import Trust
from memory_mcp.release import DISTRIBUTION, installed_version
from memory_mcp.storage.carried import CarriedBlock, CarriedMemory, Fate, Inlet, Record
from memory_mcp.storage.protocol import Store

BATCH, BATCH_CHARACTERS = 500, 4_000_000
"""Records of one transaction, so that others who write wait only for a moment, and how much text they may hold."""

MOST_TOLD = 1_000
"""Skipped lines that are told one by one; the others are counted."""


@dataclass(frozen=True)
class Manner:
    """How an export is taken in.

    `secrets`: what becomes of keys and passwords in it. `untrusted`: others wrote it. `brings_back`: also what was
    forgotten here. `dry_run`: only say what would become of it.
    """

    secrets: Secrets
    untrusted: bool = False
    brings_back: bool = False
    dry_run: bool = False


# ---- out -----------------------------------------------------------------------------------------------------------


@dataclass
class _Lines:
    """Writes what a store reads out, line by line, and counts it."""

    write: Callable[[str], object]
    now: datetime
    memories: int = 0
    others: int = 0

    def begin(self, memories: int) -> None:
        """Write what follows."""
        by = f"{DISTRIBUTION} {installed_version()}"
        self.write(export_lines.header(by, self.now, memories) + "\n")

    def put(self, records: Sequence[Record]) -> None:
        """Write records."""
        for record in records:
            self.write(export_lines.written(record) + "\n")
        memories = sum(isinstance(record, CarriedMemory) for record in records)
        self.memories += memories
        self.others += len(records) - memories


async def export(db: Store, write: Callable[[str], object], now: datetime) -> Exported:
    """Write everything, in one state of the file; nothing is written to it, and little is in memory at a time.

    `write` is called from another thread; what it raises ends the export.
    """
    lines = _Lines(write, now)
    damaged = await db.export(lines)
    return Exported(lines.memories, lines.others, damaged)


# ---- in ------------------------------------------------------------------------------------------------------------


def is_export(source: IO[bytes]) -> bool:
    """Whether a file begins as an export does, be it of a newer version. `source` is buffered."""
    with closing(export_lines.lines(source)) as lines:
        first = next(lines, None)
    try:
        return first is not None and export_lines.as_header(first) is not None
    except InvalidInput:
        return True


async def bring_in(
    db: Store, source: IO[bytes], manner: Manner, *, now: Callable[[], datetime], door: str
) -> BroughtIn:
    """Take an export in, in small transactions: one that was interrupted goes on where it stopped, for ids are kept.

    Raises `InvalidInput` when it is no export, or one of a newer version; then nothing was saved.
    """
    with closing(export_lines.lines(source)) as lines:
        reader = _Reader(lines, manner, now)
        header = await to_thread.run_sync(reader.begin)
        tally = _Tally(header.memories)
        way = (
            db.rehearsing(brings_back=manner.brings_back)
            if manner.dry_run
            else db.importing(brings_back=manner.brings_back, door=door)
        )
        async with way as inlet:
            while batch := await to_thread.run_sync(reader.batch):
                await _put(batch, inlet, tally)
            if tally.refused:
                await inlet.drop_empty(sorted(tally.refused))
    return tally.report()


async def _put(batch: Sequence["_Read"], inlet: Inlet, tally: "_Tally") -> None:
    """Hand on what is sound of a batch, and count what became of every line."""
    sound = {read.line: read.found.record for read in batch if isinstance(read.found, Admitted)}
    fates = dict(zip(sound, await inlet.put(list(sound.values())), strict=True))
    for read in batch:
        tally.count(read, fates.get(read.line))


class _Read(NamedTuple):
    """One line: what may come in of it, or why it may not."""

    line: int
    found: Admitted | str


@dataclass(frozen=True)
class _Reader:
    """Reads an export, a batch at a time; not in the event loop, for secrets are looked for in every text."""

    lines: Iterator[Numbered]
    manner: Manner
    now: Callable[[], datetime]

    def begin(self) -> Header:
        """Read the first line. Raises `InvalidInput` where it is none of an export."""
        first = next(self.lines, None)
        header = export_lines.as_header(first) if first else None
        if header is None:
            raise InvalidInput(
                "It is no export of memory-mcp. Nothing was saved. For conversations there is:"
                " memory-mcp import-conversation FILE"
            )
        return header

    def batch(self) -> list[_Read]:
        """Read the next lines; none at the end."""
        found: list[_Read] = []
        room = BATCH_CHARACTERS
        for line in self.lines:
            if read := self._read(line):
                found.append(read)
                room -= len(line.text)
            if len(found) == BATCH or room < 0:
                break
        return found

    def _read(self, line: Numbered) -> _Read | None:
        """Read one line; None where nothing is to come of it."""
        try:
            record = export_lines.as_record(line)
            if self.manner.untrusted and isinstance(record, CarriedBlock):
                return None  # what others had forgotten is no business of this memory
            return _Read(
                line.number, admission.admit(record, self.now(), self.manner.secrets, untrusted=self.manner.untrusted)
            )
        except InvalidInput as error:
            return None if _begins_another(line) else _Read(line.number, str(error))


def _begins_another(line: Numbered) -> bool:
    """Whether another export begins here: somebody put two into one file."""
    try:
        return export_lines.as_header(line) is not None
    except InvalidInput:
        return False


@dataclass
class _Tally:
    """Counts what became of each line.

    `expected` is what the first line promised, `refused` are the sessions of what stays away.
    """

    expected: int
    fates: Counter[str] = field(default_factory=Counter[str])
    others: int = 0
    trusted: int = 0
    flagged: int = 0
    brought_back: int = 0
    met: int = 0
    refused: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    skipped: list[Skipped] = field(default_factory=list[Skipped])
    notices: Counter[str] = field(default_factory=Counter[str])

    def count(self, read: _Read, fate: Fate | None) -> None:
        """Count one line."""
        if fate is None or isinstance(read.found, str):
            self._skip(read.line, str(read.found))
            return
        record = read.found.record
        is_memory = isinstance(record, CarriedMemory)
        self.met += is_memory
        if fate.outcome == "skipped":
            self._skip(read.line, fate.reason)
        elif isinstance(record, CarriedMemory):
            self._count_memory(record, fate, read.found.notices)
        else:
            self.others += fate.outcome == "imported"

    def _count_memory(self, one: CarriedMemory, fate: Fate, notices: Sequence[str]) -> None:
        self.fates[fate.outcome] += 1
        if fate.outcome in ("forgotten", "expired") and one.memory.session_id:
            self.refused.add((one.memory.namespace, one.memory.session_id))
        if fate.outcome == "imported":
            self.trusted += one.memory.trust is Trust.TRUSTED
            self.flagged += one.memory.flagged
            self.brought_back += bool(fate.lifted)
            self.notices.update(notices)

    def _skip(self, line: int, reason: str) -> None:
        self.fates["skipped"] += 1
        if len(self.skipped) < MOST_TOLD:
            self.skipped.append(Skipped(line, reason))

    def report(self) -> BroughtIn:
        """Say it all."""
        return BroughtIn(
            imported=self.fates["imported"],
            known=self.fates["known"],
            forgotten=self.fates["forgotten"],
            expired=self.fates["expired"],
            skipped=tuple(self.skipped),
            skipped_in_all=self.fates["skipped"],
            others=self.others,
            trusted=self.trusted,
            flagged=self.flagged,
            brought_back=self.brought_back,
            missing=max(0, self.expected - self.met),
            notices=tuple(
                f"{notice} ({counted} times)" if counted > 1 else notice for notice, counted in self.notices.items()
            ),
        )
