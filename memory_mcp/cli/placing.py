"""The verb `install`: what it does to a host's files, what it says of that, and what is left to the person."""

import sys
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

from memory_mcp.cli import hosts, installing
from memory_mcp.cli.hosts import Launch
from memory_mcp.cli.installing import Place
from memory_mcp.cli.merging import ByHand
from memory_mcp.cli.plugins import Hooks
from memory_mcp.cli.terminal import Screen
from memory_mcp.config import Settings, given, variable
from memory_mcp.errors import Conflict
from memory_mcp.models import utc_now

KEPT_BACK = "key"
PATHS = {"db", "key_file"}

PLUGGED = ("gemini", "antigravity")
"""Hosts where the server comes with a plugin and not by an entry in their list."""

KEY_STAYS = (
    "The key of MEMORY_MCP_KEY is written nowhere: put it into a file that only you can read, and name that file as"
    " MEMORY_MCP_KEY_FILE."
)


async def install(settings: Settings, args: Namespace, screen: Screen) -> int:
    """Place the server in a host, or only print its block or the preferences text."""
    if not (args.host or args.print or args.preferences):
        args.error("name a host, as in install claude-desktop, or ask for --preferences")
    if args.preferences:
        text = hosts.PREFERENCES[args.preferences]
        screen.answer({"language": args.preferences, "text": text}, text)
    if args.print:
        _print_block(args.print, settings, args, screen)
    return _place(settings, args, screen) if args.host else 0


def _place(settings: Settings, args: Namespace, screen: Screen) -> int:
    launch = _launch(settings, args)
    place = Place(Path.home(), sys.platform, args.environ)
    try:
        changes = installing.plan(
            args.host, Hooks(launch, keeps=args.capture, platform=sys.platform), place, remove=args.remove
        )
    except ByHand as problem:
        screen.answer({"problem": str(problem), "block": problem.block}, problem.block)
        screen.note(f"{problem} This is what to put in by hand.")
        return 1
    own = next((change.path for change in changes if settings.owns(change.path)), None)
    if own:
        raise Conflict(
            f"{own} leads to the memory file or what belongs to it. Nothing was changed: take that link away."
        )
    if args.dry_run:
        screen.answer([vars(change) for change in changes], *(change.diff() for change in changes))
        screen.note("Nothing was changed: this was a dry run." if changes else "There is nothing to change.")
        return 0
    done = [(change, installing.make(change, utc_now())) for change in changes]
    answer = [{"path": change.path, "removed": change.after is None, "backup": backup} for change, backup in done]
    screen.answer(answer, *([_told(change, backup) for change, backup in done] or ["There is nothing to change."]))
    _tell_next(args, launch, place, screen)
    return 0


def _told(change: installing.Change, backup: Path | None) -> str:
    does = "removed" if change.after is None else "wrote" if change.before is None else "changed"
    return f"{does:8} {change.path}" + (f"\n         (as it was: {backup.name})" if backup else "")


def _tell_next(args: Namespace, launch: Launch, place: Place, screen: Screen) -> None:
    title = hosts.HOSTS[args.host].title
    if args.remove:
        screen.note(f"Start {title} anew. Your memories stay; `memory-mcp doctor` says where.")
        return
    for line in installing.NEXT.get(args.host, [f"Start {title} anew."]):
        screen.note(line)
    if args.host not in installing.WITH_HOOKS:
        screen.note("This host has no hooks, so --capture changes nothing." if args.capture else "")
    elif not args.capture and "MEMORY_MCP_CAPTURE" not in launch.env:
        screen.note("Conversations are not captured. To keep what is said as well: the same again with --capture.")
    for line in _twice(args, place):
        screen.note(line)
    _tell_of_key(args, screen)


def _twice(args: Namespace, place: Place) -> Iterator[str]:
    """Name an entry that a person made earlier, by hand, where a plugin brings the server now."""
    title = hosts.HOSTS[args.host].title
    for one in hosts.entries(place.platform, place.environ):
        if args.host in PLUGGED and one.host == title and one.named:
            yield f"{one.path} starts this server a second time: take its entry out."


def _launch(settings: Settings, args: Namespace) -> Launch:
    """Make the command line for a host, with every setting that was made here but the key itself."""
    made = given(args.environ)
    env = {variable(n): str(getattr(settings, n)) if n in PATHS else raw for n, raw in made.items() if n != KEPT_BACK}
    return hosts.this_installation(args.program, env)


def _print_block(name: str, settings: Settings, args: Namespace, screen: Screen) -> None:
    host, launch = hosts.HOSTS[name], _launch(settings, args)
    block, where = hosts.block(host, launch), hosts.where(host, launch)
    screen.answer({"host": name, "paths": host.paths, "block": block, "where": where}, block)
    screen.note(where)
    _tell_of_key(args, screen)


def _tell_of_key(args: Namespace, screen: Screen) -> None:
    made = given(args.environ)
    screen.note(KEY_STAYS if KEPT_BACK in made and "key_file" not in made else "")
