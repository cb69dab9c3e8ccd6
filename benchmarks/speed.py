"""Start-up, recall, store, memory and disk, as a host sees them: python benchmarks/speed.py [--sizes 1000 10000].

The handshake is timed against a bare SDK server in the same run, in turn, because machines are noisy: read the ratio.
"""

import argparse
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from host import BARE_SERVER, SERVER, Host
from measure import percentiles, report
from words import memories, questions

PATIENCE = 20.0


def seconds(action: Callable[[], object]) -> float:
    """Time one call."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def handshakes(folder: Path, rounds: int) -> list[dict[str, Any]]:
    """Start both servers in turn; from spawn to the reply to initialize."""
    taken: dict[str, list[float]] = {"bare SDK server": [], "memory-mcp": []}
    for _ in range(rounds):
        for name, command in (("bare SDK server", BARE_SERVER), ("memory-mcp", SERVER)):
            start = time.perf_counter()
            with Host(command, MEMORY_MCP_DB=folder / "handshake.db") as host:
                host.initialize()
                taken[name].append(time.perf_counter() - start)
    ratios = [own / bare for own, bare in zip(taken["memory-mcp"], taken["bare SDK server"], strict=True)]
    rows = [{"what": f"handshake, {name}", **percentiles(values)} for name, values in taken.items()]
    return [
        *rows,
        {"what": "handshake ratio, median of pairs", "value": round(statistics.median(ratios), 3), "n": rounds},
    ]


def first_recall(folder: Path, rounds: int) -> dict[str, Any]:
    """From the handshake's reply to the first answer found by meaning."""
    taken = []
    for _ in range(rounds):
        with Host(MEMORY_MCP_DB=folder / "first.db") as host:
            host.initialize()
            start = time.perf_counter()
            while host.call("recall", query="something about the garden")["mode"] != "hybrid":
                if time.perf_counter() - start > PATIENCE:
                    raise TimeoutError("the model did not load")
                time.sleep(0.01)
            taken.append(time.perf_counter() - start)
    return {"what": "first recall by meaning after the handshake", **percentiles(taken)}


def at_size(folder: Path, size: int, calls: int) -> list[dict[str, Any]]:
    """Fill a file through the front door, then recall and store."""
    path = folder / f"{size}.db"
    with Host(MEMORY_MCP_DB=path) as host:
        host.initialize()
        filling = seconds(lambda: [host.call("store", content=text) for text in memories(size)])
        while host.call("recall", query="warm up")["mode"] != "hybrid":
            time.sleep(0.05)
        recalls = [seconds(lambda text=text: host.call("recall", query=text)) for text in questions(calls)]
        stores = [seconds(lambda text=text: host.call("store", content=text)) for text in memories(calls, seed=99)]
        resident = host.resident_mb()
    disk = sum(part.stat().st_size for part in folder.glob(f"{size}.db*")) / (size + calls)
    return [
        {"what": f"recall, {size:,} memories", **percentiles(recalls)},
        {"what": f"store, {size:,} memories", **percentiles(stores)},
        {"what": f"stores a second while filling to {size:,}", "value": round(size / filling)},
        {"what": f"resident MB, model loaded, {size:,} memories", "value": round(resident)},
        {"what": f"bytes on disk a memory, {size:,} memories", "value": round(disk)},
    ]


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="*", default=[1_000, 10_000])
    parser.add_argument("--rounds", type=int, default=9, help="starts of each server")
    parser.add_argument("--calls", type=int, default=200, help="recalls and stores at each size")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = [*handshakes(folder, arguments.rounds), first_recall(folder, min(5, arguments.rounds))]
        for size in arguments.sizes:
            rows += at_size(folder, size, arguments.calls)
    report("speed", rows)


if __name__ == "__main__":
    main()
