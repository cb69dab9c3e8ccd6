"""What a Markdown file says about itself in a block of fields before its text: its title and its tags."""

import re
from collections.abc import Sequence
from typing import NamedTuple


class FrontMatter(NamedTuple):
    """The title ('' if none is given) and tags of a file, and its text without the block."""

    title: str
    tags: tuple[str, ...]
    text: str


_BLOCK = re.compile(
    r"\A(?:---[ \t]*\n(?:[ \t]*(?:#.*)?\n)*[\w\"'][^\n:]*:(?:[ \t].*)?\n(?:.*\n)*?(?:---|\.\.\.)"
    r"|\+\+\+[ \t]*\n(?:.*\n)*?\+\+\+)[ \t]*(?:\n|\Z)"
)
"""YAML, of which the first line names a field, or TOML."""

_FIELD = re.compile(r"([\w-]+)[ \t]*(?::(?=\s|\Z)|=)[ \t]*(.*)")
_ITEM = re.compile(r"[ \t]*-[ \t]+(.*)")
_QUOTED = re.compile(r"""(["'])(.*)\1""")
_COMMENT = re.compile(r"\s#\s.*")
_OF_LIST = re.compile(r"""\s*("[^"]*"|'[^']*'|[^,]+)""")
_NOT_PLAIN = ("|", ">", "[", "{", "&", "*", "!")
"""How YAML begins what is no text of one line."""


def split(text: str) -> FrontMatter:
    """Part a Markdown text from the block with which it may begin. Only fields of one line and plain lists are read."""
    block = _BLOCK.match(text)
    if not block:
        return FrontMatter("", (), text)
    fields = _fields(block[0].splitlines()[1:-1])
    title = fields.get("title", [""])[0]
    return FrontMatter(
        "" if title.startswith(_NOT_PLAIN) else _plain(title), _tags(fields.get("tags", [""])), text[block.end() :]
    )


def _fields(lines: Sequence[str]) -> dict[str, list[str]]:
    """Read fields: what stands behind the name, then the items of a list below it."""
    fields: dict[str, list[str]] = {}
    items: list[str] = []
    for line in lines:
        field, item = _FIELD.fullmatch(line), _ITEM.fullmatch(line)
        if field:
            items = fields[field[1].casefold()] = [_COMMENT.sub("", field[2]).strip()]
        elif item:
            items.append(_COMMENT.sub("", item[1]).strip())
    return fields


def _tags(values: Sequence[str]) -> tuple[str, ...]:
    given, *items = values
    if given.startswith("[") and given.endswith("]"):
        given = given[1:-1]
    elif given.startswith(_NOT_PLAIN):
        given = ""
    tags = (_plain(one).lstrip("#") for one in (*_OF_LIST.findall(given), *items))
    return tuple(tag for tag in tags if tag)


def _plain(value: str) -> str:
    """Write a value without the quotes around it."""
    quoted = _QUOTED.fullmatch(value.strip())
    return (quoted[2] if quoted else value).strip()
