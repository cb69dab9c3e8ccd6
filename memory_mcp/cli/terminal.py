"""How memories look in a shell: as text that a terminal cannot mistake for commands, or as JSON."""

import json
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, tzinfo
from typing import Any, TextIO, cast

from pydantic_core import to_jsonable_python

from memory_mcp import dates
from memory_mcp.answers import Similar
from memory_mcp.errors import InvalidInput
from memory_mcp.models import Memory

JOINERS = "\u200c\u200d"
"""Unseen, and needed to write Persian and Hindi, and families of emoji."""


@dataclass(frozen=True)
class Screen:
    """Where a command is given its input and says things: answers to `out`, remarks to `err`."""

    source: TextIO
    out: TextIO
    err: TextIO
    zone: tzinfo
    as_json: bool = False

    def answer(self, value: object, *lines: str) -> None:
        """Give the answer: the value, if JSON is wanted, else the lines."""
        print(as_json(value) if self.as_json else "\n".join(map(visible, lines)), file=self.out)

    def note(self, text: str) -> None:
        """Make a remark, if there is one, where it cannot be taken for the answer."""
        if text:
            print(visible(harmless(text)), file=self.err)

    def read(self) -> str:
        """Read all of the input. Raises `InvalidInput`."""
        try:
            return self.source.read().removeprefix("\ufeff")
        except UnicodeDecodeError as error:
            raise InvalidInput("The input is not UTF-8 text. Nothing was saved.") from error

    def agrees(self, question: str) -> bool:
        """Ask a person for a yes; where nobody sits at a terminal, the answer is no."""
        return self.answered(f"{question} Type yes to go on:").casefold() == "yes"

    def answered(self, question: str) -> str:
        """Ask a person for a line; where nobody sits at a terminal, it is empty."""
        if self.as_json or not (self.source.isatty() and self.err.isatty()):
            return ""
        print(visible(question), end=" ", file=self.err, flush=True)
        return self.source.readline().strip()

    def time(self, instant: datetime | None) -> str:
        """Write an instant in the person's zone, with the zone; 'unknown' if nobody knows it."""
        return dates.show(instant, self.zone) if instant else "unknown"

    def summary(self, memory: Memory, *remarks: str) -> str:
        """Write one memory of a list: a line about it, then its text, set in so that it cannot pose as another."""
        marks = [f"namespace={memory.namespace}"] * (memory.namespace != Memory.namespace)
        marks += [f"key={memory.key}"] * bool(memory.key) + [f"#{tag}" for tag in memory.tags]
        marks += [memory.title] * bool(memory.title) + [f"in {in_a_line(memory.place)}"] * bool(memory.place)
        marks += ["pinned"] * memory.pinned + [memory.state] * (memory.state != "active")
        marks += [f"source={memory.source}", memory.trust] * (memory.trust != "trusted") + ["flagged"] * memory.flagged
        facts = [memory.id, memory.kind, self.time(memory.created_at), *marks, *remarks]
        said = f"{in_a_line(memory.speaker)}: " * bool(memory.speaker) + memory.content
        return "  ".join(facts) + "\n    " + said.replace("\n", "\n    ")

    def details(self, facts: Mapping[str, Any]) -> list[str]:
        """Write a line for each field that says something; the time of learning always stands there."""
        known = {name: value for name, value in facts.items() if value or value == 0 or name == "created_at"}
        return [f"{name.replace('_', ' '):18}{self._words(value)}" for name, value in known.items()]

    def _words(self, value: object) -> str:
        if value is None or isinstance(value, datetime):
            return self.time(value)
        if isinstance(value, bool):
            return "yes" if value else "no"
        if isinstance(value, tuple | list):
            return ", ".join(map(self._words, cast("Sequence[object]", value)))
        if isinstance(value, dict):
            named = cast("Mapping[str, object]", value)
            return ", ".join(f"{name} {self._words(item)}" for name, item in named.items())
        return str(value)


WIDTH = 24
"""Characters of a bar."""

TENTH, WORTH_TELLING = 10, 200
"""Where nobody watches, every tenth part is told, of what is so many that it takes a while."""


class Meter:
    """How far something is: a bar on a terminal, which is drawn over, and elsewhere now and then a line."""

    def __init__(self, err: TextIO, what: str, of: int = 0, worth_telling: int = WORTH_TELLING) -> None:
        self._err = err
        self._what = what
        self._of = of
        self._worth_telling = worth_telling
        self._told = 0
        self._drawn = False

    def tell(self, done: int, of: int = 0) -> None:
        """Say how many are done by now, and of how many, if that was not known before."""
        of = max(done, of, self._of, 1)
        counts = f"{done:,} of {of:,} {self._what}"
        if self._err.isatty():
            full = WIDTH * done // of
            print(f"\r[{'#' * full}{'.' * (WIDTH - full)}] {counts}", end="", file=self._err, flush=True)
            self._drawn = True
        elif of >= self._worth_telling and done * TENTH // of > self._told:
            self._told = done * TENTH // of
            print(counts, file=self._err, flush=True)

    def end(self) -> None:
        """Let other lines follow."""
        if self._drawn:
            print(file=self._err)


def told_of_similar(near: Similar) -> str:
    """Write a near match in one line."""
    labels = ", ".join(filter(None, (f"differs in {near.differs}" if near.differs else "", near.trust)))
    return "  ".join([near.id, *([f"({labels})"] if labels else []), " ".join(near.content.split())])


def counted(count: int, one: str, many: str) -> str:
    """Write a number and its noun, as in '1 memory' and '2 memories'."""
    return f"{count} {one if count == 1 else many}"


def in_a_line(name: str) -> str:
    """Write the name of a file in one line, whatever it holds: it could pose as a line of ours."""
    return name.replace("\n", "\\n")


def harmless(text: str) -> str:
    """Take secrets out of a remark or an error, which may repeat an argument and ends in logs."""
    from memory_mcp.redaction import redact  # noqa: PLC0415 - most commands have nothing to remark

    return redact(text)[0]


def visible(text: str) -> str:
    """Show control, bidirectional and other unseen characters as escapes, so that a terminal does not obey them."""
    return "".join(c.encode("unicode_escape").decode() if _unseen(c) else c for c in text)


def as_json(value: object) -> str:
    """Write a value as JSON, with instants in ISO 8601 and unseen characters escaped."""
    text = json.dumps(value, default=to_jsonable_python, ensure_ascii=False, indent=2)
    return "".join(json.dumps(c)[1:-1] if _unseen(c) else c for c in text)


def _unseen(character: str) -> bool:
    if character in "\n\t" or character in JOINERS:
        return False
    return unicodedata.category(character) in {"Cc", "Cf", "Cs", "Zl", "Zp"}
