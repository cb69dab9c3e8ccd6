"""The verb `doctor --scan`: which texts that are kept hold secrets, and taking those out."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict

from memory_mcp.app import open_memory
from memory_mcp.cli.terminal import Screen, counted
from memory_mcp.config import Settings
from memory_mcp.leaks import Leak, Leaks
from memory_mcp.service import MemoryService

NOTHING = "No secrets were found in what is kept."
NAMES = (
    "Names are left as they are: without its secret each would name something else. Change tags and namespace with"
    " `memory-mcp edit`; what else is named so can only be forgotten."
)


async def scan(settings: Settings, args: Namespace, screen: Screen) -> int:
    """Name the texts that hold a secret, never the secret; the exit code is 1 as long as there are any."""
    if not settings.db.exists():
        screen.answer({"secrets": [], "confirm": ""}, f"{settings.db} is not there yet: nothing is kept.")
        return 0
    async with open_memory(settings, door="cli") as memory:
        found = await memory.leaks()
        if args.redact and found.ids:
            return await _redact(memory, found, args, screen)
        _show(found, screen)
        takes = f"To take them out of texts: memory-mcp doctor --scan --redact --confirm {found.confirm}"
        screen.note(takes if found.ids else "")
    return 1 if found.found else 0


async def _redact(memory: MemoryService, found: Leaks, args: Namespace, screen: Screen) -> int:
    """Take secrets out of texts, once a person or the handle of a scan has agreed to exactly these."""
    confirm = args.confirm
    if not confirm:
        _show(found, screen)
        if not screen.agrees(f"Take the secrets out of {_memories(found.ids)} for good?"):
            screen.note(f"Nothing was changed. To do it, repeat it with --confirm {found.confirm}")
            return 1
        confirm = found.confirm
    done = await memory.take_out_secrets(found, confirm)
    left = [one for one in found.found if one.is_name]
    lines = [f"Took the secrets out of {memory_id}." for memory_id in done.ids]
    screen.answer({"redacted": asdict(done), "left": _data(left)}, *lines, done.detail, *_lines(left))
    screen.note(NAMES if left else "")
    return 1 if left or done.verification == "residue" or len(done.ids) < len(found.ids) else 0


def _show(found: Leaks, screen: Screen) -> None:
    held = _memories({one.memory_id for one in found.found if one.memory_id})
    total = f"{counted(len(found.found), 'text holds a secret', 'texts hold secrets')}, in {held}."
    answer = {"secrets": _data(found.found), "confirm": found.confirm}
    screen.answer(answer, *_lines(found.found), total if found.found else NOTHING)
    screen.note(NAMES if any(one.is_name for one in found.found) else "")


def _memories(ids: Sequence[str] | set[str]) -> str:
    return counted(len(ids), "memory", "memories")


def _lines(found: Sequence[Leak]) -> list[str]:
    return [f"{one.memory_id or 'no memory':36}  {one.field:12}  {', '.join(one.kinds)}" for one in found]


def _data(found: Sequence[Leak]) -> list[dict[str, object]]:
    return [{"id": one.memory_id, "field": one.field, "kinds": one.kinds} for one in found]
