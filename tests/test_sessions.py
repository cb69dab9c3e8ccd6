"""Sessions that were kept and not summarized: who does it, when, and what happens when it fails."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass, field

import anyio
import pytest

from memory_mcp.config import Settings
from memory_mcp.errors import Conflict, SummaryFailed
from memory_mcp.models import Conversation, KeyFact, Kind, Message, Outcome, Query, Source
from memory_mcp.service import MemoryService
from memory_mcp.summarizers import Progress, Summary, no_progress
from tests.conftest import Clock
from tests.memories import WordsEmbedder, ask, keep, memory_with

pytestmark = pytest.mark.anyio

MOVING = (
    Message("user", "I moved to Sapporo last month because of the new job."),
    Message("assistant", "How do you like the snow in Sapporo?"),
    Message("user", "My landlord Mr. Abe lent me his snow shovel until March."),
)


@dataclass
class Writer:
    """A summarizer that writes what a test tells it to, fails as often as it is told, and can be made to wait."""

    failures: int = 0
    facts: tuple[KeyFact, ...] = ()
    calls: list[Sequence[Message]] = field(default_factory=list)
    gate: anyio.Event | None = None
    begun: anyio.Event = field(default_factory=anyio.Event)
    name: str = "writer"

    async def summarize(self, messages: Sequence[Message], progress: Progress = no_progress) -> Summary:
        self.calls.append(messages)
        self.begun.set()
        await progress(0, 1)
        if self.gate:
            await self.gate.wait()
        if self.failures:
            self.failures -= 1
            raise SummaryFailed("The engine did not answer.")
        await progress(1, 1)
        text = f"{len(messages)} messages, the last: {messages[-1].content}"
        return Summary(text, self.facts, engine=self.name, outcome=Outcome.SUCCESS)


@pytest.fixture
def writer() -> Writer:
    return Writer()


@pytest.fixture
async def memory(settings: Settings, clock: Clock, writer: Writer) -> AsyncIterator[MemoryService]:
    async with memory_with(settings, WordsEmbedder, clock, summarizer=writer) as opened:
        yield opened


async def say(memory: MemoryService, *messages: Message, session_id: str = "s1") -> None:
    for message in messages:
        source = Source.USER if message.role == "user" else Source.AGENT
        await keep(memory, message.content, kind=Kind.TURN, session_id=session_id, speaker=message.role, source=source)


async def pending(memory: MemoryService) -> list[str]:
    return [one.session_id for one in await memory.pending_sessions()]


async def test_what_was_kept_and_not_summarized_becomes_an_episode_once(memory: MemoryService, writer: Writer):
    await say(memory, *MOVING)
    [attempt] = await memory.summarize_pending()
    assert attempt.summarized
    episode = attempt.summarized.episode
    assert (episode.engine, episode.outcome, episode.covered_through) == ("writer", Outcome.SUCCESS, 3)
    assert [message.content for message in writer.calls[0]] == [message.content for message in MOVING]
    assert await memory.summarize_pending() == []
    assert (await memory.summarize(Conversation("s1"))).status == "unchanged"
    assert len(writer.calls) == 1


async def test_later_turns_update_the_episode_instead_of_adding_a_second(memory: MemoryService):
    await say(memory, *MOVING)
    await memory.summarize_pending()
    await say(memory, Message("user", "In April I will move again, to Otaru."))
    [attempt] = await memory.summarize_pending()
    assert attempt.summarized
    assert (attempt.summarized.status, attempt.summarized.episode.version) == ("updated", 2)
    assert await ask(memory, kinds=(Kind.EPISODE,)) == ["4 messages, the last: In April I will move again, to Otaru."]


async def test_a_failure_keeps_what_was_said_and_leaves_the_session_to_be_summarized(
    memory: MemoryService, writer: Writer
):
    writer.failures = 1
    with pytest.raises(SummaryFailed, match=r"did not answer\. What was said is kept; the session stays"):
        await memory.summarize(Conversation("s1", messages=MOVING))
    [left] = await memory.pending_sessions()
    assert (left.session_id, left.turns, left.failures, left.reason) == ("s1", 3, 1, "The engine did not answer.")
    assert await ask(memory, kinds=(Kind.EPISODE,)) == []
    assert "s1" in (await memory.recall(Query())).notice
    [attempt] = await memory.summarize_pending()
    assert attempt.summarized
    assert await pending(memory) == []


async def test_a_session_that_fails_holds_up_no_other(memory: MemoryService, writer: Writer, clock: Clock):
    """B42."""
    await say(memory, *MOVING, session_id="older")
    clock.turn(minutes=1)
    await say(memory, *MOVING, session_id="newer")
    writer.failures = 1
    attempts = await memory.summarize_pending()
    assert [(one.session.session_id, bool(one.problem)) for one in attempts] == [("newer", True), ("older", False)]
    assert await pending(memory) == ["newer"]


async def test_a_summary_that_cannot_be_kept_holds_up_no_other(memory: MemoryService, writer: Writer, clock: Clock):
    """B42."""
    await say(memory, *MOVING, session_id="older")
    clock.turn(minutes=1)
    await say(memory, *MOVING, session_id="newer")
    writer.facts = (KeyFact("a\0b"),)
    attempts = await memory.summarize_pending()
    assert [bool(one.problem) for one in attempts] == [True, True]
    assert [one.failures for one in await memory.pending_sessions()] == [1, 1]


async def test_sessions_that_keep_failing_do_not_hide_those_that_are_due(
    memory: MemoryService, writer: Writer, clock: Clock
):
    await say(memory, *MOVING, session_id="older")
    clock.turn(minutes=1)
    await say(memory, *MOVING, session_id="newer")
    clock.turn(minutes=31)
    writer.failures = 1
    assert [bool(one.problem) for one in await memory.summarize_pending(1, only_due=True)] == [True]
    [done] = await memory.summarize_pending(1, only_due=True)
    assert (done.session.session_id, done.problem) == ("older", "")


async def test_the_background_leaves_a_conversation_alone_that_may_go_on(memory: MemoryService, clock: Clock):
    await say(memory, *MOVING)
    assert await memory.summarize_pending(only_due=True) == []
    clock.turn(minutes=31)
    assert len(await memory.summarize_pending(only_due=True)) == 1


async def test_the_background_waits_longer_after_each_failure(memory: MemoryService, writer: Writer, clock: Clock):
    await say(memory, *MOVING)
    writer.failures = 2
    clock.turn(minutes=31)
    tries = []
    for minutes in (0, 5, 6, 15, 6):
        clock.turn(minutes=minutes)
        tries.append(len(await memory.summarize_pending(only_due=True)))
    assert tries == [1, 0, 1, 0, 1]
    assert await pending(memory) == []


async def test_a_new_turn_ends_the_waiting(memory: MemoryService, writer: Writer, clock: Clock):
    await say(memory, *MOVING)
    writer.failures = 1
    clock.turn(minutes=31)
    await memory.summarize_pending(only_due=True)
    clock.turn(minutes=1)
    await say(memory, Message("user", "One more thing: the shovel is red."))
    [left] = await memory.pending_sessions()
    assert left.failures == 0


async def test_one_process_at_a_time_summarizes_a_session(
    settings: Settings, clock: Clock, memory: MemoryService, writer: Writer
):
    await say(memory, *MOVING)
    writer.gate = anyio.Event()
    async with memory_with(settings, WordsEmbedder, clock, summarizer=writer) as other, anyio.create_task_group() as at:
        at.start_soon(memory.summarize_pending)
        await writer.begun.wait()
        with pytest.raises(Conflict, match="by another process"):
            await other.summarize(Conversation("s1"))
        [attempt] = await other.summarize_pending()
        assert "by another process" in attempt.problem
        writer.gate.set()
    assert len(writer.calls) == 1
    assert len(await memory.recent_episodes()) == 1


async def test_a_cancelled_summary_leaves_the_turns_and_the_way_free(memory: MemoryService, writer: Writer):
    """B51."""
    writer.gate = anyio.Event()
    async with anyio.create_task_group() as at:
        at.start_soon(memory.summarize, Conversation("s1", messages=MOVING))
        await writer.begun.wait()
        at.cancel_scope.cancel()
    assert [(one.session_id, one.turns) for one in await memory.pending_sessions()] == [("s1", 3)]
    assert await memory.recent_episodes() == []
    writer.gate.set()
    assert (await memory.summarize(Conversation("s1"))).status == "stored"


async def test_greetings_alone_are_neither_summarized_nor_waited_for(memory: MemoryService, writer: Writer):
    """B47."""
    await say(memory, Message("user", "hi"), Message("assistant", "Hello!"))
    with pytest.raises(SummaryFailed, match="Nothing to summarize"):
        await memory.summarize(Conversation("s1"))
    assert (writer.calls, await pending(memory)) == ([], [])


async def test_a_fact_points_to_the_turns_it_came_from(memory: MemoryService, writer: Writer):
    """B44."""
    writer.facts = (KeyFact("Mr. Abe is the user's landlord", Kind.RELATIONSHIP, evidence=(2,)),)
    summarized = await memory.summarize(Conversation("s1", messages=MOVING))
    turns, _, _ = await memory.session("s1")
    assert (await memory.get(summarized.facts[0].id)).derived_from == (turns[2].id,)


async def test_a_fact_that_contradicts_another_is_offered_and_replaces_nothing(memory: MemoryService, writer: Writer):
    known = await keep(memory, "The rent is 800 euros a month")
    writer.facts = (KeyFact("The rent is 900 euros a month"),)
    summarized = await memory.summarize(Conversation("s1", messages=MOVING))
    [fact] = summarized.facts
    assert [(near.id, near.differs) for near in fact.similar] == [(known, "number")]
    assert fact.superseded == ()


async def test_a_fact_that_is_known_is_reinforced(memory: MemoryService, writer: Writer):
    known = await keep(memory, "The rent is 800 euros a month", importance=0.4)
    writer.facts = (KeyFact("The rent is 800 euros a month", importance=0.9),)
    summarized = await memory.summarize(Conversation("s1", messages=MOVING))
    assert [(fact.id, fact.status) for fact in summarized.facts] == [(known, "duplicate")]
    assert (await memory.get(known)).importance == 0.9


async def test_what_is_done_is_told_as_it_goes(memory: MemoryService):
    seen: list[tuple[int, int]] = []

    async def note(done: int, of: int) -> None:
        seen.append((done, of))

    await memory.summarize(Conversation("s1", messages=MOVING), note)
    assert seen == [(0, 1), (1, 1)]
