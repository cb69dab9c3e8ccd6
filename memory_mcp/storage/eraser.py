"""How an erasure is carried through: out of the tables, out of the log, and looked for until nothing is found."""

import asyncio
import json
import logging
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import NamedTuple

from memory_mcp.answers import Forgotten, Verification
from memory_mcp.errors import Conflict, StoreUnavailable
from memory_mcp.storage import scan
from memory_mcp.storage.audit import Act
from memory_mcp.storage.database import Database, truncate_log
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.erasure import Asked, Erased, Versions, batches, forget_first, forget_next, joined
from memory_mcp.storage.place import parts
from memory_mcp.storage.schema import backups
from memory_mcp.storage.traces import Traces, without_living_texts, without_other_living

LOG = logging.getLogger(__name__)

SCAN_BYTES = 8_000_000_000
"""Size of the file times number of patterns: about two seconds of scanning."""

MOST_PATTERNS = 400
SCAN_SECONDS = 120.0

AT_ONCE = 200
"""Memories that one transaction forgets: some tenths of a second, in which others who write wait."""

BREATH_SECONDS = 0.12
"""Between two of them: who waits for SQLite is given no turn but looks every 0.1 s, and must find the file free."""

PAUSE_SECONDS = 0.05
NAMED = 5

UNVERIFIED = "Something was forgotten, but it is not verified yet that no trace of it is left in the file."


OUT_OF_REACH = "Out of reach: snapshots and backups that others made, and the host's own record of the conversation."


class _Outcome(NamedTuple):
    """How far an erasure was verified, and a whole sentence about it."""

    verification: Verification
    detail: str


_NOT_LOOKED_FOR = "Erased from the file, its log and its free pages, but not looked for"

CLEAN = _Outcome("clean", "The file was searched: nothing of it is left.")
PENDING = _Outcome(
    "pending",
    "Erased, but another program is using the file, so its log still holds the text; it is emptied as soon as that"
    " program lets go, at the latest at the next start.",
)
RESIDUE = _Outcome(
    "residue",
    "Erased, but traces are still found in the file. They are removed at the next start; run `memory-mcp doctor` if"
    " this message comes again.",
)
ENCRYPTED = _Outcome("unverified", f"{_NOT_LOOKED_FOR}: the file is encrypted.")
UNREADABLE = _Outcome("unverified", f"{_NOT_LOOKED_FOR}: a second process could not read the file.")
INDISTINCT = _Outcome(
    "unverified",
    f"{_NOT_LOOKED_FOR}: it is too short to be told from chance, or stands in other memories too.",
)


class _NotScannedError(Exception):
    """The other process did not answer."""


class Eraser:
    """Forgets, and remembers what it could not verify yet.

    `patience` bounds how long it waits for other programs to let go of the log.
    """

    def __init__(self, database: Database, patience: timedelta) -> None:
        self._database = database
        self._patience = patience
        self._unverified = Traces()
        self._stuck = ""

    async def forget(
        self, ids: Sequence[str], act: Act, *, cascade: bool, expected: Versions | None = None
    ) -> Forgotten:
        """Erase memories and verify it; what is not verified yet goes on in `finish`.

        Many go one batch after the other: whoever writes waits for one of them, and an end in the middle leaves the
        rest as it was, to be asked for again.
        """
        erased, stopped = await self._in_batches(Asked(ids, cascade, expected), act)
        verification, detail = await self.follow_up(erased)
        told = (stopped, detail, _still_standing(erased), OUT_OF_REACH if erased.token else "")
        return Forgotten(
            erased.ids,
            erased.cascaded,
            erased.resummarize,
            verification,
            " ".join(filter(None, told)),
            erased.missing,
            erased.origins,
        )

    async def _in_batches(self, asked: Asked, act: Act) -> tuple[Erased, str]:
        """Erase batch by batch; says why it stopped before the end, if it did after the first."""
        few = len(asked.ids) <= AT_ONCE
        first, *others = [asked.ids] if few else await self._database.read(batches, asked.ids, AT_ONCE)
        parts = [await self._database.erase(forget_first, first, asked, act)]
        stopped = ""
        for batch in others:
            await asyncio.sleep(BREATH_SECONDS)
            try:
                parts.append(await self._database.erase(forget_next, batch, asked, act))
            except (StoreUnavailable, Conflict) as error:
                stopped = f"Only a part was forgotten: ask again for the rest, which stands as it was. Of that: {error}"
                break
        return joined(asked.ids, parts), stopped

    async def follow_up(self, erased: Erased) -> tuple[Verification, str]:
        """Verify what was just erased in a transaction; gives what is worth saying about it, too."""
        if not erased.token:
            return "clean", ""
        removed = await self._remove_backups(erased)
        self._unverified = _joined(self._unverified, erased.traces)
        outcome = await self._verify(erased.token)
        return outcome.verification, " ".join(filter(None, (outcome.detail, removed)))

    async def warnings(self) -> list[str]:
        """Say so while an erasure is not verified."""
        return [UNVERIFIED] if await self._database.read(_pending) else []

    async def finish(self) -> str:
        """Go on with an erasure that is not verified; returns what stands now, '' when there is none."""
        token = await self._database.read(_pending)
        if not token:
            return ""
        if token == self._stuck:  # what could be done here was done; a fresh start goes another way
            return "residue"
        # Begun by another process, we do not know what to look for; made anew, the file holds only what lives.
        anew = self._unverified == Traces()
        if anew:
            for copy in backups(self._database.path):
                LOG.warning("%s", _unlink(copy))
        return (await self._verify(token, anew=anew)).verification

    async def _verify(self, token: str, *, anew: bool = False) -> _Outcome:
        """Empty the log and look for traces; what cannot be done now is left for later, for the text is erased."""
        try:
            outcome = await self._look(anew)
            self._stuck = token if outcome is RESIDUE else ""
            if outcome is not RESIDUE and outcome is not PENDING:
                await self._database.write(_settle, token)
                self._unverified = Traces()
        except StoreUnavailable as error:
            LOG.warning("The erasure could not be verified yet: %s", error)
            return PENDING
        return outcome

    async def _look(self, anew: bool) -> _Outcome:
        if not await self._empty_log():
            return PENDING
        if anew or await self._database.read(_is_loose):
            await self._compact()
        if self._database.encrypted:
            return ENCRYPTED
        patterns = await self._patterns()
        if not patterns:
            return CLEAN if anew else INDISTINCT
        try:
            if not await self._found(patterns):
                return CLEAN
            await self._compact()
            return RESIDUE if await self._found(patterns) else CLEAN
        except _NotScannedError as error:
            LOG.warning("The erased text could not be looked for: %s", error)
            return UNREADABLE

    async def _empty_log(self) -> bool:
        clock = asyncio.get_running_loop().time
        deadline = clock() + self._patience.total_seconds()
        while not await self._database.maintain(truncate_log):
            if clock() >= deadline:
                return False
            await asyncio.sleep(PAUSE_SECONDS)
        return True

    async def _compact(self) -> None:
        """Write the file anew from what lives in it, which also gives space back."""
        await self._database.maintain(_vacuum)
        await self._empty_log()

    async def _patterns(self) -> list[bytes]:
        """Choose what to look for: nothing that any living memory holds."""
        size = self._database.path.stat().st_size
        traces = self._unverified.sample(max(16, min(MOST_PATTERNS, SCAN_BYTES // max(size, 1))))
        row = -1
        while row and traces.texts:
            traces, row = await self._database.read(without_living_texts, traces, max(row, 0))
        return (await self._database.read(without_other_living, traces)).patterns()

    async def _found(self, patterns: Sequence[bytes]) -> int:
        return sum((await asyncio.to_thread(_scan, parts(self._database.path), patterns)).values())

    async def _remove_backups(self, erased: Erased) -> str:
        """Remove the backups made before migrations that hold any of it, or that cannot be looked through."""
        copies = backups(self._database.path)
        if copies and not self._database.encrypted:
            ids = [name.encode() for name in (*erased.ids, *erased.cascaded)]
            with suppress(_NotScannedError):
                found = await asyncio.to_thread(_scan, copies, ids)
                copies = [copy for copy in copies if found.get(str(copy))]
        return " ".join(_unlink(copy) for copy in copies)


def _still_standing(erased: Erased) -> str:
    sessions, origins, beside = ", ".join(map(repr, erased.resummarize)), _named(erased.origins), _named(erased.beside)
    parts = (
        f"The summary of session {sessions} still stands, may tell of it, and must be made again: call summarize."
        if sessions
        else "",
        f"It was learned from memory {origins}, which still stands: forget that too if it tells of it."
        if origins
        else "",
        f"The next part of the document may repeat a sentence of it: forget memory {beside}, too, if it does."
        if beside
        else "",
        f"`memory-mcp import` leaves {_named([*map(repr, erased.files)])} as it is from now on, unless told"
        " --include-forgotten."
        if erased.files
        else "",
    )
    return " ".join(filter(None, parts))


def _named(ids: Sequence[str]) -> str:
    """Name the first of many."""
    return ", ".join(ids[:NAMED]) + (f" and {len(ids) - NAMED} more" if len(ids) > NAMED else "")


def _joined(some: Traces, more: Traces) -> Traces:
    return Traces(some.texts + more.texts, some.vectors + more.vectors)


def _unlink(backup: Path) -> str:
    try:
        backup.unlink(missing_ok=True)
    except OSError as error:
        return f"The backup {backup} holds it still and cannot be removed ({error.strerror}): delete it yourself."
    return f"The backup {backup} held it and was removed."


def _scan(paths: Sequence[Path], patterns: Sequence[bytes]) -> dict[str, int]:
    """Count patterns in files by another process, which may open them; see driver.py."""
    try:
        done = subprocess.run(  # noqa: S603 - our own program and paths
            [sys.executable, "-I", scan.__file__, *map(str, paths)],
            input="\n".join(pattern.hex() for pattern in patterns),
            capture_output=True,
            text=True,
            timeout=SCAN_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError) as error:
        raise _NotScannedError(str(error)) from error
    return json.loads(done.stdout)


def _pending(connection: Connection) -> str:
    found = connection.execute("select value from setting where name = 'erasure'").fetchone()
    return found[0] if found else ""


def _settle(connection: Connection, token: str) -> None:
    """Note that this erasure is verified, unless another one began meanwhile."""
    connection.execute("delete from setting where name = 'erasure' and value = :token", {"token": token})


def _is_loose(connection: Connection) -> bool:
    """Whether more than a quarter of the file, and more than a megabyte, is empty."""
    free = connection.execute("pragma freelist_count").fetchone()[0]
    return free > 256 and free * 4 > connection.execute("pragma page_count").fetchone()[0]


def _vacuum(connection: Connection) -> None:
    connection.execute("vacuum")
