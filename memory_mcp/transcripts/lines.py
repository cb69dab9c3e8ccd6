"""A file that grows by lines: what is new in it, and whether it still is the file that was read."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from stat import S_ISREG
from typing import BinaryIO, cast

from memory_mcp.transcripts.protocol import Record

MARKED = 512
"""Bytes before a place that its mark is a digest of."""

AT_ONCE = 32 * 1024 * 1024
"""Bytes of one reading; what is more waits for the next."""


@dataclass(frozen=True)
class Part:
    """What was read: its records, where it begins and ends, and the mark of its end."""

    records: tuple[Record, ...]
    start: int
    end: int
    mark: bytes


def new_part(path: Path, place: int, mark: bytes) -> Part:
    """Read the complete lines after `place`, or from the start where the mark is another. Raises `OSError`.

    Without a mark, which is dropped when something is forgotten, a file that reaches that far counts as the same.
    """
    if not S_ISREG(path.stat().st_mode):  # a pipe would be waited for
        raise OSError(f"{path} is not a file")
    with path.open("rb") as file:
        stands = _mark(file, place) if place > 0 else b""
        start = place if stands and mark in (stands, b"") else 0
        file.seek(start)
        data = file.read(AT_ONCE)
        cut = data.rfind(b"\n") + 1 or (
            len(data) if len(data) == AT_ONCE else 0
        )  # a line of that length is passed over
        return Part(tuple(_records(data[:cut], start)), start, start + cut, _mark(file, start + cut))


def mark_at(path: Path, place: int) -> bytes:
    """Give the mark of a place. Raises `OSError`."""
    with path.open("rb") as file:
        return _mark(file, place)


def _mark(file: BinaryIO, place: int) -> bytes:
    file.seek(max(0, place - MARKED))
    before = file.read(min(place, MARKED))
    return blake2b(before, digest_size=16).digest() if len(before) == min(place, MARKED) else b""


def _records(data: bytes, place: int) -> Iterator[Record]:
    for line in data.split(b"\n"):
        try:
            value: object = json.loads(line.decode("utf-8-sig", "replace"))
        except (ValueError, RecursionError):
            value = None
        if isinstance(value, dict):
            yield Record(place, cast("dict[str, object]", value))
        place += len(line) + 1
