"""Many at once, and much at once: python benchmarks/crowds.py [--sessions 50] [--size 50000]. Linux only.

B67: host sessions are opened and dropped in three ways; what is left of them is counted. B69: two fifths of a file are
forgotten by tag while a second server stores ten times a second; none of its stores may wait for more than a second.
"""

import argparse
import asyncio
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from filling import Turned, Writer, fill, memories
from host import SERVER, Host
from measure import percentiles, report

from memory_mcp.embedding.universal import load_universal

TAG = "passing"
PATIENCE = 60.0

HOST = """
import subprocess, sys, time
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
child.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\\n')
child.stdin.flush()
child.stdout.readline()
print(child.pid, flush=True)
time.sleep(600)
"""
"""A host that starts a server, hears from it, says its process id, and stays."""


def close_input(server: Host) -> None:
    """End a session as a host does that closes."""
    server.process.stdin.close()


def end(server: Host) -> None:
    """End a session as a closing terminal does."""
    server.process.send_signal(signal.SIGHUP)


def dropped(path: Path, sessions: int) -> list[dict[str, Any]]:
    """Open sessions, let each store, and drop them; gives what is left of them."""
    rows = []
    for name, drop in (("input closed", close_input), ("terminal closed", end)):
        started, took = [], []
        for number in range(sessions):
            server = Host(MEMORY_MCP_DB=path)
            server.initialize()
            server.call("store", content=f"Session {number}, {name}.")
            start = time.perf_counter()
            drop(server)
            server.process.wait(PATIENCE)
            took.append(time.perf_counter() - start)
            started.append(server.process.pid)
        rows.append({"what": f"sessions, {name}", **percentiles(took), "left": sum(map(is_there, started))})
    return [*rows, killed_hosts(path, sessions)]


def killed_hosts(path: Path, sessions: int) -> dict[str, Any]:
    """Kill hosts, and see how long their servers stay."""
    started, took = [], []
    for _ in range(sessions):
        command = [sys.executable, "-c", HOST, *SERVER]
        environ = {**os.environ, "MEMORY_MCP_DB": str(path)}
        host = subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, text=True)
        server = int(host.stdout.readline())
        host.kill()
        host.wait()
        took.append(_gone_after(server))
        started.append(server)
    return {"what": "sessions, host killed", **percentiles(took), "left": sum(map(is_there, started))}


def _gone_after(process: int) -> float:
    start = time.perf_counter()
    while is_there(process) and time.perf_counter() - start < PATIENCE:
        time.sleep(0.01)
    return time.perf_counter() - start


def is_there(process: int) -> bool:
    """Whether a process runs (one that ended and was not waited for does not)."""
    status = Path(f"/proc/{process}/stat")
    return status.exists() and status.read_text().rpartition(")")[2].split()[0] != "Z"


def forgetting(path: Path, size: int) -> list[dict[str, Any]]:
    """Forget two fifths of a file by tag while another server stores."""
    tagged = (replace(one, tags=(TAG,)) if number % 5 < 2 else one for number, one in enumerate(memories()))
    asyncio.run(fill(path, islice(tagged, size), Turned(load_universal())))
    with Host(MEMORY_MCP_DB=path) as one, Host(MEMORY_MCP_DB=path) as other:
        one.initialize()
        other.initialize()
        preview = one.call("forget", tags=[TAG])
        done, waits, writer = threading.Event(), [], Writer(31)
        storing = threading.Thread(target=_store, args=(other, writer, done, waits))
        storing.start()
        start = time.perf_counter()
        forgotten = one.call("forget", tags=[TAG], confirm=preview["confirm"])
        took = time.perf_counter() - start
        done.set()
        storing.join()
        left = one.call("forget", tags=[TAG])["count"]
    what = f"stores while {preview['count']:,} of {size:,} are forgotten in {took:.0f} s"
    return [
        {
            "what": what,
            **percentiles(waits),
            "max_ms": round(1000 * max(waits), 1),
            "left": left,
            "verification": forgotten["verification"],
        }
    ]


def _store(host: Host, writer: Writer, done: threading.Event, waits: list[float]) -> None:
    while not done.wait(0.1):
        start = time.perf_counter()
        host.call("store", content=writer.text())
        waits.append(time.perf_counter() - start)


def main() -> None:
    """Measure and report; fail when anything is left."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=50, help="of each way to end one")
    parser.add_argument("--size", type=int, default=50_000, help="memories of which two fifths are forgotten")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        rows = dropped(Path(name) / "sessions.db", arguments.sessions)
        rows += forgetting(Path(name) / "much.db", arguments.size)
    report("crowds", rows)
    sys.exit(any(row["left"] for row in rows))


if __name__ == "__main__":
    main()
