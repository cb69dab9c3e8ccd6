"""A text takes the place of another, and nothing is left of what was there."""

import random
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from drafts import NOW, draft, episode, found_by, healthy, turn, vectors, write
from files import KNOWN
from remains import CLEAN, remains, traces

from memory_mcp.models import Action, State
from memory_mcp.storage import SqliteStore, driver, memories, open_store, schema
from memory_mcp.storage.audit import Act
from memory_mcp.storage.database import open_database
from memory_mcp.storage.values import Coordinates, Rewriting, StoredText

pytestmark = pytest.mark.anyio

KETTLE = "Our wifi password is Xylotomous-7712, for guests it is quetzalcoatl99, and tea is at four"
SAFE = "Our wifi password is [gone], for guests it is [gone], and tea is at four"
MATCH = "合言葉は紫陽花と向日葵で、忘れないでください"
PLAIN = "合言葉は内緒で、忘れないでください"


async def rewrite(store: SqliteStore, memory_id: str, old: str, new: str, field="content"):
    return await store.rewrite([Rewriting(memory_id, field, old, new)], now=NOW, door="cli")


async def texts(store: SqliteStore) -> list[StoredText]:
    found, last = await store.texts(0, 1_000)
    assert (await store.texts(last, 1_000)) == ([], 0)
    return [one for one in found if one.text]


@pytest.mark.parametrize(
    ("old", "new", "pieces"),
    [
        (KETTLE, SAFE, ["xylotom", "us-7712", "quetzalco", "atl99"]),
        (MATCH, PLAIN, ["紫陽花", "向日葵"]),
    ],
)
async def test_nothing_is_left_of_a_text_that_was_replaced(store: SqliteStore, path: Path, old, new, pieces):
    """B65: neither in its row, nor as words, nor as vectors."""
    await store.write([draft(f"ordinary text {number} about things", seed=number) for number in range(200)], door="cli")
    [memory_id] = await write(store, replace(draft(old), vectors=vectors(901, 902)))
    await store.write([draft(f"later text {number}", seed=300 + number) for number in range(50)], door="cli")
    looked_for = [*pieces, *traces(901, 902)]
    assert remains(path, *looked_for) >= len(looked_for)
    written = await rewrite(store, memory_id, old, new)
    assert (written.ids, written.verification, written.detail) == ((memory_id,), "clean", CLEAN)
    assert remains(path, *looked_for) == 0
    assert [one.content for one in await store.get([memory_id])] == [new]
    assert await healthy(store)
    assert await store.finish_erasure() == ""


async def test_the_new_text_is_found_by_its_words_and_waits_for_its_vectors(store: SqliteStore):
    [memory_id] = await write(store, draft(KETTLE, seed=1))
    await rewrite(store, memory_id, KETTLE, SAFE)
    assert await found_by(store, "wifi") == [memory_id]
    assert await found_by(store, "xylotom") == []
    [waiting] = await store.unembedded(10)
    assert waiting.id == memory_id
    assert await store.put_vectors([(waiting, vectors(2))]) == 1
    assert await healthy(store)


async def test_the_new_text_is_the_same_memory_when_it_is_told_again_and_the_old_one_is_not(store: SqliteStore):
    [memory_id] = await write(store, draft(KETTLE))
    await rewrite(store, memory_id, KETTLE, SAFE)
    [again] = await store.write([draft(SAFE)], door="cli")
    assert (again.id, again.duplicate) == (memory_id, True)
    [told] = await store.write([draft(KETTLE)], door="cli")
    assert not told.duplicate


async def test_a_memory_that_becomes_the_same_as_another_stays_a_memory_of_its_own(store: SqliteStore):
    first, second = await write(store, draft(KETTLE, seed=1), draft(SAFE, seed=2))
    assert (await rewrite(store, first, KETTLE, SAFE)).verification == "clean"
    assert [one.content for one in await store.get([first, second])] == [SAFE, SAFE]
    assert await healthy(store)


async def test_a_captured_turn_whose_text_was_replaced_is_still_known(store: SqliteStore):
    told = turn(KETTLE, at=Coordinates("claude-code", "s1", "m1", "user"))
    [memory_id] = await write(store, told)
    await rewrite(store, memory_id, KETTLE, SAFE)
    [again] = await store.write([told], door="hook")
    assert (again.id, again.duplicate) == (memory_id, True)
    assert [one.content for one in await store.get([memory_id])] == [SAFE]


async def test_a_text_that_is_another_by_now_or_gone_is_left_as_it_is(store: SqliteStore):
    kept, gone = await write(store, draft("I like tea", seed=1), draft("I like gin", seed=2))
    await store.forget([gone], now=NOW, door="cli")
    changes = [Rewriting(kept, "content", "I like gin", "-"), Rewriting(gone, "content", "I like gin", "-")]
    written = await store.rewrite(changes, now=NOW, door="cli")
    assert (written.ids, written.verification) == ((), "clean")
    assert [one.content for one in await store.get([kept, gone])] == ["I like tea"]
    assert await store.unembedded(10) == []
    assert await healthy(store)


async def test_how_an_episode_began_and_what_was_learned_are_replaced_too(store: SqliteStore, path: Path):
    lessons = ("Say please.", 'Never say "xylotomous-7712".')
    told = replace(episode("Summary.", lessons=lessons), trigger="asked for quetzalcoatl99")
    kept, _ = await store.write_episode(told, None, [], door="mcp")
    memory_id = kept.memory.id
    changes = [
        Rewriting(memory_id, "lessons", lessons[1], "Never say it."),
        Rewriting(memory_id, "trigger", "asked for quetzalcoatl99", "asked"),
    ]
    assert (await store.rewrite(changes, now=NOW, door="cli")).verification == "clean"
    stands = await store.episode(memory_id)
    assert stands is not None
    assert (stands.lessons, stands.trigger) == (("Say please.", "Never say it."), "asked")
    assert remains(path, "xylotom", "quetzalco") == 0


async def test_a_replaced_text_is_another_version_of_its_memory(store: SqliteStore):
    """A preview that was shown before is not confirmed by its handle."""
    [memory_id] = await write(store, draft(KETTLE))
    before = await store.versions([memory_id])
    await rewrite(store, memory_id, KETTLE, SAFE)
    assert await store.versions([memory_id]) != before


async def test_the_audit_knows_the_memory_and_nothing_of_its_text(store: SqliteStore, path: Path):
    [memory_id] = await write(store, draft(KETTLE))
    await rewrite(store, memory_id, KETTLE, SAFE)
    reading = driver.connect(path)
    verb, door, count, ids = reading.execute(
        "select verb, door, count, ids from audit order by number desc limit 1"
    ).fetchone()
    reading.close()
    assert (verb, door, count, ids) == ("redact", "cli", 1, f'["{memory_id}"]')


async def test_a_replacement_that_a_reader_blocks_is_pending_and_finished_later(store: SqliteStore, path: Path):
    [memory_id] = await write(store, draft(KETTLE, seed=901))
    reading = driver.connect(path)
    reading.execute("begin")
    reading.execute("select count(*) from memory").fetchone()
    assert (await rewrite(store, memory_id, KETTLE, SAFE)).verification == "pending"
    assert remains(path, "xylotom") > 0
    reading.close()
    assert await store.finish_erasure() == "clean"
    assert remains(path, "xylotom", *traces(901)) == 0


async def test_traces_of_the_old_text_that_are_found_are_removed(store: SqliteStore, path: Path):
    """Also of a piece in the middle of a long text, both ends of which stay."""
    old, new = (f"{'It was a quiet day. ' * 90}{secret}{' We had tea.' * 90}" for secret in ("Xylotomous-7712", "-"))
    [memory_id] = await write(store, draft(old))
    careless = driver.connect(path)
    careless.execute("pragma secure_delete = off")
    careless.execute("insert into lease values ('careless', :text, 0)", {"text": old})
    careless.execute("delete from lease")
    careless.execute("pragma wal_checkpoint(truncate)")
    careless.close()
    assert (await rewrite(store, memory_id, old, new)).verification == "clean"
    assert remains(path, "Xylotomous-7712") == 0


async def test_a_backup_that_holds_the_old_text_is_removed(path: Path):
    later = schema.Migration(len(KNOWN) + 1, "create table later (a text) strict;")
    old = await open_database(path, migrations=KNOWN)
    [early] = await old.write(memories.write, [draft(KETTLE)], Act("cli", 0))
    await old.close()
    store = SqliteStore(await open_database(path, migrations=[*KNOWN, later]), lambda: NOW, timedelta(seconds=1))
    [backup] = schema.backups(path)
    assert backup.name in (await rewrite(store, early.id, KETTLE, SAFE)).detail
    assert schema.backups(path) == []
    assert remains(path, "xylotom") == 0
    await store.close()


async def test_an_encrypted_file_cannot_be_looked_through_and_says_so(path: Path):
    store = await open_store(path, key="ab" * 32, now=lambda: NOW)
    [memory_id] = await write(store, draft(KETTLE))
    assert (await rewrite(store, memory_id, KETTLE, SAFE)).verification == "unverified"
    await store.close()


# ---- which texts stand there -----------------------------------------------------------------------------------------


async def test_every_text_of_every_state_is_read_with_its_field(store: SqliteStore):
    first, second = [(await write(store, draft(text, key="home", tags=("a",))))[0] for text in ("Rome", "Oslo")]
    [archived] = await write(store, draft("Bern", title="Cities", speaker="Mia", state=State.ARCHIVED))
    [said] = await write(store, turn("Hello.", at=Coordinates("file", "s1", "D1:1", "user")))
    used = (Action("grep", True, "d1"),)
    told = replace(episode("Summary.", lessons=("One.", "Two.")), trigger="hello", actions=used)
    kept, _ = await store.write_episode(told, None, [], door="mcp")
    assert {(one.memory_id, one.field, one.text) for one in await texts(store)} == {
        (first, "namespace", "user"),
        *((memory_id, "key", "home") for memory_id in (first, second)),
        *((memory_id, "tags", "a") for memory_id in (first, second)),
        (first, "content", "Rome"), (second, "content", "Oslo"),
        (archived, "content", "Bern"), (archived, "title", "Cities"), (archived, "speaker", "Mia"),
        (said, "content", "Hello."), (said, "speaker", "user"), (said, "session_id", "s1"),
        (said, "message_id", "D1:1"),
        (kept.memory.id, "content", "Summary."), (kept.memory.id, "trigger", "hello"),
        (kept.memory.id, "lessons", "One."), (kept.memory.id, "lessons", "Two."),
        (kept.memory.id, "tool", "grep"), (kept.memory.id, "input_digest", "d1"),
    }  # fmt: skip


async def test_texts_are_read_a_few_memories_at_a_time(store: SqliteStore):
    ids = await write(store, *(draft(f"text {number}") for number in range(5)))
    read: list[str] = []
    batch, last = await store.texts(0, 2)
    while last:
        read += [one.memory_id for one in batch if one.field == "content"]
        batch, last = await store.texts(last, 2)
    assert read == ids


async def test_no_beginning_of_a_word_is_left_between_the_words_that_stay(store: SqliteStore, path: Path):
    """FTS5 keeps beginnings of terms as separators, even of terms that were securely deleted."""
    made_up = random.Random(7)
    stems = ["".join(made_up.choices("bcdfghjklmnpqrstvwxz", k=10)) for _ in range(5)]
    texts = [f"{stem}{number:02} stays{stem[::-1]}{number:02}" for stem in stems for number in range(300)]
    ids = await write(store, *(replace(draft(text), vectors=None) for text in texts))
    gone = stems[::4]
    changes = [
        Rewriting(memory_id, "content", text, text.split()[1])
        for memory_id, text in zip(ids, texts, strict=True)
        if text[:10] in gone
    ]
    assert len((await store.rewrite(changes, now=NOW, door="cli")).ids) == 600
    assert remains(path, *gone) == 0
