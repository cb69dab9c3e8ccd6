"""What the verb `import` does with files that are no export: each becomes reference, and what became of it is told."""

import os
import shlex
from argparse import Namespace
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from memory_mcp.answers import TakenIn
from memory_mcp.cli.terminal import Meter, Screen, counted, in_a_line
from memory_mcp.errors import InvalidInput

if TYPE_CHECKING:  # --help must not wait for the libraries behind it
    from memory_mcp.reference import Manner
    from memory_mcp.service import MemoryService

SHOWN = 20
"""Files that are told one by one; the others are counted."""


def manner(args: Namespace) -> "Manner":
    """Say how the person wants documents taken in."""
    from memory_mcp.reference import Manner  # noqa: PLC0415 - as MemoryService

    trusted = args.trusted if args.trusted or args.untrusted else None
    return Manner(tuple(args.tag), trusted=trusted, brings_back=args.include_forgotten, dry_run=args.dry_run)


async def take_in(
    memory: "MemoryService", asked: Mapping[str, Path], how: "Manner", screen: Screen
) -> tuple[dict[str, TakenIn], dict[str, str]]:
    """Take files in, each once; gives what became of each, and why others were refused."""
    done: dict[str, TakenIn] = {}
    refused: dict[str, str] = {}
    names = _each_once(asked)
    meter = Meter(screen.err, "documents", len(names))
    for number, name in enumerate(names, 1):
        try:
            done[name] = await memory.take_in_document(asked[name], how)
        except InvalidInput as error:
            refused[name] = str(error)
        meter.tell(number)
    meter.end()
    if asked and not how.dry_run:
        screen.note(await memory.drop_replaced())
    return done, refused


def _each_once(asked: Mapping[str, Path]) -> list[str]:
    """Name every file once, whatever links lead to it."""
    names: dict[str, str] = {}
    for name, path in asked.items():
        names.setdefault(os.path.realpath(path), name)
    return list(names.values())


def told(done: Mapping[str, TakenIn], *, foretold: bool = False) -> list[str]:
    """Say what became of each file, or, `foretold`, would become of it; of very many in numbers."""
    tell = _foretold if foretold else _told
    news = [f"{in_a_line(name)}: {tell(one)}" for name, one in done.items() if one.outcome != "unchanged"]
    counts = Counter(one.outcome for one in done.values())
    lines = news[:SHOWN]
    if len(news) > SHOWN:
        chunks = counted(sum(one.added for one in done.values()), "part", "parts")
        numbers = f"{counts['imported']:,} imported, {counts['changed']:,} changed, with {chunks} in all"
        lines.append(f"and {len(news) - SHOWN:,} more: {'would be ' * foretold}{numbers}")
    if counts["unchanged"]:
        lines.append(f"{counted(counts['unchanged'], 'document', 'documents')} unchanged")
    return lines


def _told(one: TakenIn) -> str:
    if one.outcome == "forgotten":
        return "left as it is: something of it was forgotten on request"
    if one.outcome == "imported":
        return f"imported, {counted(one.added, 'part', 'parts')}"
    trust = f"; it is {one.trust} now, as you said" if one.trust else ""
    return f"changed, {one.added} added, {one.removed} removed, {one.kept} kept{trust}"


def _foretold(one: TakenIn) -> str:
    if one.outcome == "forgotten":
        return "would be left as it is: something of it was forgotten on request"
    if one.outcome == "imported":
        return f"would import {counted(one.added, 'part', 'parts')}"
    trust = f"; it would be {one.trust}, as you said" if one.trust else ""
    return f"would change: {one.added} to add, {one.removed} to remove, {one.kept} to keep{trust}"


def tell_missing(missing: Sequence[str], screen: Screen) -> None:
    """Name files that are kept and no longer there, each with the command that forgets it."""
    if missing:
        files = counted(len(missing), "file is", "files are")
        screen.note(f"{files} kept and no longer there. To forget what is kept of such a file:")
    for origin in missing[:SHOWN]:
        screen.note(f"  memory-mcp forget --file {in_a_line(shlex.quote(origin))}")
    screen.note(f"  and {len(missing) - SHOWN:,} more" if len(missing) > SHOWN else "")


def remark(done: Mapping[str, TakenIn], screen: Screen) -> None:
    """Say what a person should know besides."""
    flagged = sum(one.flagged for one in done.values())
    if flagged:
        screen.note(f"Flagged, and not shown unasked: {flagged}, for their texts command the assistant.")
    noticed = [f"{in_a_line(name)}: {' '.join(one.notices)}" for name, one in done.items() if one.notices]
    for line in noticed[:SHOWN]:
        screen.note(line)
    if any(one.outcome == "forgotten" for one in done.values()):
        screen.note("To take in what you had forgotten, too: --include-forgotten")
