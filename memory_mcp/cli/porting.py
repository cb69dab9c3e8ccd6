"""The verbs by which all that is kept moves: out into a file of lines, and in from such files."""

import os
import sys
from argparse import Namespace
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import IO, TYPE_CHECKING

from memory_mcp.answers import BroughtIn, Exported
from memory_mcp.cli.terminal import Screen, counted
from memory_mcp.config import Settings
from memory_mcp.errors import Conflict, InvalidInput, NotFound
from memory_mcp.files import put_in_place

if TYPE_CHECKING:  # --help must not wait for the libraries behind it
    from memory_mcp.service import MemoryService

STREAM = "-"
"""Standard output, or standard input."""

SHOWN = 20
"""Skipped lines that are told one by one; JSON has them all."""


# ---- out -----------------------------------------------------------------------------------------------------


async def export(settings: Settings, args: Namespace, screen: Screen) -> int:
    """Write everything to a file, or to standard output."""
    from memory_mcp.app import open_memory  # noqa: PLC0415 - as MemoryService

    target = None if args.file == STREAM else _target(Path(args.file), settings, force=args.force)
    if not settings.db.is_file():
        raise NotFound(f"There is no memory file at {settings.db}. Nothing was exported.")
    async with open_memory(settings, door="cli", reads_only=True) as memory:
        if target is None:
            screen.note(_told(await memory.export(screen.out.write)))
            return 0
        with _written(target) as file:
            exported = await memory.export(lambda line: file.write(line.encode()))
    screen.answer({"path": target, **asdict(exported)}, f"{_told(exported)} They are in {target}, for you alone.")
    return 0


def _target(asked: Path, settings: Settings, *, force: bool) -> Path:
    """Say which file is written, after following links. Raises `Conflict`, `InvalidInput`."""
    target = Path(os.path.realpath(asked.expanduser()))
    if settings.owns(target):
        raise InvalidInput(f"{asked} belongs to the memory file. Nothing was exported: name another file.")
    if target.exists() and not target.is_file():
        what = "a folder" if target.is_dir() else "a device or a pipe"
        raise InvalidInput(f"{asked} is {what}. Nothing was exported: name a file, or - for standard output.")
    if target.exists() and not force:
        raise Conflict(f"{asked} is there already. Nothing was exported: name another, or write --force to replace it.")
    return target


@contextmanager
def _written(target: Path) -> Generator[IO[bytes]]:
    try:
        with put_in_place(target) as file:
            yield file
    except OSError as error:
        raise InvalidInput(f"{target} cannot be written ({error.strerror}). Nothing was exported.") from error


def _told(exported: Exported) -> str:
    damaged = (
        f" {counted(exported.damaged, 'record is', 'records are')} damaged and left out." if exported.damaged else ""
    )
    return f"Exported {counted(exported.memories, 'memory', 'memories')}.{damaged}"


# ---- in ------------------------------------------------------------------------------------------------------


async def import_files(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Take exports in, one after the other; one that is none holds up no other."""
    from memory_mcp.portability import Manner  # noqa: PLC0415 - as MemoryService

    manner = Manner(
        memory.settings.secrets, untrusted=args.untrusted, brings_back=args.include_forgotten, dry_run=args.dry_run
    )
    done: dict[str, BroughtIn] = {}
    refused: dict[str, str] = {}
    for name in args.files:
        try:
            with _source(name, memory.settings) as source:
                done[name] = await memory.bring_in(source, manner)
        except InvalidInput as error:
            refused[name] = str(error)
    if not args.dry_run:
        await memory.embed_pending(told=_telling(screen, (await memory.stats()).awaiting_vectors))
    lines = [_what_came(name, one) for name, one in done.items()]
    answer = {"dry_run": args.dry_run, "files": {name: asdict(one) for name, one in done.items()}, "refused": refused}
    if done or screen.as_json:
        screen.answer(answer, *lines)
    for name, one in done.items():
        _remark(name, one, screen)
    for name, why in refused.items():
        screen.note(f"{name}: {why}")
    screen.note("Nothing was saved: this was a dry run." if args.dry_run and done else "")
    return 1 if refused or any(one.skipped_in_all or one.missing for one in done.values()) else 0


@contextmanager
def _source(name: str, settings: Settings) -> Generator[IO[bytes]]:
    """Open a file, unless it belongs to the memory itself: opened like this, SQLite would lose writes."""
    if name == STREAM:
        yield sys.stdin.buffer
        return
    path = Path(name).expanduser()
    if settings.owns(path):
        raise InvalidInput("It belongs to the memory file and is no export. Nothing was saved.")
    try:
        file = path.open("rb")
    except OSError as error:
        raise InvalidInput(f"It cannot be read ({error.strerror}). Nothing was saved.") from error
    with file:
        yield file


def _telling(screen: Screen, waiting: int) -> Callable[[int], None]:
    """Say on a terminal how many of the missing vectors are made."""

    def tell(done: int) -> None:
        if screen.err.isatty():
            screen.note(f"vectors: {done:,} of {max(done, waiting):,}")

    return tell


def _what_came(name: str, one: BroughtIn) -> str:
    numbers = {
        "imported": one.imported,
        "known already": one.known,
        "forgotten on request and left so": one.forgotten,
        "past their time": one.expired,
    }
    told = [f"{count} {what}" for what, count in numbers.items() if count or what in ("imported", "known already")]
    return f"{name}: {', '.join(told)}"


def _remark(name: str, one: BroughtIn, screen: Screen) -> None:
    missing = counted(one.missing, "memory is", "memories are")
    remarks = (
        (one.brought_back, f"Of them, {one.brought_back} had been forgotten on request; their blocks are lifted."),
        (one.forgotten, "To take in what you had forgotten, too: --include-forgotten"),
        (one.trusted, f"Trusted, as {name} says: {one.trusted} of {one.imported}. If others wrote it: --untrusted"),
        (one.flagged, f"Flagged, and not shown unasked: {one.flagged}, for their texts command the assistant."),
        *((1, f"{name}: {notice}") for notice in one.notices),
        (one.missing, f"{name}: {missing} missing; the file may be cut off."),
        (one.skipped_in_all, f"Skipped: {one.skipped_in_all}."),
        *((1, f"  line {line.line}: {line.reason}") for line in one.skipped[:SHOWN]),
    )
    for applies, text in remarks:
        screen.note(text if applies else "")
