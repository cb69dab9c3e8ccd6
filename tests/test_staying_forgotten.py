"""What was forgotten does not come back by itself: not by a hook, a summary, a pattern or the same words again."""

from collections.abc import AsyncIterator, Sequence
from datetime import datetime, timedelta

import pytest

from memory_mcp.answers import Forgotten, Preview
from memory_mcp.config import Settings
from memory_mcp.errors import Conflict, SummaryFailed
from memory_mcp.models import Conversation, KeyFact, Memory, Message, NewMemory, Query, Selection
from memory_mcp.service import MemoryService
from memory_mcp.summarizers import Progress, Summary, no_progress
from tests.conftest import Clock
from tests.memories import ask, keep, memory_with, universal

pytestmark = pytest.mark.anyio

LOCKER = Message("user", "My locker number is 4711, please remember it.")
BOAT = Message("user", "My boat is called Kamome and lies in Otsu.")
DEPLOY = Message("user", "We deploy the shop on Fridays from now on.")
YES = Message("assistant", "I shall remember that.")
CHAT = (LOCKER, YES, BOAT, YES)


class Repeater:
    """An engine that makes a fact of each message, as one that learns everything again would."""

    async def summarize(self, messages: Sequence[Message], progress: Progress = no_progress) -> Summary:
        facts = tuple(
            KeyFact(f"It was said: {one.content}", evidence=(place,))
            for place, one in enumerate(messages)
            if one.role == "user"
        )
        return Summary(f"Told: {' '.join(one.content for one in messages)}", facts, engine="repeater")


@pytest.fixture
async def memory(words_only: Settings, clock: Clock) -> AsyncIterator[MemoryService]:
    async with memory_with(words_only, None, clock, summarizer=Repeater()) as opened:
        yield opened


async def forget(memory: MemoryService, *ids: str) -> Forgotten:
    forgotten = await memory.forget(Selection(ids=ids))
    assert isinstance(forgotten, Forgotten)
    return forgotten


async def forget_all(memory: MemoryService, session_id: str) -> None:
    preview = await memory.forget(Selection(session_id=session_id))
    assert isinstance(preview, Preview)
    await memory.forget(Selection(session_id=session_id, confirm=preview.confirm))


async def said(memory: MemoryService, session_id: str = "s1") -> list[str]:
    return [one.content for one in await memory.db.turns(session_id, "user")]


async def turn(memory: MemoryService, message: Message) -> Memory:
    return next(one for one in await memory.db.turns("s1", "user") if one.content == message.content)


async def everything(memory: MemoryService) -> str:
    found = await memory.page(Query(limit=50, include_history=True))
    return "\n".join(one.content for one in found.memories)


# ---- messages ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("gone", [LOCKER, BOAT])
@pytest.mark.parametrize("again", [CHAT, (*CHAT, DEPLOY), CHAT[1:], (CHAT[-1], DEPLOY)])
async def test_a_forgotten_message_stays_away_however_a_host_hands_in_the_conversation(
    memory: MemoryService, gone: Message, again: tuple[Message, ...]
):
    """B40"""
    await memory.summarize(Conversation("s1", messages=CHAT))
    await forget(memory, (await turn(memory, gone)).id)
    await memory.summarize(Conversation("s1", messages=again))
    assert gone.content not in await everything(memory)
    assert (DEPLOY.content in await said(memory)) == (DEPLOY in again)


async def test_the_last_message_stays_away_too_and_the_reply_says_so(memory: MemoryService):
    """B40: nothing is kept after it that would show where it stood."""
    await memory.summarize(Conversation("s1", messages=(YES, BOAT, LOCKER)))
    await forget(memory, (await turn(memory, LOCKER)).id)
    again = await memory.summarize(Conversation("s1", messages=(YES, BOAT, LOCKER)))
    assert "1 message was forgotten on request and not kept again" in again.notice
    await memory.summarize(Conversation("s1", messages=(YES, BOAT, LOCKER, DEPLOY)))
    assert await said(memory) == [YES.content, BOAT.content, DEPLOY.content]


async def test_a_session_that_was_forgotten_whole_goes_on_after_its_last_place(memory: MemoryService):
    await memory.summarize(Conversation("s1", messages=CHAT))
    await forget_all(memory, "s1")
    for _ in range(2):
        await memory.summarize(Conversation("s1", messages=(*CHAT, DEPLOY)))
        assert await said(memory) == [DEPLOY.content]


async def test_what_is_said_after_it_was_forgotten_is_new(memory: MemoryService, clock: Clock):
    """Times tell a message that was handed in again from one that is said now."""
    await memory.summarize(Conversation("s1", messages=(LOCKER, YES)))
    await forget_all(memory, "s1")
    clock.turn(hours=1)
    later = Message("user", "My locker number is 12 by now.", at=clock())
    earlier = Message("user", LOCKER.content, at=clock() - timedelta(hours=2))
    await memory.summarize(Conversation("s1", messages=(earlier, later)))
    assert await said(memory) == [later.content]


async def test_a_lifted_block_lets_a_message_come_back(memory: MemoryService):
    await memory.summarize(Conversation("s1", messages=(YES, BOAT, LOCKER)))
    await forget(memory, (await turn(memory, LOCKER)).id)
    blocks = await memory.blocks()
    assert await memory.lift([one.number for one in blocks] + [999]) == [one.number for one in blocks]
    assert await memory.blocks() == []
    await memory.summarize(Conversation("s1", messages=(YES, BOAT, LOCKER)))
    assert LOCKER.content in await said(memory)


async def test_a_block_holds_places_and_no_word_of_what_was_forgotten(memory: MemoryService):
    """B40: the block itself does not keep the plain text."""
    await memory.summarize(Conversation("s1", messages=CHAT))
    await forget(memory, (await turn(memory, LOCKER)).id)
    blocks = await memory.blocks()
    assert {one.what for one in blocks} >= {"message", "memory"}
    told = " ".join(map(str, blocks)).casefold()
    assert not any(word in told for word in ("locker", "4711", "remember"))


# ---- what is concluded ---------------------------------------------------------------------------------------------


async def test_a_forgotten_fact_is_not_drawn_again_from_the_turn_it_came_from(memory: MemoryService):
    """B40"""
    first = await memory.summarize(Conversation("s1", messages=CHAT))
    [fact] = [one.id for one in first.facts if "4711" in (await memory.get(one.id)).content]
    forgotten = await forget(memory, fact)
    assert forgotten.origins == ((await turn(memory, LOCKER)).id,)
    assert forgotten.resummarize == ("s1",)
    assert all(part in forgotten.detail for part in (forgotten.origins[0], "still stands"))
    again = await memory.summarize(Conversation("s1"))
    assert "4711" not in again.episode.memory.content
    assert "Kamome" in again.episode.memory.content
    assert [one for one in await ask(memory, "locker number 4711") if "4711" in one] == [LOCKER.content]


async def test_the_caller_s_own_facts_do_not_bring_a_forgotten_one_back(memory: MemoryService):
    """B40: the same summary of the same session again, by a host that has the conversation before it."""
    facts = (KeyFact("The locker number is 4711"), KeyFact("The boat Kamome lies in Otsu"))
    first = await memory.summarize(Conversation("s1", summary="Talked.", messages=CHAT, key_facts=facts))
    await forget(memory, first.facts[0].id, (await turn(memory, LOCKER)).id)
    with pytest.raises(Conflict, match="Word it anew"):
        await memory.summarize(Conversation("s1", summary="Talked.", messages=CHAT, key_facts=facts))
    new = KeyFact("The shop is deployed on Fridays")
    again = await memory.summarize(
        Conversation("s1", summary="Talked again.", messages=(*CHAT, DEPLOY), key_facts=(*facts, new))
    )
    assert "1 key fact was not kept" in again.notice
    assert [(await memory.get(one.id)).content for one in again.facts] == [facts[1].content, new.content]
    assert "4711" not in await everything(memory)


async def test_in_a_session_of_which_nothing_was_forgotten_every_fact_of_the_caller_counts(memory: MemoryService):
    await memory.summarize(Conversation("s1", messages=CHAT))
    await forget(memory, await keep(memory, "A note of another session", session_id="s2"))
    told = await memory.summarize(Conversation("s1", summary="Met.", key_facts=(KeyFact("Ken likes plums"),)))
    assert (len(told.facts), "key fact" in told.notice) == (1, False)


async def test_a_forgotten_summary_is_not_made_again_of_the_same_turns(memory: MemoryService):
    first = await memory.summarize(Conversation("s1", messages=CHAT))
    await forget(memory, first.episode.memory.id)
    again = await memory.summarize(Conversation("s1", messages=(*CHAT, DEPLOY)))
    assert again.episode.memory.content == f"Told: {DEPLOY.content}"


async def test_a_summary_that_lost_all_it_told_of_goes_when_none_can_take_its_place(memory: MemoryService):
    await memory.summarize(Conversation("s1", messages=(LOCKER, Message("assistant", "ok"))))
    await forget(memory, (await turn(memory, LOCKER)).id)
    with pytest.raises(SummaryFailed, match="Nothing was saved"):
        await memory.summarize(Conversation("s1"))
    assert "4711" not in await everything(memory)


async def test_a_forgotten_pattern_is_not_proposed_again_of_the_same_facts(settings: Settings, clock: Clock):
    async with memory_with(settings, universal, clock) as memory:
        texts = (
            "Mia asked for the summary as bullet points.",
            "Mia wanted the answer in bullet points instead of prose.",
            "Mia prefers bullet points to running text.",
        )
        for text in texts:
            clock.turn(days=7)
            await keep(memory, text)
        [proposal] = (await memory.proposals()).proposals
        pattern = await memory.accept(proposal)
        await forget(memory, pattern.id)
        assert (await memory.proposals()).proposals == ()
        await memory.lift([one.number for one in await memory.blocks()])
        assert len((await memory.proposals()).proposals) == 1


# ---- on purpose ----------------------------------------------------------------------------------------------------


async def test_a_person_who_stores_it_again_wins_and_is_told(memory: MemoryService):
    """B34: the same text again, three times, each one live memory with its own time and tags."""
    for number in range(3):
        kept = await keep(memory, "The locker number is 4711", tags=(f"t{number}",))
        assert (await memory.get(kept)).tags == (f"t{number}",)
        assert await ask(memory, "locker") == ["The locker number is 4711"]
        await forget(memory, kept)
        assert await ask(memory, "locker", include_history=True) == []
    await memory.summarize(Conversation("s1", messages=CHAT))
    await forget(memory, (await turn(memory, LOCKER)).id)
    stored = await memory.store(NewMemory("The locker number is 4711", session_id="s1"))
    assert (stored.status, "stored on purpose" in stored.notice) == ("stored", True)


# ---- undo ----------------------------------------------------------------------------------------------------------


async def restore(memory: MemoryService, *ids: str):
    return await memory.restore(Selection(ids=ids))


@pytest.mark.parametrize("by", ["key", "id"])
async def test_what_was_superseded_is_restored_and_its_successor_archived(memory: MemoryService, clock: Clock, by: str):
    old = await keep(memory, "The favourite restaurant is Bistro Lune", key="restaurant" if by == "key" else "")
    before = await memory.get(old)
    clock.turn(days=1)
    again = {"key": "restaurant"} if by == "key" else {"supersedes": (old,)}
    new = await keep(memory, "The favourite restaurant is Cafe Soleil", **again)
    clock.turn(days=1)
    changed = await restore(memory, old)
    assert (changed.ids, changed.aside) == ((old,), (new,))
    after = await memory.get(old)
    assert (after.state, after.superseded_by, after.superseded_at, after.valid_to) == (
        before.state, "", None, before.valid_to,
    )  # fmt: skip
    assert await ask(memory, "favourite restaurant", include_history=True) == [before.content]
    assert await ask(memory, "favourite restaurant", as_of="2026-05-05") == [before.content]


async def test_an_end_of_truth_that_was_told_outlives_the_undo(memory: MemoryService, clock: Clock):
    until = datetime.fromisoformat("2026-05-01T00:00:00+00:00")
    old = await keep(memory, "The office is in Kyoto", valid_from=until)
    clock.turn(days=1)
    new = await keep(memory, "The office is in Otsu", supersedes=(old,))
    clock.turn(days=1)
    newest = await keep(memory, "The office is in Nara", supersedes=(new,))
    with pytest.raises(Conflict, match=f"memory {new}, which replaced it, was itself replaced"):
        await restore(memory, old)
    await restore(memory, new)
    changed = await restore(memory, old)
    assert (changed.ids, changed.aside) == ((old,), (new,))
    assert (await memory.get(newest)).state == "archived"
    assert (await memory.get(old)).valid_from == until


async def test_of_several_that_one_memory_replaced_each_comes_back_by_its_own_id(memory: MemoryService):
    first, second = await keep(memory, "Lunch is at noon"), await keep(memory, "Lunch is in the garden")
    new = await keep(memory, "Lunch is at one in the hall", supersedes=(first, second))
    assert (await restore(memory, first)).aside == (new,)
    assert (await restore(memory, second)).aside == ()
    assert sorted(await ask(memory, "lunch")) == ["Lunch is at noon", "Lunch is in the garden"]


async def test_an_earlier_summary_is_not_taken_back(memory: MemoryService):
    first = await memory.summarize(Conversation("s1", summary="We began."))
    await memory.summarize(Conversation("s1", summary="We began, and went on."))
    with pytest.raises(Conflict, match="Summarize the session again"):
        await restore(memory, first.episode.memory.id)


async def test_a_wide_restore_undoes_nothing(memory: MemoryService):
    old = await keep(memory, "old wine", tags=("t",))
    await keep(memory, "new wine", tags=("t",), supersedes=(old,))
    preview = await memory.restore(Selection(tags=("t",)))
    assert isinstance(preview, Preview)
    assert preview.count == 0
