"""What each verb does that concerns the installation rather than what is remembered."""

import difflib
import os
from argparse import Namespace
from typing import Any, cast

from pydantic import SecretStr

from memory_mcp.cli.terminal import Screen, counted
from memory_mcp.config import PREFIX, Settings, given, variable

KEPT_BACK = "key"
PATHS = {"db", "key_file"}


async def settings(settings: Settings, args: Namespace, screen: Screen) -> int:
    """Print every setting, its value and where that came from. Secrets are masked."""
    rows = [_setting(name, settings, args) for name in Settings.model_fields]
    screen.answer(rows, *(f"{row['variable']:28}{_shown(row['value']):40}  {row['origin']}" for row in rows))
    known = [name.upper() for name in Settings.model_fields]
    named: list[str] = [name.removeprefix(PREFIX) for name in sorted(args.environ) if name.startswith(PREFIX)]
    for name in [name for name in named if name not in known]:
        close = difflib.get_close_matches(name, known, n=1)
        screen.note(f"{PREFIX}{name} is no setting" + (f": did you mean {variable(close[0])}?" if close else "."))
    return 0


def _setting(name: str, settings: Settings, args: Namespace) -> dict[str, Any]:
    value = getattr(settings, name)
    origin = "flag" if getattr(args, name, "") else "environment" if name in given(args.environ) else "default"
    return {
        "name": name,
        "variable": variable(name),
        "value": str(value) if isinstance(value, SecretStr) else value,
        "origin": origin,
        "description": Settings.model_fields[name].description,
    }


def _shown(value: object) -> str:
    if isinstance(value, dict):
        days = cast("dict[str, int | None]", value)
        return ",".join(f"{kind}={'never' if count is None else count}" for kind, count in days.items())
    if isinstance(value, tuple):
        return os.pathsep.join(map(str, cast("tuple[object, ...]", value))) or "-"
    return "-" if value in (None, "") else str(value)


async def pause(settings: Settings, _args: Namespace, screen: Screen) -> int:
    """Forbid all capture, until it is resumed."""
    from memory_mcp.storage.place import make_folder  # noqa: PLC0415 - as in doctor

    make_folder(settings.pause_marker.parent)
    settings.pause_marker.touch(mode=0o600)
    settings.pause_marker.chmod(0o600)
    screen.answer(
        {"paused": True, "marker": settings.pause_marker},
        f"Capture is paused: {settings.pause_marker} stands there until memory-mcp resume.",
        "What you or the assistant store on purpose is still kept.",
    )
    return 0


async def resume(settings: Settings, _args: Namespace, screen: Screen) -> int:
    """Allow capture again, where it is switched on."""
    settings.pause_marker.unlink(missing_ok=True)
    state = "off, as MEMORY_MCP_CAPTURE says" if settings.capture == "off" else "on"
    screen.answer({"paused": False, "capture": settings.capture}, f"Capture is not paused. It is {state}.")
    return 0


async def doctor(settings: Settings, args: Namespace, screen: Screen) -> int:
    """Check every part for real, or look for secrets. The exit code is 1 if anything is not as it should be."""
    if (args.redact or args.confirm) and not args.scan:
        args.error("--redact and --confirm go with --scan")
    if args.scan:
        from memory_mcp.cli.scanning import scan  # noqa: PLC0415 - as below

        return await scan(settings, args, screen)
    from memory_mcp.cli.doctor import examine  # noqa: PLC0415 - --help must not wait for the libraries behind it

    findings = await examine(settings, args.environ)
    sick = [finding for finding in findings if finding.status == "problem"]
    verdict = f"{counted(len(sick), 'problem', 'problems')}: see above." if sick else "All is well."
    lines = [f"{finding.status:8} {finding.part:12} {finding.detail}" for finding in findings]
    screen.answer({"healthy": not sick, "findings": [vars(finding) for finding in findings]}, *lines, verdict)
    return 1 if sick else 0


async def demo(_settings: Settings, args: Namespace, screen: Screen) -> int:
    """Show the main job on a temporary file."""
    if args.db or args.namespace or args.model:
        args.error("the demo has a file and a model of its own: leave out --db, --namespace and --model")
    from memory_mcp.cli.demo import run  # noqa: PLC0415 - as in doctor

    return await run(lambda text: screen.answer(text, text))
