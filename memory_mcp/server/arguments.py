"""What models and hosts may send as arguments: harmless forms are understood, the rest is refused in one clear line."""

import json
from collections.abc import Mapping, Sequence, Sized
from typing import Annotated, Any, cast

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, WithJsonSchema
from pydantic_core import ErrorDetails, PydanticCustomError

from memory_mcp.config import MAX_ACTIONS, MAX_IDS, MAX_KEY_FACTS, MAX_LESSONS, MAX_MESSAGES, MAX_TAGS
from memory_mcp.errors import InvalidInput
from memory_mcp.models import Action, KeyFact, Kind, Outcome, Source
from memory_mcp.stdio.framing import is_crowded

Arguments = dict[str, Any]
Schema = dict[str, Any]

AT_MOST_SHOWN = 3

MEMBERS = 16
"""Members of one object: more than any has, few enough to name those that are not known."""

# ---- forms -------------------------------------------------------------------------------------------------


def _listed(value: object) -> object:
    """Read '["a"]', 'a, b' and 'a' as lists. A comma inside a real list separates nothing."""
    if not isinstance(value, str):
        return value
    parsed = _parsed(value)
    return (
        cast("object", parsed)
        if isinstance(parsed, list)
        else [part.strip() for part in value.split(",") if part.strip()]
    )


def _prose(value: object) -> object:
    """Read one text, or one object, as a list of one: sentences hold commas."""
    if isinstance(value, dict):
        return [cast("object", value)]
    if not isinstance(value, str):
        return value
    parsed = _parsed(value)
    if isinstance(parsed, list):
        return cast("object", parsed)
    return [cast("object", parsed) if isinstance(parsed, dict) else value]


def _folded(value: object) -> object:
    return value.strip().lower() if isinstance(value, str) else value


def _parsed(text: str) -> object:
    try:
        return None if is_crowded(text.encode()) else json.loads(text)
    except (ValueError, RecursionError):
        return None


def _at_most(most: int) -> BeforeValidator:
    """Count a list or an object before anything in it is looked at: each wrong entry would make an error of its own."""

    def counted(value: object) -> object:
        count = len(value) if isinstance(value, Sized) and not isinstance(value, str) else 0
        if count > most:
            raise PydanticCustomError("too_many", "too many", {"count": count, "most": most})
        return value

    return BeforeValidator(counted)


def _as_content(value: object) -> object:
    return {"content": value} if isinstance(value, str) else value


def _texts(description: str = "") -> WithJsonSchema:
    schema: Schema = {"type": "array", "items": {"type": "string"}}
    return WithJsonSchema(schema | ({"description": description} if description else {}))


def _one_of(values: Sequence[str]) -> WithJsonSchema:
    return WithJsonSchema({"type": "string", "enum": [str(value) for value in values]})


_STORABLE = [kind for kind in Kind if kind not in (Kind.EPISODE, Kind.DOCUMENT)]
_UNIT: Schema = {"type": "number", "minimum": 0, "maximum": 1}

Tags = Annotated[tuple[str, ...], _at_most(MAX_TAGS), BeforeValidator(_listed), _texts()]
Ids = Annotated[tuple[str, ...], _at_most(MAX_IDS), BeforeValidator(_listed), _texts()]
Lessons = Annotated[tuple[str, ...], _at_most(MAX_LESSONS), BeforeValidator(_prose), _texts()]
KindArgument = Annotated[Kind, BeforeValidator(_folded), _one_of(_STORABLE)]
Kinds = Annotated[
    tuple[Annotated[Kind, BeforeValidator(_folded)], ...],
    _at_most(len(Kind)),
    BeforeValidator(_listed),
    WithJsonSchema({"type": "array", "items": {"type": "string", "enum": [str(kind) for kind in Kind]}}),
]
SourceArgument = Annotated[Source, BeforeValidator(_folded), _one_of(list(Source))]
MaybeSource = Annotated[Source | None, BeforeValidator(_folded), _one_of(list(Source))]
MaybeOutcome = Annotated[Outcome | None, BeforeValidator(_folded), _one_of(list(Outcome))]
Unit = Annotated[float, Field(ge=0, le=1)]
MaybeUnit = Annotated[float | None, Field(ge=0, le=1), WithJsonSchema(_UNIT)]
MaybeDays = Annotated[float | None, WithJsonSchema({"type": "number"})]
MaybeTokens = Annotated[int | None, Field(ge=1), WithJsonSchema({"type": "integer", "minimum": 1})]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class KeyFactArgument(_Strict):
    """A key fact as a host sends it."""

    content: str
    kind: KindArgument = Kind.FACT
    importance: MaybeUnit = None
    confidence: MaybeUnit = None
    key: str = ""
    supersedes: Ids = ()

    def fact(self) -> KeyFact:
        """Give the domain's form."""
        return KeyFact(**dict(self))


class MessageArgument(_Strict):
    """A turn of a conversation as a host sends it; `time` is still the host's words."""

    role: Annotated[str, BeforeValidator(_folded)]
    content: str
    name: str = ""
    time: str = ""


class ActionArgument(_Strict):
    """A tool use as a host sends it."""

    tool: str
    ok: bool = True
    input_digest: str = ""
    duration: float | None = None

    def action(self) -> Action:
        """Give the domain's form."""
        return Action(**dict(self))


KeyFacts = Annotated[
    tuple[Annotated[KeyFactArgument, _at_most(MEMBERS), BeforeValidator(_as_content)], ...],
    _at_most(MAX_KEY_FACTS),
    BeforeValidator(_prose),
    WithJsonSchema(
        {
            "type": "array",
            "description": "Objects; content alone is enough",
            "items": {
                "type": "object",
                "properties": {
                    "content": {"type": "string"},
                    "kind": {"type": "string"},
                    "importance": {"type": "number"},
                    "confidence": {"type": "number"},
                    "key": {"type": "string"},
                    "supersedes": {"type": "array", "items": {"type": "string"}},
                },
                "required": ["content"],
            },
        }
    ),
]
Messages = Annotated[
    tuple[Annotated[MessageArgument, _at_most(MEMBERS)], ...],
    _at_most(MAX_MESSAGES),
    BeforeValidator(_prose),
    WithJsonSchema(
        {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "role": {"type": "string", "enum": ["user", "assistant", "system", "tool"]},
                    "content": {"type": "string"},
                    "name": {"type": "string"},
                    "time": {"type": "string"},
                },
                "required": ["role", "content"],
            },
        }
    ),
]
Actions = Annotated[
    tuple[Annotated[ActionArgument, _at_most(MEMBERS)], ...],
    _at_most(MAX_ACTIONS),
    BeforeValidator(_prose),
    WithJsonSchema(
        {
            "type": "array",
            "items": {
                "type": "object",
                "properties": {
                    "tool": {"type": "string"},
                    "ok": {"type": "boolean"},
                    "input_digest": {"type": "string"},
                    "duration": {"type": "number", "description": "Seconds"},
                },
                "required": ["tool"],
            },
        }
    ),
]

# ---- before validation -------------------------------------------------------------------------------------


def prepare(tool: str, given: Mapping[str, Any], schema: Schema) -> Arguments:
    """Unwrap, drop what is absent, and refuse what the tool does not take, which the SDK would ignore.

    Raises `InvalidInput` with the names of the valid arguments.
    """
    known: Schema = schema.get("properties", {})
    arguments = _unwrapped(given, known)
    unknown = [name for name in arguments if name not in known]
    if unknown:
        named = ", ".join(repr(name[:40]) for name in unknown[:AT_MOST_SHOWN])
        raise InvalidInput(f"Unknown argument {named}. {tool} takes: {', '.join(known)}.")
    required = schema.get("required", ())
    return {
        name: str(value) if _is_number_for_text(value, known[name]) else value
        for name, value in arguments.items()
        if value is not None and (value != "" or name in required)
    }


def _unwrapped(given: Mapping[str, Any], known: Schema) -> Arguments:
    if len(given) == 1:
        [(name, inner)] = given.items()
        if name not in known:
            inner = _parsed(inner) if isinstance(inner, str) else inner
            if isinstance(inner, dict):
                return cast("Arguments", inner)
    return dict(given)


def _is_number_for_text(value: object, schema: Schema) -> bool:
    return schema.get("type") == "string" and isinstance(value, int | float) and not isinstance(value, bool)


# ---- after validation --------------------------------------------------------------------------------------


def explain(error: ValidationError) -> str:
    """Say in one line which arguments are wrong and what they may be, without repeating what was sent."""
    found = error.errors(include_url=False, include_input=False)
    lines = list(dict.fromkeys(_sentence(one) for one in found))
    more = f" And {len(lines) - AT_MOST_SHOWN} more." if len(lines) > AT_MOST_SHOWN else ""
    return " ".join(lines[:AT_MOST_SHOWN]) + more


_EXPECTED = {
    "string": "must be a text",
    "int": "must be a whole number, such as 5",
    "float": "must be a number, such as 0.5",
    "bool": "must be true or false",
    "tuple": 'must be a list, such as ["a", "b"]',
    "model": "must be an object",
}


def _sentence(error: ErrorDetails) -> str:
    kind, context = error["type"], error.get("ctx", {})
    place = _place(error["loc"])
    match kind:
        case "missing":
            return f"{place} is missing."
        case "too_many":
            return f"{place} has {context['count']:,} entries; at most {context['most']:,}."
        case "extra_forbidden":
            return f"{place} is not known here."
        case "enum" | "literal_error":
            return f"{place} must be one of {str(context['expected']).replace(chr(39), '').replace(' or ', ', ')}."
        case "greater_than_equal":
            return f"{place} must be at least {context['ge']:g}."
        case "less_than_equal":
            return f"{place} must be at most {context['le']:g}."
        case _:
            return f"{place} {_EXPECTED.get(kind.split('_')[0], 'has a form that is not understood')}."


def _place(location: tuple[int | str, ...]) -> str:
    parts = (f"[{part}]" if isinstance(part, int) else f".{part[:40]}" for part in location)
    return "".join(parts).removeprefix(".")


# ---- what is published -------------------------------------------------------------------------------------


def plain(schema: Schema) -> Schema:
    """Make a generated schema plain: no titles, no empty defaults; what remains says something.

    Some hosts' model services reject a whole conversation over a null or a union in one schema.
    """
    return cast("Schema", _plain(schema))


def _plain(node: object, *, names: bool = False) -> object:
    if isinstance(node, list):
        return [_plain(part) for part in cast("list[object]", node)]
    if not isinstance(node, dict):
        return node
    return {
        name: _plain(value, names=name == "properties" and not names)
        for name, value in cast("Schema", node).items()
        if names or not (name == "title" or (name == "default" and value in (None, "", [], False, 0)))
    }
