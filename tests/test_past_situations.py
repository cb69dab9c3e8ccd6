"""What worked, what failed and what was learned from it is found again, by outcome, by tag and by a like situation."""

from collections.abc import AsyncIterator

import pytest

from memory_mcp.config import Settings
from memory_mcp.models import Conversation, Kind, Outcome, Query
from memory_mcp.service import MemoryService
from tests.conftest import Clock
from tests.memories import keep, memory_with, universal

pytestmark = pytest.mark.anyio

PAST = {
    "deploy failed": Conversation(
        "deploy failed",
        "We deployed the shop to production. It crashed at start because a column was missing, and was rolled back.",
        outcome=Outcome.FAILURE,
        lessons=("Run the database migration before the deployment.",),
        tags=("deployment", "shop"),
    ),
    "deploy worked": Conversation(
        "deploy worked",
        "We deployed the blog to production after its migration had been run. Everything answered at once.",
        outcome=Outcome.SUCCESS,
        tags=("deployment", "blog"),
    ),
    "trip": Conversation(
        "trip",
        "Planned the trip to Lisbon: two nights in Porto, then the train.",
        outcome=Outcome.SUCCESS,
        tags=("travel",),
    ),
    "newsletter": Conversation(
        "newsletter",
        "The newsletter went out with a broken picture.",
        outcome=Outcome.FAILURE,
        lessons=("Open the newsletter on a phone before it is sent.",),
        tags=("mail",),
    ),
    "会議": Conversation(
        "会議",
        "会議室の予約を忘れ、打ち合わせが三十分遅れた。",
        outcome=Outcome.FAILURE,
        lessons=("会議室は前日までに予約する。",),
        tags=("会議",),
    ),
}  # fmt: skip


@pytest.fixture
async def memory(settings: Settings, clock: Clock) -> AsyncIterator[MemoryService]:
    async with memory_with(settings, universal, clock) as opened:
        for told in PAST.values():
            clock.turn(days=2)
            await opened.summarize(told)
        for fact in ("The cat was vaccinated in June.", "The deployment host is called Falcon.", "The printer is out."):
            await keep(opened, fact)
        yield opened


async def sessions(memory: MemoryService, query: Query) -> list[str]:
    return [hit.memory.session_id for hit in (await memory.recall(query)).hits]


@pytest.mark.parametrize(
    ("question", "session"),
    [
        ("What failed last time with the deployment?", "deploy failed"),
        ("What did we learn from the newsletter that went wrong?", "newsletter"),
        ("前回、会議の準備で何を失敗した？", "会議"),
    ],
)
async def test_a_failure_is_found_with_its_lessons_and_comes_first_among_failures(
    memory: MemoryService, question, session
):
    hits = (await memory.recall(Query(question))).hits[:3]
    [found] = [hit for hit in hits if hit.memory.session_id == session]
    assert found.outcome is Outcome.FAILURE
    assert PAST[session].lessons[0] in found.memory.content
    asked_for = await memory.recall(Query(question, outcome=Outcome.FAILURE))
    assert asked_for.hits[0].memory == found.memory


async def test_what_worked_and_what_failed_are_told_apart_by_outcome(memory: MemoryService):
    deployment = Query("deployment", kinds=(Kind.EPISODE,))
    for outcome, first in ((Outcome.FAILURE, "deploy failed"), (Outcome.SUCCESS, "deploy worked")):
        found = await memory.recall(Query(deployment.text, kinds=deployment.kinds, outcome=outcome))
        assert found.hits[0].memory.session_id == first
        assert {hit.outcome for hit in found.hits} == {outcome}


async def test_failures_alone_are_a_list_newest_first(memory: MemoryService):
    assert await sessions(memory, Query(outcome=Outcome.FAILURE)) == ["会議", "newsletter", "deploy failed"]


async def test_episodes_are_found_by_tag(memory: MemoryService):
    assert await sessions(memory, Query(tags=("deployment",))) == ["deploy worked", "deploy failed"]
    assert await sessions(memory, Query(tags=("deployment",), outcome=Outcome.FAILURE)) == ["deploy failed"]


@pytest.mark.parametrize(
    ("situation", "session"),
    [
        ("I am about to release a new version of the website to production.", "deploy failed"),
        ("We want to travel through Portugal by rail.", "trip"),
        ("来週の打ち合わせの部屋を押さえたい。", "会議"),
    ],
)
async def test_a_like_situation_of_the_past_is_found(memory: MemoryService, situation: str, session: str):
    found = await sessions(memory, Query(situation, kinds=(Kind.EPISODE,), limit=3))
    assert session in found[:2]


async def test_of_two_that_fit_alike_the_one_that_was_useful_comes_first(words_only: Settings, clock: Clock):
    """The ratings of `useful_ids` and of a person count in what is recalled next."""
    async with memory_with(words_only, None, clock) as memory:
        both = [await keep(memory, text) for text in ("Ann has the gate code", "Eve knows the gate code")]
        question = Query("gate code", kinds=(Kind.FACT,))
        first, useful = [hit.memory.id for hit in (await memory.recall(question)).hits]
        assert {first, useful} == set(both)
        await memory.summarize(Conversation("talk", "Spoke of the weather.", useful_ids=(useful,)))
        hits = (await memory.recall(question)).hits
        assert [hit.memory.id for hit in hits] == [useful, first]
        assert hits[0].reasons.salience > hits[1].reasons.salience
        for _ in range(2):
            await memory.rate([useful], useful=False)
        assert (await memory.recall(question)).hits[0].memory.id == first
