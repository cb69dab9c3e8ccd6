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
from memory_mcp.server.addresses import BRIEFING, EPISODES, LISTED, STATS
from memory_mcp.server.opening import Opening

if TYPE_CHECKING:
    from memory_mcp.service import MemoryService  # brings numpy, for which the handshake must not wait

Listing = tuple[tuple[str, int], ...]
"""Ids and versions of the recent episodes."""

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
    _episodes: Listing = ()

    async def changed(self, uris: Iterable[str] = (), *, listing: bool = False) -> None:
        """Tell of a change made here: the counts, the briefing and `uris`; with `listing`, the episodes too."""
        more = islice(uris, MOST)
        await self._tell([STATS, BRIEFING, *([EPISODES] if listing else []), *more], listing=listing)
        with suppress(MemoryMcpError):  # the change itself is done, and its caller must hear so
            service = await self.opening.service()
            self._changes = await service.changes()
            if listing:
                self._episodes = await _recent(service)

    async def look(self) -> None:
        """Tell of what other processes changed since the last look. Raises `StoreUnavailable`."""
        service = await self.opening.service()
        changes = await service.changes()
        if changes == self._changes:
            return
        episodes = await _recent(service)
        if self._changes is not None:
            listing = episodes != self._episodes
            await self._tell([STATS, BRIEFING, *([EPISODES] if listing else [])], listing=listing)
        self._changes, self._episodes = changes, episodes

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


async def _recent(service: "MemoryService") -> Listing:
    return tuple((episode.memory.id, episode.version) for episode in await service.recent_episodes(LISTED))
