"""Turn recall on LoCoMo conversations: python benchmarks/locomo.py --data PATH [--limit N].

The conversations are CC BY-NC 4.0: they are read from a path and never shipped. One turn is one memory of kind `turn`,
stored in its session in order; one file a conversation. Recall@k is the share of a question's evidence among the first
k hits. Category 5 asks about the wrong person and is reported apart.
"""

import argparse
import asyncio
import json
import re
import tempfile
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from measure import interval, percentiles, report

from memory_mcp.app import open_memory
from memory_mcp.config import Settings
from memory_mcp.models import Kind, NewMemory, Query
from memory_mcp.service import MemoryService

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
DEPTH = 20


def sessions(conversation: dict[str, Any]) -> list[tuple[int, datetime, list[dict[str, Any]]]]:
    """Give a conversation's sessions in order: number, time, turns."""
    numbers = sorted(int(name[8:]) for name in conversation if re.fullmatch(r"session_\d+", name))
    read = "%I:%M %p on %d %B, %Y"
    return [
        (
            n,
            datetime.strptime(conversation[f"session_{n}_date_time"], read).replace(tzinfo=UTC),
            conversation[f"session_{n}"],
        )
        for n in numbers
    ]


def words(turn: dict[str, Any]) -> str:
    """A turn's text with the caption of a shared photo."""
    caption = turn.get("blip_caption")
    return f"{turn['text']} [shared photo: {caption}]" if caption else turn["text"]


async def keep(memory: MemoryService, conversation: dict[str, Any]) -> dict[str, str]:
    """Store every turn; returns the turn's name by memory id."""
    names: dict[str, str] = {}
    for number, at, turns in sessions(conversation):
        for turn in turns:
            new = NewMemory(words(turn), Kind.TURN, session_id=f"s{number}", speaker=turn["speaker"], created_at=at)
            names[(await memory.store(new)).id] = turn["dia_id"]
    return names


def evidence_of(question: dict[str, Any], known: Iterable[str]) -> set[str]:
    """Name the turns that a question's evidence lies in; written in several forms, some of no turn at all."""
    return {f"D{a}:{b}" for a, b in re.findall(r"D:?(\d+):(\d+)", " ".join(question["evidence"]))} & set(known)


async def ask(memory: MemoryService, names: dict[str, str], questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ask each question that has evidence; returns its category, recalls and seconds."""
    answers = []
    known = set(names.values())
    for question in questions:
        gold = evidence_of(question, known)
        if not gold:
            continue
        start = time.perf_counter()
        recalled = await memory.recall(Query(question["question"], limit=DEPTH, max_tokens=20_000))
        seconds = time.perf_counter() - start
        found = [names[hit.memory.id] for hit in recalled.hits]
        recalls = {k: len(gold & set(found[:k])) / len(gold) for k in (5, 10, 20)}
        answers.append({"category": question["category"], "seconds": seconds, **recalls})
    return answers


async def measure(data: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Store and ask every conversation."""
    answers: list[dict[str, Any]] = []
    for conversation in data:
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings(db=Path(folder) / "memory.db", ttl={})
            async with open_memory(settings, door="cli") as memory:
                names = await keep(memory, conversation["conversation"])
                own = await ask(memory, names, conversation["qa"])
        mean = sum(one[10] for one in own if one["category"] < 5) / max(1, sum(one["category"] < 5 for one in own))
        print(
            f"{conversation['sample_id']}: {len(names)} turns, {len(own)} questions, recall@10 {mean:.3f}", flush=True
        )
        answers += own
    return answers


def row(name: str, answers: list[dict[str, Any]]) -> dict[str, Any]:
    """One line of the table."""
    low, high = interval([one[10] for one in answers])
    means = {f"recall@{k}": sum(one[k] for one in answers) / len(answers) for k in (5, 10, 20)}
    return {
        "questions": name,
        **means,
        "recall@10 95 %": f"{low:.3f}-{high:.3f}",
        **percentiles([one["seconds"] for one in answers]),
    }


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, type=Path, help="a JSON file in LoCoMo's format")
    parser.add_argument("--limit", type=int, help="only the first N conversations")
    arguments = parser.parse_args()
    answers = asyncio.run(measure(json.loads(arguments.data.read_text())[: arguments.limit]))
    rows = [row("categories 1-4", [one for one in answers if one["category"] < 5])]
    rows += [
        row(f"{number} {name}", own)
        for number, name in CATEGORIES.items()
        if (own := [one for one in answers if one["category"] == number])
    ]
    report("locomo", rows)


if __name__ == "__main__":
    main()
