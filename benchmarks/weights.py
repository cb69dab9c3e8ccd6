"""Fit the weights of relevance, leaving one conversation out: python benchmarks/weights.py --data PATH [--sweeps N].

For each conversation the weights are fitted on the others and scored on it: what one may expect of a conversation that
nobody has seen. The fit starts from the weights in use and changes one at a time by a factor where recall@10 of turns
rises by half a point: less is noise on so many questions. It also tells what recall is without each part. Data as for
`locomo.py`; evidence is gathered once, by the service's own search.
"""

import argparse
import asyncio
import json
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass, field, fields, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from locomo import evidence_of, keep
from measure import interval, report
from numpy.typing import NDArray

from memory_mcp import cues
from memory_mcp.app import open_memory
from memory_mcp.config import Settings
from memory_mcp.forms import WEIGHTS, Weights
from memory_mcp.models import Filter
from memory_mcp.retrieval import rank, sharpened
from memory_mcp.scoring import Array
from memory_mcp.storage.values import Evidence, Probe
from memory_mcp.tokens import query_terms

FACTORS = (0.5, 0.7, 1.4, 2.0)
FITTED = [one.name for one in fields(Weights) if not one.name.startswith(("isolated", "wordless"))]
LEAST_GAIN = 0.005
DEPTH = 10
NOW = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Asked:
    """One question with all that was gathered for it, and how much evidence it has, found or not."""

    conversation: str
    text: str
    found: Evidence
    texts: dict[int, str]
    gold: frozenset[int]  # the rows of its evidence among the candidates
    sought: int

    def recall(self, weights: Weights, ceiling: float) -> float:
        """Give recall@10 of turns."""
        ranked = rank(self.found, self.text, ceiling=ceiling, now=NOW, weights=weights)
        speakers = frozenset(speaker.casefold() for speaker in self.found.speakers)
        best = sharpened(ranked, self.texts, cues.asked(self.text), speakers, weights)[:DEPTH]
        return len(self.gold & {one.row for one in best}) / self.sought


async def gathered(conversation: dict[str, Any]) -> tuple[list[Asked], float]:
    """Store a conversation and gather the evidence for its questions of categories 1 to 4; also the model's ceiling."""
    asked: list[Asked] = []
    with tempfile.TemporaryDirectory() as folder:
        async with open_memory(Settings(db=Path(folder) / "memory.db", ttl={}), door="cli") as memory:
            names = await keep(memory, conversation["conversation"])
            for question in conversation["qa"]:
                gold = evidence_of(question, names.values())
                if not gold or question["category"] == 5:
                    continue
                text = question["question"]
                vectors = (await memory.meaning.of_question([text])).vectors
                found = await memory.db.search(Probe(vectors, query_terms(text), Filter()))
                turns = await memory.db.rows(found.rows.tolist())
                rows = frozenset(row for row, turn in turns.items() if names[turn.id] in gold)
                texts = {row: turn.content for row, turn in turns.items()}
                asked.append(Asked(conversation["sample_id"], text, found, texts, rows, len(gold)))
            return asked, memory.meaning.ceiling


@dataclass(frozen=True)
class Trial:
    """All questions, asked with any weights; each set of weights is tried once."""

    asked: Sequence[Asked]
    ceiling: float
    _known: dict[Weights, Array] = field(default_factory=dict)

    def recalls(self, weights: Weights) -> Array:
        """Give recall@10 of every question."""
        if weights not in self._known:
            self._known[weights] = np.array([one.recall(weights, self.ceiling) for one in self.asked])
        return self._known[weights]

    def fitted(self, on: NDArray[np.bool_], sweeps: int) -> Weights:
        """Change one weight at a time as long as mean recall on those questions rises."""
        best = WEIGHTS
        for _ in range(sweeps):
            before = best
            for name in FITTED:
                tried = [best, *(replace(best, **{name: factor * getattr(best, name)}) for factor in FACTORS)]
                better = max(tried, key=lambda weights: self.recalls(weights)[on].mean())
                if self.recalls(better)[on].mean() >= self.recalls(best)[on].mean() + LEAST_GAIN:
                    best = better
            if best == before:
                break
        return best


def left_out(trial: Trial, sweeps: int) -> tuple[Array, list[Weights]]:
    """Score each conversation with weights that were fitted on the others."""
    names = np.array([one.conversation for one in trial.asked])
    scores, fits = np.zeros(len(names)), []
    for name in dict.fromkeys(names.tolist()):
        weights = trial.fitted(names != name, sweeps)
        scores[names == name] = trial.recalls(weights)[names == name]
        fits.append(weights)
        print(f"{name}: {scores[names == name].mean():.3f} with {weights}", flush=True)
    return scores, fits


def without(name: str) -> Weights:
    """Take one part away, also where no word stands near."""
    wordless = {"meaning": "wordless_meaning", "neighbour_meaning": "wordless_neighbour"}
    return replace(WEIGHTS, **dict.fromkeys((name, wordless.get(name, name)), 0.0))


def row(name: str, recalls: Array, usual: Array) -> dict[str, Any]:
    """One line of the table; the change is paired, question by question."""
    low, high = interval(recalls.tolist())
    least, most = interval((recalls - usual).tolist())
    return {
        "weights": name,
        "recall@10": float(recalls.mean()),
        "recall@10 95 %": f"{low:.3f}-{high:.3f}",
        "change": float((recalls - usual).mean()),
        "change 95 %": f"{least:+.3f} to {most:+.3f}",
        "n": len(recalls),
    }


def main() -> None:
    """Fit, leave out, report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, type=Path, help="a JSON file in LoCoMo's format")
    parser.add_argument("--sweeps", type=int, default=2, help="how often all weights are gone through")
    arguments = parser.parse_args()
    parts = [asyncio.run(gathered(conversation)) for conversation in json.loads(arguments.data.read_text())]
    trial = Trial([one for asked, _ in parts for one in asked], parts[0][1])
    usual = trial.recalls(WEIGHTS)
    rows = [row("in use", usual, usual)]
    rows += [row(f"without {name.replace('_', ' ')}", trial.recalls(without(name)), usual) for name in FITTED]
    scores, _ = left_out(trial, arguments.sweeps)
    rows.append(row("fitted, leaving one conversation out", scores, usual))
    report("weights", rows)


if __name__ == "__main__":
    main()
