"""How this server is placed in a host: which files change, and how, so that nothing of anybody's is lost."""

import difflib
import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from memory_mcp.cli import merging, plugins
from memory_mcp.cli.hosts import HOSTS, SERVER, block, config_path, entry
from memory_mcp.cli.merging import ByHand, Table
from memory_mcp.cli.plugins import Hooks
from memory_mcp.errors import Conflict
from memory_mcp.files import put_in_place

WITH_HOOKS = ("claude-code", "codex", "gemini", "antigravity")

NEXT = {
    "claude-code": ["Start Claude Code anew. /mcp lists the server, /hooks what runs."],
    "codex": ["Start codex anew and agree to the hooks when it asks; /hooks lists them."],
    "gemini": ["Start gemini anew. /extensions list names the extension."],
    "antigravity": ["Start Antigravity anew; the plugin stands among its customizations."],
    "claude-desktop": [
        "Quit Claude Desktop and start it anew.",
        "It has no hooks: paste the text of `memory-mcp install --preferences` into Settings > General.",
    ],
}
"""What is left to the person."""


@dataclass(frozen=True)
class Change:
    """One file as it is and as it shall be; None is: not there.

    A file in a `folder` of our own is simply written; others write to any other one too, so it is backed up.
    """

    path: Path
    before: str | None
    after: str | None
    folder: Path | None = None

    def diff(self) -> str:
        """Show the change as a unified diff."""
        texts = (self.before, self.after)
        old, new = [os.devnull if text is None else str(self.path) for text in texts]
        before, after = [(text or "").splitlines() for text in texts]
        return "\n".join(difflib.unified_diff(before, after, old, new, lineterm=""))


@dataclass(frozen=True)
class Place:
    """Where a person's files are. `platform` is as `sys.platform` says it."""

    home: Path
    platform: str
    environ: Mapping[str, str]

    def moved(self, variable: str, usual: str) -> Path:
        """Find a host's folder, which an environment variable may have moved."""
        return Path(self.environ.get(variable) or self.home / usual).expanduser()


def plan(host: str, hooks: Hooks, place: Place, *, remove: bool) -> list[Change]:
    """Say which files change to place the server in a host, or to take it out. Files that stay are left out.

    Raises `ByHand` (a file that we must not rewrite) and `Conflict` (something else of our name); nothing is written.
    """
    planner = _PLANNERS.get(host, _server_only)
    changes = planner(host, hooks, place, remove)
    return [change for change in changes if change.before != change.after]


def make(change: Change, now: datetime) -> Path | None:
    """Write one file, or remove it. Gives the backup's path, if there is one.

    A link stays a link, and a file keeps its mode. Raises `Conflict` where the file changed since it was read.
    """
    target = Path(os.path.realpath(change.path))
    if _read(target) != change.before:
        raise Conflict(f"{change.path} changed meanwhile and was left as it is. Install again.")
    backup = None if change.folder or change.before is None else _back_up(target, now)
    if change.after is not None:
        _write(target, change.after)
    else:
        change.path.unlink()
        _remove_empty(change.path.parent, change.folder)
    return backup


# ---- each host -----------------------------------------------------------------------------------------------


def _claude_code(host: str, hooks: Hooks, place: Place, remove: bool) -> Iterator[Change]:
    base = place.moved("CLAUDE_CONFIG_DIR", ".claude")
    config = (base if place.environ.get("CLAUDE_CONFIG_DIR") else place.home) / ".claude.json"
    settings = base / "settings.json"
    _require_no_plugin(settings, remove=remove)
    yield _with_server(host, config, hooks, remove)
    yield _with_hooks(settings, plugins.claude_code_hooks(hooks), remove)
    yield from _folder(base / "skills" / plugins.NAME, "SKILL.md", plugins.skill(), remove)


def _codex(host: str, hooks: Hooks, place: Place, remove: bool) -> Iterator[Change]:
    base = place.moved("CODEX_HOME", ".codex")
    yield _with_table(host, base / "config.toml", hooks, remove)
    yield _with_hooks(base / "hooks.json", plugins.claude_code_hooks(hooks, host), remove)
    yield from _folder(place.home / ".agents/skills" / plugins.NAME, "SKILL.md", plugins.skill(), remove)


def _gemini(_host: str, hooks: Hooks, place: Place, remove: bool) -> Iterator[Change]:
    folder = place.home / ".gemini/extensions" / plugins.NAME
    yield from _folder(folder, "gemini-extension.json", plugins.gemini(hooks), remove)


def _antigravity(_host: str, hooks: Hooks, place: Place, remove: bool) -> Iterator[Change]:
    folder = place.home / ".gemini/config/plugins" / plugins.NAME
    yield from _folder(folder, "plugin.json", plugins.antigravity(hooks), remove)


def _server_only(host: str, hooks: Hooks, place: Place, remove: bool) -> Iterator[Change]:
    yield _with_server(host, config_path(HOSTS[host], place.platform, place.environ), hooks, remove)


_PLANNERS: dict[str, Callable[[str, Hooks, Place, bool], Iterator[Change]]] = {
    "claude-code": _claude_code,
    "codex": _codex,
    "gemini": _gemini,
    "antigravity": _antigravity,
}


# ---- each sort of file ---------------------------------------------------------------------------------------


def _with_server(host: str, path: Path, hooks: Hooks, remove: bool) -> Change:
    section = HOSTS[host].section

    def change(data: Table) -> None:
        if remove:
            merging.drop_server(data, section)
        else:
            merging.set_server(data, section, entry(HOSTS[host], hooks.launch), path)

    return _merged(path, lambda text: merging.edited(text, path, change), block(HOSTS[host], hooks.launch))


def _with_hooks(path: Path, wanted: Mapping[str, Sequence[object]], remove: bool) -> Change:
    def change(data: Table) -> None:
        merging.set_hooks(data, {} if remove else wanted, path)

    return _merged(path, lambda text: merging.edited(text, path, change), plugins.written({"hooks": wanted}))


def _with_table(host: str, path: Path, hooks: Hooks, remove: bool) -> Change:
    table, wanted = f"mcp_servers.{SERVER}", block(HOSTS[host], hooks.launch)
    if remove:
        return _merged(path, lambda text: merging.toml_without(text, path, table), "")
    return _merged(path, lambda text: merging.toml_with(text, path, table, wanted), wanted)


def _merged(path: Path, change: Callable[[str], str], by_hand: str) -> Change:
    before = _read(path)
    try:
        after = change((before or "").removeprefix("\ufeff"))
    except ByHand as problem:
        raise ByHand(str(problem), by_hand) from problem
    unchanged = after == (before or "").removeprefix("\ufeff")
    return Change(path, before, before if unchanged else after)


def _folder(folder: Path, manifest: str, files: Mapping[str, str], remove: bool) -> Iterator[Change]:
    """Fill a folder of our own, or take out what we put into it."""
    if folder.exists() and any(folder.iterdir()) and plugins.MARKETPLACE not in (_read(folder / manifest) or ""):
        raise Conflict(f"{folder} holds something else. Nothing was changed: move it away, then install again.")
    for path, text in files.items():
        yield Change(folder / path, _read(folder / path), None if remove else text, folder)


def _require_no_plugin(settings: Path, *, remove: bool) -> None:
    """With the plugin and the installation side by side every hook would run twice."""
    if not remove and f'"{plugins.NAME}@{plugins.MARKETPLACE}": true' in (_read(settings) or ""):
        raise Conflict(
            f"Claude Code has the plugin {plugins.NAME}@{plugins.MARKETPLACE} switched on, which brings the same."
            " Nothing was changed. To install this way instead, switch the plugin off: /plugin."
        )


# ---- files ---------------------------------------------------------------------------------------------------


def _read(path: Path) -> str | None:
    try:
        return path.read_bytes().decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return None
    except UnicodeDecodeError as error:
        raise ByHand(f"{path} was left as it is: it is not UTF-8 text. Nothing was changed.") from error


def _back_up(target: Path, now: datetime) -> Path:
    stem = f"{target.name}.{now:%Y%m%dT%H%M%S}"
    names = (f"{stem}{again}.backup" for again in ("", *(f"-{count}" for count in range(1, 1_000))))
    backup = next(path for path in map(target.with_name, names) if not path.exists())
    shutil.copy2(target, backup)
    return backup


def _write(target: Path, text: str) -> None:
    """Put a file in place; one that is there keeps its mode."""
    target.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(target.stat().st_mode) if target.exists() else 0o600
    with put_in_place(target, mode) as file:
        file.write(text.encode("utf-8"))


def _remove_empty(folder: Path, top: Path | None) -> None:
    """Remove a folder that nothing is left in, and so those above it, up to `top`."""
    while top and folder.is_relative_to(top) and not any(folder.iterdir()):
        folder.rmdir()
        folder = folder.parent
