"""Which memories say nearly the same as a new one, and what differs."""

from datetime import datetime

from memory_mcp.answers import Similar
from memory_mcp.meaning import Meaning
from memory_mcp.models import Filter, Kind, Memory, Trust
from memory_mcp.storage.protocol import Store
from memory_mcp.storage.values import Vectors
from memory_mcp.text import excerpt
from memory_mcp.tokens import differs

ABOVE_CEILING = 0.18
"""Near matches begin here above a model's ceiling: .75 for USE, .80 for MiniLM (docs/decisions.md, Duplicates)."""

COMPARED = tuple(kind for kind in Kind if kind not in (Kind.TURN, Kind.EPISODE, Kind.DOCUMENT))
SHOWN = 200  # bytes of a near match


async def near(
    db: Store, meaning: Meaning, memory: Memory, vectors: Vectors | None, now: datetime
) -> tuple[Similar, ...]:
    """Find near matches in the same namespace, of which none commands; a turn has none worth telling."""
    if vectors is None or memory.kind is Kind.TURN or db.vector_problem:
        return ()
    where = Filter(namespaces=(memory.namespace,), kinds=COMPARED, flagged=False, now=now)
    found = await db.get([one for one, _ in await db.similar(vectors, where, meaning.ceiling + ABOVE_CEILING, 3)])
    return tuple(
        Similar(
            one.id,
            excerpt(one.content, (), SHOWN),
            differs(one.content, memory.content),
            "untrusted" if one.trust is Trust.UNTRUSTED else "",
        )
        for one in found
    )
