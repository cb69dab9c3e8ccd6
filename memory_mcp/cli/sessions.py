"""The verbs about conversations: summarize what was kept of them, and take them in from files."""

from argparse import Namespace
from dataclasses import asdict
from typing import TYPE_CHECKING

from memory_mcp.cli.terminal import Screen, counted
from memory_mcp.models import Conversation, PendingSession, Summarized

if TYPE_CHECKING:  # --help must not wait for the libraries behind it
    from memory_mcp.service import MemoryService
    from memory_mcp.sessions import Attempt
    from memory_mcp.summarizers import Progress

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
    similar = [
        f"  {fact.id} is like {near.id}  {near.content}" + f"  (differs in {near.differs})" * bool(near.differs)
        for fact in done.facts
        for near in fact.similar
    ]
    return [told, "    " + done.episode.memory.content.replace("\n", "\n    "), *similar]


def _telling(screen: Screen) -> "Progress":
    """Say on a terminal how far it is."""

    async def tell(done: int, of: int) -> None:
        if of > 1 and screen.err.isatty():
            screen.note(f"{done} of {of}")

    return tell
