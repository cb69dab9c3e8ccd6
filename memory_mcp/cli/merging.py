"""How our part is put into a host's file and taken out again, with all else left as it is."""

import json
import tomllib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

from memory_mcp.cli.hosts import COMMANDS, SERVER
from memory_mcp.errors import Conflict, InvalidInput

Table = dict[str, Any]


class ByHand(InvalidInput):
    """A file that is not ours to rewrite; `block` is what a person may put in."""

    def __init__(self, problem: str, block: str = "") -> None:
        super().__init__(problem)
        self.block = block


HOOK_VERBS = ("context --hook ", "capture ")
"""What our hook commands say after the name of the program."""


def edited(text: str, path: Path, change: Callable[[Table], None]) -> str:
    """Change a file of strict JSON; '' is an empty one. The order of its keys and its indentation stay.

    Raises `ByHand` for what could not be written back as it was: comments, doubled keys, numbers beyond all
    bounds, or no object at all.
    """
    try:
        data: object = json.loads(text or "{}", object_pairs_hook=_without_doubles)
        if not isinstance(data, dict):
            raise ValueError("it holds no object")
        before = json.dumps(data)
        change(cast("Table", data))
        if json.dumps(data) == before:
            return text
        return json.dumps(data, indent=_indent(text), ensure_ascii=False, allow_nan=False) + "\n"
    except (ValueError, RecursionError) as error:
        raise ByHand(
            f"{path} was left as it is: {error}. If it holds comments, they would be lost. Nothing was changed."
        ) from error


def set_server(data: Table, section: str, entry: Mapping[str, Any], path: Path) -> None:
    """Enter our server. What a person added to our entry stays; another server of the name is no entry of ours."""
    servers = _table(data, section, path)
    there = servers.get(SERVER)
    if there is not None and not is_ours(there):
        raise taken(path)
    kept: Table = cast("Table", there) if isinstance(there, dict) else {}
    env = {**kept.get("env", {}), **entry.get("env", {})}
    servers[SERVER] = {**kept, **entry, **({"env": env} if env else {})}


def drop_server(data: Table, section: str) -> None:
    """Take our server out."""
    servers = data.get(section)
    if isinstance(servers, dict) and is_ours(cast("Table", servers).get(SERVER)):
        del servers[SERVER]


def set_hooks(data: Table, wanted: Mapping[str, Sequence[Any]], path: Path) -> None:
    """Enter our hooks after those of others; `wanted` maps an event to its groups. Without any they are taken out."""
    if not wanted and "hooks" not in data:
        return
    events = _table(data, "hooks", path)
    for event in [*events, *(event for event in wanted if event not in events)]:
        groups = _list(events, event, path)
        ours = [group for group in groups if _is_our_group(group)]
        if ours != wanted.get(event, []):
            events[event] = [group for group in groups if group not in ours] + list(wanted.get(event, []))
        if ours and not events[event]:
            del events[event]
    if not events and not wanted:
        del data["hooks"]


def is_ours(entry: object) -> bool:
    """Whether an entry of a host's file starts this server."""
    if not isinstance(entry, dict):
        return False
    known = cast("Table", entry)
    args: object = known.get("args")
    words = [str(word) for word in cast("list[object]", args)] if isinstance(args, list) else []
    command = Path(str(known.get("command", "")).replace("\\", "/")).stem
    return command in COMMANDS or "memory_mcp" in words or COMMANDS[1] in words


def taken(path: Path) -> Conflict:
    """Say that another server has our name."""
    return Conflict(
        f"{path} has another server called {SERVER!r}. Nothing was changed: rename that one or take it out, then"
        " install again."
    )


# ---- TOML ------------------------------------------------------------------------------------------------------


def toml_with(text: str, path: Path, table: str, block: str) -> str:
    """Append a block of TOML, `table` and its parts, in place of our earlier one. Raises `ByHand`, `Conflict`."""
    there, wanted = _toml_table(text, path, table), cast("Table", _toml_table(block, path, table))
    if there == wanted:
        return text
    if there is not None and not is_ours(there):
        raise taken(path)
    if there is not None and not cast("Table", there).keys() <= wanted.keys():
        raise ByHand(f"{path} was left as it is: somebody added to [{table}]. Nothing was changed.")
    others = toml_without(text, path, table)
    after = f"{others.rstrip()}\n\n{block}\n".lstrip()
    if _toml_table(after, path, table) != wanted or _rest(after, table) != _rest(text, table):
        raise ByHand(f"{path} was left as it is: a table cannot be added at its end. Nothing was changed.")
    return after


def toml_without(text: str, path: Path, table: str) -> str:
    """Take a table of ours and its parts out. Raises `ByHand`."""
    if not is_ours(_toml_table(text, path, table)):
        return text
    kept: list[str] = []
    inside = False
    for line in text.splitlines(keepends=True):
        if line.lstrip().startswith("["):
            inside = line.strip().startswith((f"[{table}]", f"[{table}."))
        kept += [] if inside else [line]
    after = "".join(kept)
    if _toml_table(after, path, table) is not None or _rest(after, table) != _rest(text, table):
        raise ByHand(f"{path} was left as it is: [{table}] could not be cut out. Nothing was changed.")
    return after


def _toml_table(text: str, path: Path, table: str) -> object:
    try:
        found: object = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ByHand(f"{path} was left as it is: it is not valid TOML ({error}). Nothing was changed.") from error
    for name in table.split("."):
        found = cast("dict[str, object]", found).get(name) if isinstance(found, dict) else None
    return found


def _rest(text: str, table: str) -> Table:
    """Read all but one table; a parent that holds nothing else does not count."""
    data = tomllib.loads(text)
    parent, name = table.split(".")
    _ = data.get(parent, {}).pop(name, None)
    return {key: value for key, value in data.items() if value != {}}


# ---- JSON ------------------------------------------------------------------------------------------------------


def _is_our_group(group: object) -> bool:
    """Whether all that a group of hooks runs is ours; flat lists, as Antigravity's, are groups of one."""
    if not isinstance(group, dict):
        return False
    listed: object = cast("Table", group).get("hooks", [group])
    hooks = cast("list[object]", listed) if isinstance(listed, list) else []
    return bool(hooks) and all(_is_our_hook(hook) for hook in hooks)


def _is_our_hook(hook: object) -> bool:
    command = str(cast("Table", hook).get("command", "")) if isinstance(hook, dict) else ""
    return any(verb in command for verb in HOOK_VERBS) and ("memory-mcp" in command or "memory_mcp" in command)


def _table(data: Table, name: str, path: Path) -> Table:
    found: object = data.setdefault(name, {})
    if not isinstance(found, dict):
        raise ByHand(f"{path} was left as it is: its {name!r} is not an object. Nothing was changed.")
    return cast("Table", found)


def _list(data: Table, name: str, path: Path) -> list[Any]:
    found: object = data.setdefault(name, [])
    if not isinstance(found, list):
        raise ByHand(f"{path} was left as it is: its hooks of {name!r} are not a list. Nothing was changed.")
    return cast("list[Any]", found)


def _without_doubles(pairs: list[tuple[str, Any]]) -> Table:
    made = dict(pairs)
    if len(made) < len(pairs):
        raise ValueError("a key stands there twice")
    return made


def _indent(text: str) -> int | str:
    """Take the indentation of the first line that has one."""
    for line in text.splitlines()[1:]:
        blanks = line[: len(line) - len(line.lstrip())]
        if blanks.strip(" ") == "" and blanks:
            return len(blanks)
        if blanks:
            return "\t"
    return 2
