"""What files of conversations look like: role/content JSON, "Name: text" transcripts, LoCoMo-shaped JSON."""

import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Any, cast

from memory_mcp.errors import InvalidInput
from memory_mcp.models import Message
from memory_mcp.redaction import redact

ROLES = {
    **dict.fromkeys(("user", "human", "me", "you", "私", "ユーザー"), "user"),
    **dict.fromkeys(
        ("assistant", "ai", "bot", "model", "claude", "chatgpt", "gemini", "copilot", "アシスタント"), "assistant"
    ),
    **dict.fromkeys(("system", "developer", "tool", "function"), ""),
}
"""What speakers are called in files, folded, and the role that it means; '' for what nobody said."""

BODIES = ("content", "text", "message", "body")
TIMES = ("time", "timestamp", "created_at", "create_time", "date", "at")
NAMES = ("name", "speaker", "author", "from")
IDS = ("id", "uuid", "message_id", "dia_id")
LISTS = ("messages", "turns", "chat_messages", "conversation", "conversations", "history")
HIDDEN = "system text, tool output or hidden"


@dataclass(frozen=True)
class Told:
    """One message with the name by which it is known again: its own id, or its place in the conversation."""

    id: str
    message: Message


@dataclass(frozen=True)
class Dialogue:
    """One conversation of a file. `name` is '' where the file names none; `skipped` says what was left out, and why."""

    name: str
    turns: tuple[Told, ...]
    skipped: tuple[str, ...] = ()


def read(data: bytes, zone: tzinfo, *, markdown: bool = False) -> list[Dialogue]:
    """Read the conversations of a file; clocks without an offset are in `zone`.

    What cannot be used is skipped and told, with its line or place. Raises `InvalidInput` when nothing in the file can
    be used, and for `markdown` that is a note: there a colon makes nobody a speaker.
    """
    text = _decoded(data)
    reader = _Reader(zone, markdown)
    found = reader.json(text) if text.lstrip()[:1] in ("{", "[") and not _is_stamped(text) else [reader.plain(text)]
    if not any(one.turns for one in found):
        why = next((f" ({line})" for one in found for line in one.skipped), "")
        raise InvalidInput(
            f"No conversation was found{why}. Known are JSON with role and content, lines of `Name: text`, and LoCoMo's"
            " JSON. Nothing was saved."
        )
    return found


def _decoded(data: bytes) -> str:
    marks = {b"\xff\xfe": "utf-16", b"\xfe\xff": "utf-16"}
    try:
        return data.decode(marks.get(data[:2], "utf-8-sig"))
    except UnicodeDecodeError as error:
        raise InvalidInput("The file is not UTF-8 or UTF-16 text. Nothing was saved.") from error


_TOKEN = re.compile(r"[\w.:@/+=-]{1,80}")
"""A name of a message that cannot be its words: it outlives a message that is forgotten."""

_LINE = re.compile(
    r"\s*(?:\[(?P<time>[^\]\n]{4,40})\]\s+)?"
    r"(?P<speaker>[^\s:：#*`/<>{}\[\]\"][^:：\n\"{}\[\]]{0,40}?)\s*[:：](?!//)\s*(?P<text>.*)"
)
"""`Name: text`, perhaps after a time in brackets."""


def _is_stamped(text: str) -> bool:
    """Whether a text that begins with a bracket is a transcript with times rather than JSON."""
    return _LINE.fullmatch(text.lstrip().partition("\n")[0].rstrip()) is not None


def _speakers(names: Iterable[str]) -> set[str]:
    """Tell speakers from other words before a colon: they are called by a role, or speak more than once."""
    counts = Counter(names)
    return {name for name in counts if name.casefold() in ROLES or counts[name] > 1} or set(counts)


_HEADING = re.compile(r" {0,3}#{1,6}[ \t]+\S.*")
_FENCE = re.compile(r" {0,3}(?:```|~~~)")


def _refuse_note(text: str, spoken: int) -> None:
    """Refuse Markdown with headings, or of which fewer than half of the lines begin a turn, as `spoken` ones do."""
    lines = [line for line in text.splitlines() if line.strip()]
    fenced, headed = False, False
    for line in lines:
        fenced ^= _FENCE.match(line) is not None
        headed |= not fenced and _HEADING.fullmatch(line) is not None
    if headed or 2 * spoken < len(lines):
        why = "it has headings" if headed else f"only {spoken} of its {len(lines)} lines begin with a speaker"
        raise InvalidInput(
            f"This is a note rather than a conversation: {why}. Nothing was saved. `memory-mcp import` keeps it as"
            " reference; if it is a conversation all the same, let its name end in .txt."
        )


@dataclass(frozen=True)
class _Reader:
    zone: tzinfo
    markdown: bool

    # ---- lines of "Name: text" ---------------------------------------------------------------------------------

    def plain(self, text: str) -> Dialogue:
        """Read a transcript; a line without a name goes on with what was said before."""
        turns: list[Message] = []
        skipped: list[str] = []
        lines = [_LINE.fullmatch(line) for line in text.splitlines()]
        speakers = _speakers(line["speaker"] for line in lines if line)
        if self.markdown:
            _refuse_note(text, sum(bool(line) and line["speaker"] in speakers for line in lines))
        for number, (line, said) in enumerate(zip(text.splitlines(), lines, strict=True), 1):
            if said and said["speaker"] in speakers:
                turns.append(self._spoken(said["speaker"], said["text"], said["time"]))
            elif turns:
                turns[-1] = Message(turns[-1].role, f"{turns[-1].content}\n{line}", turns[-1].name, turns[-1].at)
            elif line.strip():
                skipped.append(f"line {number}: nobody is named as its speaker")
        return _heard("", [(str(place), turn) for place, turn in enumerate(turns, 1)], skipped)

    def _spoken(self, speaker: str, text: str, time: str | None) -> Message:
        role, name = _role(speaker)
        return Message(role, text, name, self._time(time))

    # ---- JSON --------------------------------------------------------------------------------------------------

    def json(self, text: str) -> list[Dialogue]:
        """Read JSON, or JSON lines; a broken line is skipped."""
        try:
            return self._conversations(json.loads(text), "")
        except json.JSONDecodeError as error:
            rows, broken = _lines(text)
            if not rows:
                raise InvalidInput(f"Line {error.lineno} is not valid JSON. Nothing was saved.") from error
        if any(_is_message(row) for _, row in rows):
            return [self._messages([row for _, row in rows], "", [f"line {number}" for number, _ in rows], broken)]
        several = len(rows) > 1
        found = [one for number, row in rows for one in self._conversations(row, str(number) if several else "")]
        return [*found, *([Dialogue("", (), tuple(broken))] if broken else [])]

    def _conversations(self, value: object, name: str) -> list[Dialogue]:
        """Find the conversations in a value: one, a list of them, or LoCoMo's numbered sessions."""
        if isinstance(value, list):
            items = cast("list[object]", value)
            if any(map(_is_message, items)):
                return [self._messages(items, name)]
            return [
                one
                for place, item in enumerate(items, 1)
                for one in self._conversations(item, name or (str(place) if len(items) > 1 else ""))
            ]
        if not isinstance(value, dict):
            return [Dialogue(name, (), (f"{name or 'the file'}: is no conversation",))]
        table = cast("dict[str, object]", value)
        own = _harmless(_text(table, ("session_id", "conversation_id", "sample_id", "uuid", "id"))) or name
        sessions = sorted(filter(_SESSION.fullmatch, table), key=lambda key: int(key.rpartition("_")[2]))
        if sessions:
            return [self._dialogue(table, key, own) for key in sessions]
        inner = next((table[key] for key in LISTS if isinstance(table.get(key), list | dict)), None)
        if inner is None:
            return [Dialogue(own, (), (f"{own or 'the file'}: holds no messages",))]
        return self._conversations(inner, own)

    def _dialogue(self, table: Mapping[str, object], key: str, name: str) -> Dialogue:
        """Read one session of LoCoMo, whose turns have no times of their own."""
        items = cast("list[object]", table[key]) if isinstance(table[key], list) else []
        at = self._time(table.get(f"{key}_date_time"))
        heard = self._messages(items, f"{name}/{key}" if name else key)
        turns = tuple(
            Told(one.id, Message(one.message.role, one.message.content, one.message.name, one.message.at or at))
            for one in heard.turns
        )
        return Dialogue(heard.name, turns, heard.skipped)

    def _messages(
        self, items: Sequence[object], name: str, places: Sequence[str] = (), broken: Iterable[str] = ()
    ) -> Dialogue:
        turns: list[tuple[str, Message]] = []
        skipped = list(broken)
        for number, item in enumerate(items, 1):
            place = places[number - 1] if places else f"message {number}"
            message = self._message(item)
            if isinstance(message, str):
                skipped.append(f"{place}: {message}")
            else:
                own = _harmless(_text(cast("dict[str, object]", item), IDS))
                turns.append((own if _TOKEN.fullmatch(own) else str(number), message))
        return _heard(name, turns, skipped)

    def _message(self, item: object) -> Message | str:
        """Read one message, or say why it cannot be used."""
        if not isinstance(item, dict):
            return "is no message"
        table = cast("dict[str, object]", item)
        author = table.get("author")
        author = cast("dict[str, object]", author).get("role") if isinstance(author, dict) else author
        named = table.get("role") or table.get("sender") or author or _text(table, NAMES)
        if not isinstance(named, str) or not named.strip():
            return "does not say who spoke"
        role, name = _role(named)
        if not role or table.get("hidden") or table.get("isMeta"):
            return HIDDEN
        body = next((_body(table[key]) for key in BODIES if key in table), "")
        if not body.strip():
            return "has no text"
        return Message(role, body, _text(table, ("name", "speaker")) or name, self._first_time(table))

    # ---- times -------------------------------------------------------------------------------------------------

    def _first_time(self, table: Mapping[str, object]) -> datetime | None:
        return next(filter(None, (self._time(table[key]) for key in TIMES if key in table)), None)

    def _time(self, value: object) -> datetime | None:
        """Read an ISO 8601 time, seconds or milliseconds since 1970, or a few usual forms; None if it is none."""
        if isinstance(value, bool) or value is None:
            return None
        with suppress(ValueError, OverflowError, OSError):
            if isinstance(value, int | float):
                return datetime.fromtimestamp(value / 1000 if value > _MILLISECONDS else value, UTC)
            at = next(filter(None, (_parsed(read, str(value).strip()) for read in _CLOCKS)), None)
            return at if at is None or at.tzinfo else at.replace(tzinfo=self.zone)
        return None


_SESSION = re.compile(r"session_\d+")
_MILLISECONDS = 1e11
"""Above this a number is of milliseconds: in seconds it would lie beyond the year 5000."""


def _clock(form: str) -> Callable[[str], datetime]:
    return lambda text: datetime.strptime(text, form)  # noqa: DTZ007 - the zone is added by the caller


_CLOCKS = (
    datetime.fromisoformat,
    _clock("%I:%M %p on %d %B, %Y"),  # LoCoMo
    _clock("%Y/%m/%d %H:%M"),
    _clock("%d/%m/%Y, %H:%M"),
    _clock("%m/%d/%y, %I:%M %p"),
)


def _parsed(read: Callable[[str], datetime], text: str) -> datetime | None:
    try:
        return read(text)
    except ValueError:
        return None


def _role(speaker: str) -> tuple[str, str]:
    """Give the role and, unless the speaker is called by a role, the name."""
    name = " ".join(speaker.split())
    role = ROLES.get(name.casefold())
    return ("user", name) if role is None else (role, "")


def _heard(name: str, turns: Sequence[tuple[str, Message]], skipped: Sequence[str]) -> Dialogue:
    kept = tuple(Told(own, turn) for own, turn in turns if turn.role and turn.content.strip())
    hidden = [f"message {own}: {HIDDEN}" for own, turn in turns if not turn.role]
    return Dialogue(name, kept, (*skipped, *hidden))


def _lines(text: str) -> tuple[list[tuple[int, object]], list[str]]:
    """Read JSON lines; gives them with their numbers, and those that are broken."""
    rows: list[tuple[int, object]] = []
    broken: list[str] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                rows.append((number, json.loads(line)))
            except json.JSONDecodeError:
                broken.append(f"line {number}: is not valid JSON")
    return rows, broken


def _is_message(value: object) -> bool:
    if not isinstance(value, dict):
        return False
    table = cast("dict[str, Any]", value)
    spoken = any(key in table for key in ("role", "sender", "author", *NAMES))
    return spoken and any(key in table for key in BODIES) and not any(isinstance(table.get(key), list) for key in LISTS)


def _text(table: Mapping[str, object], keys: Iterable[str]) -> str:
    found: Iterator[object] = (table[key] for key in keys if isinstance(table.get(key), str | int))
    return next((str(value).strip() for value in found if str(value).strip()), "")


def _harmless(name: str) -> str:
    """Pass over a name that holds a secret, for it would be kept as it is: its place names a thing as well."""
    return "" if redact(name)[1] else name


def _body(value: object) -> str:
    """Give the words of a content: a text, a list of parts of which some are text, or a table that holds either."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "\n".join(filter(None, map(_body, cast("list[object]", value))))
    if isinstance(value, dict):
        table = cast("dict[str, object]", value)
        if table.get("type", "text") in ("text", "input_text", "output_text"):
            return _body(table.get("text") or table.get("parts") or table.get("content") or "")
    return ""
