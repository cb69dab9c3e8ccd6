"""What is said when something similar is stored: python benchmarks/novelty.py --data FILE.

The file holds lines of {"lang", "kind", "a", "b"}: b repeats a in other words (duplicate), or differs from it in
something that matters. Each pair has a namespace of its own; b is stored after a, and a after b. `duplicate` counts
what was taken for the same memory, which is right for identical text alone (case, width, blanks and marks at the edge
aside); `similar` is the share where the other was offered as a near match; `hinted` the share of those where what
differs was named.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from measure import report, wilson

from memory_mcp.app import open_memory
from memory_mcp.config import Settings
from memory_mcp.models import NewMemory
from memory_mcp.tokens import normalise


async def tell(pairs: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Store each pair in both orders, each in a namespace of its own."""
    told: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        async with open_memory(Settings(db=Path(folder) / "memory.db"), door="cli") as memory:
            for number, pair in enumerate(pairs):
                for first, second in (("a", "b"), ("b", "a")):
                    namespace = f"{number}{first}"
                    await memory.store(NewMemory(pair[first], namespace=namespace))
                    stored = await memory.store(NewMemory(pair[second], namespace=namespace))
                    told.append(
                        {
                            "class": f"{pair['lang']} {pair['kind']}",
                            "identical": normalise(pair["a"]) == normalise(pair["b"]),
                            "duplicate": stored.status == "duplicate",
                            "similar": bool(stored.similar),
                            "hinted": any(one.differs for one in stored.similar),
                        }
                    )
    return told


def row(name: str, told: list[dict[str, Any]]) -> dict[str, Any]:
    """One line of the table."""
    other = [one for one in told if not one["identical"]]
    similar = [one for one in other if one["similar"]]
    low, high = wilson(len(similar), len(other)) if other else (0.0, 0.0)
    return {
        "pairs": name,
        "identical": sum(one["identical"] for one in told),
        "of them duplicate": sum(one["duplicate"] for one in told if one["identical"]),
        "others": len(other),
        "of them duplicate, wrongly": sum(one["duplicate"] for one in other),
        "similar": len(similar) / len(other) if other else "",
        "similar 95 %": f"{low:.2f}-{high:.2f}" if other else "",
        "hinted": sum(one["hinted"] for one in similar) / len(similar) if similar else "",
    }


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, type=Path, help="a file of pairs, a line of JSON each")
    pairs = [json.loads(line) for line in parser.parse_args().data.read_text().splitlines()]
    told = sorted(asyncio.run(tell(pairs)), key=lambda one: one["class"])
    rows = [row("all", told), *(row(name, list(own)) for name, own in groupby(told, key=lambda one: one["class"]))]
    report("novelty", rows)


if __name__ == "__main__":
    main()
