"""A filled file comes to another embedding model: the old vectors answer meanwhile, and a kill loses nothing."""

import os
import platform
import random
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import timedelta
from pathlib import Path

import pytest

from memory_mcp.answers import Forgotten
from memory_mcp.changing import BATCH
from memory_mcp.config import Settings
from memory_mcp.errors import Conflict, EmbedderUnavailable, StoreFull, StoreReadOnly
from memory_mcp.models import Filter, Memory, NewMemory, Query, Selection, new_id
from memory_mcp.storage import driver
from memory_mcp.storage.changing import ACTIVE
from memory_mcp.storage.values import Draft, Probe, Rewriting
from tests.conftest import Clock
from tests.memories import WordsEmbedder, ask, keep, memory_with
from tests.modelling import find, load, model_in, rows, vectors_of
from tests.shell import CHECKOUT

pytestmark = pytest.mark.anyio

FERRY = "The ferry to Porto leaves at nine in the morning."

TEXTS = [
    FERRY,
    *(f"Box {number} is in the cellar. It holds the cables of machine {number * 7}." for number in range(299)),
]


@pytest.fixture
def old(tmp_path: Path) -> str:
    return str(model_in(tmp_path / "old", 256))


@pytest.fixture
def new(tmp_path: Path) -> str:
    return str(model_in(tmp_path / "new", 512))


@pytest.fixture
async def filled(settings: Settings, clock: Clock, old: str) -> Settings:
    """A file of many memories, embedded by the old model."""
    return await filled_with(settings, clock, old, TEXTS)


async def filled_with(settings: Settings, clock: Clock, model: str, texts: Sequence[str]) -> Settings:
    async with memory_with(settings, find(model), clock) as memory:
        drafts = [Draft(Memory(id=new_id(), content=text, created_at=clock(), updated_at=clock())) for text in texts]
        await memory.db.write(drafts, door="cli")
        await memory.embed_pending()
    return settings


def nothing(_done: int, _of: int) -> None:
    pass


def stops(at: int) -> Callable[[int, int], None]:
    """Interrupt a change once so many memories are done, as Ctrl-C does."""

    def told(done: int, _of: int) -> None:
        if done >= at:
            raise KeyboardInterrupt

    return told


async def come_to(settings: Settings, model: str, now: Clock, told: Callable[[int, int], None] = nothing) -> str:
    """Change the model; gives the status."""
    async with memory_with(settings, find(model), now) as memory:
        return (await memory.use_model(told)).status


async def interrupted(settings: Settings, model: str, now: Clock, at: int = 2 * BATCH) -> None:
    with pytest.raises(KeyboardInterrupt):
        await come_to(settings, model, now, stops(at))


async def require_whole(settings: Settings, now: Clock) -> None:
    """Check that texts, words and vectors tell of the same memories, and that a question is answered by meaning."""
    async with memory_with(settings, None, now, find=find) as memory:
        check = await memory.check()
        assert (check.integrity, check.problems) == ("ok", ())
        found = await memory.recall(Query("when does the ferry leave?"))
        assert (found.mode, found.notice, found.hits[0].memory.content) == ("hybrid", "", FERRY)
    ids = rows(settings.db, "select row from memory order by row")
    assert rows(settings.db, "select id from fulltext_docsize order by id") == ids
    assert rows(settings.db, f"select distinct memory from vec_bits where model = {ACTIVE} order by memory") == ids


# ---- killed ----------------------------------------------------------------------------------------------------------


def changing(path: Path, folder: str, minutes: int) -> subprocess.Popen[str]:
    program = Path(__file__).with_name("changing.py")
    return subprocess.Popen(
        [sys.executable, str(program), str(path), folder, str(minutes)],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
    )


async def test_a_change_that_is_killed_at_any_moment_loses_nothing_and_goes_on(
    filled: Settings, tmp_path: Path, clock: Clock, new: str
):
    """Ten kills, at places spread over the run: before a batch is read, and where it is about to be written."""
    chance = random.Random(20261130)
    places = [*sorted(chance.sample(range(0, len(TEXTS), BATCH // 4), 9)), len(TEXTS)]
    reached = 0
    for minute, place in enumerate(places):
        step = chance.choice(["told", "embedding"]) if place < len(TEXTS) - BATCH else "told"
        with changing(filled.db, new, 2 * minute) as child:
            assert child.stdout
            for line in child.stdout:
                done, _, doing = line.strip().partition(" ")
                if doing == "told":
                    assert int(done) >= reached, "what was done before the kill is not done again"
                    reached = int(done)
                if int(done) >= place and doing == step:
                    break
            child.kill()
        await require_whole(filled, clock)
    with changing(filled.db, new, 2 * len(places)) as child:
        assert child.stdout
        assert child.stdout.read().split()[-1] in {"changed", "unchanged"}
    await require_whole(filled, clock)
    fresh = await filled_with(Settings(db=tmp_path / "fresh.db"), clock, new, TEXTS)
    assert vectors_of(filled.db) == vectors_of(fresh.db)
    assert rows(filled.db, "select count(*) from vec_bits") == rows(fresh.db, "select count(*) from vec_bits")


# ---- interrupted -----------------------------------------------------------------------------------------------------


async def test_an_interrupted_change_is_told_goes_on_and_embeds_nothing_twice(filled: Settings, clock: Clock, new: str):
    await interrupted(filled, new, clock)
    async with memory_with(filled, None, clock, find=find) as memory:
        change = (await memory.model_state()).change
        assert change
        assert (change.name, change.dimension, change.done, change.holder) == (new, 512, 2 * BATCH, None)
        assert any(f"models use {new}` goes on with it" in one for one in await memory.problems())
        compared = await memory.db.sentences(Filter(), len(TEXTS), 10_000)
        assert compared.vectors.shape == ((await memory.stats()).sentences, 256)
    seen: list[int] = []
    assert await come_to(filled, new, clock, lambda done, _: seen.append(done)) == "changed"
    assert seen[0] == 2 * BATCH
    async with memory_with(filled, None, clock, find=find) as memory:
        state = await memory.model_state()
        assert (state.name, state.dimension, state.embedded, state.change) == (new, 512, len(TEXTS), None)
        assert not any("rests" in one for one in await memory.problems())


async def test_an_interrupted_change_is_given_up_by_naming_the_old_model(
    filled: Settings, clock: Clock, old: str, new: str
):
    before, sentences = vectors_of(filled.db), rows(filled.db, "select count(*) from vec_bits")
    await interrupted(filled, new, clock)
    assert await come_to(filled, old, clock) == "unchanged"
    assert vectors_of(filled.db) == before
    assert rows(filled.db, "select count(*) from vec_bits") == sentences
    await require_whole(filled, clock)


async def test_a_change_to_a_third_model_drops_what_was_made_for_the_second(
    filled: Settings, tmp_path: Path, clock: Clock, new: str
):
    await interrupted(filled, new, clock)
    third = str(model_in(tmp_path / "third", 128))
    assert await come_to(filled, third, clock) == "changed"
    assert rows(filled.db, "select distinct length(bits) from vec_bits") == [(128 // 8,)]
    await require_whole(filled, clock)


async def test_vectors_that_a_killed_change_left_are_swept_by_the_upkeep_of_a_server(
    filled: Settings, clock: Clock, new: str
):
    async with memory_with(filled, find(new), clock) as memory:
        identity = load(new).identity
        await memory.db.begin_change(identity, now=clock())
        left, _ = await memory.db.left_to_change(0, 1_000)
        made = WordsEmbedder(identity)
        await memory.db.put_changed([(one, made.embed([one.content])) for one in left], identity)
        assert await memory.db.switch_model(identity, 1_000)
        assert (await memory.check()).problems == ()
        assert (await memory.check()).counts["sentences"] > 2 * len(TEXTS)
        assert (await memory.stats()).sentences == len(TEXTS)
        await memory.maintain()
        assert (await memory.check()).counts["sentences"] == len(TEXTS)


async def test_there_and_back_again_leaves_the_file_as_it_was(filled: Settings, clock: Clock, old: str, new: str):
    before = vectors_of(filled.db)
    assert [await come_to(filled, one, clock) for one in (new, new, old)] == ["changed", "unchanged", "changed"]
    assert vectors_of(filled.db) == before
    await require_whole(filled, clock)


async def test_a_file_without_memories_comes_to_a_model_at_once(settings: Settings, clock: Clock, old: str, new: str):
    await filled_with(settings, clock, old, [])
    assert await come_to(settings, new, clock) == "changed"
    async with memory_with(settings, None, clock, find=find) as memory:
        await keep(memory, "The harbour is closed")
        assert (await memory.model_state()).dimension == 512


async def test_a_file_may_be_kept_without_vectors_and_get_some_again(filled: Settings, clock: Clock, old: str):
    assert [await come_to(filled, "none", clock) for _ in range(2)] == ["dropped", "unchanged"]
    assert rows(filled.db, "select count(*) from vec_bits") == [(0,)]
    async with memory_with(filled, None, clock, find=find) as memory:
        found = await memory.recall(Query("cables of machine 70"))
        assert (found.mode, len(found.hits)) == ("keyword", 8)
        assert (await memory.stats()).awaiting_vectors == 0
    async with memory_with(filled, find(old), clock) as memory:
        assert "kept without vectors" in (await memory.recall(Query("cables of machine 70"))).notice
        assert await memory.embed_pending() == 0
    assert await come_to(filled, old, clock) == "changed"
    await require_whole(filled, clock)


# ---- while others work -----------------------------------------------------------------------------------------------


async def test_servers_answer_by_the_old_vectors_until_the_switch_and_what_they_store_is_embedded_too(
    filled: Settings, clock: Clock, old: str, new: str
):
    identity = load(new).identity
    async with (
        memory_with(filled, None, clock, find=find) as server,
        memory_with(filled, find(new), clock) as memory,
    ):
        before = await server.recall(Query("machine 70"))
        await memory.db.begin_change(identity, now=clock())
        left, last = await memory.db.left_to_change(0, 1_000)
        made = [(one, WordsEmbedder(identity).embed([one.content])) for one in left]
        assert await memory.db.put_changed(made, identity) == len(TEXTS)
        assert (await server.recall(Query("machine 70"))) == before
        assert before.mode == "hybrid"
        await keep(server, "The pier is closed in winter")
        assert not await memory.db.switch_model(identity, last), "what was stored meanwhile has no new vectors"
        assert await ask(server, "pier in winter", limit=1) == ["The pier is closed in winter"]
    assert await come_to(filled, new, clock) == "changed"
    assert vectors_of(filled.db).keys() == {*TEXTS, "The pier is closed in winter"}


async def test_a_server_follows_the_file_to_its_new_model_by_itself(filled: Settings, clock: Clock, old: str, new: str):
    async with memory_with(filled, None, clock, patient=False, find=find) as server:
        assert (await server.recall(Query("machine 70"))).mode == "hybrid"
        await come_to(filled, new, clock)
        found = await server.recall(Query("machine 70"))
        assert (found.mode, found.notice) == ("hybrid", "")
        await keep(server, "The pier is closed in winter")
        assert (await server.model_state()).embedded == len(TEXTS) + 1
        await come_to(filled, "none", clock)
        assert (await server.recall(Query("pier"))).mode == "keyword"
        await come_to(filled, old, clock)
        assert (await server.recall(Query("pier"))).mode == "hybrid"


async def test_what_a_server_stores_before_it_noticed_is_kept_and_embedded_later(
    filled: Settings, clock: Clock, new: str
):
    async with memory_with(filled, None, clock, patient=False, find=find) as server:
        await server.embeddings.ready()
        await come_to(filled, new, clock)
        stored = await server.store(NewMemory("The pier is closed in winter"))
        assert "The file's model was changed" in stored.notice
        assert await server.embed_pending() == 1
        assert await ask(server, "pier in winter", limit=1) == ["The pier is closed in winter"]
        assert (await server.check()).problems == ()


async def test_a_model_that_somebody_set_is_not_exchanged_and_the_way_out_is_named(
    filled: Settings, clock: Clock, old: str, new: str
):
    async with memory_with(filled, find(old), clock) as server:
        await come_to(filled, new, clock)
        found = await server.recall(Query("machine 70"))
        assert found.mode == "keyword"
        assert f"models use {old}` makes them anew; or leave MEMORY_MCP_MODEL unset" in found.notice
        await come_to(filled, old, clock)
        assert (await server.recall(Query("machine 70"))).mode == "hybrid"


async def test_a_search_that_the_switch_overtakes_never_mixes_two_models(
    filled: Settings, tmp_path: Path, clock: Clock, old: str
):
    """Of the same dimension, so that nothing else would tell."""
    twin = model_in(tmp_path / "twin", 256)
    (twin / "model.safetensors").write_text("256 other numbers")
    async with memory_with(filled, find(old), clock) as server:
        asked = await server.meaning.of_question(["machine 70"])
        await come_to(filled, str(twin), clock)
        with pytest.raises(EmbedderUnavailable, match="changed just now"):
            await server.db.search(Probe(asked.vectors, ("machine",), Filter(), model=asked.model))


async def test_forgetting_during_a_change_erases_both_sets_and_no_vector_comes_after_it(
    filled: Settings, clock: Clock, new: str
):
    await interrupted(filled, new, clock)
    identity = load(new).identity
    async with memory_with(filled, find(new), clock) as memory:
        left, _ = await memory.db.left_to_change(0, 1_000)
        made = [(one, WordsEmbedder(identity).embed([one.content])) for one in left]
        [(done,)] = rows(filled.db, "select id from memory order by row limit 1")
        forgotten = await memory.forget(Selection(ids=(done, left[0].id)))
        assert isinstance(forgotten, Forgotten)
        assert (forgotten.verification, forgotten.ids) == ("clean", (done, left[0].id))
        assert await memory.db.put_changed(made, identity) == len(made) - 1
        assert (await memory.check()).problems == ()
    stray = "select count(*) from vec_bits where memory not in (select row from memory)"
    alone = "select count(*) from vec_full where sentence not in (select sentence from vec_bits)"
    assert rows(filled.db, stray) == rows(filled.db, alone) == [(0,)]


async def test_a_text_that_was_rewritten_while_it_was_embedded_gets_no_vector_of_the_old_one(
    filled: Settings, clock: Clock, new: str
):
    async with memory_with(filled, find(new), clock) as memory:
        identity = load(new).identity
        await memory.db.begin_change(identity, now=clock())
        [first, *_], _ = await memory.db.left_to_change(0, 1)
        made = WordsEmbedder(identity).embed([first.content])
        await memory.db.rewrite([Rewriting(first.id, "content", first.content, "The ferry.")], now=clock(), door="cli")
        assert await memory.db.put_changed([(first, made)], identity) == 0
    assert await come_to(filled, new, clock) == "changed"
    assert "The ferry." in vectors_of(filled.db)


async def test_a_text_that_the_new_model_cannot_read_holds_up_nothing_and_is_counted(
    filled: Settings, clock: Clock, new: str
):
    hating = WordsEmbedder(load(new).identity, hates={"Box 77 "})
    async with memory_with(filled, lambda: hating, clock) as memory:
        changed = await memory.use_model(nothing)
        assert (changed.status, changed.embedded, changed.refused) == ("changed", len(TEXTS) - 1, 1)
        assert (await memory.stats()).awaiting_vectors == 1
        assert (await memory.check()).problems == ()


async def test_a_damaged_memory_holds_up_nothing(settings: Settings, clock: Clock, old: str, new: str):
    await filled_with(settings, clock, old, [FERRY])
    with closing(driver.connect(settings.db)) as connection:
        connection.execute("update memory set created_at = 1000000000000000000")
    assert await come_to(settings, new, clock) == "changed"
    async with memory_with(settings, find(new), clock) as memory:
        state = await memory.model_state()
        assert (state.name, state.memories, state.embedded) == (new, 1, 0)


# ---- what goes wrong -------------------------------------------------------------------------------------------------


async def test_a_second_change_at_the_same_time_is_refused_and_told_who_is_at_it(
    filled: Settings, clock: Clock, new: str
):
    async with memory_with(filled, find(new), clock) as memory:
        await memory.db.lease("model", "process 4711 on shelf", now=clock(), duration=timedelta(minutes=1))
        with pytest.raises(Conflict, match=r"by process 4711 on shelf\..* another may go on from 09:31:00 UTC"):
            await memory.use_model(nothing)
        assert (await memory.model_state()).change is None
        clock.turn(minutes=1)
        assert (await memory.use_model(nothing)).status == "changed"


def ended_process() -> int:
    """Give the number of a process that was here and is not any more."""
    with subprocess.Popen([sys.executable, "-c", ""]) as child:
        child.wait()
    return child.pid


@pytest.mark.skipif(sys.platform == "win32", reason="whether a process lives is not asked there")
async def test_the_lease_of_a_process_that_was_killed_on_this_machine_is_taken_over_at_once(
    filled: Settings, clock: Clock, new: str
):
    await interrupted(filled, new, clock)
    async with memory_with(filled, find(new), clock) as memory:
        killed = f"process {ended_process()} on {platform.node()}"
        await memory.db.lease("model", killed, now=clock(), duration=timedelta(minutes=1))
        change = (await memory.model_state()).change
        assert change
        assert change.holder is None
        assert any("goes on with it" in one for one in await memory.problems())
        assert (await memory.use_model(nothing)).status == "changed"


@pytest.mark.parametrize("owner", ["process {alive} on {here}", "process {ended} on another-machine", "{ended}"])
async def test_the_lease_of_a_process_that_lives_or_may_live_is_respected(
    filled: Settings, clock: Clock, new: str, owner: str
):
    held = owner.format(alive=os.getppid(), ended=ended_process(), here=platform.node())
    async with memory_with(filled, find(new), clock) as memory:
        await memory.db.lease("model", held, now=clock(), duration=timedelta(minutes=1))
        with pytest.raises(Conflict):
            await memory.use_model(nothing)


async def test_a_change_holds_its_lease_before_the_model_is_loaded(filled: Settings, clock: Clock, new: str):
    held: list[list[tuple]] = []

    def loaded() -> WordsEmbedder:
        held.append(rows(filled.db, "select name, owner from lease"))
        return load(new)

    async with memory_with(filled, loaded, clock) as memory:
        await memory.use_model(nothing)
    assert held == [[("model", f"process {os.getpid()} on {platform.node()}")]]


async def test_a_change_that_another_gave_up_stops_and_writes_nothing(
    filled: Settings, clock: Clock, old: str, new: str
):
    async with memory_with(filled, find(new), clock) as memory:
        await memory.db.begin_change(load(new).identity, now=clock())
        left, last = await memory.db.left_to_change(0, BATCH)
        await memory.db.begin_change(load(old).identity, now=clock())
        with pytest.raises(Conflict, match="given up"):
            await memory.db.put_changed(
                [(left[0], WordsEmbedder(load(new).identity).embed(["text"]))], load(new).identity
            )
        with pytest.raises(Conflict, match="given up"):
            await memory.db.switch_model(load(new).identity, last)
    await require_whole(filled, clock)


async def test_model_files_that_are_exchanged_meanwhile_are_noticed_before_the_switch(
    filled: Settings, clock: Clock, new: str
):
    def told(done: int, _of: int) -> None:
        if done == BATCH:
            model_in(Path(new), 768)

    with pytest.raises(EmbedderUnavailable, match=r"exchanged meanwhile.*are as they were"):
        await come_to(filled, new, clock, told)
    await require_whole(filled, clock)
    assert await come_to(filled, new, clock) == "changed"
    assert rows(filled.db, "select distinct length(bits) from vec_bits") == [(768 // 8,)]


async def test_a_model_that_embeds_nothing_changes_nothing(filled: Settings, clock: Clock, new: str):
    useless = WordsEmbedder(load(new).identity, hates={"Box"})
    async with memory_with(filled, lambda: useless, clock) as memory:
        with pytest.raises(EmbedderUnavailable, match=f"embeds none of {BATCH} memories"):
            await memory.use_model(nothing)
    await require_whole(filled, clock)


async def test_a_disk_that_is_full_in_the_middle_leaves_the_old_model_and_goes_on_later(
    filled: Settings, clock: Clock, new: str
):
    async with memory_with(filled, find(new), clock) as memory:
        database = memory.db._database

        async def pages(count: int) -> None:
            await database.maintain(lambda at: at.execute(f"pragma max_page_count = {count}").fetchone())

        used = rows(filled.db, "pragma page_count")[0][0]
        await pages(used + 30)
        with pytest.raises(StoreFull):
            await memory.use_model(nothing)
        change = (await memory.model_state()).change
        assert change
        assert 0 < change.done < len(TEXTS)
        assert (await memory.check()).problems == ()
        await pages(100_000)
        assert (await memory.use_model(nothing)).status == "changed"
    await require_whole(filled, clock)


async def test_a_file_that_cannot_be_written_stays_as_it_is(filled: Settings, clock: Clock, new: str):
    async with memory_with(filled, find(new), clock) as memory:
        await memory.db._database.maintain(lambda at: at.execute("pragma query_only = on"))
        with pytest.raises(StoreReadOnly, match="Nothing was saved"):
            await memory.use_model(nothing)
    await require_whole(filled, clock)


async def test_wiping_everything_ends_a_change(filled: Settings, clock: Clock, new: str):
    async with memory_with(filled, find(new), clock) as memory:
        await memory.db.begin_change(load(new).identity, now=clock())
        left, last = await memory.db.left_to_change(0, BATCH)
        await memory.wipe(len(TEXTS))
        with pytest.raises(Conflict, match="wiped"):
            await memory.db.put_changed(
                [(left[0], WordsEmbedder(load(new).identity).embed(["text"]))], load(new).identity
            )
        assert last
