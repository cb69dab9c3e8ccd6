"""The verbs about conversations: summarize what was kept of them, and take them in from files."""

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from memory_mcp.answers import Summarized
from memory_mcp.cli.terminal import Screen, counted, told_of_similar
from memory_mcp.config import MAX_NAME
from memory_mcp.errors import InvalidInput
from memory_mcp.models import Conversation, Message, PendingSession

if TYPE_CHECKING:  # --help must not wait for the libraries behind it
    from memory_mcp.conversation_files import Dialogue
    from memory_mcp.service import MemoryService
    from memory_mcp.sessions import Attempt, Imported
    from memory_mcp.summarizers import Progress

MAX_FILE = 200 * 1024 * 1024
SHOWN = 20
"""Skipped messages that are told one by one."""

AT_MOST = 1_000
"""Sessions of one call; whoever has more calls again."""


async def summarize(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Summarize one session, or all that nobody did yet."""
    if bool(args.session_id) == args.pending:
        args.error("name a session, or write --pending for all that are not summarized")
    if args.pending:
        return await _pending(memory, screen)
    done = await memory.summarize(Conversation(args.session_id, namespace=args.namespace), _telling(screen))
    screen.answer(asdict(done), *_told(args.session_id, done))
    screen.note(done.notice)
    return 0


async def _pending(memory: "MemoryService", screen: Screen) -> int:
    attempts = await memory.summarize_pending(AT_MOST, _telling(screen))
    failed = [one for one in attempts if one.problem]
    lines = [
        line
        for one in attempts
        for line in (
            _told(one.session.session_id, one.summarized) if one.summarized else [_failure(one.session, one.problem)]
        )
    ]
    unread = [one for one in await memory.pending_sessions(AT_MOST) if not one.turns]
    lines += [f"{one.session_id}: its summary lost a source; it needs one by the assistant." for one in unread]
    screen.answer([_as_data(one) for one in attempts], *(lines or ["Every session is summarized."]))
    return 1 if failed else 0


def _as_data(attempt: "Attempt") -> dict[str, object]:
    done = attempt.summarized
    return {
        "session_id": attempt.session.session_id,
        "namespace": attempt.session.namespace,
        "turns": attempt.session.turns,
        "status": done.status if done else "failed",
        "episode": done.episode.memory.id if done else None,
        "problem": attempt.problem or None,
    }


def _failure(session: PendingSession, problem: str) -> str:
    return f"{session.session_id}: not summarized. {problem}"


def _told(session_id: str, done: Summarized) -> list[str]:
    facts = counted(len(done.facts), "key fact", "key facts")
    told = f"{session_id}: {done.status} as {done.episode.memory.id}, by {done.episode.engine}, with {facts}."
    similar = [f"  {fact.id} is like {told_of_similar(near)}" for fact in done.facts for near in fact.similar]
    return [told, "    " + done.episode.memory.content.replace("\n", "\n    "), *similar]


async def import_conversation(memory: "MemoryService", args: Namespace, screen: Screen) -> int:
    """Keep the conversations of a file as turns; a message that is known already is not kept twice."""
    from memory_mcp import conversation_files  # noqa: PLC0415 - only this verb needs it
    from memory_mcp.documents import MARKDOWN  # noqa: PLC0415 - as conversation_files

    path = Path(args.file)
    if memory.settings.owns(path):
        raise InvalidInput(f"{path} belongs to the memory file and is no conversation. Nothing was saved.")
    found = conversation_files.read(_content(path), screen.zone, markdown=path.suffix.lower() in MARKDOWN)
    base = args.session or path.stem
    named = [(_session_id(base, heard, alone=len(found) == 1), heard) for heard in found]
    for name, heard in named:
        await memory.require_agreeing(_told_by(heard), Conversation(name, namespace=args.namespace))
    unread = [f"{name}, {line}" for name, heard in named for line in heard.skipped]
    if args.dry_run:
        return _foretell(screen, named, unread)
    done = [
        await memory.take_in(
            _told_by(heard),
            Conversation(name, namespace=args.namespace),
            trusted=not args.untrusted,
        )
        for name, heard in named
        if heard.turns
    ]
    await memory.embed_pending()
    _report(screen, done, unread)
    return 0


def _told_by(heard: "Dialogue") -> list[tuple[str, Message]]:
    return [(one.id, one.message) for one in heard.turns]


def _content(path: Path) -> bytes:
    with path.open("rb") as file:
        content = file.read(MAX_FILE + 1)  # a device or a pipe does not say how much will come
    if len(content) > MAX_FILE:
        raise InvalidInput(f"{path.name} has more than {MAX_FILE:,} bytes. Split it. Nothing was saved.")
    return content


def _foretell(screen: Screen, named: "Sequence[tuple[str, Dialogue]]", unread: list[str]) -> int:
    """Say what would be kept."""
    counts = {name: len(heard.turns) for name, heard in named}
    lines = [f"{name}: {counted(count, 'message', 'messages')}" for name, count in counts.items()]
    screen.answer({"messages": counts, "skipped": unread}, *lines, "Nothing was saved: this was a dry run.")
    _tell_skipped(screen, unread)
    return 0


def _session_id(base: str, heard: "Dialogue", *, alone: bool) -> str:
    return base if alone or not heard.name else f"{base}/{heard.name}"[:MAX_NAME]


def _report(screen: Screen, done: "Sequence[Imported]", unread: list[str]) -> None:
    lines = [
        f"{one.session_id}: {counted(one.stored, 'turn', 'turns')} stored, {one.known} known already"
        + f", {one.forgotten} forgotten on request and left so" * bool(one.forgotten)
        for one in done
    ]
    skipped = [*unread, *(f"{one.session_id}, {line}" for one in done for line in one.skipped)]
    screen.answer({"sessions": [asdict(one) for one in done], "skipped": skipped}, *lines)
    _tell_skipped(screen, skipped)
    screen.note(" ".join(dict.fromkeys(notice for one in done for notice in one.notices)))
    if any(one.stored for one in done):
        screen.note("To make episodes of them: memory-mcp summarize --pending")


def _tell_skipped(screen: Screen, lines: list[str]) -> None:
    if lines:
        screen.note(f"Skipped: {len(lines)}.")
    for line in lines[:SHOWN]:
        screen.note(f"  {line}")


def _telling(screen: Screen) -> "Progress":
    """Say on a terminal how far it is."""

    async def tell(done: int, of: int) -> None:
        if of > 1 and screen.err.isatty():
            screen.note(f"{done} of {of}")

    return tell
