"""What a session may be learned from, once something of it was forgotten: the forgotten must not come in again."""

from collections.abc import Collection, Sequence

from anyio import to_thread

from memory_mcp.models import Filter, Memory
from memory_mcp.storage.protocol import Store
from memory_mcp.summarizers.evidence import share
from memory_mcp.summarizers.grounding import unsupported
from memory_mcp.summarizers.source import Said

TOLD = 0.5
"""Of the words of a fact that the open turns must hold: half, where a paraphrase may use other words."""

STANDING = 200
"""Facts of a session that are looked at: as many as one summary may bring."""


async def open_turns(db: Store, turns: Sequence[Memory]) -> list[Memory]:
    """Leave out the turns of which nothing is to be concluded, since what was had to be forgotten."""
    blocked = await db.blocked_for_conclusions([turn.id for turn in turns])
    return [turn for turn in turns if turn.id not in blocked]


async def relearned(
    db: Store, texts: Sequence[str], turns: Sequence[Memory], session_id: str, namespace: str
) -> frozenset[str]:
    """Name those of the caller's own facts or lessons that may be forgotten ones again.

    A block holds no text, so nothing can be compared with it. In a session of which something was forgotten, a text is
    new only if the turns that are kept and open tell it; one that stands already stays.
    """
    if not texts:
        return frozenset()
    heard = await open_turns(db, turns)
    if len(heard) == len(turns) and not await db.was_forgotten_in(session_id, namespace):
        return frozenset()
    standing = await db.page(Filter(namespaces=(namespace,), session_id=session_id), STANDING)
    known = [one.content for one in standing.memories]
    barred = [turn.content for turn in turns if turn not in heard]
    said = [turn.content for turn in heard]
    new = [text for text in texts if not any(text in one for one in known)]
    return await to_thread.run_sync(lambda: frozenset(text for text in new if not _is_told(text, said, barred)))


def told_left_out(texts: Collection[str], noun: str) -> str:
    """Say that so many texts were not kept."""
    if not texts:
        return ""
    what = f"1 {noun} was" if len(texts) == 1 else f"{len(texts)} {noun}s were"
    return (
        f"{what} not kept: something of this session was forgotten on request, and no kept turn tells it."
        " If the user said it anew, use store."
    )


def told_of(messages: int) -> str:
    """Say that so many messages were handed in again that had been forgotten."""
    if not messages:
        return ""
    what = "1 message was" if messages == 1 else f"{messages} messages were"
    return f"{what} forgotten on request and not kept again (memory-mcp forgotten lifts that)."


def _is_told(fact: str, heard: Sequence[str], blocked: Sequence[str]) -> bool:
    """Whether open turns tell a fact, and the blocked ones, from which a forgotten one came, add nothing to it."""
    told = share(heard, fact)
    return told >= max(TOLD, share([*heard, *blocked], fact)) and not unsupported(fact, Said.of(heard))
