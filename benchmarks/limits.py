"""How soon too much is refused, and with how much memory: python benchmarks/limits.py [--rounds 5]. Linux only.

One server meets each trial; its memory is what it held at most meanwhile, over what it held before.
"""

import argparse
import json
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median
from typing import Any

from host import Host
from measure import report

MIB = 1024 * 1024


def called(tool: str, **arguments: Any) -> bytes:
    """Write a call of a tool, as one line."""
    params = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": "trial", "method": "tools/call", "params": params}).encode()


def storing(tags: bytes) -> bytes:
    """Write a call of `store` whose tags are no proper JSON."""
    return called("store", content="x", tags="TAGS").replace(b'"TAGS"', tags)


def endless(size: int) -> Iterator[bytes]:
    """Write a call of so many bytes, piece by piece."""
    start, end = called("store", content="CONTENT").split(b"CONTENT")
    yield start
    for _ in range(size // MIB):
        yield b"x" * MIB
    yield end


TRIALS: dict[str, Callable[[], Iterator[bytes]]] = {
    "a line of 200 MB": lambda: endless(200 * MIB),
    "a line of 8 MB": lambda: endless(7 * MIB),
    "tags nested 5,000 deep": lambda: iter([storing(b"[" * 5_000 + b"]" * 5_000)]),
    "tags nested 100,000 deep": lambda: iter([storing(b"[" * 100_000 + b"]" * 100_000)]),
    "100,000 tags": lambda: iter([called("store", content="x", tags=[f"tag {n}" for n in range(100_000)])]),
    "2,000,000 tags that are numbers": lambda: iter([called("store", content="x", tags=[1] * 2_000_000)]),
    "90,000 ids": lambda: iter([called("forget", ids=[f"{n:036}" for n in range(90_000)])]),
    "90,000 messages": lambda: iter([called("summarize", session_id="s", messages=[1] * 90_000)]),
    "10,000 messages of a wrong form": lambda: iter(
        [called("summarize", session_id="s", messages=[{"role": 1, "x": 1}] * 10_000)]
    ),
    "a query of 1 MB": lambda: iter([called("recall", query="word " * 200_000)]),
    "a number of 10,000 digits": lambda: iter([storing(b"9" * 10_000)]),
}


class Patient(Host):
    """A host that can send raw lines."""

    def refused(self, pieces: Iterator[bytes]) -> dict[str, Any]:
        """Send one line and wait for its refusal; raises RuntimeError when it was not refused."""
        for piece in pieces:
            self._write(piece)
        self._write(b"\n")
        answer = json.loads(self.process.stdout.readline())
        if "error" not in answer and not answer["result"].get("isError"):
            raise RuntimeError(f"accepted: {answer}")
        return answer

    def flood(self, calls: int) -> None:
        """Send so many calls without waiting, and wait until all are answered."""
        lines = [called("store", content=f"Jar {n}.").replace(b'"trial"', b"%d" % n) for n in range(calls)]
        writing = threading.Thread(target=self._write, args=(b"\n".join([*lines, b""]),))
        writing.start()
        answers = [json.loads(self.process.stdout.readline()) for _ in range(calls)]
        writing.join()
        done = {answer["id"] for answer in answers if not answer["result"].get("isError")}
        if len(done) < calls:
            raise RuntimeError(f"{calls - len(done)} calls were not done")

    def _write(self, piece: bytes) -> None:
        self.process.stdin.write(piece)
        self.process.stdin.flush()

    def peak_mb(self, *, forget: bool = False) -> float:
        """Give the most memory the process held since this was last called with `forget`."""
        place = Path(f"/proc/{self.process.pid}")
        if forget:
            (place / "clear_refs").write_text("5")
        status = (place / "status").read_text().splitlines()
        [line] = [line for line in status if line.startswith("VmHWM")]
        return int(line.split()[1]) / 1024


def trial(host: Patient, what: str, rounds: int, act: Callable[[], object]) -> dict[str, Any]:
    """Do it again and again; after each, the next call must work."""
    taken, grown = [], []
    for _ in range(rounds):
        before = host.peak_mb(forget=True)
        start = time.perf_counter()
        act()
        taken.append(1000 * (time.perf_counter() - start))
        grown.append(host.peak_mb() - before)
        host.call("recall", query="kiln")
    figures = {"p50_ms": median(taken), "max_ms": max(taken), "MB more": max(grown)}
    return {"what": what, **{name: round(figure, 1) for name, figure in figures.items()}, "n": rounds}


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5, help="how often each is tried")
    rounds = parser.parse_args().rounds
    unhurried = {"MEMORY_MCP_STORES_A_MINUTE": "1000000"}
    with tempfile.TemporaryDirectory() as name, Patient(MEMORY_MCP_DB=Path(name) / "memory.db", **unhurried) as host:
        host.initialize()
        host.call("store", content="The kiln is fired on Fridays.")
        host.call("recall", query="kiln")
        rows = [
            trial(host, what, rounds, lambda pieces=pieces: host.refused(pieces())) for what, pieces in TRIALS.items()
        ]
        slowest = {"what": "the slowest refusal", "p50_ms": max(row["p50_ms"] for row in rows)}
        most = {"MB more": max(row["MB more"] for row in rows)}
        flood = trial(host, "2,000 stores at once, all answered", 1, lambda: host.flood(2_000))
    report("limits", [*rows, slowest | most, flood])


if __name__ == "__main__":
    main()
