"""Nothing acknowledged is ever lost: python benchmarks/faults.py [--writes 400] [--rounds 20] [--seconds 5].

Part one: two servers write on one file while a third recalls. Part two: two servers write and are killed (SIGKILL) in
the middle, again and again. Each time every memory whose store was answered must be there afterwards, and the file must
pass its checks.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

from host import Host
from measure import report
from words import memories


class Writer(threading.Thread):
    """Stores texts through its own server until they are used up or the server is gone."""

    def __init__(self, path: Path, texts: list[str]) -> None:
        super().__init__(daemon=True)
        self.texts = texts
        self.acknowledged: list[str] = []
        self.errors: list[str] = []
        self.slowest = 0.0
        self.host = Host(MEMORY_MCP_DB=path)
        self.host.initialize()

    def run(self) -> None:
        """Store one text after the other."""
        try:
            for text in self.texts:
                start = time.perf_counter()
                self.acknowledged.append(self.host.call("store", content=text)["id"])
                self.slowest = max(self.slowest, time.perf_counter() - start)
        except RuntimeError as error:
            self.errors.append(str(error))
        except (EOFError, BrokenPipeError):
            pass  # killed in the middle, as intended


def present(path: Path) -> set[str]:
    """List every memory of the file through a new server, page by page."""
    found: set[str] = set()
    with Host(MEMORY_MCP_DB=path) as host:
        host.initialize()
        cursor = ""
        while True:
            answer = host.call("recall", kinds=["fact"], limit=50, max_tokens=20_000, cursor=cursor)
            found |= {hit["id"] for hit in answer["hits"]}
            cursor = answer.get("next_cursor", "")
            if not cursor:
                return found


def recover(path: Path, patience: float = 300.0) -> None:
    """Let a new server make the vectors that a killed one still owed."""
    start = time.perf_counter()
    with Host(MEMORY_MCP_DB=path) as host:
        host.initialize()
        while _awaiting_vectors(host):
            if time.perf_counter() - start > patience:
                raise TimeoutError("vectors are still missing")
            time.sleep(0.5)


def _awaiting_vectors(host: Host) -> int:
    stats = host.request("resources/read", uri="memory://stats")["result"]["contents"][0]["text"]
    return json.loads(stats)["awaiting_vectors"]


def healthy(path: Path) -> bool:
    """Whether the self-check finds integrity, and indexes and rows agreeing."""
    done = subprocess.run(
        [sys.executable, "-m", "memory_mcp", "--db", str(path), "doctor"], capture_output=True, check=False, text=True
    )
    if done.returncode:
        print(done.stdout)
    return done.returncode == 0


def together(path: Path, writes: int) -> dict[str, Any]:
    """Two servers write while a third recalls."""
    texts = list(memories(2 * writes))
    writers = [Writer(path, texts[:writes]), Writer(path, texts[writes:])]
    recalls = 0
    with Host(MEMORY_MCP_DB=path) as reader:
        reader.initialize()
        for writer in writers:
            writer.start()
        while any(writer.is_alive() for writer in writers):
            reader.call("recall", query="the quarterly budget")
            recalls += 1
    for writer in writers:
        writer.host.process.stdin.close()
        writer.host.process.wait(10)
    return _row("two write, one recalls", path, writers, recalls=recalls)


def killed(path: Path, rounds: int, seconds: float) -> dict[str, Any]:
    """Two servers write and are killed after about `seconds`, `rounds` times on the same file."""
    writers: list[Writer] = []
    for number in range(rounds):
        pair = [Writer(path, list(memories(10_000, seed=1_000 + 2 * number + own))) for own in (0, 1)]
        for writer in pair:
            writer.start()
        time.sleep(seconds * (0.5 + number / rounds))
        for writer in pair:
            writer.host.process.kill()
            writer.host.process.wait()
            writer.join()
        writers += pair
    return _row(f"kill -9, {rounds} rounds", path, writers)


def _row(name: str, path: Path, writers: list[Writer], **more: int) -> dict[str, Any]:
    recover(path)
    acknowledged = {memory_id for writer in writers for memory_id in writer.acknowledged}
    lost = acknowledged - present(path)
    return {
        "trial": name,
        "acknowledged": len(acknowledged),
        "lost": len(lost),
        "errors": sum(len(writer.errors) for writer in writers),
        "slowest store ms": round(1000 * max(writer.slowest for writer in writers)),
        "checks pass": healthy(path),
        **more,
    }


def main() -> None:
    """Measure, report, and fail when anything was lost."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--writes", type=int, default=400, help="stores of each of the two servers")
    parser.add_argument("--rounds", type=int, default=20, help="how often two writing servers are killed")
    parser.add_argument("--seconds", type=float, default=5.0, help="how long a pair writes, on average")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        rows = [
            together(Path(name) / "together.db", arguments.writes),
            killed(Path(name) / "killed.db", arguments.rounds, arguments.seconds),
        ]
    report("faults", rows)
    sys.exit(any(row["lost"] or row["errors"] or not row["checks pass"] for row in rows))


if __name__ == "__main__":
    main()
