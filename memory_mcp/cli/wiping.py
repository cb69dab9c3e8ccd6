"""The verb `wipe`: everything is erased once a person has typed how much it is."""

from argparse import Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING

from memory_mcp.answers import Holdings, Wiped
from memory_mcp.cli.terminal import Screen, counted
from memory_mcp.config import Settings

if TYPE_CHECKING:  # --help must not wait for the libraries behind it
    from memory_mcp.service import MemoryService

STAYS = "What `memory-mcp install` placed in your hosts stays; `memory-mcp install HOST --remove` takes it out."

OUT_OF_REACH = (
    "Out of reach are exports that you made, snapshots of the disk, and what hosts recorded of conversations by"
    " themselves: where capture is on, that is kept again as soon as they go on."
)


async def wipe(settings: Settings, args: Namespace, screen: Screen) -> int:
    """Erase everything; the file goes, too, unless a server has it open."""
    from memory_mcp.app import open_memory  # noqa: PLC0415 - as MemoryService
    from memory_mcp.storage import remove_unused  # noqa: PLC0415 - as MemoryService

    if not settings.db.exists() and not settings.pause_marker.exists():
        screen.answer({"path": settings.db, "memories": 0}, f"There is no memory file at {settings.db}.")
        return 0
    async with open_memory(settings, door="cli") as memory:
        wiped = await _confirmed(memory, args, screen)
    if wiped is None:
        return 1
    gone = await remove_unused(settings.db, settings.encryption_key())
    screen.answer({"path": settings.db, "file_removed": gone, **asdict(wiped)}, *_told(wiped, settings, gone=gone))
    paused = "Capture was paused, and is not any more." if str(settings.pause_marker) in wiped.removed else ""
    for line in (*wiped.stuck, paused, STAYS, OUT_OF_REACH):
        screen.note(line)
    return 0 if not wiped.stuck and (gone or wiped.verification in ("clean", "unverified")) else 1


async def _confirmed(memory: "MemoryService", args: Namespace, screen: Screen) -> Wiped | None:
    """Show what would go, unless its count was given, and erase it once it is confirmed."""
    if args.confirm is not None:
        return await memory.wipe(args.confirm)
    held = await memory.holdings()
    screen.answer(asdict(held), *_preview(held))
    typed = screen.answered("To erase all of this for good, type the number of memories:")
    if typed.replace(",", "").isdecimal():
        return await memory.wipe(int(typed.replace(",", "")))
    screen.note(f"Nothing was erased. To erase all of it: memory-mcp wipe --confirm {held.memories}")
    return None


def _preview(held: Holdings) -> list[str]:
    kinds = [f"    {count:,} {kind}" for kind, count in held.by_kind.items()]
    whole = f"{held.path}: {counted(held.memories, 'memory', 'memories')}, with all history, settings and the audit"
    return [whole, *kinds, *held.beside]


def _told(wiped: Wiped, settings: Settings, *, gone: bool) -> list[str]:
    erased = f"Erased {counted(wiped.memories, 'memory', 'memories')} and all that belonged to them."
    file = (
        f"Removed {settings.db}."
        if gone
        else f"{wiped.detail} {settings.db} stays, empty: another program has it open and goes on with it."
    )
    return [erased, file, *(f"Removed {path}." for path in wiped.removed)]
