"""What hosts wait for: python benchmarks/hooks.py [--size 50000] [--rounds 40]. Whole processes, from spawn to exit."""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from host import Host
from measure import percentiles, report
from words import memories, questions

from memory_mcp.models import Memory, ModelIdentity, new_id, utc_now
from memory_mcp.storage import open_store
from memory_mcp.storage.values import Draft

NEW_TURNS = 10
DIMENSION, BATCH = 512, 500
MODEL = ModelIdentity("random", "0" * 64, DIMENSION)
"""Vectors of the default model's size: hooks do not read them, but have to live with them."""


async def fill(path: Path, size: int) -> None:
    """Make a file of so many memories, each with words and a vector."""
    store = await open_store(path, now=utc_now)
    await store.use_model(MODEL, now=utc_now())
    texts, random = list(memories(size)), np.random.default_rng(0)
    for start in range(0, size, BATCH):
        batch = texts[start : start + BATCH]
        made = random.standard_normal((len(batch), 1, DIMENSION)).astype(np.float32)
        now = utc_now()
        drafts = [
            Draft(Memory(new_id(now), text, now, now), vectors) for text, vectors in zip(batch, made, strict=True)
        ]
        await store.write(drafts, door="cli")
    await store.close()


class Transcript:
    """A conversation as Claude Code records it; `padding` is how many characters its tools print after each turn."""

    def __init__(self, path: Path, padding: int = 200) -> None:
        self.path = path
        self._said = 0
        self._padding = padding

    def grow(self, turns: int) -> None:
        """Let person and assistant speak in turn, and a tool print something after each."""
        with self.path.open("a", encoding="utf-8") as file:
            for text in memories(turns, seed=self._said + 1):
                self._said += 1
                role = "user" if self._said % 2 else "assistant"
                call = {"type": "tool_use", "id": f"call {self._said}", "name": "Read", "input": {"path": text}}
                result = {"type": "tool_result", "tool_use_id": call["id"], "content": "x" * self._padding}
                file.write(self._line(role, f"{text} ({self._said})"))
                file.write(self._line("assistant", [call]))
                file.write(self._line("user", [result]))

    def told(self, event: str, **fields: str) -> str:
        """Write what the host hands to a hook."""
        common = {"session_id": self.path.stem, "transcript_path": str(self.path), "cwd": str(self.path.parent)}
        return json.dumps({"hook_event_name": event} | common | fields)

    def _line(self, role: str, content: object) -> str:
        at = datetime.now(UTC).isoformat()
        line = {"type": role, "uuid": new_id(), "timestamp": at, "message": {"role": role, "content": content}}
        return json.dumps(line) + "\n"


def run(path: Path, told: str, *words: str) -> tuple[float, bool]:
    """Run a hook; gives the seconds it took, and whether it gave up on a lock. Any other complaint is an error here."""
    command = [sys.executable, "-m", "memory_mcp", *words, "--db", str(path)]
    start = time.perf_counter()
    ended = subprocess.run(command, input=told, capture_output=True, text=True, env=os.environ, check=True)
    taken = time.perf_counter() - start
    gave_up = "another program has been writing" in ended.stderr
    if ended.stderr and not gave_up:
        raise RuntimeError(ended.stderr)
    return taken, gave_up


def captures(path: Path, transcript: Transcript, rounds: int) -> dict[str, Any]:
    """Let a conversation grow and be captured, again and again; `put off` was left to the next call."""
    ran = []
    for _ in range(rounds):
        transcript.grow(NEW_TURNS)
        ran.append(run(path, transcript.told("Stop"), "capture", "claude-code", "--on"))
    return {**percentiles([seconds for seconds, _ in ran]), "put off": sum(gave_up for _, gave_up in ran)}


def contexts(path: Path, transcript: Transcript, rounds: int) -> list[dict[str, Any]]:
    """Ask for the briefing, and for what prompts call to mind."""
    start, words = transcript.told("SessionStart"), ("context", "--hook", "claude-code")
    prompts = [transcript.told("UserPromptSubmit", prompt=text) for text in questions(rounds)]
    return [
        {"what": "context, session start", **percentiles([run(path, start, *words)[0] for _ in range(rounds)])},
        {"what": "context, prompt", **percentiles([run(path, told, *words)[0] for told in prompts])},
    ]


@contextmanager
def a_busy_server(path: Path) -> Iterator[None]:
    """Keep a server storing all the time."""
    stop = threading.Event()
    with Host(MEMORY_MCP_DB=path, MEMORY_MCP_MODEL="none") as host:
        host.initialize()
        writing = threading.Thread(target=_store_until, args=(stop.is_set, host))
        writing.start()
        try:
            yield
        finally:
            stop.set()
            writing.join()


def _store_until(stopped: Callable[[], bool], host: Host) -> None:
    number = 0
    while not stopped():
        number += 1
        host.call("store", content=f"What a server stores meanwhile, number {number}.")


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--size", type=int, default=50_000, help="memories in the file")
    parser.add_argument("--rounds", type=int, default=40, help="calls of each hook")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        path = Path(name) / "memory.db"
        asyncio.run(fill(path, arguments.size))
        small, large = Transcript(Path(name) / "small.jsonl"), Transcript(Path(name) / "large.jsonl", padding=10_000)
        small.grow(100)
        large.grow(500)
        first, _ = run(path, large.told("Stop"), "capture", "claude-code", "--on")
        run(path, small.told("Stop"), "capture", "claude-code", "--on")
        rows = [
            {"what": "capture, 10 new turns", **captures(path, small, arguments.rounds)},
            {"what": "capture, 10 new turns of 5 MB", **captures(path, large, arguments.rounds)},
            {"what": "capture, 5 MB and 500 turns at once", **percentiles([first])},
            *contexts(path, small, arguments.rounds),
        ]
        with a_busy_server(path):
            rows += [
                {
                    "what": "capture, 10 new turns, beside a server that stores",
                    **captures(path, small, arguments.rounds),
                }
            ]
    report("hooks", [{**row, "memories": arguments.size} for row in rows])


if __name__ == "__main__":
    main()
