"""A host reduced to its pipes: drives a server by raw JSON-RPC, to see the very bytes it answers."""

import json
import os
import queue
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

Json = dict[str, Any]

VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN = "2026-07-28"
ERAS = ("legacy", MODERN)
"""The modes of the SDK's own client."""

PATIENCE = 30  # seconds; a bound for hanging tests, not a measurement


def start(db: Path, environ: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a server process with three pipes."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith("MEMORY_MCP_")}
    return subprocess.Popen(
        [sys.executable, "-m", "memory_mcp"],
        env={**environment, "MEMORY_MCP_DB": str(db), **environ},
        cwd=Path(__file__).parent.parent,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


class RawServer:
    """A server process. `lines` holds every line it wrote to stdout, as bytes."""

    def __init__(self, db: Path, environ: Mapping[str, str]) -> None:
        self.process = start(db, environ)
        self.lines: list[bytes] = []
        self.errors = b""
        self.notices: list[Json] = []
        self._incoming: queue.Queue[bytes | None] = queue.Queue()
        self._last_id = 0
        self._readers = [threading.Thread(target=self._read_out), threading.Thread(target=self._read_err)]
        for reader in self._readers:
            reader.start()

    def __enter__(self) -> "RawServer":
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(PATIENCE)
        for stream in (self.process.stdin, self.process.stdout, self.process.stderr):
            try:
                stream.close()
            except BrokenPipeError:
                continue

    def send_line(self, line: bytes) -> None:
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def request(self, method: str, params: Json | None = None) -> int:
        self._last_id += 1
        message = {"jsonrpc": "2.0", "id": self._last_id, "method": method, "params": params or {}}
        self.send_line(json.dumps(message).encode())
        return self._last_id

    def notify(self, method: str, params: Json | None = None) -> None:
        self.send_line(json.dumps({"jsonrpc": "2.0", "method": method, "params": params or {}}).encode())

    def receive(self) -> Json | None:
        """Give the next message; None when the server closed its stdout."""
        line = self._incoming.get(timeout=PATIENCE)
        return None if line is None else json.loads(line)

    def answer(self, request_id: object) -> Json:
        """Wait for one answer; notices that come before it are kept."""
        while (message := self.receive()) is not None:
            if message.get("id") == request_id and ("result" in message or "error" in message):
                return message
            self.notices.append(message)
        raise AssertionError(f"the server ended without answering {request_id!r}")

    def call(self, method: str, params: Json | None = None) -> Json:
        return self.answer(self.request(method, params))

    def tool(self, name: str, **arguments: Any) -> Json:
        return self.call("tools/call", {"name": name, "arguments": arguments})["result"]

    def initialize(self, version: str = VERSIONS[-1]) -> Json:
        client = {"name": "raw", "version": "0"}
        reply = self.call("initialize", {"protocolVersion": version, "capabilities": {}, "clientInfo": client})
        self.notify("notifications/initialized")
        return reply

    def end_input(self) -> int:
        """Close the server's input, wait for its end, and give the exit code."""
        self.process.stdin.close()
        return self.wait()

    def wait(self) -> int:
        code = self.process.wait(PATIENCE)
        for reader in self._readers:
            reader.join(PATIENCE)
        return code

    def remaining(self) -> list[Json]:
        """Give every message not yet received, once the server has ended."""
        messages = []
        while (message := self.receive()) is not None:
            messages.append(message)
        return messages

    def _read_out(self) -> None:
        for line in self.process.stdout:
            self.lines.append(line)
            self._incoming.put(line)
        self._incoming.put(None)

    def _read_err(self) -> None:
        self.errors = self.process.stderr.read()


def envelope(**more: Any) -> Json:
    """Make the params of a request of the modern era."""
    return {
        **more,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientInfo": {"name": "raw", "version": "0"},
            "io.modelcontextprotocol/clientCapabilities": {},
        },
    }
