"""Which requests were accepted and not yet answered, and how many there may be."""

from dataclasses import dataclass, field

import anyio
from mcp.shared.dispatcher import coerce_request_id
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse, RequestId

from memory_mcp.stdio.wire import MAX_LINE

# Seconds after the end of input in which accepted calls are finished (docs/decisions.md, Protocol and hosts).
GRACE = 1.5

MOST_AT_ONCE = 64
"""Requests that are worked on at once; hosts send a handful. What comes after them waits in the pipe, unread."""

MOST_BYTES = 2 * MAX_LINE
"""Bytes of the requests that are worked on at once. One alone always has room."""

PATIENCE = 5.0
"""Seconds a request waits for room; one of the others is answered by then, unless all hang. Then it is refused, so that
what comes after it is read: the answer to a question of ours, perhaps, for which all the others are waiting."""

LISTEN = "subscriptions/listen"


@dataclass
class Owed:
    """What is still owed to the client: a request and how long it was, by its id."""

    patience: float = PATIENCE
    _sizes: dict[RequestId, int] = field(default_factory=dict[RequestId, int])
    _settled: anyio.Event = field(default_factory=anyio.Event)

    async def has_room(self, request: JSONRPCRequest, size: int) -> bool:
        """Wait until a request of so many bytes may be worked on; False when that took too long.

        One whose id is in use waits as well: its answer could not be told from the other's.
        """
        with anyio.move_on_after(self.patience):
            while not self._fits(coerce_request_id(request.id), size):
                self._settled = anyio.Event()
                await self._settled.wait()
            return True
        return False

    def note_incoming(self, message: JSONRPCMessage, size: int) -> None:
        """Remember a request; forget one that the client cancelled, which the protocol leaves unanswered."""
        if isinstance(message, JSONRPCRequest) and message.method != LISTEN:
            self._sizes[coerce_request_id(message.id)] = size
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settle((message.params or {}).get("requestId"))

    def note_outgoing(self, message: JSONRPCMessage) -> None:
        """Forget a request that was answered."""
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._settle(message.id)

    async def wait_until_settled(self) -> None:
        """Wait, at most `GRACE` seconds, until nothing is owed; nothing more comes in."""
        with anyio.move_on_after(GRACE):
            while self._sizes:
                self._settled = anyio.Event()
                await self._settled.wait()

    def _fits(self, request_id: RequestId, size: int) -> bool:
        has_room = len(self._sizes) < MOST_AT_ONCE and sum(self._sizes.values()) + size <= MOST_BYTES
        return has_room and request_id not in self._sizes

    def _settle(self, request_id: object) -> None:
        if isinstance(request_id, str | int) and self._sizes.pop(coerce_request_id(request_id), None) is not None:
            self._settled.set()
