"""The bytes between host and server: private copies of standard input and output, and lines of bounded length."""

import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass, field

MAX_LINE = 8 * 1024 * 1024  # a request line (docs/decisions.md, Protocol and hosts)
ENDS_KEPT = 64 * 1024  # of an overlong line: enough to find the id of the request at either end
CHUNK = 64 * 1024  # what a pipe holds on Linux


@dataclass(frozen=True)
class Overlong:
    """A line beyond `MAX_LINE`, of which only both ends were kept."""

    head: bytes
    tail: bytes


@dataclass(frozen=True)
class Wire:
    """Two open descriptors that carry the protocol and nothing else."""

    source: int
    sink: int

    @classmethod
    def claim(cls) -> "Wire":
        """Take standard input and output away from everybody else in this process.

        From here on whatever prints reaches stderr, and whatever reads stdin finds its end. Call it before the first
        heavy import: libraries print while they are imported, and again at exit, so nothing is ever given back.
        """
        _fill_standard_descriptors()
        wire = cls(_private(0), _private(1))
        nowhere = os.open(os.devnull, os.O_RDONLY)
        os.dup2(nowhere, 0)
        os.close(nowhere)
        os.dup2(2, 1)
        return wire

    def lines(self) -> Iterator[bytes | Overlong]:
        """Read lines, without their ends, until the other side closes. Blocks; memory stays bounded."""
        line = _Line()
        while chunk := os.read(self.source, CHUNK):
            *complete, rest = chunk.split(b"\n")
            for piece in complete:
                line.add(piece)
                yield line.take()
                line = _Line()
            line.add(rest)
        if line.kept:
            yield line.take()

    def write(self, line: bytes) -> None:
        """Write one line whole. Blocks; raises `OSError` when the other side is gone."""
        rest = memoryview(line + b"\n")
        while rest:
            rest = rest[os.write(self.sink, rest) :]


@dataclass
class _Line:
    kept: bytearray = field(default_factory=bytearray)
    tail: bytes | None = None

    def add(self, piece: bytes) -> None:
        if self.tail is None and len(self.kept) + len(piece) <= MAX_LINE:
            self.kept += piece
            return
        if self.tail is None:
            self.tail = bytes(self.kept[-ENDS_KEPT:])
            del self.kept[ENDS_KEPT:]
        self.tail = (self.tail + piece)[-ENDS_KEPT:]

    def take(self) -> bytes | Overlong:
        return bytes(self.kept) if self.tail is None else Overlong(bytes(self.kept), self.tail)


def _fill_standard_descriptors() -> None:
    # A host may close any of the three. Without this, the next descriptor opened would get its number, and what is
    # meant for a standard stream would be written into it. The lowest free number is given first: each falls in place.
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)


def _private(descriptor: int) -> int:
    copy = os.dup(descriptor)
    if sys.platform == "win32":
        import msvcrt  # noqa: PLC0415  exists only there; text mode would end the input at the first Ctrl-Z

        msvcrt.setmode(copy, os.O_BINARY)
    else:
        os.set_blocking(copy, True)
    return copy
