"""Forty confidences amid five hundred memories of all kinds, forgotten while others write, are nowhere afterwards."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.app import open_memory
from memory_mcp.config import Settings
from memory_mcp.models import (
    Conversation,
    Filter,
    KeyFact,
    Kind,
    Memory,
    Message,
    NewMemory,
    Selection,
    Source,
    new_id,
    utc_now,
)
from memory_mcp.service import MemoryService
from memory_mcp.storage import driver, open_store
from memory_mcp.storage.database import open_database
from memory_mcp.storage.schema import packaged_migrations
from memory_mcp.storage.sessions import namespace_number
from memory_mcp.storage.values import Draft
from memory_mcp.storage.words import add_words
from memory_mcp.tokens import digest
from tests.confidences import Confidence, confidences, patterns, remains_in, vector_patterns
from tests.rawstdio import RawServer
from tests.shell import CHECKOUT, process

pytestmark = pytest.mark.anyio

CONFIDENCES = confidences(40)
WORDS = [word.casefold() for one in CONFIDENCES for word in one.words]
ORDINARY = 460
BY_STORE, BY_TURN, BY_HOOK, BY_FILE = CONFIDENCES[:18], CONFIDENCES[18:24], CONFIDENCES[24:30], CONFIDENCES[30:34]
BY_PATTERN, BY_DOCUMENT, BEFORE = CONFIDENCES[34:37], CONFIDENCES[37:39], CONFIDENCES[39]
EVERYTHING = {"MEMORY_MCP_LOG": "debug", "MEMORY_MCP_CAPTURE": "on", "MEMORY_MCP_STORES_A_MINUTE": "10000"}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    folder = tmp_path / "place"
    folder.mkdir()
    return folder / "memory.db"


# ---- what is kept --------------------------------------------------------------------------------------------------


async def keep_before_the_upgrade(path: Path) -> None:
    """A file of the first version: the next opening migrates it, and makes a backup that holds the confidence."""
    old = await open_database(path, migrations=packaged_migrations()[:1])
    await old.write(_as_version_one_did)
    await old.close()


def _as_version_one_did(connection: driver.Connection) -> None:
    row = connection.execute(
        """
        insert into memory (id, namespace, kind, content, importance, confidence, source, trust, created_at, updated_at,
                            digest, tokens)
        values (:id, :namespace, 'fact', :content, .5, 1, 'user', 'trusted', 1, 1, :digest, 0) returning row
        """,
        {
            "id": new_id(),
            "namespace": namespace_number(connection, "user"),
            "content": BEFORE.text,
            "digest": digest(BEFORE.text),
        },
    ).fetchone()[0]
    add_words(connection, row)


async def keep_everything(memory: MemoryService) -> None:
    for number in range(ORDINARY):
        kind = (Kind.FACT, Kind.PREFERENCE, Kind.DECISION, Kind.METRIC, Kind.LESSON)[number % 5]
        tags, session = (f"tag{number % 7}",), f"s{number % 9}" if number % 3 else ""
        await memory.store(
            NewMemory(f"Ordinary text {number} about gardens and trains.", kind, tags, session_id=session)
        )
    for number, one in enumerate(BY_STORE):
        await keep_by_store(memory, number, one)
    for number, one in enumerate(BY_TURN):
        await memory.summarize(told_of(number, one))
    for one in BY_PATTERN:
        facts = [(await memory.store(NewMemory(f"{one.text} Noted on day {day}."))).id for day in range(3)]
        await memory.store(NewMemory(f"Again and again: {one.text}", Kind.PATTERN, derived_from=tuple(facts)))
    now = utc_now()
    files = [Memory(new_id(), one.text, now, now, Kind.DOCUMENT, title=one.words[0]) for one in BY_DOCUMENT]
    await memory.db.write([Draft(one) for one in files], door="cli")
    await memory.embed_pending()


async def keep_by_store(memory: MemoryService, number: int, one: Confidence) -> None:
    """Plain and with names, untrusted, superseded once and twice, archived."""
    labelled = {"tags": (one.words[0],), "key": one.words[1], "speaker": one.words[0]} if number < 6 else {}
    source = Source.TOOL if number in (6, 7) else Source.AGENT
    kept = (await memory.store(NewMemory(one.text, source=source, **labelled))).id
    if number in (8, 9, 10, 11):
        await memory.store(NewMemory(f"A later word on matter {number}.", supersedes=(kept,)))
    if number in (12, 13):
        await memory.archive(Selection(ids=(kept,)))
    if number in (14, 15):
        await memory.store(NewMemory(f"{one.text} It was said again.", supersedes=(kept,)))


def told_of(number: int, one: Confidence, summary: str = "") -> Conversation:
    messages = (
        Message("user", "Good morning, I have something to tell."),
        Message("user", one.text),
        Message("assistant", "I shall keep it to myself."),
    )
    own = summary or f"Heard this: {one.text}"
    facts = (KeyFact(one.text, key=one.words[0]), KeyFact(f"Session {number} went well"))
    return Conversation(
        f"told{number}", own, () if summary else facts, messages, lessons=() if summary else (one.text,)
    )


class Record:
    """A host's record of a conversation, and a file of another one."""

    def __init__(self, folder: Path) -> None:
        self.transcript, self.chat = folder / "transcript.jsonl", folder / "chat.txt"
        texts = [text for one in BY_HOOK for text in (one.text, "Understood, I shall remember it.")]
        lines = [
            {"type": "user" if not at % 2 else "assistant", "uuid": f"m{at}", "message": {"content": text}}
            for at, text in enumerate(texts)
        ]
        self.transcript.write_text("".join(json.dumps(line) + "\n" for line in lines), "utf-8")
        self.chat.write_text("".join(f"Ada: {one.text}\nBob: I see.\n" for one in BY_FILE), "utf-8")

    def take_in(self, path: Path) -> None:
        hook = {"hook_event_name": "Stop", "session_id": "heard", "transcript_path": str(self.transcript), "cwd": "/"}
        run(path, "capture", "claude-code", stdin=json.dumps(hook).encode())
        run(path, "import-conversation", str(self.chat), "--session", "read")

    def rewrite(self) -> None:
        """The host writes its record anew, so that all of it is read again."""
        more = {"type": "user", "uuid": "last", "message": {"content": "And a last ordinary word."}}
        self.transcript.write_text(json.dumps(more) + "\n" + self.transcript.read_text("utf-8"), "utf-8")


def run(path: Path, *words: str, stdin: bytes = b"") -> str:
    done = process(*words, stdin=stdin, MEMORY_MCP_DB=str(path), **EVERYTHING)
    assert done.returncode == 0, (words, done.stderr)
    return done.stdout.decode() + done.stderr.decode()


@contextmanager
def writing(path: Path, name: str) -> Iterator[None]:
    """A process that writes all the while."""
    program = [sys.executable, str(Path(__file__).with_name("storing.py")), str(path), name]
    with subprocess.Popen(
        program,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=CHECKOUT,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    ) as other:
        try:
            yield
        finally:
            written, _ = other.communicate("", timeout=60)
        assert (other.returncode, int(written) > 10) == (0, True), "it wrote meanwhile"


# ---- where it is looked for ----------------------------------------------------------------------------------------


async def ids_that_tell(path: Path) -> list[str]:
    store = await open_store(path, now=utc_now)
    chosen = await store.select(Filter(states=()), before=None, limit=100_000)
    told = [one.id for one in await store.get([memory_id for memory_id, _ in chosen]) if tells(str(one))]
    await store.close()
    return told


def tells(text: str) -> bool:
    return any(word in text.casefold() for word in WORDS)


def through_every_door(server: RawServer, path: Path, gone: Sequence[str]) -> Iterator[tuple[str, str]]:
    """Ask for it everywhere; gives the door and what was answered there."""
    for one in CONFIDENCES:
        for question in (one.text, one.words[0], "Where does the key lie?"):
            yield "recall", said(server.tool("recall", query=question, limit=20, include_history=True))
        yield "recall by tag", said(server.tool("recall", tags=[one.words[0]]))
    for start in range(0, len(gone), 200):
        yield "recall by ids", said(server.tool("recall", ids=gone[start : start + 200]))
    yield "briefing", said(server.tool("recall"))
    yield "list", said(server.tool("recall", since="2020-01-01", limit=50, max_tokens=20_000))
    yield from read_resources(server, gone)
    for name, arguments in (("briefing", {"task": "keys"}), ("consolidate", {}), ("review_memories", {})):
        yield f"prompt {name}", said(server.call("prompts/get", {"name": name, "arguments": arguments}))
    for words in (("export",), ("list", "--history", "--limit", "50"), ("audit", "log", "--json"), ("forgotten",)):
        yield " ".join(words), run(path, *words)
    yield "list --archived", run(path, "list", "--archived", "--limit", "50")
    yield "context", run(path, "context")


def read_resources(server: RawServer, gone: Sequence[str]) -> Iterator[tuple[str, str]]:
    listed = server.call("resources/list")
    yield "resources", said(listed)
    addresses = [one["uri"] for one in listed["result"]["resources"]]
    for uri in (*addresses, *(f"memory://session/{name}" for name in ("told0", "heard", "read"))):
        yield uri, said(server.call("resources/read", {"uri": uri}))
    for memory_id in gone:
        yield memory_id, said(server.call("resources/read", {"uri": f"memory://memory/{memory_id}"}))


def said(answer: dict[str, Any]) -> str:
    return json.dumps(answer, ensure_ascii=False)


def assert_nowhere(server: RawServer, path: Path, gone: Sequence[str], looked_for: Sequence[bytes]) -> None:
    answers = list(through_every_door(server, path, gone))
    assert [(door, text) for door, text in answers if tells(text)] == []
    assert remains_in(path.parent, looked_for) == {}


# ---- the trial -----------------------------------------------------------------------------------------------------


async def test_forty_confidences_are_nowhere_once_they_are_forgotten(path: Path, tmp_path: Path):
    """B35, B36, B39, B40: no byte in any file, nothing through any door, neither later nor when told again."""
    await keep_before_the_upgrade(path)
    record = Record(tmp_path)
    async with open_memory(Settings(db=path), door="cli") as memory:
        await keep_everything(memory)
    record.take_in(path)
    run(path, "summarize", "--pending")
    told = await ids_that_tell(path)
    looked_for = [*patterns(CONFIDENCES), *vector_patterns(path, told)]
    found = remains_in(path.parent, looked_for)
    assert len(found["memory.db"]) > 5 * len(CONFIDENCES)
    assert any(".backup" in name for name in found), "the backup of the upgrade holds one"

    with serving(path) as server, writing(path, "one"), writing(path, "two"):
        forget_by_words(server, CONFIDENCES[:10])
        forget_by_ids(server, told)
        assert_nowhere(server, path, told, looked_for)
    with serving(path) as server:
        assert_nowhere(server, path, told, looked_for)
        tell_again(server, path, record)
        await rebuild(path)
        assert_nowhere(server, path, told, looked_for)
    assert "agree with the rows" in run(path, "doctor")


@contextmanager
def serving(path: Path) -> Iterator[RawServer]:
    """A server of a host, whose log tells nothing at its end."""
    with RawServer(path, EVERYTHING) as server:
        server.initialize()
        yield server
        assert server.end_input() == 0
        assert not tells(server.errors.decode())


def tell_again(server: RawServer, path: Path, record: Record) -> None:
    """Everybody who told it by himself tells it once more."""
    record.rewrite()
    record.take_in(path)
    for number, one in enumerate(BY_TURN):
        again = told_of(number, one, "Went on in confidence.")
        messages = [{"role": message.role, "content": message.content} for message in again.messages]
        server.tool("summarize", session_id=again.session_id, summary=again.summary, messages=messages)
    run(path, "summarize", "--pending")


def forget_by_words(server: RawServer, some: Sequence[Confidence]) -> None:
    for one in some:
        preview = server.tool("forget", query=one.words[0])["structuredContent"]
        erased = server.tool("forget", query=one.words[0], confirm=preview["confirm"])["structuredContent"]
        assert (len(erased["erased"]), erased["verification"]) == (preview["count"], "clean"), erased


def forget_by_ids(server: RawServer, ids: Sequence[str]) -> None:
    """Those that are left, in batches of as many as are exact."""
    for start in range(0, len(ids), 50):
        done = server.tool("forget", ids=ids[start : start + 50])
        facts = done.get("structuredContent", {})
        assert facts.get("verification", "clean") == "clean", facts


async def rebuild(path: Path) -> None:
    store = await open_store(path, now=utc_now)
    await store.rebuild()
    await store.close()
