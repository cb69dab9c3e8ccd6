"""How the records of a transcript become turns and uses of tools, whichever host wrote them."""

import json
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import cast

from memory_mcp.models import Action
from memory_mcp.transcripts.lines import Part, new_part
from memory_mcp.transcripts.protocol import Heard, Record, Records, Role, Transcript, Used

OWN_TOOLS = ("recall", "store", "summarize", "forget")
"""Ours: what they print was remembered already."""


class Hearing:
    """Collects what the records of one reading say. `is_partial`: something in it refers to what stood before."""

    def __init__(self) -> None:
        self.is_partial = False
        self._turns: dict[str, Heard] = {}
        self._calls: dict[str, tuple[str, str, datetime | None]] = {}
        self._uses: dict[str, Used] = {}
        self._unnamed: Counter[str] = Counter()

    def say(self, record: Record, message_id: str, role: Role, content: str, at: datetime | None) -> None:
        """Take one message; said again under the same name, it is the same message as it became.

        One without a name gets one from its time and how many were said then: that needs all before. Nothing of its
        words is in it, since the name outlives a message that is forgotten.
        """
        if not content.strip():
            return
        if not message_id:
            self.is_partial = True
            told = f"{role} {at.isoformat() if at else ''}".strip()
            self._unnamed[told] += 1
            message_id = f"{told} {self._unnamed[told]}"
        known = self._turns.get(message_id)
        self._turns[message_id] = Heard(message_id, role, content, at, known.place if known else record.place)

    def call(self, call_id: str, tool: str, given: object, at: datetime | None) -> None:
        """Take the beginning of a tool's use."""
        self._calls[call_id] = (tool, digest(given), at)

    def answer(self, record: Record, call_id: str, at: datetime | None, *, ok: bool, output: str = "") -> None:
        """Take the end of it; of several, the first counts, and every output is heard."""
        call = self._calls.get(call_id)
        if call is None:
            self.is_partial = True
            return
        tool, given, began = call
        duration = (at - began).total_seconds() if at and began and at >= began else None
        self._uses.setdefault(call_id, Used(call_id, Action(tool, ok, given, duration), began or at))
        if not is_ours(tool):
            self.say(record, f"{call_id}:output", "tool", output, at)

    def told(self, part: Part, since: int) -> Transcript:
        """Give what was collected, of the messages only those from a place on."""
        turns = (turn for turn in self._turns.values() if turn.place >= since)
        return Transcript(tuple(turns), tuple(self._uses.values()), part.end, part.mark)


def read(hear: Callable[[Records, Hearing], None], path: Path, place: int = 0, mark: bytes = b"") -> Transcript:
    """Read on from a place, as `Reader` says, once more with all before it where the new part refers to that."""
    part = new_part(path, place, mark)
    since, hearing = part.start, Hearing()
    hear(part.records, hearing)
    if since and hearing.is_partial:
        whole = new_part(path, 0, b"")
        if whole.end >= part.end:
            part, hearing = whole, Hearing()
            hear(part.records, hearing)
    return hearing.told(part, since)


def is_ours(tool: str) -> bool:
    """Whether a tool is one of this server's, by any of the names that hosts give them."""
    server, _, name = tool.replace("/", "_").rpartition("_")
    return bool(server) and name in OWN_TOOLS


def digest(value: object) -> str:
    """Give an opaque name of a JSON value: the same for the same value, and none of it can be read in it."""
    written = json.dumps(value, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(written.encode("utf-8", "surrogatepass")).hexdigest()[:16]


# ---- parts of a record ---------------------------------------------------------------------------------------------


def text(value: object) -> str:
    """Take a text as UTF-8 can hold it, lone surrogates as question marks; '' for anything else."""
    return value.encode("utf-8", "replace").decode() if isinstance(value, str) else ""


def mapping(value: object) -> dict[str, object]:
    """Take an object; an empty one for anything else."""
    return cast("dict[str, object]", value) if isinstance(value, dict) else {}


def mappings(value: object) -> list[dict[str, object]]:
    """Take a list of objects; whatever else is in it is left out."""
    return [mapping(one) for one in cast("list[object]", value)] if isinstance(value, list) else []


def texts(value: object, name: str = "text") -> str:
    """Join the texts of a message, which is one text or a list of blocks that hold one under `name`."""
    if isinstance(value, str):
        return text(value)
    return "\n\n".join(filter(None, (text(block.get(name)) for block in mappings(value))))


def instant(value: object) -> datetime | None:
    """Read a time as ISO 8601 writes it; None where there is none. Without a zone it is UTC."""
    try:
        at = datetime.fromisoformat(text(value))
    except ValueError:
        return None
    return at if at.tzinfo else at.replace(tzinfo=UTC)
