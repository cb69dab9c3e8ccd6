"""How a conversation becomes an episode and its memories."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from memory_mcp.config import MAX_CONTENT, Settings
from memory_mcp.errors import InvalidInput, NotFound, SummaryFailed
from memory_mcp.models import (
    Action,
    Conversation,
    KeyFact,
    Kind,
    Message,
    Outcome,
    Query,
    Selection,
    Source,
    State,
    Trust,
)
from memory_mcp.service import MemoryService
from memory_mcp.summarizers.protocol import MAX_WORDS
from tests.conftest import Clock
from tests.memories import WordsEmbedder, ask, contents, keep, memory_with

pytestmark = pytest.mark.anyio

MOVING = (
    Message("user", "I moved to Sapporo last month because of the new job."),
    Message("assistant", "How do you like the snow in Sapporo?"),
    Message("user", "My landlord Mr. Abe lent me his snow shovel until March."),
)


@pytest.fixture
async def memory(settings: Settings, clock: Clock) -> AsyncIterator[MemoryService]:
    async with memory_with(settings, WordsEmbedder, clock) as opened:
        yield opened


async def turns(memory: MemoryService, session_id: str = "s1") -> list[str]:
    return [turn.content for turn in (await memory.session(session_id))[0]]


async def count(memory: MemoryService) -> int:
    return (await memory.stats()).memories


# ---- by the caller's own words -------------------------------------------------------------------------------------


async def test_a_host_s_summary_is_kept_with_all_it_tells(memory: MemoryService, clock: Clock):
    told = Conversation(
        "2026-05-04 garden",
        summary="Planned the garden. Tomatoes go to the south wall.",
        key_facts=(
            KeyFact("Tomatoes grow at the south wall"),
            KeyFact("Ken waters on Sundays", Kind.DECISION, importance=0.8, confidence=1.0, key="watering"),
        ),
        trigger="The user asked for help",
        outcome=Outcome.SUCCESS,
        lessons=("Measure the beds first.",),
        actions=(Action("web_search", ok=True, input_digest="abc", duration=1.5),),
        tags=("Garden",),
        started_at=clock() - timedelta(hours=1),
    )
    summarized = await memory.summarize(told)
    episode = await memory.episode(summarized.episode.memory.id)
    assert summarized.status == "stored"
    assert episode == summarized.episode
    assert episode.memory.content == f"{told.summary}\nLessons:\n- Measure the beds first."
    assert (episode.trigger, episode.outcome, episode.lessons, episode.actions) == (
        told.trigger, told.outcome, told.lessons, told.actions,
    )  # fmt: skip
    assert (episode.started_at, episode.ended_at, episode.memory.tags) == (told.started_at, clock(), ("garden",))
    facts = [await memory.get(one.id) for one in summarized.facts]
    assert sorted(episode.key_facts) == sorted(fact.id for fact in facts)
    assert [(fact.content, fact.kind, fact.importance, fact.confidence, fact.key) for fact in facts] == [
        ("Tomatoes grow at the south wall", Kind.FACT, 0.5, 0.7, ""),
        ("Ken waters on Sundays", Kind.DECISION, 0.8, 1.0, "watering"),
    ]


async def test_a_key_fact_corrects_what_was_known(memory: MemoryService):
    by_id = await keep(memory, "Dinner is at six")
    by_key = await keep(memory, "Ken waters on Mondays", key="watering")
    summarized = await memory.summarize(
        Conversation(
            "s1",
            summary="Times changed.",
            key_facts=(
                KeyFact("Dinner is at seven", supersedes=(by_id,)),
                KeyFact("Ken waters on Sundays", key="watering"),
            ),
        )
    )
    assert [(one.status, one.superseded) for one in summarized.facts] == [
        ("superseded", (by_id,)), ("superseded", (by_key,)),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "summary", ["word " * MAX_WORDS, "あ" * 200, "word " * 199 + "。"], ids=["words", "characters", "mixed"]
)
async def test_a_summary_as_long_as_allowed_is_kept(memory: MemoryService, summary: str):
    kept = await memory.summarize(Conversation("s1", summary=summary))
    assert kept.episode.memory.content == summary.strip()


@pytest.mark.parametrize(
    "wrong",
    [
        {"summary": "word " * (MAX_WORDS + 1)},
        {"summary": "あ" * 201},
        {"summary": "fine", "session_id": " "},
        {"summary": "a\0b"},
        {"summary": "fine", "key_facts": (KeyFact("good"), KeyFact(""))},
        {"summary": "fine", "key_facts": (KeyFact("good"), KeyFact("turn", Kind.TURN))},
        {"summary": "fine", "key_facts": (KeyFact("good"), KeyFact("episode", Kind.EPISODE))},
        {"summary": "fine", "key_facts": (KeyFact("good", importance=7),)},
        {"summary": "fine", "lessons": ("\ud800",)},
        {"summary": "fine", "actions": (Action("\ud800", ok=True),)},
        {"summary": "fine", "actions": (Action("tool", ok=True, duration=-1),)},
        {"summary": "fine", "actions": (Action("tool", ok=True, duration=float("inf")),)},
        {"summary": "fine", "messages": (Message("narrator", "Once upon a time"),)},
        {"summary": "fine", "messages": (Message("user", "a\0b"),)},
        {"summary": "fine", "useful_ids": tuple(map(str, range(201)))},
        {"summary": "fine", "tags": ("t" * 65,)},
        {"summary": "fine", "trigger": "t" * 201},
        {"summary": "fine", "trigger": "gh" + "p_" + "Q7z" * 12},
        {"summary": "fine", "tags": ("<private>home</private>",)},
        {"summary": "fine", "lessons": ("Ask first.",) * 51},
        {"summary": "fine", "lessons": ("x" * 1_000,) * 17},
        {"summary": "fine", "actions": (Action("search", ok=True),) * 201},
        {"summary": "fine", "key_facts": (KeyFact("The port is 8080"),) * 201},
        {"summary": "fine", "messages": (Message("user", "Yes."),) * 10_001},
    ],
)
async def test_what_cannot_be_kept_is_refused_and_leaves_nothing(memory: MemoryService, wrong):
    with pytest.raises(InvalidInput):
        await memory.summarize(Conversation(**({"session_id": "s1", "messages": MOVING} | wrong)))
    assert await count(memory) == 0
    assert (await memory.summarize(Conversation("s1", summary="The next call"))).status == "stored"


async def test_a_fact_that_supersedes_something_unknown_leaves_nothing(memory: MemoryService):
    with pytest.raises(NotFound):
        await memory.summarize(
            Conversation("s1", summary="fine", key_facts=(KeyFact("new", supersedes=("no-such-id",)),))
        )
    assert await count(memory) == 0


@pytest.mark.parametrize("later", [timedelta(hours=1), timedelta(days=3)])
async def test_a_conversation_cannot_begin_after_it_ended(memory: MemoryService, clock: Clock, later: timedelta):
    with pytest.raises(InvalidInput, match="started_at"):
        await memory.summarize(Conversation("s1", summary="fine", started_at=clock() + later))
    assert await count(memory) == 0


async def test_secrets_and_private_blocks_stay_out_everywhere_and_that_is_told(memory: MemoryService):
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    summarized = await memory.summarize(
        Conversation(
            "s1",
            summary=f"The key is {key}.",
            key_facts=(KeyFact(f"Deploys use {key}"),),
            lessons=(f"Never paste {key} again.",),
            messages=(
                Message("user", f"I use {key} and <private>my illness</private> for the deploy."),
                Message("user", "<private>all of this</private>"),
            ),
        )
    )
    kept = [summarized.episode.memory, *(await memory.session("s1"))[0], await memory.get(summarized.facts[0].id)]
    assert not any(key in one.content or "illness" in one.content or "all of this" in one.content for one in kept)
    assert len(kept) == 3
    assert "redacted" in summarized.notice
    assert "private" in summarized.notice


async def test_what_a_host_s_summary_names_beyond_the_kept_turns_is_told_and_kept(memory: MemoryService):
    told = Conversation("s1", summary="The user moved to Sapporo and pays 930 to Mr. Abe.", messages=MOVING)
    summarized = await memory.summarize(told)
    assert summarized.episode.memory.content == told.summary
    assert "Not in the kept turns: 930." in summarized.notice
    assert "Not in the kept turns" not in (await memory.summarize(Conversation("s2", summary="Paid 930."))).notice


async def test_memories_that_helped_are_rated(memory: MemoryService):
    helped = await keep(memory, "text")
    await memory.summarize(Conversation("s1", summary="Done.", useful_ids=(helped, "no-such-id")))
    assert (await memory.get(helped)).useful == 1


# ---- from messages -------------------------------------------------------------------------------------------------


async def test_messages_alone_are_kept_as_turns_and_summarized_in_their_words(memory: MemoryService, clock: Clock):
    summarized = await memory.summarize(Conversation("s1", messages=MOVING))
    kept, episodes, _ = await memory.session("s1")
    assert [(turn.content, turn.speaker, turn.sequence, turn.source) for turn in kept] == [
        (MOVING[0].content, "user", 1, Source.USER),
        (MOVING[1].content, "assistant", 2, Source.AGENT),
        (MOVING[2].content, "user", 3, Source.USER),
    ]
    assert summarized.turns_stored == 3
    assert episodes == [summarized.episode]
    assert summarized.episode.engine == "extractive"
    assert summarized.episode.covered_through == 3
    said = "\n".join(message.content for message in MOVING)
    assert all(line in said for line in summarized.episode.memory.content.splitlines())
    assert await ask(memory, "snow shovel", kinds=(Kind.TURN,), limit=1) == [MOVING[2].content]


async def test_the_same_conversation_again_adds_nothing(memory: MemoryService, clock: Clock):
    """B44: no turn, no episode, no fact."""
    first = await memory.summarize(Conversation("s1", messages=MOVING))
    before = await count(memory)
    clock.turn(days=1)
    again = await memory.summarize(Conversation("s1", messages=MOVING))
    assert (again.status, again.turns_stored, again.episode.memory.id) == ("unchanged", 0, first.episode.memory.id)
    assert await count(memory) == before


@pytest.mark.parametrize("whole", [True, False], ids=["the whole conversation", "only what is new"])
async def test_later_turns_make_a_new_version_and_the_old_one_is_history(
    memory: MemoryService, clock: Clock, whole: bool
):
    first = await memory.summarize(Conversation("s1", messages=MOVING))
    clock.turn(hours=1)
    more = Message("user", "We decided to spend New Year in Otaru with my sister Emi.")
    second = await memory.summarize(Conversation("s1", messages=(*(MOVING if whole else ()), more)))
    assert (second.status, second.episode.version, second.turns_stored) == ("updated", 2, 1)
    assert await turns(memory) == [*(message.content for message in MOVING), more.content]
    assert (await memory.get(first.episode.memory.id)).state is State.SUPERSEDED
    assert (await memory.get(first.episode.memory.id)).superseded_by == second.episode.memory.id
    assert [one.memory.id for one in (await memory.session("s1"))[1]] == [second.episode.memory.id]


async def test_turns_that_were_forgotten_do_not_come_back_with_the_whole_conversation(memory: MemoryService):
    """B40, for the turns themselves: told again are only those after the last that is kept."""
    await memory.summarize(Conversation("s1", summary="They talked.", messages=MOVING))
    await memory.forget(Selection(ids=((await memory.session("s1"))[0][1].id,)))
    more = Message("user", "And then it snowed.")
    await memory.summarize(Conversation("s1", summary="They talked of snow.", messages=(*MOVING, more)))
    assert await turns(memory) == [MOVING[0].content, MOVING[2].content, more.content]


async def test_what_is_said_twice_is_kept_twice(memory: MemoryService):
    said = (Message("user", "Yes."), Message("assistant", "Sure?"), Message("user", "Yes."))
    await memory.summarize(Conversation("s1", summary="Agreed.", messages=said))
    assert await turns(memory) == ["Yes.", "Sure?", "Yes."]


async def test_only_what_people_and_assistants_said_is_kept(memory: MemoryService):
    """B44: neither system text nor what a tool printed."""
    messages = (
        Message("system", "You are a helpful assistant with a secret plan."),
        *MOVING,
        Message("tool", "recall: the user likes tea, sugar and long walks."),
    )
    summarized = await memory.summarize(Conversation("s1", messages=messages))
    assert await turns(memory) == [message.content for message in MOVING]
    assert "secret plan" not in summarized.episode.memory.content
    assert "long walks" not in summarized.episode.memory.content


async def test_a_named_speaker_is_known_again_however_the_name_is_written(memory: MemoryService):
    for name in ("Zoe\u0308 ", "Zo\u00eb"):
        summarized = await memory.summarize(
            Conversation("s1", summary="Zoë spoke.", messages=(Message("user", "I sing in a choir.", name),))
        )
    assert summarized.turns_stored == 0
    assert [turn.speaker for turn in (await memory.session("s1"))[0]] == ["Zo\u00eb"]


async def test_an_overlong_message_is_kept_whole_as_several_turns(memory: MemoryService):
    words = "one two three four five " * (3 * MAX_CONTENT // 24)
    blanks = "begin" + " " * (2 * MAX_CONTENT) + "end"
    await memory.summarize(Conversation("s1", summary="Long.", messages=(Message("user", words),)))
    await memory.summarize(Conversation("s2", summary="Blank.", messages=(Message("user", blanks),)))
    assert " ".join(await turns(memory)).split() == words.split()
    assert await turns(memory, "s2") == ["begin", "end"]
    assert all(len(part) <= MAX_CONTENT for part in await turns(memory))


async def test_a_secret_at_the_cut_of_an_overlong_message_is_not_missed(memory: MemoryService):
    """B65."""
    key = "AKIA" + "IOSFODNN7EXAMPLQ"
    message = Message("user", "x" * (MAX_CONTENT - 10) + f" {key} " + "y" * 100)
    await memory.summarize(Conversation("s1", summary="Long.", messages=(message,)))
    assert key[:9] not in "".join(await turns(memory))


async def test_messages_keep_their_times_and_the_episode_lasts_from_first_to_last(memory: MemoryService, clock: Clock):
    """B45: the time of a turn comes from the data."""
    then = clock() - timedelta(days=400)
    messages = tuple(Message(one.role, one.content, at=then + timedelta(minutes=n)) for n, one in enumerate(MOVING))
    summarized = await memory.summarize(Conversation("s1", messages=messages))
    assert [turn.created_at for turn in (await memory.session("s1"))[0]] == [one.at for one in messages]
    assert (summarized.episode.started_at, summarized.episode.ended_at) == (messages[0].at, messages[-1].at)
    assert summarized.episode.memory.created_at == clock()


@pytest.mark.parametrize(
    "messages",
    [
        (Message("user", "hi"),),
        (Message("user", "   "), Message("assistant", "")),
        (Message("system", "You are a helpful assistant."), Message("tool", "A long result of a search.")),
        (Message("user", "<private>My illness is my own business.</private>"),),
    ],
)
async def test_where_nothing_was_said_nothing_is_stored(memory: MemoryService, messages):
    """B47."""
    with pytest.raises(SummaryFailed, match="Nothing to summarize"):
        await memory.summarize(Conversation("s1", messages=messages))
    assert await count(memory) == 0
    assert (await memory.stats()).pending_sessions == 0
    with pytest.raises(NotFound):
        await memory.session("s1")


async def test_a_session_of_which_nothing_is_kept_cannot_be_summarized(memory: MemoryService):
    """B47."""
    with pytest.raises(NotFound, match="No turn of a session 's1' is kept"):
        await memory.summarize(Conversation("s1"))
    assert await count(memory) == 0


async def test_turns_that_are_kept_already_can_be_summarized_without_messages(memory: MemoryService):
    for message in MOVING:
        await keep(memory, message.content, kind=Kind.TURN, session_id="s1", speaker=message.role)
    assert (await memory.stats()).pending_sessions == 1
    summarized = await memory.summarize(Conversation("s1"))
    assert (summarized.turns_stored, summarized.episode.covered_through) == (0, 3)
    assert (await memory.stats()).pending_sessions == 0
    assert "not summarized" not in (await memory.recall(Query())).notice


async def test_an_episode_of_untrusted_turns_is_not_trusted(memory: MemoryService):
    await keep(memory, "Read from a page", kind=Kind.TURN, session_id="s1", speaker="tool", source=Source.TOOL)
    summarized = await memory.summarize(
        Conversation("s1", summary="A page was read.", key_facts=(KeyFact("A page said so"),))
    )
    assert summarized.episode.memory.trust is Trust.UNTRUSTED
    assert (await memory.get(summarized.facts[0].id)).trust is Trust.UNTRUSTED


async def test_sessions_of_the_same_name_in_two_namespaces_are_two(memory: MemoryService):
    await memory.summarize(Conversation("s1", summary="Of the person.", messages=MOVING))
    other = await memory.summarize(Conversation("s1", summary="Of the project.", messages=MOVING, namespace="proj"))
    assert (other.status, other.turns_stored) == ("stored", 3)
    assert contents(await memory.recall(Query(kinds=(Kind.EPISODE,)))) == ["Of the person."]


async def test_episodes_are_found_by_outcome_and_lesson(memory: MemoryService):
    await memory.summarize(
        Conversation("s1", summary="The deploy broke.", outcome=Outcome.FAILURE, lessons=("Freeze the schema first.",))
    )
    await memory.summarize(Conversation("s2", summary="The deploy went well.", outcome=Outcome.SUCCESS))
    found = await memory.recall(Query("schema freeze", outcome=Outcome.FAILURE))
    assert [(hit.memory.kind, hit.outcome) for hit in found.hits] == [(Kind.EPISODE, Outcome.FAILURE)]
    assert len((await memory.recall(Query(outcome=Outcome.SUCCESS))).hits) == 1
