"""How a server lives on two pipes: how messages go to and fro, and when to end."""

import os
import signal
import sys
import threading
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import anyio
import anyio.from_thread
import anyio.to_thread
from anyio.lowlevel import EventLoopToken, current_token
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream
from mcp.server import NotificationOptions
from mcp.server.lowlevel import Server
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCMessage, JSONRPCRequest

from memory_mcp.stdio.discovery import answer_probe, probed_version
from memory_mcp.stdio.framing import brief, read_message, refuse_busy
from memory_mcp.stdio.owed import Owed
from memory_mcp.stdio.wire import Wire

LAST_CALL = 1.9  # seconds after which the process ends whatever hangs


def run(server: Server[Any], wire: Wire, probed: Callable[[], None]) -> None:
    """Serve one client until its input ends, or SIGTERM or SIGINT arrives, then clean up and return."""
    anyio.run(serve, server, wire, probed)


async def serve(server: Server[Any], wire: Wire, probed: Callable[[], None]) -> None:
    """Serve one client over `wire` in whichever protocol era it opens with.

    `probed` is called when a probe was answered, of which the server itself hears nothing.
    """
    work = anyio.CancelScope()
    ending = Ending(work.cancel)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(ending.on_signal)
        with work:
            async with _streams(server, wire, ending, probed) as (incoming, outgoing):
                options = server.create_initialization_options(NotificationOptions(resources_changed=True))
                await server.run(incoming, outgoing, options)
        tasks.cancel_scope.cancel()


@dataclass
class Ending:
    """When the process ends: at a signal, or a bounded time after the input did."""

    stop: Callable[[], None]
    begun: bool = False

    def begin(self) -> None:
        """From now on there are `LAST_CALL` seconds left. A thread that hangs in a read or a write cannot be woken."""
        if not self.begun:
            self.begun = True
            timer = threading.Timer(LAST_CALL, os._exit, (0,))
            timer.daemon = True
            timer.start()

    async def on_signal(self) -> None:
        """Wait for SIGTERM or SIGINT and stop the work. Windows has neither: there the process is killed."""
        if sys.platform == "win32":
            return
        with anyio.open_signal_receiver(signal.SIGTERM, signal.SIGINT) as signals:
            async for _ in signals:
                self.begin()
                self.stop()


@asynccontextmanager
async def _streams(
    server: Server[Any], wire: Wire, ending: Ending, probed: Callable[[], None]
) -> AsyncGenerator[
    tuple[MemoryObjectReceiveStream[SessionMessage | Exception], MemoryObjectSendStream[SessionMessage]]
]:
    to_server, incoming = anyio.create_memory_object_stream[SessionMessage | Exception]()
    outgoing, from_server = anyio.create_memory_object_stream[SessionMessage]()
    owed = Owed()
    reader = Reader(server, to_server, outgoing.clone(), owed, ending, current_token(), probed)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(_write, from_server, wire, owed, ending)
        threading.Thread(target=reader.run, args=(wire,), name="stdin", daemon=True).start()
        yield incoming, outgoing
        ending.begin()
        await reader.close()


async def _write(messages: MemoryObjectReceiveStream[SessionMessage], wire: Wire, owed: Owed, ending: Ending) -> None:
    async with messages:
        async for item in messages:
            line = brief(item.message).model_dump_json(by_alias=True, exclude_unset=True)
            try:
                await anyio.to_thread.run_sync(wire.write, line.encode())
            except OSError:  # the client has gone, and nobody will read anything any more
                ending.begin()
                ending.stop()
                return
            owed.note_outgoing(item.message)


@dataclass
class Reader:
    """Reads the wire in a thread of its own and hands each message to the server, or refuses it."""

    server: Server[Any]
    to_server: MemoryObjectSendStream[SessionMessage | Exception]
    to_client: MemoryObjectSendStream[SessionMessage]
    owed: Owed
    ending: Ending
    loop: EventLoopToken
    probed: Callable[[], None]
    opened: bool = False

    def run(self, wire: Wire) -> None:
        """Read until the other side closes. Each line waits for the one before, so memory stays bounded."""
        try:
            for line in wire.lines():
                message = read_message(line)
                size = len(line) if isinstance(line, bytes) else 0
                if message is not None:
                    anyio.from_thread.run(self._hand_on, message, size, token=self.loop)
            anyio.from_thread.run(self._at_the_end, token=self.loop)
        except (anyio.ClosedResourceError, anyio.BrokenResourceError, anyio.RunFinishedError, OSError):
            return  # the server ended first

    async def close(self) -> None:
        """Let go of both streams."""
        await self.to_server.aclose()
        await self.to_client.aclose()

    async def _hand_on(self, message: JSONRPCMessage, size: int) -> None:
        if isinstance(message, JSONRPCError):
            await self.to_client.send(SessionMessage(message))
        elif isinstance(message, JSONRPCRequest) and not self.opened and probed_version(message):
            await self.to_client.send(SessionMessage(answer_probe(self.server, message)))
            self.probed()
        elif isinstance(message, JSONRPCRequest) and not await self.owed.has_room(message, size):
            await self.to_client.send(SessionMessage(refuse_busy(message)))
        else:
            self.opened = self.opened or isinstance(message, JSONRPCRequest)
            self.owed.note_incoming(message, size)
            await self.to_server.send(SessionMessage(message))

    async def _at_the_end(self) -> None:
        self.ending.begin()
        await self.owed.wait_until_settled()
        await self.close()
