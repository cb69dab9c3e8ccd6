import subprocess
import sys
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from drafts import MODEL, NOW, draft, episode, healthy, turn, vectors

from memory_mcp.errors import Conflict
from memory_mcp.models import Filter, PendingSession, Source, State, new_id
from memory_mcp.storage import SqliteStore, driver, memories, open_store, scan, schema
from memory_mcp.storage.audit import Act
from memory_mcp.storage.database import open_database
from memory_mcp.storage.protocol import Coordinates, Probe
from memory_mcp.storage.search import quantise, sign_bits

pytestmark = pytest.mark.anyio

ENGLISH = "The quixotic zanzibarian password is Xylotomous-7712 and nobody else may know it"
JAPANESE = "秘密の合言葉は紫陽花と向日葵で、誰にも教えてはいけません"

LOOK = """
import sys
from pathlib import Path
patterns = [bytes.fromhex(line).lower() for line in sys.stdin.read().split()]
found = 0
for path in Path(sys.argv[1]).parent.glob(Path(sys.argv[1]).name + "*"):
    held = path.read_bytes().lower()
    found += sum(map(held.count, patterns))
print(found)
"""


def remains(path: Path, *patterns: str | bytes) -> int:
    """Count patterns, whatever their case, in the file and all beside it; in another process, as plain readers must."""
    raw = [pattern.encode() if isinstance(pattern, str) else pattern for pattern in patterns]
    lines = "\n".join(pattern.hex() for pattern in raw)
    done = subprocess.run(
        [sys.executable, "-c", LOOK, str(path)], input=lines, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def traces(*seeds: int) -> list[bytes]:
    """What vectors leave: sign bits, and pieces of the full length."""
    found: list[bytes] = []
    for vector in vectors(*seeds):
        whole = quantise(vector)
        found += [sign_bits(vector), whole[:24], whole[24:48], whole[-24:]]
    return found


async def ids_of(store: SqliteStore, *drafts) -> list[str]:
    return [one.id for one in await store.write(drafts, door="cli")]


# ---- gone ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        (ENGLISH, ["quixotic", "zanzibarian", "xylotom", "7712", "nobody else may"]),
        (JAPANESE, ["合言葉", "紫陽花", "向日", "教えて"]),
    ],
)
async def test_a_forgotten_memory_leaves_no_byte_behind(store: SqliteStore, path: Path, text: str, pieces: list[str]):
    """B36: gone from rows, index, log, free pages and vectors."""
    await store.write([draft(f"ordinary text {number} about things", seed=number) for number in range(200)], door="cli")
    secret = replace(draft(text, tags=("quetzalcoatl",), key="cryptozoology"), vectors=vectors(901, 902))
    [memory_id] = await ids_of(store, secret)
    await store.write([draft(f"later text {number}", seed=300 + number) for number in range(50)], door="cli")
    looked_for = [*pieces, "quetzalco", "cryptozoo", *traces(901, 902)]
    assert remains(path, *looked_for) >= len(looked_for)
    forgotten = await store.forget([memory_id], now=NOW, door="cli")
    assert (forgotten.ids, forgotten.verification, forgotten.detail) == ((memory_id,), "clean", "")
    assert remains(path, *looked_for) == 0
    assert (await store.check()).problems == ()
    assert await store.finish_erasure() == ""


async def test_a_forgotten_memory_is_gone_from_every_door_also_of_a_store_that_was_open(store: SqliteStore, path: Path):
    """B35: no search, listing or name finds it."""
    other = await open_store(path, now=lambda: NOW)
    gone, kept = await ids_of(store, draft(ENGLISH, seed=1, tags=("a",)), draft("kept", seed=2))
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
    ids = await ids_of(store, *(draft(f"{number}", session_id="s") for number in range(5)))
    nowhere = new_id()
    assert (await store.forget([], now=NOW, door="cli")).ids == ()
    assert (await store.forget([nowhere], now=NOW, door="cli")).missing == (nowhere,)
    forgotten = await store.forget([ids[1], nowhere, ids[3]], now=NOW, door="cli")
    assert (forgotten.ids, forgotten.cascaded, forgotten.missing) == ((ids[1], ids[3]), (), (nowhere,))
    assert [one.content for one in await store.get(ids)] == ["0", "2", "4"]


async def test_text_that_another_memory_holds_too_is_no_residue(store: SqliteStore):
    ids = await ids_of(store, draft("our deployment checklist", namespace="a"), draft("Our Deployment Checklist"))
    assert (await store.forget(ids[:1], now=NOW, door="cli")).verification == "clean"
    assert [one.id for one in await store.get(ids)] == ids[1:]


async def test_no_strays_are_left_when_half_of_many_is_forgotten_and_space_comes_back(store: SqliteStore, path: Path):
    """B36, B39: counts agree, and the file shrinks."""
    ids: list[str] = []
    for batch in range(10):
        drafts = [draft(f"memory {batch} {number} " * 40, seed=batch * 100 + number) for number in range(100)]
        ids += await ids_of(store, *drafts)
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
    first, second, third = [(await ids_of(store, draft(text, key="home")))[0] for text in ("Rome", "Oslo", "Bern")]
    forgotten = await store.forget([second], now=NOW, door="cli")
    assert (forgotten.ids, forgotten.cascaded) == ((second,), (first,))
    assert [one.content for one in (await store.page(Filter(states=()), 10)).memories] == ["Bern"]
    forgotten = await store.forget([third], now=NOW, door="cli")
    assert forgotten.cascaded == ()
    assert (await store.stats()).memories == 0


async def test_key_facts_go_with_their_episode_unless_something_else_supports_them(store: SqliteStore):
    [known] = await ids_of(store, draft("known before"))
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
    one, two = await ids_of(store, draft("one"), draft("two"))
    [both] = await ids_of(store, draft("from both", derived_from=(one, two)))
    [single, further] = await ids_of(store, draft("from one", derived_from=(one,)), draft("independent"))
    [chain] = await ids_of(store, draft("from what came from one", derived_from=(single,)))
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
    assert forgotten.detail.count(".") == 1
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
    await store.set_state([told.memory.id], State.ARCHIVED, now=NOW, door="cli")
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
    one, two = await ids_of(store, draft("one", **named), draft("two", **named))
    await store.forget([one], now=NOW, door="cli")
    assert remains(path, "operation-sunflower", "meeting with xerxes") > 0
    assert (await store.forget([two], now=NOW, door="cli")).verification == "clean"
    assert remains(path, "operation-sunflower", "meeting with xerxes") == 0
    await store.write([draft("one", **named)], door="cli")
    assert await healthy(store)


async def test_names_are_looked_for_among_the_traces(store: SqliteStore, path: Path):
    [memory_id] = await ids_of(store, draft("one", namespace="operation-sunflower", session_id="meeting with Xerxes"))
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
    [derived] = await ids_of(store, draft("derived", derived_from=(said.id,)))
    forgotten = await store.forget([said.id, told.memory.id], now=NOW, door="background", cascade=False)
    assert (forgotten.cascaded, forgotten.resummarize, forgotten.verification) == ((), (), "clean")
    assert [one.id for one in await store.get([fact.id, derived])] == [fact.id, derived]


async def test_what_was_forgotten_does_not_come_back_by_itself(store: SqliteStore):
    """B40: neither the same message of a host nor the same line of an export."""
    said = turn("captured", at=Coordinates("claude-code", "session", "message-1", "user"))
    imported = draft("imported", source=Source.IMPORT)
    ids = await ids_of(store, said, imported)
    await store.forget(ids, now=NOW, door="cli")
    for again in (said, imported):
        with pytest.raises(Conflict, match="forgotten on request"):
            await store.write([draft("fine"), replace(again, memory=again.memory)], door="hook")
    assert (await store.stats()).memories == 0
    assert not (await store.write([turn("captured"), draft("imported")], door="cli"))[0].duplicate


# ---- verified --------------------------------------------------------------------------------------------------------


async def test_an_erasure_that_a_reader_blocks_is_pending_and_finished_later(store: SqliteStore, path: Path):
    [memory_id] = await ids_of(store, draft(ENGLISH, seed=901))
    reading = driver.connect(path)
    reading.execute("begin")
    reading.execute("select count(*) from memory").fetchone()
    forgotten = await store.forget([memory_id], now=NOW, door="cli")
    assert forgotten.verification == "pending"
    assert "another program is using" in forgotten.detail
    assert await store.get([memory_id]) == []
    assert remains(path, "zanzibarian") > 0
    assert await store.finish_erasure() == "pending"
    assert "not verified yet" in " ".join(await store.warnings())
    reading.close()
    assert await store.finish_erasure() == "clean"
    assert remains(path, "zanzibarian", "xylotom", *traces(901)) == 0
    assert await store.finish_erasure() == ""
    assert "not verified yet" not in " ".join(await store.warnings())


async def test_a_pending_erasure_is_finished_by_the_next_process(store: SqliteStore, path: Path):
    memory_id, _ = await ids_of(store, draft(ENGLISH, seed=901), draft("kept"))
    reading = driver.connect(path)
    reading.execute("begin")
    reading.execute("select count(*) from memory").fetchone()
    assert (await store.forget([memory_id], now=NOW, door="cli")).verification == "pending"
    reading.close()
    later = await open_store(path, now=lambda: NOW)
    assert await later.finish_erasure() == "clean"
    assert remains(path, "zanzibarian", "xylotom", *traces(901)) == 0
    assert (await later.check()).problems == ()
    await later.close()


async def test_traces_that_are_found_are_removed_by_writing_the_file_anew(store: SqliteStore, path: Path):
    [memory_id] = await ids_of(store, draft(ENGLISH))
    careless = driver.connect(path)
    careless.execute("pragma secure_delete = off")
    careless.execute("insert into lease values ('careless', :text, 0)", {"text": ENGLISH})
    careless.execute("delete from lease")
    careless.execute("pragma wal_checkpoint(truncate)")
    careless.close()
    assert remains(path, ENGLISH) > 1
    assert (await store.forget([memory_id], now=NOW, door="cli")).verification == "clean"
    assert remains(path, ENGLISH, "zanzibarian") == 0


async def test_an_encrypted_file_cannot_be_looked_through_and_says_so(path: Path):
    store = await open_store(path, key="ab" * 32, now=lambda: NOW)
    [memory_id] = await ids_of(store, draft(ENGLISH))
    forgotten = await store.forget([memory_id], now=NOW, door="cli")
    assert forgotten.verification == "unverified"
    assert "encrypted" in forgotten.detail
    assert await store.finish_erasure() == ""
    await store.close()


async def test_backups_that_hold_a_forgotten_memory_are_removed_and_others_kept(path: Path):
    first = schema.packaged_migrations()[:1]
    second = schema.Migration(2, "create table later (a text) strict;")
    old = await open_database(path, migrations=first)
    [early] = await old.write(memories.write, [draft(ENGLISH)], Act("cli", 0))
    await old.close()
    database = await open_database(path, migrations=[*first, second])
    [late] = await database.write(memories.write, [draft("written after the backup")], Act("cli", 0))
    store = SqliteStore(database, lambda: NOW, timedelta(seconds=1))
    [backup] = schema.backups(path)
    assert (await store.forget([late.id], now=NOW, door="cli")).detail == ""
    assert schema.backups(path) == [backup]
    assert backup.name in (await store.forget([early.id], now=NOW, door="cli")).detail
    assert schema.backups(path) == []
    assert remains(path, "zanzibarian") == 0
    await store.close()


def test_a_scan_counts_across_the_edges_of_its_windows(tmp_path: Path):
    edge = scan.WINDOW
    content = bytearray(edge + 100)
    content[edge - 3 : edge + 4] = b"pattern"
    content[10:17] = b"pattern"
    content[edge - 20 : edge - 13] = b"pattern"
    (tmp_path / "file").write_bytes(content)
    assert scan.count(tmp_path / "file", [b"pattern", b"a longer one than that"]) == 3


async def test_use_of_the_model_survives_forgetting_everything(store: SqliteStore):
    [memory_id] = await ids_of(store, draft("text"))
    await store.forget([memory_id], now=NOW, door="cli")
    assert await store.use_model(MODEL, now=NOW)
    [again] = await store.write([draft("text")], door="cli")
    assert await store.unembedded(10) == []
    assert again.id != memory_id
