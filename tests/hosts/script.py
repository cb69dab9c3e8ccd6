"""What the model of a trial does: what it says, which tools it uses, what it takes from what it was told."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

TOOLS = ("recall", "store", "summarize", "forget")


@dataclass(frozen=True)
class Found:
    """Stands in a tool's arguments for the last thing before the model's eyes that a pattern matches."""

    pattern: str


@dataclass(frozen=True)
class Use:
    """One use of a tool by the server's own name for it, whatever the host makes of that name."""

    tool: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True)
class Shell:
    """One command in the host's own shell, in the project's folder. `$PAGES` is where the project is served."""

    command: str


Step = str | Use | Shell
"""One turn of the model; text ends its answer."""


def use(tool: str, **arguments: Any) -> Use:
    return Use(tool, arguments)


def filled(value: Any, sight: str) -> Any:
    """Put what the model sees in the place of every `Found`; what it does not see stays empty."""
    if isinstance(value, Found):
        return ["", *re.findall(value.pattern, sight)][-1]
    if isinstance(value, Mapping):
        return {name: filled(inner, sight) for name, inner in value.items()}
    return [filled(inner, sight) for inner in value] if isinstance(value, list) else value


def texts(value: Any) -> Iterator[str]:
    """Every text inside a JSON value, in order."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for inner in value.values():
            yield from texts(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from texts(inner)
