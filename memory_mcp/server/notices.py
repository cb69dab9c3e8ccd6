"""Who is told that memories changed: clients of both protocol eras, for this process's changes and for others'."""

from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING

import anyio
from mcp.server.session import ServerSession
from mcp.server.subscriptions import InMemorySubscriptionBus, ResourcesListChanged, ResourceUpdated

from memory_mcp.errors import MemoryMcpError
from memory_mcp.server import addresses
from memory_mcp.server.addresses import BRIEFING, EPISODES, LISTED, STATS
from memory_mcp.server.opening import Opening

if TYPE_CHECKING:
    from memory_mcp.service import MemoryService  # brings numpy, for which the handshake must not wait

Listing = frozenset[tuple[str, str, int]]
"""The recent episodes: their ids, sessions and versions."""

Unfinished = frozenset[tuple[str, int]]
"""The newest sessions with turns that no summary covers, and how many such turns."""

EVERY = 3.0  # seconds between two looks at what other processes did; while nothing moves, a look is one small query

MOST = 1_000
"""Addresses told of one by one; whoever forgets more at once leaves subscribers of single memories to find out."""


@dataclass
class Notices:
    """The subscribers of this process.

    Clients of 2026-07-28 listen on `bus`; older ones subscribe to a URI and are reached through `session`, the last
    one seen: on stdio there is no other. Both ways are always taken; the SDK drops what the era does not know.
    """

    opening: Opening
    bus: InMemorySubscriptionBus = field(default_factory=InMemorySubscriptionBus)
    session: ServerSession | None = None
    subscribed: set[str] = field(default_factory=set[str])
    _changes: int | None = None
    _episodes: Listing = frozenset()
    _unfinished: Unfinished = frozenset()

    async def changed(self, uris: Iterable[str] = (), *, listing: bool = False) -> None:
        """Tell of a change made here: the counts, the briefing and `uris`; with `listing`, the episodes too."""
        more = islice(uris, MOST)
        await self._tell([STATS, BRIEFING, *([EPISODES] if listing else []), *more], listing=listing)
        with suppress(MemoryMcpError):  # the change itself is done, and its caller must hear so
            service = await self.opening.service()
            self._changes = await service.changes()
            if listing:
                self._episodes, self._unfinished = await _recent(service), await _unfinished(service)

    async def look(self) -> None:
        """Tell of what other processes, and our own background, changed since the last look. Raises `StoreUnavailable`.

        Told are the episodes and sessions that differ; a single fact changed elsewhere shows in the briefing's notice.
        """
        service = await self.opening.service()
        changes = await service.changes()
        if changes == self._changes:
            return
        episodes, unfinished = await _recent(service), await _unfinished(service)
        if self._changes is not None:
            listing = episodes != self._episodes
            differ = _differing(episodes ^ self._episodes, unfinished ^ self._unfinished)
            await self._tell([STATS, BRIEFING, *([EPISODES] if listing else []), *differ], listing=listing)
        self._changes, self._episodes, self._unfinished = changes, episodes, unfinished

    async def watch(self) -> None:
        """Look as soon as the memory is open, and every few seconds. A file that is busy is looked at next time."""
        await self.opening.until_open()
        while True:
            with suppress(MemoryMcpError):
                await self.look()
            await anyio.sleep(EVERY)

    async def _tell(self, uris: Iterable[str], *, listing: bool) -> None:
        for uri in uris:
            await self.bus.publish(ResourceUpdated(uri=uri))
            if self.session and uri in self.subscribed:
                await self.session.send_resource_updated(uri)
        if listing:
            await self.bus.publish(ResourcesListChanged())
            if self.session:
                await self.session.send_resource_list_changed()


def _differing(episodes: Listing, unfinished: Unfinished) -> list[str]:
    """Name what differs between two looks, each once."""
    told = (addresses.episode(one) for one, _, _ in episodes)
    sessions = {*(session for _, session, _ in episodes), *(session for session, _ in unfinished)}
    return [*dict.fromkeys(told), *map(addresses.session, sorted(sessions))]


async def _recent(service: "MemoryService") -> Listing:
    episodes = await service.recent_episodes(LISTED)
    return frozenset((one.memory.id, one.memory.session_id, one.version) for one in episodes)


async def _unfinished(service: "MemoryService") -> Unfinished:
    return frozenset((one.session_id, one.turns) for one in await service.pending_sessions(LISTED))
