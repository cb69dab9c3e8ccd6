"""How memories look in a shell: as text that a terminal cannot mistake for commands, and as JSON."""

import json
import unicodedata
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, is_dataclass
from datetime import datetime, tzinfo
from pathlib import Path
from textwrap import indent
from typing import Any, TextIO

from memory_mcp.models import Episode, Hit, Memory

JOINERS = "\u200c\u200d"
"""Invisible, and needed to write Persian, Hindi and family emoji."""


@dataclass(frozen=True)
class Screen:
    """Where a command says things. `out` carries what was asked for, `err` what else there is to know."""

    out: TextIO
    err: TextIO
    zone: tzinfo

    def say(self, *lines: str) -> None:
        """Print lines of the answer."""
        for line in lines:
            print(visible(line), file=self.out)

    def note(self, text: str) -> None:
        """Print a remark, if there is one, where it cannot be taken for the answer."""
        if text:
            print(visible(text), file=self.err)

    def json(self, value: object) -> None:
        """Print a value as JSON: enumerations by value, instants in ISO 8601."""
        text = json.dumps(value, default=_plain, ensure_ascii=False, indent=2)
        print("".join(json.dumps(c)[1:-1] if _unseen(c) else c for c in text), file=self.out)

    def time(self, instant: datetime | None) -> str:
        """Write an instant in the person's zone, with the zone; 'unknown' if nobody knows it."""
        return f"{instant.astimezone(self.zone):%Y-%m-%d %H:%M %Z}" if instant else "unknown"

    def memory(self, memory: Memory, *, remarks: Iterable[str] = ()) -> None:
        """Print one memory of a list: a line about it, then its text, set in so that it cannot pose as another."""
        flags = ["pinned"] * memory.pinned + [memory.state] * (memory.state != "active")
        facts = [memory.id, memory.kind, self.time(memory.created_at), memory.namespace, *flags, *remarks]
        self.say("  ".join(facts), indent(visible(memory.content), "    ", lambda line: True))


def visible(text: str) -> str:
    """Show control, bidirectional and other unseen characters as escapes, so that a terminal does not obey them."""
    return "".join(c.encode("unicode_escape").decode() if _unseen(c) else c for c in text)


def memory_data(memory: Memory) -> dict[str, Any]:
    """Give every field of a memory, under its own name."""
    return asdict(memory)


def hit_data(hit: Hit) -> dict[str, Any]:
    """Give a memory and, beside its fields, why it ranked where it did."""
    reasons = asdict(hit)
    return {**reasons.pop("memory"), **reasons}


def episode_data(episode: Episode) -> dict[str, Any]:
    """Give a memory and, beside its fields, what is known about the session."""
    facts = asdict(episode)
    return {**facts.pop("memory"), **facts}


def details(facts: Mapping[str, Any], screen: Screen) -> list[str]:
    """Write fields as lines of name and value; fields that say nothing are left out, a missing time is unknown."""
    known = {name: value for name, value in facts.items() if value not in (None, "", (), [], False)}
    return [f"{name.replace('_', ' '):18}{_words(value, screen)}" for name, value in known.items()]


def _words(value: object, screen: Screen) -> str:
    if isinstance(value, datetime):
        return screen.time(value)
    if isinstance(value, bool):
        return "yes"
    if isinstance(value, tuple | list):
        return ", ".join(_words(item, screen) for item in value)
    if isinstance(value, dict):
        return " ".join(f"{key}={_words(item, screen)}" for key, item in value.items())
    return str(value)


def _unseen(character: str) -> bool:
    if character in "\n\t" or character in JOINERS:
        return False
    return unicodedata.category(character) in ("Cc", "Cf", "Cs", "Zl", "Zp")


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Path):
        return str(value)
    if is_dataclass(value) and not isinstance(value, type):
        return asdict(value)
    raise TypeError(f"{type(value).__name__} has no JSON form")
