"""What the first hits bring along: the neighbours of a turn, and of a conclusion the memory that it was drawn from."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from memory_mcp.answers import Companion, Hit
from memory_mcp.models import Filter, Kind, Memory, State, Trust
from memory_mcp.storage.protocol import Store

LEADING = 3
"""So many turns, and so many conclusions, bring something along: the first ones are read most closely."""


async def accompanied(store: Store, hits: Sequence[Hit], where: Filter) -> list[Hit]:
    """Give the first hits their companions: only such as may come unasked, and none that is a hit itself.

    `where` is what the hits passed; a companion need not be of the same kind, time, tags or session.
    """
    turns = [hit.memory.id for hit in hits if hit.memory.kind is Kind.TURN][:LEADING]
    drawn = [hit.memory for hit in hits if hit.memory.kind is not Kind.EPISODE and hit.memory.derived_from][:LEADING]
    if not turns and not drawn:
        return list(hits)
    unasked = Filter(
        where.namespaces, states=where.states, trust=Trust.TRUSTED, flagged=False, as_of=where.as_of, now=where.now
    )
    neighbours = await store.neighbours(turns, unasked) if turns else {}
    sources = {one.id: one for one in await store.get([memory.derived_from[0] for memory in drawn])} if drawn else {}
    taken = {hit.memory.id for hit in hits}
    return [replace(hit, companions=_of(hit.memory, neighbours, sources, taken, where)) for hit in hits]


def _of(
    memory: Memory,
    neighbours: Mapping[str, Sequence[Memory]],
    sources: Mapping[str, Memory],
    taken: set[str],
    where: Filter,
) -> tuple[Companion, ...]:
    """Name what comes along with one hit; a turn that two hits share comes with the first of them."""
    found = [
        Companion("before" if (turn.sequence or 0) < (memory.sequence or 0) else "after", turn)
        for turn in neighbours.get(memory.id, ())
    ]
    source = sources.get(memory.derived_from[0]) if memory.derived_from else None
    if source and _may_come(source, where):
        found.append(Companion("evidence", source))
    fresh = tuple(one for one in found if one.memory.id not in taken)
    taken.update(one.memory.id for one in fresh)
    return fresh


def _may_come(source: Memory, where: Filter) -> bool:
    expired = source.expires_at is not None and where.now is not None and source.expires_at <= where.now
    return (
        source.may_come_unasked
        and source.namespace in where.namespaces
        and source.state is State.ACTIVE
        and not expired
        and (where.as_of is None or source.created_at <= where.as_of)
    )
