"""Recall of short facts by paraphrased questions: python benchmarks/facts.py --data FOLDER.

The folder holds en_facts.jsonl and ja_facts.jsonl: lines of {"type": "fact", "id", "text"} and
{"type": "query", "text", "gold", "lang"}. Each list is its own file of facts; `vectors alone` ranks the same facts by
cosine only, in the same run.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from measure import interval, report

from memory_mcp.app import open_memory
from memory_mcp.config import Settings
from memory_mcp.models import NewMemory, Query
from memory_mcp.service import MemoryService


async def measure(lines: Sequence[dict[str, Any]], language: str) -> list[dict[str, Any]]:
    """Store the facts of one list, ask its questions both ways."""
    facts = [line for line in lines if line["type"] == "fact"]
    questions = [line for line in lines if line["type"] == "query" and line["lang"] == language]
    with tempfile.TemporaryDirectory() as folder:
        async with open_memory(Settings(db=Path(folder) / "memory.db"), door="cli") as memory:
            names = {(await memory.store(NewMemory(fact["text"]))).id: fact["id"] for fact in facts}
            full = [await _places(memory, names, question) for question in questions]
            alone = await _by_vectors(memory, facts, questions)
    return [_row(f"{language}, recall", full), _row(f"{language}, vectors alone", alone)]


async def _places(memory: MemoryService, names: dict[str, int], question: dict[str, Any]) -> list[bool]:
    recalled = await memory.recall(Query(question["text"], limit=10, max_tokens=20_000))
    return [names[hit.memory.id] in question["gold"] for hit in recalled.hits]


async def _by_vectors(
    memory: MemoryService, facts: Sequence[dict[str, Any]], questions: Sequence[dict[str, Any]]
) -> list[list[bool]]:
    known = await memory.embeddings.embed([fact["text"] for fact in facts])
    asked = await memory.embeddings.embed([question["text"] for question in questions], query=True)
    ids = np.array([fact["id"] for fact in facts])
    order = np.argsort(-(asked @ known.T), axis=1)[:, :10]
    return [
        [bool(one in question["gold"]) for one in ids[best]] for question, best in zip(questions, order, strict=True)
    ]


def _row(name: str, places: Sequence[Sequence[bool]]) -> dict[str, Any]:
    first = [float(any(own[:1])) for own in places]
    fifth = [float(any(own[:5])) for own in places]
    ranks = [1 / (own.index(True) + 1) if True in own else 0.0 for own in map(list, places)]
    low, high = interval(first)
    return {
        "facts": name,
        "recall@1": sum(first) / len(first),
        "recall@1 95 %": f"{low:.3f}-{high:.3f}",
        "recall@5": sum(fifth) / len(fifth),
        "MRR": sum(ranks) / len(ranks),
        "n": len(places),
    }


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, type=Path, help="folder with en_facts.jsonl and ja_facts.jsonl")
    folder = parser.parse_args().data
    rows: list[dict[str, Any]] = []
    for language in ("en", "ja"):
        lines = (folder / f"{language}_facts.jsonl").read_text().splitlines()
        rows += asyncio.run(measure([json.loads(line) for line in lines], language))
    report("facts", rows)


if __name__ == "__main__":
    main()
