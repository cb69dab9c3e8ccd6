"""A host reduced to what a benchmark needs: it starts a server, speaks JSON-RPC over its pipes, and can kill it."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any, Self

SERVER = (sys.executable, "-m", "memory_mcp")

BARE_SERVER = (
    sys.executable,
    "-c",
    "from mcp.server import MCPServer; MCPServer('bare', version='0', log_level='WARNING').run('stdio')",
)
"""The SDK with nothing in it: what a handshake costs at least."""


UNSLOWED = "MEMORY_MCP_STORES_A_MINUTE"
"""Set so high that what is measured is the server and not its guard."""


class Host:
    """One server process with its pipes. Use as a context manager: leaving ends the server by end of input."""

    def __init__(self, command: tuple[str, ...] = SERVER, **environ: str | Path) -> None:
        self.process = subprocess.Popen(
            command,
            env={**os.environ, UNSLOWED: "1000000", **{name: str(value) for name, value in environ.items()}},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        self._number = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.stdin.close()
            self.process.wait(10)

    def request(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and wait for its answer; raises EOFError when the server is gone."""
        self._number += 1
        self._send({"jsonrpc": "2.0", "id": self._number, "method": method, "params": params})
        while line := self.process.stdout.readline():
            answer = json.loads(line)
            if answer.get("id") == self._number:
                return answer
        raise EOFError(method)

    def initialize(self) -> None:
        """Shake hands as a host of 2025 does."""
        self.request(
            "initialize",
            protocolVersion="2025-11-25",
            capabilities={},
            clientInfo={"name": "benchmark", "version": "0"},
        )
        self._send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured content; raises RuntimeError with the text of a failure."""
        result = self.request("tools/call", name=tool, arguments=arguments)["result"]
        if result.get("isError"):
            raise RuntimeError(result["content"][0]["text"])
        return result["structuredContent"]

    def resident_mb(self) -> float:
        """Memory that the process holds now (Linux)."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 1e6

    def most_resident_mb(self) -> float:
        """Memory that the process held at most (Linux)."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmHWM:")[1].split()[0]) * 1024 / 1e6

    def _send(self, message: dict[str, Any]) -> None:
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()
