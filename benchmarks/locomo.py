"""Turn recall on LoCoMo conversations: python benchmarks/locomo.py --data PATH [--limit N] [--facts FOLDER].

The conversations are CC BY-NC 4.0: they are read from a path and never shipped. One turn is one memory of kind `turn`,
stored in its session in order; one file a conversation. Category 5 asks about the wrong person and is reported apart.

Of a question's evidence: recall@k is the share among the first k hits, all@10 whether all of it is among ten, MRR 1
over the place of the first of it, nDCG@10 the gain of all of it discounted by place. With `--facts` (as for facts.py)
each conversation is asked again in a store that also holds an episode of each session, both lists of facts and this
project's own documents, and so are the facts' questions: nothing may crowd the others out.

`first is strong` and `first is weak` tell how often the label of the first hit said so, also for questions about
another conversation, which this one cannot answer.
"""

import argparse
import asyncio
import json
import math
import re
import tempfile
import time
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from measure import interval, percentiles, report

from memory_mcp.app import open_memory
from memory_mcp.config import Settings
from memory_mcp.models import Conversation, Kind, NewMemory, Query
from memory_mcp.reference import Manner
from memory_mcp.service import MemoryService

CATEGORIES = {1: "multi-hop", 2: "temporal", 3: "open-domain", 4: "single-hop", 5: "adversarial"}
ELSEWHERE = 6
DEPTH = 20
DOCUMENTS = [*sorted((Path(__file__).parents[1] / "docs").glob("*.md")), Path(__file__).parents[1] / "README.md"]

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md")])
"""What stands in the company as reference."""


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
    """Ask each question that has evidence; returns its category, its measures and its seconds."""
    answers = []
    for question in questions:
        gold = evidence_of(question, names.values())
        if not gold:
            continue
        start = time.perf_counter()
        recalled = await memory.recall(Query(question["question"], limit=DEPTH, max_tokens=20_000))
        seconds = time.perf_counter() - start
        places = [names.get(hit.memory.id, "") in gold for hit in recalled.hits]
        label = recalled.hits[0].label if recalled.hits else "weak"
        told = {"strong": label == "strong", "weak": label == "weak"}
        answers.append({"category": question["category"], "seconds": seconds, **told, **measures(places, len(gold))})
    return answers


def measures(places: Sequence[bool], sought: int) -> dict[str, float]:
    """Measure one answer: which of its places hold evidence, of so much."""
    gains = [1 / math.log2(place + 2) for place in range(len(places))]
    return {
        **{f"recall@{k}": sum(places[:k]) / sought for k in (5, 10, 20)},
        "MRR": 1 / (places.index(True) + 1) if True in places else 0.0,
        "nDCG@10": sum(gain for gain, is_gold in zip(gains, places[:10], strict=False) if is_gold)
        / sum(gains[: min(sought, 10)] or [1.0]),
        "all@10": float(sum(places[:10]) == sought),
    }


async def elsewhere(memory: MemoryService, questions: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Ask what was never told here; only the labels are of interest."""
    labels = [(await memory.recall(Query(one["question"], limit=1))).hits[0].label for one in questions]
    return [{"category": ELSEWHERE, "strong": label == "strong", "weak": label == "weak"} for label in labels]


async def measure(data: list[dict[str, Any]], facts: Path | None) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """Store and ask every conversation, alone and in company."""
    alone: list[dict[str, Any]] = []
    company: list[dict[str, Any]] = []
    for conversation, other in zip(data, data[1:] + data[:1], strict=True):
        with tempfile.TemporaryDirectory() as folder:
            settings = Settings(db=Path(folder) / "memory.db", ttl={})
            async with open_memory(settings, door="cli") as memory:
                names = await keep(memory, conversation["conversation"])
                own = await ask(memory, names, conversation["qa"])
                alone += await elsewhere(memory, [one for one in other["qa"] if one["category"] < 5])
                if facts:
                    company += await in_company(memory, names, conversation, facts)
        usual = [one["recall@10"] for one in own if one["category"] < 5]
        print(f"{conversation['sample_id']}: {len(names)} turns, recall@10 {sum(usual) / len(usual):.3f}", flush=True)
        alone += own
    return alone, company


async def in_company(
    memory: MemoryService, names: dict[str, str], conversation: dict[str, Any], folder: Path
) -> list[dict[str, Any]]:
    """Add episodes, facts and documents to the turns, and ask again, the facts too (their category is a name)."""
    for number, _, _ in sessions(conversation["conversation"]):
        await memory.summarize(Conversation(session_id=f"s{number}"))
    for path in DOCUMENTS:
        await memory.take_in_document(path, Manner())
    facts, questions = read_facts(folder)
    known = {(await memory.store(NewMemory(text))).id: number for number, text in facts}
    for path in DOCUMENTS:
        await memory.take_in_document(path, Manner(trusted=True))
    await memory.embed_pending()
    answers = await ask(memory, names, [one for one in conversation["qa"] if one["category"] < 5])
    for language, text, gold in questions:
        recalled = await memory.recall(Query(text, limit=DEPTH, max_tokens=20_000))
        places = [known.get(hit.memory.id) in gold for hit in recalled.hits]
        own = {"recall@1": any(places[:1]), "recall@5": any(places[:5]), "MRR": measures(places, 1)["MRR"]}
        answers.append({"category": f"facts, {language}", **own})
    return answers


def read_facts(folder: Path) -> tuple[list[tuple[int, str]], list[tuple[str, str, list[int]]]]:
    """Read both lists; a fact stands in both languages under one number, and either version answers."""
    facts: list[tuple[int, str]] = []
    questions: list[tuple[str, str, list[int]]] = []
    for path in sorted(folder.glob("*_facts.jsonl")):
        for line in map(json.loads, path.read_text().splitlines()):
            if line["type"] == "fact":
                facts.append((line["id"], line["text"]))
            else:
                questions.append((line["lang"], line["text"], line["gold"]))
    return facts, questions


def row(name: str, answers: list[dict[str, Any]]) -> dict[str, Any]:
    """One line of the table."""
    low, high = interval([one["recall@10"] for one in answers])
    names = ("recall@5", "recall@10", "recall@20", "MRR", "nDCG@10", "all@10")
    means = {each: sum(one[each] for one in answers) / len(answers) for each in names}
    times = percentiles([one["seconds"] for one in answers])
    return {"questions": name, **means, "recall@10 95 %": f"{low:.3f}-{high:.3f}", **labels(name, answers), **times}


def labels(name: str, answers: list[dict[str, Any]]) -> dict[str, Any]:
    """How often the first hit was called strong, and weak."""
    shares = {f"first is {each}": sum(one[each] for one in answers) / len(answers) for each in ("strong", "weak")}
    return {"questions": name, **shares, "n": len(answers)}


def company_rows(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines about turns and facts that share a store."""
    turns = [one for one in answers if isinstance(one["category"], int)]
    rows = [row("1-4, in company", turns)]
    for name in sorted({one["category"] for one in answers} - {1, 2, 3, 4}, key=str):
        own = [one for one in answers if one["category"] == name]
        measured = {key: sum(one[key] for one in own) / len(own) for key in ("recall@1", "recall@5", "MRR")}
        rows.append({"questions": f"{name}, in company", **measured, "n": len(own)})
    return rows


def main() -> None:
    """Measure and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", required=True, type=Path, help="a JSON file in LoCoMo's format")
    parser.add_argument("--limit", type=int, help="only the first N conversations")
    parser.add_argument("--facts", type=Path, help="folder with en_facts.jsonl and ja_facts.jsonl, to ask in company")
    arguments = parser.parse_args()
    data = json.loads(arguments.data.read_text())[: arguments.limit]
    answers, company = asyncio.run(measure(data, arguments.facts))
    rows = [row("categories 1-4", [one for one in answers if one["category"] < 5])]
    rows += [
        row(f"{number} {name}", own)
        for number, name in CATEGORIES.items()
        if (own := [one for one in answers if one["category"] == number])
    ]
    rows.append(labels("of another conversation", [one for one in answers if one["category"] == ELSEWHERE]))
    report("locomo", rows + (company_rows(company) if company else []))


if __name__ == "__main__":
    main()
