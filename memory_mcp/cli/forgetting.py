"""The verbs that take memories out of sight or out of the file, and the way back."""

from argparse import Namespace
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from memory_mcp.answers import Changed, Forgotten, Preview
from memory_mcp.cli.commands import NOTHING_FOUND, all_known
from memory_mcp.cli.terminal import Screen, counted
from memory_mcp.models import FILE, Selection, Source

if TYPE_CHECKING:  # --help must not wait for the libraries behind it
    from memory_mcp.service import MemoryService
    from memory_mcp.storage.values import Block

T = TypeVar("T")


async def forget(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Erase memories for good."""
    outcome = await _agreed(memory.forget, args, screen)
    if outcome is None:
        return 1
    screen.answer(asdict(outcome), *_told_of_forgotten(outcome))
    gone = all_known(args.ids, [memory_id for memory_id in args.ids if memory_id not in outcome.missing], screen)
    return 1 if outcome.verification == "residue" or not outcome.ids else gone


def _told_of_forgotten(outcome: Forgotten) -> list[str]:
    return [
        *(f"Forgot {memory_id}." for memory_id in outcome.ids),
        *(f"Forgot {memory_id}, which hung on it." for memory_id in outcome.cascaded),
        *filter(None, [outcome.detail]),
    ]


async def archive(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Stop recalling memories, reversibly."""
    return _changed(await _agreed(memory.archive, args, screen), "Archived", args, screen)


async def restore(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Take archived memories back, and superseded ones, whose successors are archived instead."""
    return _changed(await _agreed(memory.restore, args, screen), "Restored", args, screen)


def _changed(changed: Changed | None, done: str, args: Namespace, screen: Screen) -> int:
    if changed is None:
        return 1
    lines = [f"{done} {memory_id}." for memory_id in changed.ids or ["nothing"]]
    screen.answer(asdict(changed), *lines, *(f"Archived {other}, which had replaced it." for other in changed.aside))
    return all_known(args.ids, changed.ids, screen) if changed.ids else 1


async def _agreed(act: Callable[[Selection], Awaitable[T | Preview]], args: Namespace, screen: Screen) -> T | None:
    """Do it to exact ids at once, to anything wider once a person or a handle has confirmed the preview."""
    _require_selectors(args)
    selection = _selection(args)
    outcome = await act(selection)
    if not isinstance(outcome, Preview):
        return outcome
    if not outcome.count:
        screen.answer(asdict(outcome), NOTHING_FOUND)
        return None
    screen.answer(asdict(outcome), *map(screen.summary, outcome.sample), *_beyond_sample(outcome))
    these = "this one" if outcome.count == 1 else f"these {outcome.count}"
    hanging = counted(len(outcome.cascaded), "that hangs", "that hang")
    along = f" and {hanging} on {'it' if outcome.count == 1 else 'them'}" if outcome.cascaded else ""
    if not screen.agrees(f"{args.verb.capitalize()} {these}{along}?"):
        screen.note(f"Nothing was changed. To {args.verb} {these}, repeat it with --confirm {outcome.confirm}")
        return None
    confirmed = await act(replace(selection, confirm=outcome.confirm))
    return None if isinstance(confirmed, Preview) else confirmed


def _require_selectors(args: Namespace) -> None:
    if args.ids or any((args.query, args.tag, args.session, args.source, args.file, args.before, args.namespace)):
        return
    if args.confirm:
        args.error("repeat the same filters together with --confirm")
    args.error("say which: IDs, or --query, --tag, --session, --source, --file, --before or --namespace")


def _beyond_sample(preview: Preview) -> Sequence[str]:
    return preview.ids[len(preview.sample) :]


def _selection(args: Namespace) -> Selection:
    return Selection(
        ids=tuple(args.ids),
        query=args.query,
        tags=tuple(args.tag),
        session_id=args.session,
        source=Source(args.source) if args.source else None,
        before=args.before,
        namespace=args.namespace,
        confirm=args.confirm,
        file=_origin(args.file),
    )


def _origin(file: str) -> str:
    from memory_mcp.reference import origin_of  # noqa: PLC0415 - as MemoryService

    return origin_of(Path(file)) if file else ""


# ---- what stays forgotten ------------------------------------------------------------------------------------


async def forgotten(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """List the places that were forgotten and do not come back by themselves, or let some come back."""
    if args.lift:
        lifted = await memory.lift(args.lift)
        screen.answer({"lifted": lifted}, *(f"Lifted {number}." for number in lifted or ["nothing"]))
        unknown = [number for number in args.lift if number not in lifted]
        for number in unknown:
            screen.note(f"There is no block {number}. `memory-mcp forgotten` shows those that stand.")
        return 1 if unknown else 0
    found = await memory.blocks(args.limit, args.after)
    lines = [_told_of_block(one, screen) for one in found]
    screen.answer([asdict(one) for one in found], *(lines or [NO_BLOCKS]))
    if len(found) == args.limit:
        screen.note(f"For the next ones, repeat the command with --after {found[-1].number}")
    return 0


NO_BLOCKS = "Nothing that was forgotten is kept from coming back."


def _told_of_block(block: "Block", screen: Screen) -> str:
    session = f"session {block.session_id!r}" + f" of {block.host}" * bool(block.host)
    if block.host == FILE:
        return f"{block.number}  {screen.time(block.forgotten_at)}  file {block.session_id!r} is not imported again"
    what = {
        "message": f"message {block.message_id} of {session} is not kept again",
        "memory": f"memory {block.memory_id} is not imported again",
        "conclusion": f"nothing is concluded again from {f'memory {block.memory_id}' if block.memory_id else session}",
    }
    return f"{block.number}  {screen.time(block.forgotten_at)}  {what[block.what]}"
