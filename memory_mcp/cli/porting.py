"""The verbs export and import: all that is kept moves out into a file of lines, and in from such files and others."""

import os
import sys
from argparse import Namespace
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import IO, TYPE_CHECKING

from memory_mcp.answers import BroughtIn, Exported
from memory_mcp.cli import documents
from memory_mcp.cli.terminal import Meter, Screen, counted, in_a_line
from memory_mcp.config import Settings
from memory_mcp.errors import Conflict, InvalidInput, NotFound, StoreUnavailable
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
    """Take files in, exports first; one that cannot be used holds up no other."""
    asked = _sorted_out(args.files, memory.settings)
    try:
        done, refused = await _exports(memory, asked.exports, args)
        shelved, unread = await documents.take_in(memory, asked.documents, documents.manner(args), screen)
    except StoreUnavailable:  # it tells of the last step, as if there had been no others
        screen.note("What came in before this stays; the same import again goes on where it stopped.")
        raise
    refused |= asked.refused | unread
    if not args.dry_run:
        await _embed(memory, screen)
    missing = await memory.missing_documents(asked.folders)
    lines = [_what_came(name, one, foretold=args.dry_run) for name, one in done.items()]
    lines += documents.told(shelved, foretold=args.dry_run)
    if lines or screen.as_json:
        files, kept = ({name: asdict(one) for name, one in some.items()} for some in (done, shelved))
        answer = {"dry_run": args.dry_run, "files": files, "documents": kept, "refused": refused, "missing": missing}
        screen.answer(answer, *lines)
    for name, one in done.items():
        _remark(name, one, screen)
    documents.remark(shelved, screen)
    documents.tell_missing(missing, screen)
    for name, why in refused.items():
        screen.note(f"{in_a_line(name)}: {why}")
    screen.note("Nothing was saved: this was a dry run." if args.dry_run and lines else "")
    return 1 if refused or any(one.skipped_in_all or one.missing for one in done.values()) else 0


@dataclass(frozen=True)
class _Asked:
    """What was named, sorted out: exports, documents by the name that a person knows, what is neither, and folders."""

    exports: list[str] = field(default_factory=list[str])
    documents: dict[str, Path] = field(default_factory=dict[str, Path])
    refused: dict[str, str] = field(default_factory=dict[str, str])
    folders: list[Path] = field(default_factory=list[Path])


def _sorted_out(names: Sequence[str], settings: Settings) -> _Asked:
    """Tell exports from documents by what they hold, and find the documents of folders."""
    from memory_mcp import reference  # noqa: PLC0415 - as MemoryService

    asked = _Asked()
    for name in dict.fromkeys(names):
        path = Path(name).expanduser()
        if name != STREAM and path.is_dir():
            asked.folders.append(path)
            found = list(reference.found_in(path))
            asked.documents.update((str(one.path), one.path) for one in found if not one.problem)
            asked.refused.update((str(one.path), one.problem) for one in found if one.problem)
            if not found:
                asked.refused[name] = "There is no .md, .markdown or .txt file in this folder. Nothing was saved."
        elif name == STREAM or not path.is_file() or _is_export(name, settings):
            asked.exports.append(name)
        else:
            asked.documents[name] = path
    return asked


DATA = frozenset({".json", ".jsonl", ".ndjson"})
"""Endings of files that are an export or a conversation, and no text to read."""


def _is_export(name: str, settings: Settings) -> bool:
    from memory_mcp.portability import is_export  # noqa: PLC0415 - as MemoryService

    if Path(name).suffix.lower() in DATA:
        return True
    try:
        with _source(name, settings) as source:
            return is_export(source)
    except InvalidInput:
        return False  # it is said again when it is read


async def _exports(
    memory: "MemoryService", names: Sequence[str], args: Namespace
) -> tuple[dict[str, BroughtIn], dict[str, str]]:
    """Take exports in; gives what became of each, and why others were refused."""
    from memory_mcp.portability import Manner  # noqa: PLC0415 - as MemoryService

    manner = Manner(
        memory.settings.secrets, untrusted=args.untrusted, brings_back=args.include_forgotten, dry_run=args.dry_run
    )
    done: dict[str, BroughtIn] = {}
    refused: dict[str, str] = {}
    for name in names:
        try:
            with _source(name, memory.settings) as source:
                done[name] = await memory.bring_in(source, manner)
        except InvalidInput as error:
            refused[name] = str(error)
    return done, refused


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


async def _embed(memory: "MemoryService", screen: Screen) -> None:
    """Make the vectors that are missing, and say how many are made."""
    meter = Meter(screen.err, "vectors of memories", (await memory.stats()).awaiting_vectors)
    await memory.embed_pending(told=meter.tell)
    meter.end()


def _what_came(name: str, one: BroughtIn, *, foretold: bool) -> str:
    imported = f"would import {one.imported}" if foretold else f"{one.imported} imported"
    numbers = {
        "known already": one.known,
        "forgotten on request and left so": one.forgotten,
        "past their time": one.expired,
    }
    told = [f"{count} {what}" for what, count in numbers.items() if count or what == "known already"]
    return f"{name}: {', '.join([imported, *told])}"


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
