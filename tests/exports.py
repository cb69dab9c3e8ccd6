"""Files with one of everything, and what export and import make of them, for tests of both."""

import io
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from memory_mcp.answers import BroughtIn
from memory_mcp.app import open_memory
from memory_mcp.config import Settings
from memory_mcp.models import (
    Action,
    Conversation,
    KeyFact,
    Kind,
    Memory,
    Message,
    NewMemory,
    Outcome,
    Revision,
    Selection,
    Source,
    Trust,
    new_id,
)
from memory_mcp.portability import Manner
from memory_mcp.service import MemoryService
from memory_mcp.storage import driver
from memory_mcp.storage.values import Captured, Coordinates, Draft, ToolUse

NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)


@asynccontextmanager
async def opened(db: Path, now: datetime = NOW) -> AsyncIterator[MemoryService]:
    """Open a memory without a model, on a clock that stands still."""
    async with open_memory(Settings(db=db, model="none"), door="cli", now=lambda: now) as memory:
        yield memory


async def exported(memory: MemoryService) -> list[str]:
    """All lines of an export, the first one with them."""
    lines: list[str] = []
    await memory.export(lines.append)
    return lines


async def brought_in(memory: MemoryService, lines: list[str] | bytes | io.BytesIO, **manner: bool) -> BroughtIn:
    """Take lines in."""
    raw = "".join(lines).encode() if isinstance(lines, list) else lines
    source = io.BytesIO(raw) if isinstance(raw, bytes) else raw
    return await memory.bring_in(io.BufferedReader(source), Manner(memory.settings.secrets, **manner))


def records(lines: list[str]) -> list[dict[str, Any]]:
    """What the lines after the first one hold."""
    return [json.loads(line) for line in lines[1:]]


def line(text: str, **fields: Any) -> str:
    """One line of an export: a plain memory, with fields of it changed."""
    told = {
        "id": new_id(),
        "content": text,
        "created_at": NOW.isoformat(),
        "updated_at": NOW.isoformat(),
        "namespace": "user",
    }
    return json.dumps({"memory": told | fields}, ensure_ascii=False) + "\n"


HEADER = (
    json.dumps(
        {
            "format": "memory-mcp export",
            "version": 1,
            "written_by": "a test",
            "exported_at": NOW.isoformat(),
            "memories": 0,
        }
    )
    + "\n"
)


async def fill(memory: MemoryService) -> None:
    """Keep one of everything that a file can hold, each field of it in use somewhere."""
    tea = await memory.store(
        NewMemory(
            "I drink green tea",
            kind=Kind.PREFERENCE,
            tags=("Drinks", "über alles"),
            key="drink",
            importance=0.9,
            confidence=0.4,
            valid_from=NOW - timedelta(days=400),
            created_at=NOW - timedelta(days=300),
            speaker="Ann",
        )
    )
    await memory.store(NewMemory("I drink black tea", kind=Kind.PREFERENCE, key="drink", namespace="user"))
    await memory.store(NewMemory("Buy milk", expires_in_days=2, source=Source.TOOL, namespace="a project"))
    pinned = await memory.store(NewMemory("Ken is allergic to buckwheat 蕎麦", pinned=True, session_id="lunch"))
    await memory.store(NewMemory("Ken avoids soba", kind=Kind.LESSON, derived_from=(tea.id, pinned.id)))
    archived = await memory.store(NewMemory("An old plan", kind=Kind.DECISION))
    await memory.archive(Selection(ids=(archived.id,)))
    await memory.revise(archived.id, Revision(importance=0.1))
    await memory.rate([tea.id, pinned.id], useful=True)
    await memory.rate([archived.id], useful=False)
    await memory.db.count_access([pinned.id, pinned.id], now=NOW - timedelta(days=1))
    await _converse(memory)
    await _capture(memory)
    await _keep_a_chunk(memory)
    gone = await memory.store(NewMemory("To be forgotten"))
    await memory.forget(Selection(ids=(gone.id,)))


async def _converse(memory: MemoryService) -> None:
    """Summarize a session twice, with all that an episode can tell, and another, whose summary then loses a fact."""
    told = Conversation(
        "planning",
        messages=(Message("user", "We met at ten, Ann and I."), Message("assistant", "Noted, Ann and you.")),
        summary="Ann and the user met.",
        key_facts=(KeyFact("They met at ten", key="meeting"), KeyFact("Ann was there")),
        trigger="a meeting",
        outcome=Outcome.PARTIAL,
        lessons=("Write it down",),
        actions=(Action("grep", True, "digest-1", 1.234), Action("make", False)),
        tags=("work",),
        started_at=NOW - timedelta(hours=2),
    )
    await memory.summarize(told)
    await memory.summarize(Conversation("planning", summary="They met again."))
    done = await memory.summarize(
        Conversation("later", summary="It was late.", key_facts=(KeyFact("It was late"), KeyFact("It rained")))
    )
    await memory.forget(Selection(ids=(done.facts[0].id,)))


async def _capture(memory: MemoryService) -> None:
    """Capture a conversation that has ended, of which one message's time was up."""
    turns = tuple(
        Draft(
            Memory(new_id(NOW), text, NOW, NOW, Kind.TURN, "user", session_id="captured", speaker="user"),
            coordinates=Coordinates("claude-code", "captured", f"message/{number}", "user"),
        )
        for number, text in enumerate(("I said this", "and this", "and this is gone"))
    )
    uses = (
        ToolUse("call-1", Action("Bash", True, "digest-2", 0.5), NOW),
        ToolUse("call-2", Action("Read", False), NOW),
    )
    await memory.db.capture(Captured("claude-code", "captured", "user", turns, uses, ended_at=NOW), door="hook")
    await memory.db.forget([turns[2].memory.id], now=NOW, door="background", cascade=False)


async def _keep_a_chunk(memory: MemoryService) -> None:
    """Keep a chunk of a file and a command, both of which nothing writes yet."""
    chunk = Memory(
        new_id(NOW), "One", NOW, NOW, Kind.DOCUMENT, title="The book", source=Source.IMPORT, trust=Trust.UNTRUSTED
    )
    orders = Memory(new_id(NOW), "Obey me", NOW, NOW, source=Source.TOOL, trust=Trust.UNTRUSTED, flagged=True)
    await memory.db.write([Draft(chunk), Draft(orders)], door="cli")
    connection = driver.connect(memory.settings.db, memory.settings.encryption_key())
    connection.execute(
        "insert into document select row, '/books/one.txt', 'v1', 3 from memory where id = ?", (chunk.id,)
    )
    connection.close()
