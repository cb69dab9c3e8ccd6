"""What an export looks like: a line that says what follows, then a line a record, each of them JSON."""

import io
import json
import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import IO, Any, NamedTuple, cast

from pydantic import TypeAdapter, ValidationError

from memory_mcp.config import QUOTED
from memory_mcp.errors import InvalidInput
from memory_mcp.models import Memory
from memory_mcp.storage.carried import (
    CarriedBlock,
    CarriedDocument,
    CarriedEpisode,
    CarriedMemory,
    CarriedSession,
    CarriedUse,
    Links,
    Record,
)
from memory_mcp.storage.values import Coordinates

FORMAT = "memory-mcp export"
VERSION = 1

MAX_LINE = 8 * 1024 * 1024
"""Characters of a line; as many as a request may have."""

LEFT_OUT = ("vectors", "words", "audit", "settings", "leases", "readings", "attempts", "spending")
"""Made anew from the rest, or about one file on one machine alone."""


@dataclass(frozen=True)
class Header:
    """The first line. `memories` counts those of the file that was exported."""

    format: str
    version: int
    written_by: str
    exported_at: datetime
    memories: int
    left_out: tuple[str, ...] = LEFT_OUT


@dataclass(frozen=True)
class _Line:
    """A record as it is written: a memory stands beside what hangs on it, each other sort alone."""

    memory: Memory | None = None
    links: Links | None = None
    message: Coordinates | None = None
    episode: CarriedEpisode | None = None
    document: CarriedDocument | None = None
    session: CarriedSession | None = None
    tool_use: CarriedUse | None = None
    forgotten: CarriedBlock | None = None


_HEADERS, _LINES = TypeAdapter(Header), TypeAdapter(_Line)
_ELSEWHERE = {"memory": {"derived_from", "superseded_by", "place"}}
"""What stands in the links and beside the memory."""


# ---- written -------------------------------------------------------------------------------------------------------


def header(written_by: str, exported_at: datetime, memories: int) -> str:
    """Write the first line."""
    return _HEADERS.dump_json(Header(FORMAT, VERSION, written_by, exported_at, memories)).decode()


def written(record: Record) -> str:
    """Write the line of one record; what is not known of it is left out."""
    return _LINES.dump_json(_line(record), exclude_none=True, exclude=_ELSEWHERE).decode()


def _line(record: Record) -> _Line:
    match record:
        case CarriedMemory():
            links = None if record.links == Links() else record.links
            return _Line(record.memory, links, record.message, record.episode, record.document)
        case CarriedSession():
            return _Line(session=record)
        case CarriedUse():
            return _Line(tool_use=record)
        case CarriedBlock():
            return _Line(forgotten=record)


# ---- read ----------------------------------------------------------------------------------------------------------


class Numbered(NamedTuple):
    """One line that is not blank: its text, or what is wrong with it."""

    number: int
    text: str
    problem: str = ""


def lines(source: IO[bytes]) -> Generator[Numbered]:
    """Read lines of UTF-8 or UTF-16, a bounded piece at a time. `source` is buffered, and outlives this."""
    head = cast("io.BufferedReader", source).peek(2)[:2]
    wide = head in (b"\xff\xfe", b"\xfe\xff")
    text = io.TextIOWrapper(
        cast("io.BufferedReader", source),
        "utf-16" if wide else "utf-8-sig",
        errors="surrogatepass" if wide else "surrogateescape",
    )
    try:
        yield from _numbered(text)
    finally:
        text.detach()


def _numbered(text: io.TextIOWrapper) -> Iterator[Numbered]:
    number = 0
    try:
        while line := text.readline(MAX_LINE + 1):
            number += 1
            if len(line) > MAX_LINE:
                yield Numbered(number, "", f"it is longer than {MAX_LINE:,} characters")
                if number == 1:
                    return  # it is no export, and may have no end
                _pass_over(line, text)
            elif _SURROGATE.search(line):
                yield Numbered(number, "", "it is not valid text")
            elif line.strip():
                yield Numbered(number, line)
    except UnicodeDecodeError:
        yield Numbered(number + 1, "", "it is cut off, or not valid text; nothing was read from here on")


def _pass_over(line: str, text: io.TextIOWrapper) -> None:
    """Read on to where the next line begins."""
    while line and not line.endswith("\n"):
        line = text.readline(MAX_LINE)


_SURROGATE = re.compile("[\ud800-\udfff]")


def as_header(line: Numbered) -> Header | None:
    """Read a first line; None if it is none. Raises `InvalidInput` for an export of a newer version."""
    found = _object(line.text)
    if found.get("format") != FORMAT:
        return None
    version = found.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise InvalidInput(
            f"It was exported by a newer version of memory-mcp (format {str(version)[:QUOTED]}, this one knows"
            f" {VERSION}). Nothing was saved. Upgrade memory-mcp here, as README says under Install."
        )
    try:
        return _HEADERS.validate_json(line.text)
    except ValidationError as error:
        raise InvalidInput(f"Line {line.number} is no header of an export: {_reason(error)}.") from error


def as_record(line: Numbered) -> Record:
    """Read the line of a record. Raises `InvalidInput` with the reason alone."""
    if line.problem:
        raise InvalidInput(line.problem)
    try:
        found = _LINES.validate_json(line.text, strict=True, extra="forbid")
    except ValidationError as error:
        raise InvalidInput(_reason(error)) from error
    return _record(found)


def _record(found: _Line) -> Record:
    named = [name for name, value in vars(found).items() if value is not None]
    others = set(named) - {"memory", "links", "message", "episode", "document"}
    if found.memory and not others:
        return CarriedMemory(found.memory, found.links or Links(), found.message, found.episode, found.document)
    record = found.session or found.tool_use or found.forgotten
    if record is None or len(named) != 1:
        raise InvalidInput("it is no record of an export")
    return record


def _object(text: str) -> dict[str, Any]:
    try:
        found: object = json.loads(text)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", found) if isinstance(found, dict) else {}


def _reason(error: ValidationError) -> str:
    """Say what is wrong, and where in the record, without quoting what stands there."""
    first = error.errors(include_url=False, include_input=False, include_context=False)[0]
    place = ".".join(map(str, first["loc"]))[:QUOTED]
    if first["type"] == "json_invalid":
        return "it is not valid JSON, or cut off"
    return f"{place}: {first['msg'][:1].lower()}{first['msg'][1:]}" if place else first["msg"]
