"""The main job, shown: what a host and its memory do over two conversations, each promise checked."""

import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import anyio
from mcp import Client, MCPError, StdioServerParameters
from mcp.types import TextContent, TextResourceContents

Say = Callable[[str], None]

SERVER = (sys.executable, "-m", "memory_mcp")

READY_WITHIN = 60  # seconds; far more than the model needs, for slow and busy machines

VIOLIN = "His daughter Hana has started violin lessons."
BUCKWHEAT = "Buckwheat makes him ill, so soba restaurants are out."
DATABASE = "We settled on PostgreSQL for the inventory project."
HOKKAIDO = "Next summer the family will travel to Hokkaido."
RUNNING = "毎朝6時に起きて5キロ走るのが日課です。"
CATS = "猫を二匹飼っていて、名前はミケとクロ。"
OLD_RESTAURANT = "The favourite restaurant is Trattoria Luna in Shibuya."
NEW_RESTAURANT = "The favourite restaurant is Bistro Sakura in Ginza."
KNEE = "Dr. Lindenbaum treats his left knee every second Thursday."
KNEE_QUESTION = "Which physician is in charge of the joint pain?"

MEMORIES: tuple[dict[str, Any], ...] = (
    {"content": VIOLIN, "kind": "relationship"},
    {"content": BUCKWHEAT, "importance": 0.9},
    {"content": DATABASE, "kind": "decision"},
    {"content": HOKKAIDO},
    {"content": RUNNING, "tags": ["健康"]},
    {"content": CATS},
    {"content": OLD_RESTAURANT, "kind": "preference", "key": "favourite_restaurant"},
    {"content": KNEE, "tags": ["health"]},
)

QUESTIONS = {
    "Which musical instrument is the kid learning?": VIOLIN,
    "Which food is an allergy risk?": BUCKWHEAT,
    "What database did our team pick?": DATABASE,
    "ジョギングの習慣はありますか？": RUNNING,
    "ペットはいますか？": CATS,
}
"""Each question and the memory that answers it; no two share a word, so only the meaning can connect them."""

SUMMARY: dict[str, Any] = {
    "session_id": "demo-1",
    "summary": "We planned the Hokkaido trip: fly to Sapporo on August 3rd, then four nights in Otaru.",
    "key_facts": [{"content": "The flight to Sapporo leaves on August 3rd.", "kind": "decision"}],
    "outcome": "partial",
}


class PromiseError(Exception):
    """A step did not do what this package promises."""


Failure = PromiseError | MCPError | OSError


@dataclass(frozen=True)
class Host:
    """An assistant's host with one memory server connected."""

    client: Client

    async def call(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its structured result; a refusal breaks the promise."""
        result = await self.client.call_tool(tool, arguments)
        if result.is_error or result.structured_content is None:
            text = " ".join(part.text for part in result.content if isinstance(part, TextContent))
            raise PromiseError(f"{tool} answered: {text}")
        return result.structured_content

    async def ready(self) -> None:
        """Wait until recall works by meaning; before that it answers by keyword and says so."""
        answer: dict[str, Any] = {}
        for _ in range(READY_WITHIN * 10):
            answer = await self.call("recall", query="hello")
            if answer["mode"] == "hybrid":
                return
            await anyio.sleep(0.1)
        raise PromiseError(f"no recall by meaning within {READY_WITHIN} seconds: {answer.get('notice')}")

    async def ask(self, question: str) -> list[dict[str, Any]]:
        """Recall what fits the question, best first."""
        return (await self.call("recall", query=question))["hits"]

    async def read(self, uri: str) -> str:
        """Read a resource as text."""
        contents = (await self.client.read_resource(uri)).contents
        return "\n".join(part.text for part in contents if isinstance(part, TextResourceContents))


async def run(say: Say, server: Sequence[str] = SERVER) -> int:
    """Show `server` (a command) at work on a temporary file. Returns the exit code: 0 as promised, 1 not."""
    broken: list[str] = []
    with TemporaryDirectory(prefix="memory-mcp-demo-", ignore_cleanup_errors=True) as folder:
        started_with = StdioServerParameters(
            command=server[0],
            args=list(server[1:]),
            env={"MEMORY_MCP_DB": str(Path(folder, "memory.db"))},
            cwd=folder,  # or a checkout in the current folder would be run instead of the installed package
        )
        try:
            memory_id = await _first_conversation(started_with, say)
            await _second_conversation(started_with, memory_id, say)
            _search_files(Path(folder), say)
        except* (PromiseError, MCPError, OSError) as group:
            broken += _reasons(group)
    say("\n".join(f"NOT AS PROMISED: {reason}" for reason in broken) or "Everything went as promised.")
    return 1 if broken else 0


async def _first_conversation(server: StdioServerParameters, say: Say) -> str:
    async with _connected(server) as host:
        say("A real server over stdio, a real embedding model, a temporary file, no network.\n")
        ids = await _store(host, say)
        await _recall(host, say)
        await _correct(host, say)
        await _summarize(host, say)
    return ids[KNEE]


async def _second_conversation(server: StdioServerParameters, memory_id: str, say: Say) -> None:
    say("The server has ended; a new one starts on the same file, as when you come back tomorrow.\n")
    async with _connected(server) as host:
        await _remember(host, say)
        await _forget(host, memory_id, say)


@asynccontextmanager
async def _connected(server: StdioServerParameters) -> AsyncGenerator[Host]:
    async with Client(server, read_timeout_seconds=READY_WITHIN) as client:
        host = Host(client)
        await host.ready()
        yield host


async def _store(host: Host, say: Say) -> dict[str, str]:
    say("1. store: what is worth knowing later")
    ids: dict[str, str] = {}
    for memory in MEMORIES:
        stored = await host.call("store", session_id="demo-1", **memory)
        _promise(stored["status"] == "stored", f"{memory['content']!r} was not stored: {stored}")
        ids[memory["content"]] = stored["id"]
        say(f"   kept   {memory['content']}")
    return ids


async def _recall(host: Host, say: Say) -> None:
    say("\n2. recall: by meaning; no question shares a word with its answer")
    for question, answer in QUESTIONS.items():
        best = (await host.ask(question))[0]
        _promise(best["content"] == answer, f"{question!r} recalled {best['content']!r} first, not {answer!r}")
        say(f"   asked  {question}\n   found  {best['content']}")


async def _correct(host: Host, say: Say) -> None:
    say("\n3. store again under the same key: a correction")
    stored = await host.call("store", content=NEW_RESTAURANT, kind="preference", key="favourite_restaurant")
    _promise(stored["status"] == "superseded", f"the correction did not supersede the old memory: {stored}")
    found = [hit["content"] for hit in await host.ask("What is the favourite restaurant?")]
    _promise(found[0] == NEW_RESTAURANT, f"the corrected restaurant is not recalled first: {found[0]!r}")
    _promise(OLD_RESTAURANT not in found, "the superseded restaurant is still recalled")
    say(f"   was    {OLD_RESTAURANT}\n   found  {NEW_RESTAURANT}")


async def _summarize(host: Host, say: Say) -> None:
    say("\n4. summarize: the conversation becomes an episode; the assistant's own model wrote the text")
    episode = await host.call("summarize", **SUMMARY)
    recent = await host.read("memory://episodes/recent")
    _promise(SUMMARY["summary"] in recent, "the episode is not among the recent episodes")
    say(f"   kept   {SUMMARY['summary']}\n   listed in memory://episodes/recent as {episode['id']}\n")


async def _remember(host: Host, say: Say) -> None:
    say("5. recall in the next conversation")
    await _recall_again(host, "How far did the travel plans get?", SUMMARY["summary"], say)
    for question in ("Which musical instrument is the kid learning?", "ペットはいますか？"):
        await _recall_again(host, question, QUESTIONS[question], say)
    await _recall_again(host, KNEE_QUESTION, KNEE, say)


async def _recall_again(host: Host, question: str, answer: str, say: Say) -> None:
    found = [hit["content"] for hit in await host.ask(question)]
    _promise(answer in found[:3], f"after the restart {question!r} did not recall {answer!r} but {found[:3]}")
    say(f"   asked  {question}\n   found  {answer}")


async def _forget(host: Host, memory_id: str, say: Say) -> None:
    say("\n6. forget: one memory, for good")
    forgotten = await host.call("forget", ids=[memory_id])
    erased = memory_id in forgotten["erased"] and forgotten["verification"] == "clean"
    _promise(erased, f"forget did not erase the memory, or could not verify it: {forgotten}")
    hits = await host.ask(KNEE_QUESTION) + await host.ask("Dr. Lindenbaum")
    _promise(all(hit["id"] != memory_id for hit in hits), "the forgotten memory is still recalled")
    say(f"   gone   {KNEE}\n   recall no longer finds it, by meaning or by name")


def _search_files(folder: Path, say: Say) -> None:
    files = {path.name: path.read_bytes().lower() for path in sorted(folder.rglob("*")) if path.is_file()}
    _promise(any(b"hokkaido" in data for data in files.values()), "a memory that was kept is not in the file")
    left = [name for name, data in files.items() if b"lindenbaum" in data]
    _promise(not left, f"the forgotten text is still in {left}")
    size = sum(map(len, files.values()))
    say(f"   no byte of it is left in {', '.join(files)}: {size:,} bytes were searched after the")
    say("   server had ended; the same search does find a memory that was kept\n")


def _promise(kept: bool, otherwise: str) -> None:
    if not kept:
        raise PromiseError(otherwise)


def _reasons(group: ExceptionGroup[Failure]) -> list[str]:
    """Flatten the groups in which task groups wrap what goes wrong inside them."""
    reasons: list[str] = []
    for error in group.exceptions:
        reasons += [str(error)] if isinstance(error, Failure) else _reasons(error)
    return reasons
