"""What a question, a listing and a briefing bring back."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from memory_mcp.answers import Preview
from memory_mcp.config import Settings
from memory_mcp.errors import InvalidInput
from memory_mcp.models import Conversation, Kind, Message, Outcome, Query, Selection, Source, State
from memory_mcp.requests import MAX_LIMIT
from memory_mcp.service import MemoryService
from tests.conftest import Clock
from tests.memories import WordsEmbedder, ask, contents, keep, memory_with

pytestmark = pytest.mark.anyio


@pytest.fixture
async def memory(settings: Settings, clock: Clock) -> AsyncIterator[MemoryService]:
    async with memory_with(settings, WordsEmbedder, clock) as opened:
        yield opened


# ---- the answer to a question --------------------------------------------------------------------------------------


async def test_the_score_orders_the_hits_and_the_exact_text_is_near_the_top_of_its_range(real: MemoryService):
    """B22: higher is better."""
    await keep(real, "The greenhouse needs a new pane of glass")
    await keep(real, "Quarterly taxes are due on the fifteenth")
    hits = (await real.recall(Query("The greenhouse needs a new pane of glass"))).hits
    assert hits[0].memory.content == "The greenhouse needs a new pane of glass"
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert hits[0].score > 1
    assert hits[-1].score < 0.4
    assert (hits[0].label, hits[-1].label) == ("strong", "weak")


async def test_two_words_of_a_paragraph_about_a_tool_find_it(real: MemoryService):
    """B21: words are never dropped by a floor of similarity."""
    paragraph = (
        "For the nightly backups we settled on Restic after comparing it with three others. It encrypts on this side,"
        " keeps a history of thirty days, and the repository lives on the box in the basement."
    )
    await keep(real, paragraph)
    for number in range(30):
        await keep(real, f"Meeting {number}: the team went through open questions and adjourned.")
    found = await real.recall(Query("restic repository"))
    assert contents(found)[0] == paragraph
    assert found.hits[0].label != "weak"


async def test_an_answer_of_weak_matches_says_so(real: MemoryService):
    await keep(real, "Quarterly taxes are due on the fifteenth")
    found = await real.recall(Query("the colour of my grandmother's bicycle"))
    assert [hit.label for hit in found.hits] == ["weak"]
    assert "weak matches" in found.notice


@pytest.mark.parametrize(
    "question",
    [
        "what?", "it's", "dark-mode", "GB/s", "20.04", "C#", "C++", "key:value", '"open', "(x", "AND", "a OR", "*",
        "🦊", "NEAR(a b)", "^x", "-", "a\0b", "half \ud83d", "%", "_", "' or 1=1 --", "col:*", "{x}", "?" * 4_000,
    ],
)  # fmt: skip
async def test_a_question_is_words_and_never_a_program(by_words: MemoryService, question: str):
    """B18: no error, and what holds the words is found."""
    told = f"This holds {question.replace(chr(0), ' ').encode('utf-8', 'replace').decode()[:100]} in it"
    await keep(by_words, told)
    found = await by_words.recall(Query(question))
    assert found.mode == "keyword"
    if any(character.isalnum() for character in question):
        assert contents(found) == [told]


@pytest.mark.parametrize("blank", ["", "  ", "\n\t", "\0", "\ud83d"])
async def test_a_blank_question_is_none(by_words: MemoryService, blank: str):
    """B18."""
    await keep(by_words, "text")
    assert (await by_words.recall(Query(blank))).mode == "briefing"


async def test_near_copies_give_way_to_other_answers(by_words: MemoryService):
    """B25: one fact in nearly the same words does not fill the answer."""
    for number in range(9):
        await keep(by_words, f"The rooftop garden party starts on Saturday at seven o'clock sharp, note {number}")
    await keep(by_words, "A garden party needs lanterns")
    assert (await ask(by_words, "rooftop garden party", limit=2))[1] == "A garden party needs lanterns"


async def test_at_equal_relevance_the_more_important_fact_comes_first(by_words: MemoryService):
    for name, importance in (("Ada", 0.2), ("Bob", 1.0), ("Cid", 0.5)):
        await keep(by_words, f"{name} waters plants", importance=importance)
    assert await ask(by_words, "waters plants") == ["Bob waters plants", "Cid waters plants", "Ada waters plants"]


async def test_at_equal_relevance_the_newer_turn_comes_first(by_words: MemoryService, clock: Clock):
    for name in ("first", "second", "third"):
        await keep(by_words, f"We painted {name}", kind=Kind.TURN, session_id=name, speaker="user")
        clock.turn(days=20)
    assert await ask(by_words, "painted") == ["We painted third", "We painted second", "We painted first"]


async def test_the_last_messages_are_searched_too_without_repeats(by_words: MemoryService):
    await keep(by_words, "The sourdough starter lives in the fridge")
    await keep(by_words, "The oven runs twenty degrees too hot")
    found = await ask(by_words, "starter", context="I want to bake sourdough in the oven")
    assert found == ["The sourdough starter lives in the fridge", "The oven runs twenty degrees too hot"]
    assert await ask(by_words, "", context="oven") == ["The oven runs twenty degrees too hot"]


# ---- filters -------------------------------------------------------------------------------------------------------


@pytest.fixture
async def crowded(memory: MemoryService, clock: Clock) -> MemoryService:
    """Three hundred memories in nearly the same words, and one of each sort that a filter can ask for."""
    for start in range(0, 300, 50):
        await memory.summarize(
            Conversation(f"bulk {start}", messages=tuple(
                Message("user", f"The copper kettle stands on shelf {start + n} of the pantry.") for n in range(50)
            ), summary=f"Kettles {start}.", outcome=Outcome.SUCCESS)
        )  # fmt: skip
    said = "A copper kettle stands somewhere on a shelf of the pantry"
    await keep(memory, f"{said}, tagged", tags=("b",), confidence=0.2)
    await keep(memory, f"{said}, read", source=Source.TOOL, confidence=0.3)
    await keep(memory, f"{said}, sure", confidence=0.95, kind=Kind.DECISION)
    await keep(memory, f"{said}, in session", session_id="s-one", confidence=0.2)
    await keep(memory, f"{said}, elsewhere", namespace="proj", confidence=0.2)
    await memory.summarize(Conversation("s-two", summary=f"{said}, in an episode.", outcome=Outcome.FAILURE))
    return memory


async def test_filters_apply_before_the_cut_and_the_limit_is_clamped(crowded: MemoryService):
    """B20: the one that passes is found, however many near-identical ones do not."""
    wanted = {
        "tagged": {"tags": ("b",)},
        "read": {"source": Source.TOOL},
        "sure": {"kinds": (Kind.DECISION,)},
        "in session": {"session_id": "s-one"},
        "in an episode.": {"outcome": Outcome.FAILURE},
    }
    for name, filters in wanted.items():
        found = await ask(crowded, "the copper kettle stands on a shelf of the pantry", limit=5, **filters)
        assert [content.rpartition(", ")[2] for content in found] == [name]
    sure = await ask(crowded, "copper kettle shelf pantry", min_confidence=0.9, kinds=(Kind.DECISION, Kind.FACT))
    assert [content.rpartition(", ")[2] for content in sure] == ["sure"]
    elsewhere = await ask(crowded, "copper kettle", namespace="proj", kinds=(Kind.FACT,), limit=50)
    assert any(content.endswith("elsewhere") for content in elsewhere)
    assert not any(content.endswith("elsewhere") for content in await ask(crowded, "copper kettle", limit=50))
    most = await crowded.recall(Query("copper kettle", limit=5_000, max_tokens=20_000))
    assert len(most.hits) == MAX_LIMIT


async def test_recall_looks_into_the_asked_namespace_and_the_person_s(by_words: MemoryService):
    await keep(by_words, "The tea is about the person")
    await keep(by_words, "The tea is about project one", namespace="one")
    await keep(by_words, "The tea is about project two", namespace="two")
    assert set(await ask(by_words, "tea", namespace="one")) == {
        "The tea is about the person",
        "The tea is about project one",
    }
    assert await ask(by_words, "tea") == ["The tea is about the person"]


async def test_only_memories_with_all_the_tags_pass(by_words: MemoryService):
    await keep(by_words, "one", tags=("a",))
    await keep(by_words, "both", tags=("a", "b"))
    assert await ask(by_words, tags=("a", "B")) == ["both"]


# ---- time ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("zone", "noon"),
    [
        ("Asia/Tokyo", datetime(2026, 5, 4, 3, tzinfo=UTC)),
        ("America/Los_Angeles", datetime(2026, 5, 4, 19, tzinfo=UTC)),
        ("Europe/Berlin", datetime(2026, 3, 29, 10, tzinfo=UTC)),  # the clock went forward this night
        ("America/New_York", datetime(2026, 11, 1, 17, tzinfo=UTC)),  # and back
    ],
)
async def test_days_are_those_of_the_person_s_calendar(words_only: Settings, clock: Clock, zone: str, noon: datetime):
    """B23: half an hour before midnight is yesterday, half an hour after is today, whatever UTC says."""
    midnight = datetime(noon.year, noon.month, noon.day, tzinfo=ZoneInfo(zone)).astimezone(UTC)
    async with memory_with(words_only.model_copy(update={"tz": zone}), None, clock) as memory:
        clock.at = midnight - timedelta(minutes=30)
        await keep(memory, "said late")
        clock.at = midnight + timedelta(minutes=30)
        await keep(memory, "said early")
        clock.at = noon
        today, yesterday = f"{noon:%Y-%m-%d}", f"{noon - timedelta(days=1):%Y-%m-%d}"
        assert await ask(memory, "said", since="yesterday", until="yesterday") == ["said late"]
        assert await ask(memory, "said", since="today") == ["said early"]
        assert await ask(memory, since=today) == ["said early"]
        assert await ask(memory, until=yesterday) == ["said late"]
        assert len(await ask(memory, since="last 7 days")) == 2
        assert await ask(memory, since=midnight.isoformat()) == ["said early"]
        assert await ask(memory, until=midnight.isoformat()) == ["said late"]


async def test_a_day_that_a_question_names_is_one_of_the_person_s_calendar(words_only: Settings, clock: Clock):
    """Five in the morning of 4 May in Tokyo is still 3 May in UTC."""
    async with memory_with(words_only.model_copy(update={"tz": "Asia/Tokyo"}), None, clock) as memory:
        clock.at = datetime(2026, 5, 3, 20, tzinfo=UTC)
        await keep(memory, "The boats came into the harbour")
        clock.turn(days=1)
        await keep(memory, "Boats are expensive toys")
        assert (await ask(memory, "what about boats on 4 May?"))[0] == "The boats came into the harbour"
        assert (await ask(memory, "what about boats on 5 May?"))[0] == "Boats are expensive toys"


async def test_every_verb_reads_words_for_days_on_the_person_s_calendar(words_only: Settings, clock: Clock):
    """It is 5 May in Tokyo and 4 May in UTC: 'today' begins at three in the afternoon, UTC."""
    async with memory_with(words_only.model_copy(update={"tz": "Asia/Tokyo"}), None, clock) as memory:
        clock.at = datetime(2026, 5, 4, 14, tzinfo=UTC)
        blue = await keep(memory, "the lamp is blue", key="lamp")
        clock.at = datetime(2026, 5, 4, 16, tzinfo=UTC)
        await keep(memory, "the lamp is green", key="lamp")
        assert await ask(memory, "lamp", as_of="yesterday") == ["the lamp is blue"]
        assert await ask(memory, "lamp", until="yesterday", include_history=True) == ["the lamp is blue"]
        assert [len((await memory.audit_log(9, since=day)).lines) for day in ("today", "yesterday")] == [1, 2]
        preview = await memory.forget(Selection(before="today"))
        assert isinstance(preview, Preview)
        assert preview.ids == (blue,)


async def test_a_question_about_a_period_is_answered_from_it_and_the_period_is_told(real: MemoryService, clock: Clock):
    """B25: fifty old memories that share the question's words do not stand in the way."""
    for number in range(50):
        await keep(real, f"What happened tonight, evening {number}: we stayed at home tonight")
    clock.turn(days=3)
    recent = {f"{name} came for dinner" for name in ("Aiko", "Ben", "Chloe", "Dan", "Eva", "Finn")}
    for content in recent:
        await keep(real, content)
    clock.turn(minutes=30)
    found = await real.recall(Query("what happened tonight", since="2 hours ago"))
    assert set(contents(found)) == recent
    assert "2026-05-07 08:00" in found.notice


@pytest.mark.parametrize(
    "wrong",
    [
        {"since": "2026-05-04", "until": "2026-05-01"},
        {"since": "2026-02-30"},
        {"until": "the day the music died"},
        {"as_of": "2026-13-01"},
        {"limit": 0},
        {"min_confidence": 1.5},
        {"text": "x" * 4_001},
        {"context": "x" * 4_001},
        {"ids": tuple(map(str, range(201)))},
        {"ids": ("x" * 500,)},
        {"tags": ("t",) * 33},
        {"text": "q", "cursor": "nonsense"},
        {"text": "q", "cursor": "r" + "9" * 5_000},
        {"tags": ("a",), "cursor": "r8"},
    ],
)
async def test_what_cannot_be_asked_is_refused(by_words: MemoryService, wrong):
    await keep(by_words, "text", tags=("a",))
    with pytest.raises(InvalidInput):
        await by_words.recall(Query(**wrong))


async def test_as_of_tells_what_was_held_true_then(by_words: MemoryService, clock: Clock):
    await keep(by_words, "The office is in Lyon", key="office")
    clock.turn(days=30)
    await keep(by_words, "The office is in Turin", key="office")
    clock.turn(days=30)
    assert await ask(by_words, "office") == ["The office is in Turin"]
    assert await ask(by_words, "office", as_of="2026-05-10") == ["The office is in Lyon"]
    assert await ask(by_words, "office", as_of="2026-06-10") == ["The office is in Turin"]
    assert await ask(by_words, "office", as_of="2026-05-01") == []
    assert await ask(by_words, as_of="2026-05-10") == ["The office is in Lyon"]


async def test_as_of_heeds_when_something_became_true(by_words: MemoryService, clock: Clock):
    await keep(by_words, "Rent is 900", key="rent")
    clock.turn(days=1)
    await keep(by_words, "Rent is 950", key="rent", valid_from=clock() + timedelta(days=27))
    clock.turn(days=60)
    assert await ask(by_words, "rent", as_of="2026-05-03") == []
    assert await ask(by_words, "rent", as_of="2026-06-30") == ["Rent is 950"]


async def test_history_is_told_only_on_request_and_after_what_stands(by_words: MemoryService, clock: Clock):
    old = await keep(by_words, "the printer the printer the printer")
    clock.turn(days=1)
    await keep(by_words, "A scanner replaced the printer in the hall", supersedes=(old,))
    assert await ask(by_words, "printer") == ["A scanner replaced the printer in the hall"]
    history = await by_words.recall(Query("printer", include_history=True))
    assert [hit.memory.state for hit in history.hits] == [State.ACTIVE, State.SUPERSEDED]
