"""What a question, a listing and a briefing bring back."""

from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from memory_mcp.app import open_memory
from memory_mcp.config import Settings
from memory_mcp.errors import InvalidInput, NotFound
from memory_mcp.models import Conversation, Filter, Kind, Message, NewMemory, Outcome, Query, Recall, Source, State
from memory_mcp.requests import MAX_LIMIT
from memory_mcp.service import MemoryService
from memory_mcp.storage import driver
from tests.conftest import Clock
from tests.memories import GatedLoader, WordsEmbedder, ask, contents, keep, memory_with, universal

pytestmark = pytest.mark.anyio


@pytest.fixture
async def memory(settings: Settings, clock: Clock) -> AsyncIterator[MemoryService]:
    async with memory_with(settings, WordsEmbedder, clock) as opened:
        yield opened


@pytest.fixture
async def by_words(words_only: Settings, clock: Clock) -> AsyncIterator[MemoryService]:
    async with memory_with(words_only, None, clock) as opened:
        yield opened


@pytest.fixture
async def real(settings: Settings, clock: Clock) -> AsyncIterator[MemoryService]:
    """The same with the default model."""
    async with memory_with(settings, universal, clock) as opened:
        yield opened


async def pages(memory: MemoryService, query: Query) -> list[Recall]:
    """Follow the cursor to the end."""
    found = [await memory.recall(query)]
    while found[-1].next_cursor:
        assert len(found) < 100, "the cursor leads in a circle"
        found.append(await memory.recall(Query(**(vars(query) | {"cursor": found[-1].next_cursor}))))
    return found


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


# ---- pages ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [1, 3, 8, 40])
async def test_the_pages_of_an_answer_hold_every_match_once(by_words: MemoryService, limit: int):
    """Also with near-copies, which move, and with history, which comes later."""
    stored = [await keep(by_words, f"Lantern {n % 7} hangs in the garden of house {n % 5}, row {n}") for n in range(55)]
    stored += [await keep(by_words, f"The garden lantern, copy {n} of the same old words") for n in range(20)]
    for number in range(3):
        stored.append(await keep(by_words, f"Lantern garden {number}", supersedes=(stored[number],)))
    found = await pages(by_words, Query("garden lantern", limit=limit, include_history=True))
    ids = [hit.memory.id for page in found for hit in page.hits]
    assert len(ids) == len(set(ids))
    assert set(ids) == set(stored)
    assert all(len(page.hits) <= limit for page in found)


async def test_what_does_not_fit_the_budget_is_counted_and_comes_on_the_next_page(by_words: MemoryService):
    stored = [await keep(by_words, f"Lantern {n} " + "swings in the evening wind " * 20) for n in range(30)]
    found = await pages(by_words, Query("lantern", limit=30))
    assert found[0].omitted == 30 - len(found[0].hits) > 0
    assert sorted(hit.memory.id for page in found for hit in page.hits) == sorted(stored)


async def test_the_pages_of_a_listing_hold_every_memory_once(by_words: MemoryService):
    """B49, through the budget: long labels make shorter pages."""
    tags = tuple(f"a-tag-as-long-as-they-come-{n:03}-" + "x" * 30 for n in range(15))
    stored = [await keep(by_words, f"Jar {n}", tags=("jar", *(tags if n % 3 else ()))) for n in range(45)]
    found = await pages(by_words, Query(tags=("jar",), limit=20))
    assert [hit.memory.id for page in found for hit in page.hits] == stored[::-1]
    assert len(found) > 3
    assert {page.mode for page in found} == {"list"}


async def test_a_listing_that_finds_nothing_says_so(by_words: MemoryService):
    await keep(by_words, "text")
    assert "No memory passes" in (await by_words.recall(Query(tags=("unused",)))).notice


# ---- by id ---------------------------------------------------------------------------------------------------------


async def test_memories_are_read_by_id_in_the_order_asked(by_words: MemoryService):
    first, second = await keep(by_words, "first"), await keep(by_words, "second")
    found = await by_words.recall(Query(ids=(second, "no-such-id", first, second)))
    assert contents(found) == ["second", "first"]
    assert "no-such-id" in found.notice


async def test_a_superseded_or_archived_memory_can_be_read_by_id(by_words: MemoryService):
    old = await keep(by_words, "old")
    await keep(by_words, "new", supersedes=(old,))
    assert await ask(by_words, ids=(old,)) == ["old"]


async def test_unknown_ids_alone_are_an_error(by_words: MemoryService):
    with pytest.raises(NotFound, match="Recall again"):
        await by_words.recall(Query(ids=("no-such-id", "\ud800")))


# ---- the briefing --------------------------------------------------------------------------------------------------


async def test_the_briefing_tells_recent_episodes_then_the_weightiest_memories(by_words: MemoryService, clock: Clock):
    for number in range(5):
        await by_words.summarize(Conversation(f"s{number}", summary=f"Session {number} planned the garden."))
        clock.turn(hours=1)
    await keep(by_words, "Minor", importance=0.1)
    await keep(by_words, "Major", importance=0.9)
    await keep(by_words, "Pinned", importance=0.1, pinned=True)
    briefing = await by_words.recall(Query())
    assert briefing.mode == "briefing"
    assert contents(briefing) == [
        *(f"Session {number} planned the garden." for number in (4, 3, 2)), "Pinned", "Major", "Minor",
    ]  # fmt: skip


async def test_the_briefing_leaves_out_what_is_not_trusted(by_words: MemoryService):
    await keep(by_words, "Said by the user", source=Source.USER)
    await keep(by_words, "Printed by a tool", source=Source.TOOL, importance=1.0, pinned=True)
    assert contents(await by_words.recall(Query())) == ["Said by the user"]


async def test_the_briefing_says_which_sessions_wait_for_a_summary_and_how_to_call(by_words: MemoryService):
    await keep(by_words, "We began", kind=Kind.TURN, session_id="s1", speaker="user", namespace="proj")
    notice = (await by_words.recall(Query(namespace="proj"))).notice
    assert "summarize(session_id='s1', namespace='proj')" in notice
    assert (await by_words.recall(Query())).notice == "Nothing is stored yet."
    await by_words.summarize(Conversation("s1", summary="They began.", namespace="proj"))
    assert (await by_words.recall(Query(namespace="proj"))).notice == ""


async def test_the_briefing_keeps_to_its_budget_and_counts_the_rest(by_words: MemoryService):
    for number in range(20):
        await keep(by_words, f"Rule {number}: " + "measure twice and cut once, " * 30)
    briefing = await by_words.recall(Query(limit=20, max_tokens=500))
    assert 1 <= len(briefing.hits) < 20
    assert briefing.omitted == 20 - len(briefing.hits)


# ---- degraded states -----------------------------------------------------------------------------------------------


async def test_without_a_model_recall_goes_by_words_and_says_why(by_words: MemoryService):
    await keep(by_words, "The kettle is blue")
    found = await by_words.recall(Query("kettle"))
    assert (found.mode, contents(found)) == ("keyword", ["The kettle is blue"])
    assert "MEMORY_MCP_MODEL=none" in found.notice


async def test_while_the_model_loads_nothing_waits_and_the_reply_says_so(settings: Settings, clock: Clock):
    """B04: stored and recalled by words meanwhile; by meaning once it is there."""
    loader = GatedLoader()
    async with memory_with(settings, loader, clock, patient=False) as memory:
        memory.embeddings.start()
        stored = await memory.store(NewMemory("The kettle is blue"))
        found = await memory.recall(Query("kettle"))
        summarized = await memory.summarize(
            Conversation("s1", messages=(Message("user", "My kettle broke on Monday and I ordered a blue one."),))
        )
        assert "still loading" in stored.notice
        assert (found.mode, contents(found)) == ("keyword", ["The kettle is blue"])
        assert "still loading" in found.notice
        assert "still loading" in summarized.notice
        loader.gate.set()
        assert await memory.embeddings.ready()
        assert await memory.embed_pending() > 0
        assert (await memory.recall(Query("kettle"))).mode == "hybrid"


async def test_where_vectors_cannot_be_searched_recall_says_so(settings: Settings, clock: Clock, tmp_path):
    """B02: the package is there, its binary is garbage."""
    garbage = tmp_path / "vec0.so"
    garbage.write_bytes(b"not a library")
    async with memory_with(settings, WordsEmbedder, clock, extension=str(garbage)) as memory:
        stored = await memory.store(NewMemory("The kettle is blue"))
        found = await memory.recall(Query("kettle"))
        assert (found.mode, contents(found)) == ("keyword", ["The kettle is blue"])
        assert "sqlite-vec cannot be loaded" in found.notice
        assert "sqlite-vec cannot be loaded" in stored.notice
        assert any("sqlite-vec" in problem for problem in await memory.problems())


async def test_recall_writes_nothing_and_counts_later(memory: MemoryService):
    """DESIGN law 5."""
    kept = await keep(memory, "The kettle is blue")
    before = await memory.changes()
    for _ in range(3):
        await memory.recall(Query("kettle"))
    await memory.recall(Query())
    await memory.recall(Query(tags=("a",)))
    assert await memory.changes() == before
    assert (await memory.get(kept)).access_count == 0
    await memory.flush()
    assert await memory.changes() != before
    assert (await memory.get(kept)).access_count == 3


@pytest.mark.parametrize("load", [WordsEmbedder, universal, None])
async def test_recall_does_not_wait_for_another_process_that_writes(settings: Settings, clock: Clock, load):
    """B10: also when the file's vectors are another model's, and when there are none yet."""
    async with memory_with(settings, WordsEmbedder, clock) as memory:
        await keep(memory, "The kettle is blue")
    other = driver.connect(settings.db)
    async with memory_with(settings, load, clock) as memory:
        other.execute("begin immediate")
        other.execute("update memory set importance = 0")
        assert await ask(memory, "kettle") == ["The kettle is blue"]
        assert await ask(memory) == ["The kettle is blue"]
        other.execute("rollback")
    other.close()


async def test_a_damaged_memory_never_stops_the_others(memory: MemoryService, settings: Settings):
    """B09: in recall, listing, briefing, by id, and in the next store."""
    kept = [await keep(memory, f"The kettle {n} is blue", importance=0.9) for n in range(6)]
    other = driver.connect(settings.db)
    other.execute("pragma ignore_check_constraints = on")
    for number, damage in enumerate(
        ("kind = 'unheard-of'", "created_at = 9223372036854775807", "state = 'lost'", "content = cast(x'41ff' as text)",
         "source = 'x'")
    ):  # fmt: skip
        other.execute(f"update memory set {damage} where id = :id", {"id": kept[number]})
    other.close()
    whole = "The kettle 5 is blue"
    for query in (Query("kettle"), Query("kettle", include_history=True), Query(min_confidence=0.1), Query(),
                  Query(ids=tuple(kept))):  # fmt: skip
        assert whole in contents(await memory.recall(query))
    assert (await memory.store(NewMemory("The kettle 6 is blue"))).status == "stored"


async def test_a_damaged_episode_never_stops_the_others(memory: MemoryService, settings: Settings):
    """B09."""
    for number in range(2):
        await memory.summarize(Conversation(f"s{number}", summary=f"Kettle {number} was bought."))
    other = driver.connect(settings.db)
    other.execute("update episode set lessons = '[\"half' where session = 1")
    other.close()
    assert "Kettle 1 was bought." in contents(await memory.recall(Query()))
    assert len(await ask(memory, "kettle bought")) == 2
    assert [one.memory.content for one in await memory.recent_episodes()] == ["Kettle 1 was bought."]


async def test_a_filter_of_everything_reads_every_state(by_words: MemoryService):
    old = await keep(by_words, "old")
    await keep(by_words, "new", supersedes=(old,))
    page = await by_words.db.page(Filter(states=()), 10)
    assert {one.state for one in page.memories} == {State.ACTIVE, State.SUPERSEDED}


async def test_an_answered_recall_stands_although_it_cannot_be_counted(words_only: Settings):
    async with open_memory(words_only, door="cli") as memory:
        await keep(memory, "The spare key hangs behind the clock")
        assert await ask(memory, "spare key") == ["The spare key hangs behind the clock"]
        await memory.db._database.maintain(lambda at: at.execute("pragma query_only = on"))
    async with open_memory(words_only, door="cli") as memory:
        assert await ask(memory, "spare key") == ["The spare key hangs behind the clock"]


async def test_memories_without_vectors_are_told_of(words_only: Settings, clock: Clock):
    async with memory_with(words_only, None, clock) as memory:
        await keep(memory, "The ferry leaves at nine")
    async with memory_with(words_only, WordsEmbedder, clock) as memory:
        found = await memory.recall(Query("When does the boat go?"))
        assert "found by words only: 1 of 1" in found.notice
        await memory.embed_pending()
        assert "found by words only" not in (await memory.recall(Query("ferry"))).notice
