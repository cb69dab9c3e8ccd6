"""Five stories a person would tell, each through the public door, with restarts in between."""

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from functools import partial

import pytest

from memory_mcp.answers import Forgotten, Preview
from memory_mcp.app import open_memory
from memory_mcp.config import Settings
from memory_mcp.errors import NotFound
from memory_mcp.models import Conversation, KeyFact, Kind, Message, NewMemory, Outcome, Query, Selection, Source
from memory_mcp.service import MemoryService
from tests.conftest import Clock
from tests.memories import ask, memory_with, universal

pytestmark = pytest.mark.anyio

Door = Callable[[], AbstractAsyncContextManager[MemoryService]]


@pytest.fixture
def opened(settings: Settings, clock: Clock) -> Door:
    """Begin a new session: the file is opened again. Only the model's second of loading is spared."""
    return partial(memory_with, settings, universal, clock)


async def test_what_i_told_on_monday_is_known_on_friday(settings: Settings, clock: Clock):
    opened = partial(open_memory, settings, door="cli", now=clock)
    async with opened() as memory:
        await memory.store(NewMemory("I am allergic to walnuts", Kind.FACT, source=Source.USER, importance=0.9))
        await memory.store(NewMemory("妻の誕生日は六月九日です", Kind.RELATIONSHIP, source=Source.USER))
    clock.turn(days=4)
    async with opened() as memory:
        assert (await ask(memory, "Can you suggest a cake I can eat?"))[0] == "I am allergic to walnuts"
        assert (await ask(memory, "When was my wife born?"))[0] == "妻の誕生日は六月九日です"
        assert (await ask(memory))[0] == "I am allergic to walnuts"


async def test_i_changed_my_mind_and_can_still_see_what_i_thought_before(opened: Door, clock: Clock):
    async with opened() as memory:
        await memory.store(NewMemory("We host the shop on Heron", Kind.DECISION, key="shop_host"))
    clock.turn(days=60)
    async with opened() as memory:
        moved = await memory.store(NewMemory("We host the shop on Ibis since July", Kind.DECISION, key="shop_host"))
        assert moved.status == "superseded"
    clock.turn(days=1)
    async with opened() as memory:
        assert await ask(memory, "Where does the shop run?") == ["We host the shop on Ibis since July"]
        assert await ask(memory, "Where did the shop run?", as_of="2026-05-20") == ["We host the shop on Heron"]
        assert await ask(memory, "Where does the shop run?", include_history=True) == [
            "We host the shop on Ibis since July", "We host the shop on Heron",
        ]  # fmt: skip


async def test_yesterday_s_failure_spares_me_today_s(opened: Door, clock: Clock):
    async with opened() as memory:
        await memory.summarize(
            Conversation(
                "deploy 2026-05-03",
                summary="Rolled out version 12. The rollout hung because the migration locked the orders table.",
                key_facts=(KeyFact("Migrations of the orders table must run at night", Kind.LESSON),),
                outcome=Outcome.FAILURE,
                lessons=("Test migrations against a copy with real row counts.",),
            )
        )
    clock.turn(days=1)
    async with opened() as memory:
        assert (await memory.recall(Query())).hits[0].outcome is Outcome.FAILURE
        found = await ask(memory, "What should I watch out for when I change the orders database?")
        assert "Migrations of the orders table must run at night" in found[:2]
        assert any("real row counts" in content for content in await ask(memory, outcome=Outcome.FAILURE))


async def test_a_long_talk_goes_on_after_a_break(opened: Door, clock: Clock):
    morning = (
        Message("user", "I decided to plant a quince tree behind the shed, because the soil there stays moist."),
        Message("assistant", "Good choice. Quinces like moist soil, and November is the best month for planting."),
    )
    evening = (Message("user", "My neighbour Otto offered to lend me his auger for the hole on Saturday."),)
    async with opened() as memory:
        first = await memory.summarize(Conversation("garden", messages=morning))
    clock.turn(hours=9)
    async with opened() as memory:
        second = await memory.summarize(Conversation("garden", messages=(*morning, *evening)))
        assert (first.status, second.status, second.turns_stored) == ("stored", "updated", 1)
        turns, episodes, _ = await memory.session("garden")
        assert [turn.sequence for turn in turns] == [1, 2, 3]
        assert [episode.version for episode in episodes] == [2]
        assert evening[0].content in (await ask(memory, "Who lends me a tool?", kinds=(Kind.TURN,)))[:2]
        assert "not summarized" not in (await memory.recall(Query())).notice


async def test_what_i_ask_to_be_forgotten_is_gone_for_good(opened: Door, settings: Settings, clock: Clock):
    secret = "Zwiebelfischlein"  # no other text holds it
    async with opened() as memory:
        await memory.summarize(
            Conversation(
                "gossip",
                summary=f"Talked about {secret}.",
                messages=(Message("user", f"{secret} owes me money and I am angry about it."),),
                key_facts=(KeyFact(f"{secret} owes the user money"),),
            )
        )
        kept = await memory.store(NewMemory("The piano is tuned in September"))
    async with opened() as memory:
        preview = await memory.forget(Selection(query=secret))
        assert isinstance(preview, Preview)
        assert preview.count == 3
        gone = await memory.forget(Selection(query=secret, confirm=preview.confirm))
        assert isinstance(gone, Forgotten)
        assert gone.verification == "clean"
        assert not any(secret in content for content in await ask(memory, f"{secret} owes money", include_history=True))
        with pytest.raises(NotFound):
            await memory.session("gossip")
    files = [part.read_bytes().lower() for part in settings.db.parent.iterdir() if part.is_file()]
    assert files
    assert not any(secret.lower().encode() in content for content in files)
    async with opened() as memory:
        assert await ask(memory, "When is the piano tuned?") == [(await memory.get(kept.id)).content]
