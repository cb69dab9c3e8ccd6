"""The verb that hosts' hooks call to keep what was said. It has a host waiting: no model, no server, no network."""

from argparse import Namespace

from memory_mcp.cli import hooks
from memory_mcp.cli.terminal import Screen, counted
from memory_mcp.config import Settings


async def capture(settings: Settings, args: Namespace, screen: Screen) -> int:
    """Keep what is new of the conversation that the hook tells of, if the person has opted in."""
    event = hooks.heard(args.host, screen.source)
    screen.out.write(hooks.silence(event.host if event else args.host))
    if args.on and settings.capture == "off":
        settings = settings.model_copy(update={"capture": "on"})
    if event is None or settings.capture == "off":
        return 0
    from memory_mcp import capture as keeping  # noqa: PLC0415 - where nothing is kept, nothing is waited for
    from memory_mcp.models import utc_now  # noqa: PLC0415 - as above
    from memory_mcp.storage import open_store_in_haste  # noqa: PLC0415 - as above

    if not keeping.is_wanted(event, settings):
        return 0
    store = await open_store_in_haste(settings.db, key=settings.encryption_key(), now=utc_now)
    try:
        kept = await keeping.capture(event, store, settings, utc_now())
    finally:
        await store.close()
    if kept.skipped:
        screen.note(f"memory-mcp: {counted(kept.skipped, 'message', 'messages')} could not be kept.")
    for notice in kept.notices:
        screen.note(f"memory-mcp: {notice}")
    return 0
