"""Recall of short facts by paraphrased questions: python benchmarks/facts.py --data FOLDER [--model NAME].

The folder holds en_facts.jsonl and ja_facts.jsonl: lines of {"type": "fact", "id", "text"} and
{"type": "query", "text", "gold", "lang"}; an id names the same fact in both lists, so each question may be asked of
either. The stores: the facts of one language, and twice a mixture of both, half the ids in one language and half in the
other. Each question is answered by recall as it is, by vectors alone and by words alone, over the same facts; the
vectors are those of `--model`, as MEMORY_MCP_MODEL would name it.
"""

import argparse
import asyncio
import json
import re
import tempfile
from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from measure import interval, report

from memory_mcp.app import open_memory
from memory_mcp.config import Settings
from memory_mcp.embedding import load_embedder
from memory_mcp.models import NewMemory, Query, Selection

LANGUAGES = ("en", "ja")
PASSED = 10
DEFAULT = "universal"

Facts = dict[int, tuple[str, str]]
"""By its id, a fact's language and text."""

Places = list[bool]
"""Of the hits of one question, best first, whether each is its fact."""

LABELS = ("strong", "fair", "weak")


@dataclass(frozen=True)
class Question:
    """A question with the ids of the facts that answer it."""

    text: str
    language: str
    gold: frozenset[int]


def read(folder: Path) -> tuple[dict[str, dict[int, str]], list[Question]]:
    """Read both lists: the texts of the facts by language and id, and the questions of both."""
    texts: dict[str, dict[int, str]] = {}
    questions: list[Question] = []
    for language in LANGUAGES:
        lines = [json.loads(line) for line in (folder / f"{language}_facts.jsonl").read_text().splitlines()]
        texts[language] = {line["id"]: line["text"] for line in lines if line["type"] == "fact"}
        questions += [
            Question(line["text"], line["lang"], frozenset(line["gold"])) for line in lines if line["type"] == "query"
        ]
    return texts, questions


def stores(texts: dict[str, dict[int, str]]) -> list[tuple[str, Facts]]:
    """Lay out the stores to ask: each language by itself, then mixed both ways round; '' marks a mixture."""
    alone = [(language, {one: (language, text) for one, text in texts[language].items()}) for language in LANGUAGES]
    mixed: list[tuple[str, Facts]] = []
    for turn in (0, 1):
        language_of = {one: LANGUAGES[(place + turn) % 2] for place, one in enumerate(sorted(texts["en"]))}
        mixed.append(("", {one: (language, texts[language][one]) for one, language in language_of.items()}))
    return alone + mixed


async def by_recall(facts: Facts, questions: Sequence[Question], model: str) -> list[Places]:
    """Store the facts, and recall each question."""
    with tempfile.TemporaryDirectory() as folder:
        async with open_memory(Settings(db=Path(folder) / "memory.db", model=model), door="cli") as memory:
            ids = {(await memory.store(NewMemory(text))).id: one for one, (_, text) in facts.items()}
            found: list[Places] = []
            for question in questions:
                recalled = await memory.recall(Query(question.text, limit=PASSED, max_tokens=20_000))
                found.append([ids[hit.memory.id] in question.gold for hit in recalled.hits])
    return found


async def labelled(facts: Facts, questions: Sequence[Question], *, kept: bool) -> Counter[str]:
    """Count how the first hit was labelled; without `kept` the facts that answer a question are put aside for it."""
    counted: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as folder:
        async with open_memory(Settings(db=Path(folder) / "memory.db"), door="cli") as memory:
            ids = {one: (await memory.store(NewMemory(text))).id for one, (_, text) in facts.items()}
            for question in questions:
                answers = Selection(ids=tuple(ids[one] for one in question.gold))
                if not kept:
                    await memory.archive(answers)
                counted[(await memory.recall(Query(question.text, limit=1))).hits[0].label] += 1
                if not kept:
                    await memory.restore(answers)
    return counted


def label_rows(folder: Path) -> list[dict[str, Any]]:
    """One row a language, with the answer in the store and without it: a label is worth what tells these apart."""
    texts, questions = read(folder)
    rows: list[dict[str, Any]] = []
    for language, facts in stores(texts)[: len(LANGUAGES)]:
        own = [question for question in questions if question.language == language]
        for kept in (True, False):
            counted = asyncio.run(labelled(facts, own, kept=kept))
            shares = {f"first is {label}": counted[label] / len(own) for label in LABELS}
            rows.append(
                {"facts": f"{language}, {'answered' if kept else 'without the answer'}", **shares, "n": len(own)}
            )
    return rows


def by_vectors(facts: Facts, questions: Sequence[Question], model: str) -> list[Places]:
    """Rank the same facts by the cosine of whole texts only."""
    load = load_embedder(model)
    if load is None:
        return []
    embedder = load()
    known = embedder.embed([text for _, text in facts.values()])
    asked = embedder.embed([question.text for question in questions], query=True)
    order = np.argsort(-(asked @ known.T), axis=1, kind="stable")[:, :PASSED]
    ids = np.array(list(facts))
    return [
        [one in question.gold for one in ids[best].tolist()] for question, best in zip(questions, order, strict=True)
    ]


def measure(folder: Path, model: str) -> list[dict[str, Any]]:
    """Ask every store all questions that it can answer; one row a way, a language of question and one of facts."""
    texts, questions = read(folder)
    places: dict[tuple[str, str], list[Places]] = defaultdict(list)
    for kept_in, facts in stores(texts):
        found = {
            "recall": asyncio.run(by_recall(facts, questions, model)),
            "vectors alone": by_vectors(facts, questions, model),
            "words alone": asyncio.run(by_recall(facts, questions, "none")),
        }
        for way, answers in found.items():
            for question, places_of_one in zip(questions, answers, strict=bool(answers)):
                language = facts[min(question.gold)][0]
                places[_name(question.language, language, mixed=not kept_in), way].append(places_of_one)
    return [_row(f"{name}, {way}", found) for (name, way), found in sorted(places.items(), key=_order)]


def _name(asked_in: str, written_in: str, *, mixed: bool) -> str:
    store = " in a mixed store" if mixed else ""
    return f"{asked_in}{store}" if asked_in == written_in else f"{asked_in} asked of {written_in}{store}"


def _order(item: tuple[tuple[str, str], list[Places]]) -> tuple[bool, bool, str]:
    (name, _), _ = item
    return "mixed" in name, "asked" in name, name


def _row(name: str, places: Sequence[Places]) -> dict[str, Any]:
    first = [float(any(own[:1])) for own in places]
    fifth = [float(any(own[:5])) for own in places]
    ranks = [1 / (own.index(True) + 1) if True in own else 0.0 for own in places]
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
    """Measure and report; another model than the default has a file of results of its own."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, type=Path, help="folder with en_facts.jsonl and ja_facts.jsonl")
    parser.add_argument("--model", default=DEFAULT, help=f"as MEMORY_MCP_MODEL would name it ({DEFAULT})")
    arguments = parser.parse_args()
    model = cast("str", arguments.model)
    own = "" if model == DEFAULT else "-" + re.sub(r"\W+", "-", Path(model).name)
    report(f"facts{own}", measure(arguments.data, model) + (label_rows(arguments.data) if model == DEFAULT else []))


if __name__ == "__main__":
    main()
