"""What becomes of a text that is stored, and of memories that are revised, rated or looked after."""

from collections.abc import AsyncIterator
from datetime import timedelta

import pytest

from memory_mcp.config import MAX_CONTENT, Settings
from memory_mcp.errors import InvalidInput, NotFound
from memory_mcp.models import Conversation, Kind, Message, NewMemory, Query, Selection, Source, State, Trust
from memory_mcp.service import MemoryService
from tests.conftest import Clock
from tests.memories import WordsEmbedder, ask, keep, memory_with

pytestmark = pytest.mark.anyio


@pytest.fixture
async def memory(settings: Settings, clock: Clock) -> AsyncIterator[MemoryService]:
    async with memory_with(settings, WordsEmbedder, clock) as opened:
        yield opened


async def count(memory: MemoryService) -> int:
    return (await memory.stats()).memories


# ---- duplicates and near matches -----------------------------------------------------------------------------------


async def test_identical_text_reinforces_the_memory_that_is_there(memory: MemoryService, clock: Clock):
    """B31, B33: tags are merged, time is renewed, a higher importance takes effect, and the reply says so."""
    first = await keep(memory, "The deploy port is 8080", tags=("ops",))
    clock.turn(days=2)
    again = await memory.store(NewMemory("  the deploy port is 8080. ", tags=("Ports",), importance=0.9))
    assert (again.id, again.status) == (first, "duplicate")
    kept = await memory.get(first)
    assert (set(kept.tags), kept.importance, kept.updated_at) == ({"ops", "ports"}, 0.9, clock())
    assert await count(memory) == 1


@pytest.mark.parametrize(
    ("old", "new", "differs"),
    [
        ("The deploy port is 8080", "The deploy port is 8081", "number"),
        ("I eat fish on Fridays.", "I do not eat fish on Fridays.", "negation"),
        ("The contact at the bank is Carol Reed.", "The contact at the bank is Emma Reed.", "name"),
        ("定例会議は毎週月曜の10時からです。", "定例会議は毎週月曜の11時からです。", "number"),
    ],
)
async def test_a_near_match_is_kept_and_reported_with_what_differs(real: MemoryService, old, new, differs):
    """B31: similar is never a duplicate."""
    first = await keep(real, old)
    stored = await real.store(NewMemory(new))
    assert stored.status == "stored"
    assert [(one.id, one.content, one.differs) for one in stored.similar] == [(first, old, differs)]
    assert {old, new} <= set(await ask(real, new))


async def test_what_was_replaced_or_repeated_is_not_reported_as_near(real: MemoryService):
    old = await keep(real, "The deploy port is 8080")
    corrected = await real.store(NewMemory("The deploy port is 8081", supersedes=(old,)))
    again = await real.store(NewMemory("The deploy port is 8081"))
    assert (corrected.similar, again.similar) == ((), ())


async def test_near_matches_come_from_the_same_namespace_only(real: MemoryService):
    await keep(real, "The deploy port is 8080", namespace="other")
    assert (await real.store(NewMemory("The deploy port is 8081"))).similar == ()


# ---- corrections ---------------------------------------------------------------------------------------------------


async def test_a_key_holds_one_value_and_the_reply_says_what_it_replaced(memory: MemoryService):
    """B15: the earlier text stays recoverable."""
    first = await keep(memory, "Favourite restaurant: Ume", key="favourite_restaurant")
    second = await memory.store(NewMemory("Favourite restaurant: Sora", key="favourite_restaurant"))
    assert (second.status, second.superseded) == ("superseded", (first,))
    assert await ask(memory, "favourite restaurant") == ["Favourite restaurant: Sora"]
    history = await ask(memory, "favourite restaurant", include_history=True)
    assert history == ["Favourite restaurant: Sora", "Favourite restaurant: Ume"]


async def test_after_two_corrections_the_newest_stands_and_the_others_are_marked(real: MemoryService, clock: Clock):
    """B24: never both live, never a silent deletion."""
    first = await keep(real, "I work at Aster Labs")
    clock.turn(days=30)
    second = await keep(real, "I no longer work at Aster Labs, I work at Birch Bank", supersedes=(first,))
    clock.turn(days=30)
    third = await keep(real, "I left Birch Bank and work at Cedar Press now", supersedes=(second,))
    assert [hit.memory.id for hit in (await real.recall(Query("where do I work?"))).hits] == [third]
    every = (await real.recall(Query("where do I work?", include_history=True))).hits
    assert every[0].memory.id == third
    assert {hit.memory.id: hit.memory.superseded_by for hit in every} == {third: "", second: third, first: second}
    assert [hit.memory.state for hit in every] == [State.ACTIVE, State.SUPERSEDED, State.SUPERSEDED]


async def test_what_the_reply_reports_as_near_can_be_superseded_by_its_id(real: MemoryService):
    """B24: a correction told without an id is reported, so that the caller can make it one."""
    await keep(real, "The deploy port is 8080")
    told = await real.store(NewMemory("The deploy port is 8081"))
    await real.store(NewMemory("The deploy port is 8081", supersedes=tuple(one.id for one in told.similar)))
    assert await ask(real, "Which port do we deploy to?") == ["The deploy port is 8081"]


async def test_a_value_can_come_back(memory: MemoryService):
    for place in ("Rome", "Oslo", "Rome"):
        await keep(memory, f"I live in {place}", key="home")
    assert await ask(memory, "I live in") == ["I live in Rome"]
    assert len(await ask(memory, "I live in", include_history=True)) == 3


@pytest.mark.parametrize("field", ["supersedes", "derived_from"])
async def test_an_unknown_origin_is_refused_and_nothing_is_saved(memory: MemoryService, field: str):
    known = await keep(memory, "known")
    with pytest.raises(NotFound, match="othing was"):
        await memory.store(NewMemory("new", **{field: (known, "no-such-id")}))
    assert await count(memory) == 1


# ---- source and trust ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "trust"),
    [
        (Source.USER, Trust.TRUSTED),
        (Source.AGENT, Trust.TRUSTED),
        (Source.HOOK, Trust.TRUSTED),
        (Source.TOOL, Trust.UNTRUSTED),
        (Source.IMPORT, Trust.UNTRUSTED),
    ],
)
async def test_trust_follows_the_source(memory: MemoryService, source: Source, trust: Trust):
    assert (await memory.get(await keep(memory, "text", source=source))).trust is trust


async def test_a_derived_memory_takes_the_lowest_trust_of_its_origins(memory: MemoryService):
    said = await keep(memory, "The user likes tea", source=Source.USER)
    read = await keep(memory, "A web page praises coffee", source=Source.TOOL)
    both = await memory.get(await keep(memory, "Tea or coffee", derived_from=(said, read), source=Source.USER))
    assert (both.trust, both.derived_from) == (Trust.UNTRUSTED, (said, read))
    again = await memory.get(await keep(memory, "Derived again", derived_from=(both.id,)))
    assert again.trust is Trust.UNTRUSTED


@pytest.mark.parametrize(("first", "then"), [(Source.TOOL, Source.USER), (Source.USER, Source.TOOL)])
async def test_who_repeats_a_text_neither_vouches_for_it_nor_spoils_it(memory: MemoryService, first, then):
    kept = await memory.get(await keep(memory, "The office closes at six", source=first))
    again = await memory.get(await keep(memory, "The office closes at six", source=then))
    assert (again.id, again.source, again.trust) == (kept.id, kept.source, kept.trust)


# ---- time to live --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "days"), [(Kind.FACT, None), (Kind.PREFERENCE, None), (Kind.METRIC, 90), (Kind.TURN, 90)]
)
async def test_the_time_to_live_goes_by_kind(memory: MemoryService, clock: Clock, kind: Kind, days: int | None):
    kept = await memory.get(await keep(memory, "text", kind=kind))
    assert kept.expires_at == (days and clock() + timedelta(days=days))


async def test_settings_change_the_time_to_live(settings: Settings, clock: Clock):
    short = settings.model_copy(update={"ttl": {Kind.FACT: 2, Kind.METRIC: None}})
    async with memory_with(short, None, clock) as memory:
        assert (await memory.get(await keep(memory, "a", kind=Kind.METRIC))).expires_at is None
        assert (await memory.get(await keep(memory, "b"))).expires_at == clock() + timedelta(days=2)


async def test_what_has_expired_is_not_recalled_and_is_forgotten_by_the_next_upkeep(
    memory: MemoryService, clock: Clock
):
    brief = await keep(memory, "The wifi password today is on the board", expires_in_days=1)
    pinned = await keep(memory, "The wifi router is in the hall", expires_in_days=1, pinned=True)
    clock.turn(days=2)
    assert await ask(memory, "wifi") == ["The wifi router is in the hall"]
    assert await ask(memory, until="today") == ["The wifi router is in the hall"]
    await memory.maintain()
    with pytest.raises(NotFound):
        await memory.get(brief)
    assert (await memory.get(pinned)).pinned


async def test_the_turns_of_a_session_wait_for_its_summary_before_they_expire(memory: MemoryService, clock: Clock):
    turn = await keep(memory, "We met at the harbour", kind=Kind.TURN, session_id="s1", speaker="user")
    clock.turn(days=100)
    await memory.maintain()
    assert (await memory.get(turn)).content == "We met at the harbour"
    await memory.summarize(Conversation("s1", summary="They met."))
    await memory.maintain()
    with pytest.raises(NotFound):
        await memory.get(turn)


async def test_when_turns_expire_the_key_facts_learned_from_them_stay(memory: MemoryService, clock: Clock):
    said = Message("user", "I moved to Sapporo in March because of the new job.")
    summarized = await memory.summarize(Conversation("s1", messages=(said,)))
    fact = await keep(
        memory, "The user lives in Sapporo", derived_from=tuple(one.id for one in (await memory.session("s1"))[0])
    )
    clock.turn(days=200)  # the turn's 90 days and the episode's 180 are over
    await memory.maintain()
    with pytest.raises(NotFound):
        await memory.get(summarized.episode.memory.id)
    assert (await memory.get(fact)).content == "The user lives in Sapporo"


# ---- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong",
    [
        {"content": ""},
        {"content": " \n\t "},
        {"content": "\u200b\u2060\ufeff"},
        {"content": "a\0b"},
        {"content": "half \ud83d a character"},
        {"content": "text", "kind": Kind.EPISODE},
        {"content": "text", "kind": Kind.DOCUMENT},
        {"content": "text", "importance": 1.01},
        {"content": "text", "importance": float("nan")},
        {"content": "text", "confidence": -0.1},
        {"content": "text", "expires_in_days": 0},
        {"content": "text", "expires_in_days": float("inf")},
        {"content": "text", "tags": tuple(map(str, range(100_000)))},
        {"content": "text", "tags": ("t" * 65,)},
        {"content": "text", "tags": ("a\0b",)},
        {"content": "text", "key": "k" * 201},
        {"content": "text", "namespace": "\u200b"},
        {"content": "text", "speaker": "\ud800"},
    ],
)
async def test_what_cannot_be_kept_is_refused_by_name_and_leaves_nothing(memory: MemoryService, wrong):
    """B33, B27: junk is an error that names the field, and the next call works."""
    field = [*wrong][-1]
    with pytest.raises(InvalidInput, match=field):
        await memory.store(NewMemory(**wrong))
    assert await count(memory) == 0
    assert (await memory.store(NewMemory("the next call"))).status == "stored"


async def test_a_date_in_the_future_is_refused_where_it_must_be_past(memory: MemoryService, clock: Clock):
    with pytest.raises(InvalidInput, match="created_at"):
        await keep(memory, "text", created_at=clock() + timedelta(days=2))
    assert await count(memory) == 0


@pytest.mark.parametrize("size", [2_001, MAX_CONTENT])
async def test_a_long_text_is_kept_whole(memory: MemoryService, size: int):
    """B29."""
    text = ("word " * (size // 5 + 1))[: size - 1] + "."
    assert (await memory.get(await keep(memory, text))).content == text


@pytest.mark.parametrize("size", [MAX_CONTENT + 1, 65_537, 1_000_001, 20_000_000])
async def test_a_text_over_the_limit_is_refused_with_the_limit_and_the_way_out(memory: MemoryService, size: int):
    """B29: never a cut with a success reply."""
    with pytest.raises(InvalidInput, match=r"16,000.*nothing was saved.*Split it"):
        await keep(memory, "x" * size)
    assert await count(memory) == 0


async def test_a_fact_at_the_end_of_a_long_text_is_found_by_its_meaning(real: MemoryService):
    """B28: the whole text is embedded, and it comes back once."""
    filler = "The committee discussed the minutes of the previous meeting and adjourned without a vote. "
    long = filler * 160 + "My grandmother was born on a fishing boat near Bergen."
    wanted = await keep(real, long)
    for number in range(60):
        await keep(real, f"Invoice {number} was paid by bank transfer on day {number} of the quarter.")
    found = [hit.memory.id for hit in (await real.recall(Query("Where did Granny come into the world?"))).hits]
    assert found[0] == wanted
    assert found.count(wanted) == 1


# ---- tags ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tag", "same"),
    [("Python", "PYTHON"), (" spaced tag ", "spaced tag"), ("a,b", "a,b"), ("100%", "100%"), ("日本", "日本")],
)
async def test_a_tag_is_read_by_one_rule_and_matched_whole(memory: MemoryService, tag: str, same: str):
    """B30: by recall and by forget alike, and the counts are those of the rows."""
    await keep(memory, "tagged", tags=(tag, "", "  "))
    await keep(memory, "another", tags=("py", "10", "b", "spaced", "日"))
    assert await ask(memory, tags=(same,)) == ["tagged"]
    preview = await memory.forget(Selection(tags=(same,)))
    done = await memory.forget(Selection(tags=(same,), confirm=preview.confirm))
    assert (preview.count, len(done.ids)) == (1, 1)
    assert await count(memory) == 1


@pytest.mark.parametrize("tag", ["%", "_", "p_", "py%"])
async def test_signs_of_patterns_mean_nothing_in_a_tag(memory: MemoryService, tag: str):
    """B30."""
    await keep(memory, "tagged", tags=("py",))
    assert await ask(memory, tags=(tag,)) == []


@pytest.mark.parametrize(
    ("earlier", "later", "question"),
    [
        ("I work at Acme", "I no longer work at Acme, I work at Borealis", "Where do I work?"),
        ("The deploy port is 8080", "The deploy port is 8081", "Which port do deploys use?"),
        ("会議は三階の会議室で行う", "会議は五階の会議室で行う", "会議の場所は？"),
    ],
)
async def test_a_later_statement_of_the_same_comes_before_the_earlier_one(
    real: MemoryService, clock: Clock, earlier: str, later: str, question: str
):
    """B24, B31: also without a key."""
    await keep(real, earlier)
    clock.turn(days=1)
    await keep(real, later)
    assert (await ask(real, question))[:2] == [later, earlier]
