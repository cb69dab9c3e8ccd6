"""An assistant that stores more than a person allows is slowed: clearly, for all its processes, and for nobody else."""

import re
from collections.abc import AsyncIterator
from dataclasses import replace

import anyio
import pytest
from mcp.client import Client

from memory_mcp.app import open_memory
from memory_mcp.config import Settings
from memory_mcp.errors import TooFast
from memory_mcp.models import Conversation, KeyFact, Kind, Message
from memory_mcp.server.server import build_server
from memory_mcp.service import MemoryService
from memory_mcp.storage import driver
from tests.conftest import Clock
from tests.memories import keep, memory_with
from tests.rawstdio import ERAS

pytestmark = pytest.mark.anyio

MOST = 5
REFUSED = (
    r"^Nothing was saved: 5 memories were stored within a minute, the limit is 5 \(MEMORY_MCP_STORES_A_MINUTE\)\."
    r" Wait (\d+) seconds?, or put them into one summarize call\.$"
)


@pytest.fixture
def limited(words_only: Settings) -> Settings:
    return words_only.model_copy(update={"stores_a_minute": MOST})


@pytest.fixture
async def person(limited: Settings, clock: Clock) -> AsyncIterator[MemoryService]:
    """The memory as a shell opens it."""
    async with memory_with(limited, None, clock) as opened:
        yield opened


@pytest.fixture
def assistant(person: MemoryService) -> MemoryService:
    """The same memory as the tools call it."""
    return replace(person, door="mcp", sessions=replace(person.sessions, door="mcp"))


async def fill(assistant: MemoryService, clock: Clock) -> None:
    for number in range(MOST):
        await keep(assistant, f"Note {number}")
        clock.turn(seconds=2)


async def count(memory: MemoryService) -> int:
    return (await memory.stats()).memories


async def test_one_store_too_many_saves_nothing_and_says_how_long_to_wait(assistant: MemoryService, clock: Clock):
    await fill(assistant, clock)
    with pytest.raises(TooFast, match=REFUSED) as refused:
        await keep(assistant, "One too many")
    seconds = int(re.match(REFUSED, str(refused.value))[1])
    assert await count(assistant) == MOST
    clock.turn(seconds=seconds - 1)
    with pytest.raises(TooFast, match="Wait 1 second, or"):
        await keep(assistant, "Still too early")
    clock.turn(seconds=1)
    await keep(assistant, "One more")
    with pytest.raises(TooFast):
        await keep(assistant, "And another")
    assert await count(assistant) == MOST + 1


async def test_a_pace_within_the_limit_is_never_refused(assistant: MemoryService, clock: Clock):
    for number in range(4 * MOST):
        await keep(assistant, f"Note {number}")
        clock.turn(seconds=60 / MOST)


async def test_a_text_told_again_counts_too(assistant: MemoryService):
    for _ in range(MOST):
        await keep(assistant, "The same")
    with pytest.raises(TooFast):
        await keep(assistant, "The same")


async def test_all_processes_of_a_file_count_together(assistant: MemoryService, limited: Settings, clock: Clock):
    async with memory_with(limited, None, clock) as other:
        for number, memory in enumerate([assistant, replace(other, door="mcp")] * 2):
            await keep(memory, f"Note {number}")
        await keep(assistant, "The fifth")
        with pytest.raises(TooFast):
            await keep(replace(other, door="mcp"), "The sixth")


async def test_a_person_a_hook_and_an_import_are_not_slowed(
    person: MemoryService, assistant: MemoryService, clock: Clock
):
    told = [(str(number), Message("user", f"I have {number} apples.")) for number in range(2 * MOST)]
    await person.take_in(told, Conversation("file"))
    for number in range(2 * MOST):
        await keep(person, f"Note {number}")
        await keep(replace(person, door="hook"), f"Heard {number}")
    await fill(assistant, clock)
    await keep(person, "A person goes on")


async def test_a_conversation_may_still_be_summarized_and_its_messages_do_not_count(
    assistant: MemoryService, clock: Clock
):
    await fill(assistant, clock)
    said = tuple(Message("user", f"I planted {number} rows of beans in the garden.") for number in range(3 * MOST))
    await assistant.summarize(Conversation("garden", messages=said))
    await assistant.summarize(Conversation("shed", summary="They built a shed.", messages=said))
    turns, _, _ = await assistant.session("shed")
    assert len(turns) == 3 * MOST


async def test_key_facts_count_so_that_summaries_are_no_way_around_the_limit(assistant: MemoryService):
    facts = tuple(KeyFact(f"Fact {number}") for number in range(2 * MOST))
    await assistant.summarize(Conversation("s1", summary="A long talk.", key_facts=facts))
    before = await count(assistant)
    with pytest.raises(TooFast, match=r"11 memories were stored .* Wait 60 seconds\.$"):
        await assistant.summarize(Conversation("s2", summary="Another.", key_facts=facts[:1]))
    with pytest.raises(TooFast):
        await keep(assistant, "Nor by store")
    assert await count(assistant) == before


async def test_sessions_summarized_in_the_background_leave_the_assistant_its_pace(limited: Settings, clock: Clock):
    settings = limited.model_copy(update={"summarizer": "extractive", "stores_a_minute": 1})
    async with memory_with(settings, None, clock) as person:
        for number in range(3):
            turn = {"kind": Kind.TURN, "session_id": f"s{number}", "speaker": "user"}
            await keep(person, f"I planted {number} rows of beans in the garden.", **turn)
    clock.turn(hours=1)
    async with open_memory(settings, now=clock) as served:
        with anyio.fail_after(30):
            while await served.pending_sessions():
                pass  # each look gives way to the task that summarizes
        await keep(served, "The assistant's own")


async def test_a_flood_of_calls_at_once_is_let_through_up_to_the_limit(limited: Settings):
    answers: list[str] = []
    async with Client(build_server(limited)) as client, anyio.create_task_group() as calls:

        async def store(number: int) -> None:
            result = await client.call_tool("store", {"content": f"Note {number}"})
            answers.append(result.content[0].text if result.is_error else "stored")

        for number in range(40):
            calls.start_soon(store, number)
    refused = [one for one in answers if one != "stored"]
    assert len(answers) - len(refused) == MOST
    assert all(re.match(REFUSED, one) for one in refused)


@pytest.mark.parametrize("mode", ERAS)
async def test_the_model_reads_what_to_do_and_every_other_tool_goes_on(limited: Settings, mode: str):
    async with Client(build_server(limited), mode=mode) as client:
        for number in range(MOST):
            stored = await client.call_tool("store", {"content": f"Note {number}"})
        refused = await client.call_tool("store", {"content": "One too many"})
        assert refused.is_error
        assert re.match(REFUSED, refused.content[0].text)
        assert not (await client.call_tool("recall", {"query": "note"})).is_error
        assert not (await client.call_tool("forget", {"ids": [stored.structured_content["id"]]})).is_error


async def test_the_look_at_the_last_minute_reads_nothing_older(assistant: MemoryService, limited: Settings):
    """It is made at every store, and the audit has a line for every act."""
    await keep(assistant, "One")
    connection = driver.connect(limited.db)
    plan = connection.execute("explain query plan select * from audit where at > 5 and at <= 9").fetchall()
    connection.close()
    assert "USING INDEX audit_by_time" in str([tuple(line) for line in plan])
