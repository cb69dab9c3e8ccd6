"""No request reads every memory (B68): what a verb asks of SQLite is explained, statement by statement."""

import re
from collections.abc import Callable, Coroutine
from contextlib import closing
from functools import partial
from typing import Any

import pytest

from memory_mcp.config import Settings
from memory_mcp.models import Conversation, KeyFact, Kind, Message, NewMemory, Outcome, Query, Selection, Source
from memory_mcp.server import resources
from memory_mcp.service import MemoryService
from memory_mcp.storage import driver
from tests.memories import WordsEmbedder, ask, keep, memory_with

pytestmark = pytest.mark.anyio

ALIASES = re.compile(r"\b(?:from|join)\s+memory\s+(?:as\s+)?(\w+)", re.IGNORECASE)
SMALL = ("memory_unembedded", "memory_counted")
"""Indexes that may be gone through: one holds only what waits for vectors, the other a few bytes a memory."""

Verb = Callable[[MemoryService], Coroutine[Any, Any, object]]


def asking(**fields: Any) -> Verb:
    return lambda memory: memory.recall(Query(**fields))


async def summarize(memory: MemoryService) -> None:
    said = (Message("user", "I like tea a lot."), Message("assistant", "Noted."))
    await memory.summarize(Conversation("s2", messages=said))
    await memory.summarize(Conversation("s1", summary="Tea and kettles.", key_facts=(KeyFact("Ann likes green tea"),)))


async def replace(memory: MemoryService) -> None:
    for drink in ("tea", "coffee"):
        await memory.store(NewMemory(f"The best drink is {drink}", key="drink"))


async def forget(memory: MemoryService) -> None:
    for selection in (Selection(tags=("kitchen",)), Selection(query="kettle"), Selection(session_id="s1")):
        await memory.forget(selection)
    [found] = (await memory.page(Query(limit=1))).memories
    assert (await memory.forget(Selection(ids=(found.id,)))).ids == (found.id,)


async def read(uri: str, memory: MemoryService) -> None:
    await resources.read(uri, memory)


VERBS: dict[str, Verb] = {
    "recall": asking(text="where is the kettle"),
    "recall in context": asking(text="where is it", context="Ann spoke of a kettle. It is red."),
    "recall by tag": asking(text="kettle", tags=("kitchen",)),
    "recall of a session": asking(text="kettle", session_id="s1"),
    "recall of what succeeded": asking(text="kettle", outcome=Outcome.SUCCESS),
    "recall as of a day": asking(text="kettle", as_of="2026-05-04"),
    "recall of what is sure": asking(text="kettle", min_confidence=0.9, source=Source.USER),
    "list": asking(kinds=(Kind.FACT,), since="2026-05-01"),
    "briefing": asking(),
    "store": lambda memory: memory.store(NewMemory("A red kettle stands on the stove")),
    "store what replaces": replace,
    "store a turn": lambda memory: memory.store(NewMemory("And tea?", Kind.TURN, session_id="s1", speaker="Ann")),
    "summarize": summarize,
    "forget": forget,
    "list resources": resources.listed,
    "recent episodes": partial(read, "memory://episodes/recent"),
    "resource briefing": partial(read, "memory://briefing"),
    "resource session": partial(read, "memory://session/s1"),
    "resource stats": partial(read, "memory://stats"),
}


def full_reads(connection: driver.Connection, statement: str) -> list[str]:
    """Which steps of a statement go through all of `memory`."""
    names = {name.lower() for name in ALIASES.findall(statement)} | {"memory"}
    plan = [step for *_, step in connection.execute(f"explain query plan {statement}")]
    scans = [step for step in plan if step.startswith("SCAN") and step.split()[1] in names]
    return [step for step in scans if not step.endswith(SMALL)]


@pytest.mark.parametrize("verb", VERBS.values(), ids=VERBS)
async def test_no_request_reads_every_memory(settings: Settings, clock, verb: Verb):
    asked: list[str] = []
    async with memory_with(settings, WordsEmbedder, clock) as memory:
        for number in range(20):
            await keep(memory, f"Kettle {number} is red", tags=("kitchen",), expires_in_days=number + 1)
            await keep(memory, f"Kettle {number}?", kind=Kind.TURN, session_id="s1", speaker="Ann")
        assert await ask(memory, "kettle")
        database = memory.db._database
        await database.read(lambda at: at.set_trace_callback(asked.append))
        await database.maintain(lambda at: at.set_trace_callback(asked.append))
        await verb(memory)
        with closing(driver.connect(settings.db)) as connection:
            statements = [one for one in asked if re.match(r"\s*(select|with|insert|update|delete)\b", one)]
            found = [(full_reads(connection, one), one) for one in dict.fromkeys(statements)]
    assert statements
    assert [(steps, one) for steps, one in found if steps] == []


def test_a_full_read_would_be_noticed(settings: Settings, tmp_path):
    with closing(driver.connect(tmp_path / "any.db")) as connection:
        connection.execute("create table memory (row integer primary key, kind text)")
        assert full_reads(connection, "select row from memory m where m.kind = 'fact'") == ["SCAN m"]
        assert full_reads(connection, "select row from memory where row = 1") == []
