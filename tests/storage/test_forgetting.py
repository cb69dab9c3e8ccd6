from dataclasses import replace
from pathlib import Path

import pytest
from drafts import MODEL, NOW, draft, episode, healthy, turn, vectors, write
from remains import ENGLISH, JAPANESE, SEARCHED, remains, traces

from memory_mcp.errors import Conflict
from memory_mcp.models import Filter, PendingSession, Revision, Source, new_id
from memory_mcp.storage import SqliteStore, driver, open_store
from memory_mcp.storage.values import Coordinates, Probe

pytestmark = pytest.mark.anyio

# ---- gone ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        (ENGLISH, ["quixotic", "zanzibarian", "xylotom", "us-7712", "nobody else may"]),
        (JAPANESE, ["合言葉", "紫陽花", "向日", "教えて"]),
    ],
)
async def test_a_forgotten_memory_leaves_no_byte_behind(store: SqliteStore, path: Path, text: str, pieces: list[str]):
    """B36: gone from rows, index, log, free pages and vectors."""
    await store.write([draft(f"ordinary text {number} about things", seed=number) for number in range(200)], door="cli")
    secret = replace(draft(text, tags=("quetzalcoatl",), key="cryptozoology"), vectors=vectors(901, 902))
    [memory_id] = await write(store, secret)
    await store.write([draft(f"later text {number}", seed=300 + number) for number in range(50)], door="cli")
    looked_for = [*pieces, "quetzalco", "cryptozoo", *traces(901, 902)]
    assert remains(path, *looked_for) >= len(looked_for)
    forgotten = await store.forget([memory_id], now=NOW, door="cli")
    assert (forgotten.ids, forgotten.verification, forgotten.detail) == ((memory_id,), "clean", SEARCHED)
    assert remains(path, *looked_for) == 0
    assert (await store.check()).problems == ()
    assert await store.finish_erasure() == ""


async def test_a_forgotten_memory_is_gone_from_every_door_also_of_a_store_that_was_open(store: SqliteStore, path: Path):
    """B35: no search, listing or name finds it."""
    other = await open_store(path, now=lambda: NOW)
    gone, kept = await write(store, draft(ENGLISH, seed=1, tags=("a",)), draft("kept", seed=2))
    await store.forget([gone], now=NOW, door="cli")
    for door in (store, other):
        assert await door.get([gone]) == []
        assert [one.id for one in (await door.page(Filter(states=()), 10)).memories] == [kept]
        assert await door.similar(vectors(1), Filter(), 0.9, 10) == []
        assert (await door.search(Probe(vectors(1), ("zanzibarian",), Filter()))).rows.tolist() == [2]
        assert await door.versions([gone]) == []
    await other.close()


async def test_forgotten_text_may_be_stored_again(store: SqliteStore):
    """B34: three times over."""
    for _ in range(3):
        [written] = await store.write([draft("I like tea", tags=("new",))], door="cli")
        assert not written.duplicate
        assert (await store.forget([written.id], now=NOW, door="cli")).verification == "clean"
    await store.write([draft("I like tea")], door="cli")
    assert (await store.stats()).memories == 1


async def test_exactly_what_was_named_goes_and_unknown_ids_are_told(store: SqliteStore):
    """B37: nothing else goes, and nothing at all without a name."""
    ids = await write(store, *(draft(f"{number}", session_id="s") for number in range(5)))
    nowhere = new_id()
    assert (await store.forget([], now=NOW, door="cli")).ids == ()
    assert (await store.forget([nowhere], now=NOW, door="cli")).missing == (nowhere,)
    forgotten = await store.forget([ids[1], nowhere, ids[3]], now=NOW, door="cli")
    assert (forgotten.ids, forgotten.cascaded, forgotten.missing) == ((ids[1], ids[3]), (), (nowhere,))
    assert [one.content for one in await store.get(ids)] == ["0", "2", "4"]


async def test_text_that_another_memory_holds_too_is_no_residue(store: SqliteStore):
    text = draft("our deployment checklist", namespace="a", seed=1)
    ids = await write(store, text, draft("Our Deployment Checklist", seed=2))
    assert (await store.forget(ids[:1], now=NOW, door="cli")).verification == "clean"
    assert [one.id for one in await store.get(ids)] == ids[1:]


async def test_no_strays_are_left_when_half_of_many_is_forgotten_and_space_comes_back(store: SqliteStore, path: Path):
    """B36, B39: counts agree, and the file shrinks."""
    ids: list[str] = []
    for batch in range(10):
        drafts = [draft(f"memory {batch} {number} " * 40, seed=batch * 100 + number) for number in range(100)]
        ids += await write(store, *drafts)
    before = (await store.stats()).bytes_on_disk
    forgotten = await store.forget(ids[:600], now=NOW, door="cli")
    assert forgotten.verification == "clean"
    check = await store.check()
    assert check.problems == ()
    assert {check.counts[name] for name in ("memories", "indexed", "sentences", "vectors")} == {400}
    assert (await store.stats()).bytes_on_disk < 0.6 * before
    assert len(await store.similar(vectors(700), Filter(), -1.0, 500)) == 400


# ---- what goes with it -----------------------------------------------------------------------------------------------


async def test_older_versions_go_too_and_are_told_and_none_comes_back_to_life(store: SqliteStore):
    first, second, third = [(await write(store, draft(text, key="home")))[0] for text in ("Rome", "Oslo", "Bern")]
    forgotten = await store.forget([second], now=NOW, door="cli")
    assert (forgotten.ids, forgotten.cascaded) == ((second,), (first,))
    assert [one.content for one in (await store.page(Filter(states=()), 10)).memories] == ["Bern"]
    forgotten = await store.forget([third], now=NOW, door="cli")
    assert forgotten.cascaded == ()
    assert (await store.stats()).memories == 0


async def test_key_facts_go_with_their_episode_unless_something_else_supports_them(store: SqliteStore):
    [known] = await write(store, draft("known before"))
    one, facts = await store.write_episode(
        episode("First.", lessons=("unforgettable lesson",)),
        None,
        [draft("only here"), draft("in both"), draft("known before")],
        door="mcp",
    )
    await store.write_episode(episode("Second.", session_id="s2"), None, [draft("in both")], door="mcp")
    forgotten = await store.forget([one.memory.id], now=NOW, door="cli")
    assert (forgotten.cascaded, forgotten.resummarize) == ((facts[0].id,), ())
    left = {memory.content for memory in (await store.page(Filter(), 10)).memories}
    assert left == {"in both", "known before", "Second."}
    assert await store.get([known]) != []


async def test_what_was_derived_from_forgotten_memories_alone_goes(store: SqliteStore):
    one, two = await write(store, draft("one"), draft("two"))
    [both] = await write(store, draft("from both", derived_from=(one, two)))
    [single, further] = await write(store, draft("from one", derived_from=(one,)), draft("independent"))
    [chain] = await write(store, draft("from what came from one", derived_from=(single,)))
    forgotten = await store.forget([one], now=NOW, door="cli")
    assert forgotten.cascaded == (single, chain)
    [left] = await store.get([both])
    assert left.derived_from == (two,)
    assert await store.get([further]) != []


async def test_a_summary_that_loses_a_turn_or_a_key_fact_is_marked_to_be_made_again(store: SqliteStore):
    told, [fact] = await store.write_episode(
        episode("First."), None, [draft("a fact")], turns=[turn("hello"), turn("secret")], door="mcp"
    )
    assert await store.pending_sessions([], 10) == []
    assert (await store.forget([fact.id], now=NOW, door="cli")).resummarize == ("s1",)
    assert await store.pending_sessions([], 10) == [PendingSession("s1", "user", 2, NOW)]
    await store.write_episode(episode("Second.", covered_through=2), None, [], door="mcp")
    second = (await store.turns("s1", "user"))[1]
    assert (await store.forget([second.id], now=NOW, door="cli")).resummarize == ("s1",)
    assert await store.get([told.memory.id]) == []


@pytest.mark.parametrize("what", ["a key fact of the first summary", "a key fact of the second", "a turn"])
async def test_replaced_summaries_that_told_of_it_go_and_the_standing_one_is_named(store: SqliteStore, what: str):
    """B35: history is a door, too."""
    first, [early] = await store.write_episode(
        episode("Ann and Bob."), None, [draft("Ann exists")], turns=[turn("I met Ann")], door="mcp"
    )
    second, [late] = await store.write_episode(
        episode("Ann, Bob, Cid.", covered_through=1), None, [draft("Cid")], door="mcp"
    )
    [said] = await store.turns("s1", "user")
    chosen = [early.id if "first" in what else late.id if "second" in what else said.id]
    assert await store.carried_along(chosen) == (first.memory.id,)
    forgotten = await store.forget(chosen, now=NOW, door="cli")
    assert (forgotten.cascaded, forgotten.resummarize, forgotten.verification) == ((first.memory.id,), ("s1",), "clean")
    assert forgotten.detail.count(".") == 3
    assert "The summary of session 's1' still stands" in forgotten.detail
    assert {one.id for one in await store.get([early.id, late.id, second.memory.id])} == (
        {early.id, late.id, second.memory.id} - {*chosen}
    )


async def test_summaries_that_do_not_cover_a_forgotten_turn_stay_as_history(store: SqliteStore):
    first, _ = await store.write_episode(episode("Began."), None, [], turns=[turn("one")], door="mcp")
    await store.write_episode(episode("Went on."), None, [], turns=[turn("two")], door="mcp")
    two = (await store.turns("s1", "user"))[1]
    assert (await store.forget([two.id], now=NOW, door="cli")).cascaded == ()
    assert await store.get([first.memory.id]) != []


async def test_a_summary_that_lost_a_source_is_erased_when_it_is_made_again(store: SqliteStore, path: Path):
    _, [secret, kept] = await store.write_episode(
        episode(ENGLISH), vectors(901), [draft("the secret"), draft("kept")], turns=[turn("hello")], door="mcp"
    )
    await store.forget([secret.id], now=NOW, door="cli")
    assert remains(path, "zanzibarian") > 0
    again, _ = await store.write_episode(episode("A greeting.", covered_through=1), vectors(902), [], door="mcp")
    assert remains(path, "zanzibarian", "xylotom", *traces(901)) == 0
    assert await store.finish_erasure() == ""
    assert await store.pending_sessions([], 10) == []
    left = {one.content for one in (await store.page(Filter(states=()), 10)).memories}
    assert left == {"A greeting.", "hello", "kept"}
    assert again.key_facts == (kept.id,)
    assert (await store.forget([kept.id], now=NOW, door="cli")).resummarize == ("s1",)
    assert (await store.check()).problems == ()


async def test_an_archived_summary_that_lost_a_source_is_erased_when_another_is_made(store: SqliteStore):
    told, [fact] = await store.write_episode(episode("Ann."), None, [draft("Ann exists")], door="mcp")
    await store.archive([told.memory.id], now=NOW, door="cli")
    assert (await store.forget([fact.id], now=NOW, door="cli")).resummarize == ("s1",)
    await store.write_episode(episode("Somebody."), None, [], door="mcp")
    assert await store.get([told.memory.id]) == []


async def test_a_session_without_turns_whose_summary_lost_a_source_is_pending_while_the_summary_stands(
    store: SqliteStore,
):
    told, [fact, _] = await store.write_episode(episode("Ann."), None, [draft("Ann exists"), draft("Bob")], door="mcp")
    await store.forget([fact.id], now=NOW, door="cli")
    assert await store.pending_sessions([], 10) == [PendingSession("s1", "user", 0, NOW)]
    await store.forget([told.memory.id], now=NOW, door="cli", cascade=False)
    assert await store.pending_sessions([], 10) == []


async def test_names_to_which_nothing_belongs_any_more_go_too(store: SqliteStore, path: Path):
    named = {"namespace": "operation-sunflower", "session_id": "meeting with Xerxes"}
    one, two = await write(store, draft("one", **named), draft("two", **named))
    await store.forget([one], now=NOW, door="cli")
    assert remains(path, "operation-sunflower", "meeting with xerxes") > 0
    assert (await store.forget([two], now=NOW, door="cli")).verification == "clean"
    assert remains(path, "operation-sunflower", "meeting with xerxes") == 0
    await store.write([draft("one", **named)], door="cli")
    assert await healthy(store)


async def test_names_are_looked_for_among_the_traces(store: SqliteStore, path: Path):
    [memory_id] = await write(store, draft("one", namespace="operation-sunflower", session_id="meeting with Xerxes"))
    careless = driver.connect(path)
    careless.execute("pragma secure_delete = off")
    careless.execute("insert into lease values ('careless', 'operation-sunflower meeting with Xerxes', 0)")
    careless.execute("delete from lease")
    careless.execute("pragma wal_checkpoint(truncate)")
    careless.close()
    assert (await store.forget([memory_id], now=NOW, door="cli")).verification == "clean"
    assert remains(path, "operation-sunflower", "meeting with xerxes") == 0


async def test_what_ran_out_of_time_goes_alone(store: SqliteStore):
    """A fact outlives the turn and the episode it came from."""
    told, [fact] = await store.write_episode(
        episode("Summary."), None, [draft("a fact")], turns=[turn("said")], door="mcp"
    )
    [said] = await store.turns("s1", "user")
    [derived] = await write(store, draft("derived", derived_from=(said.id,)))
    forgotten = await store.forget([said.id, told.memory.id], now=NOW, door="background", cascade=False)
    assert (forgotten.cascaded, forgotten.resummarize, forgotten.verification) == ((), (), "clean")
    assert [one.id for one in await store.get([fact.id, derived])] == [fact.id, derived]


async def test_what_was_forgotten_does_not_come_back_by_itself(store: SqliteStore):
    """B40: neither the same message of a host nor the same line of an export."""
    said = turn("captured", at=Coordinates("claude-code", "session", "message-1", "user"))
    imported = draft("imported", source=Source.IMPORT)
    ids = await write(store, said, imported)
    await store.forget(ids, now=NOW, door="cli")
    for again in (said, imported):
        with pytest.raises(Conflict, match="forgotten on request"):
            await store.write([draft("fine"), replace(again, memory=again.memory)], door="hook")
    assert (await store.stats()).memories == 0
    assert not (await store.write([turn("captured"), draft("imported")], door="cli"))[0].duplicate


async def test_use_of_the_model_survives_forgetting_everything(store: SqliteStore):
    [memory_id] = await write(store, draft("text"))
    await store.forget([memory_id], now=NOW, door="cli")
    assert await store.use_model(MODEL, now=NOW)
    [again] = await store.write([draft("text")], door="cli")
    assert await store.unembedded(10) == []
    assert again.id != memory_id


# ---- as confirmed ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", ["a facet", "what goes along", "nothing"])
async def test_a_forget_erases_what_was_confirmed_or_nothing(store: SqliteStore, change: str):
    [chosen] = await write(store, draft("chosen"))
    [derived] = await write(store, draft("derived", derived_from=(chosen,)))
    expected = await store.versions([derived, chosen])
    if change == "a facet":
        await store.revise(derived, Revision(importance=0.9), expires_at=None, now=NOW, door="cli")
    if change == "what goes along":
        await write(store, draft("derived, too", derived_from=(chosen,)))
    before = (await store.stats()).memories
    if change == "nothing":
        forgotten = await store.forget([chosen], now=NOW, door="cli", expected=expected)
        assert forgotten.cascaded == (derived,)
    else:
        with pytest.raises(Conflict, match=r"changed since the preview\. Nothing was forgotten\. Ask without confirm"):
            await store.forget([chosen], now=NOW, door="cli", expected=expected)
        assert (await store.stats()).memories == before
