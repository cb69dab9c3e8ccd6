"""What a model must answer, and what of its answer can be used."""

import json
import re
from collections.abc import Iterator
from typing import Annotated, Literal, cast

from pydantic import BaseModel, Field, ValidationError

from memory_mcp.models import Kind, Outcome

Share = Annotated[float, Field(ge=0, le=1)]


class Fact(BaseModel):
    """One lasting statement, and the numbers of the turns that say so."""

    content: str
    category: Literal["decision", "metric", "preference", "fact", "relationship", "instruction"] = "fact"
    importance: Share = 0.5
    confidence: Share = 0.7
    key: str = ""
    turns: list[int] = []

    @property
    def kind(self) -> Kind:
        """The kind of memory that the category is."""
        return Kind(self.category)


class Reply(BaseModel):
    """What a conversation was about."""

    summary: str
    outcome: Literal["success", "failure", "partial", "unclear"] = "unclear"
    lessons: list[str] = []
    facts: list[Fact] = []

    @property
    def ended(self) -> Outcome | None:
        """How it ended, if that was said."""
        return None if self.outcome == "unclear" else Outcome(self.outcome)


_NO_SUMMARY = re.compile(
    r"^\W*(?:i(?:'m| am) (?:sorry|unable|not able)|i (?:can(?:no|')t|won't)|as an ai\b|sorry\b"
    r"|申し訳|すみません|お手伝いできません|要約できません)"
    r"|\b(?:usage|rate|token|message)[ _-]limit\b.{0,40}\b(?:reached|exceeded|hit)\b"
    r"|\b(?:no|there (?:is|was) no) (?:conversation|transcript|content)\b.{0,30}\b(?:provided|given|to summari[sz]e)\b",
    re.IGNORECASE,
)


def usable(reply: Reply | None) -> Reply | None:
    """Give an answer back if it is a summary rather than a refusal, a notice or nothing."""
    if reply is None or not reply.summary.strip() or _NO_SUMMARY.search(reply.summary.replace("’", "'")):
        return None
    return reply


def read(text: str) -> Reply | None:
    """Find the answer in a text, be it in a fence, within prose, or in a list of one."""
    return next(filter(None, map(_validated, _objects(text))), None)


def _objects(text: str) -> Iterator[object]:
    decoder = json.JSONDecoder()
    for place in (match.start() for match in re.finditer(r"\{", text)):
        try:
            found, _ = decoder.raw_decode(text, place)
        except ValueError:
            continue
        yield found


def _validated(value: object) -> Reply | None:
    if not isinstance(value, dict) or "summary" not in cast("dict[str, object]", value):
        return None
    try:
        return Reply.model_validate(value)
    except ValidationError:
        return None
