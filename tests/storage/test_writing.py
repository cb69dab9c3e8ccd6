import asyncio
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest
from drafts import NOW, draft, found_by, healthy, turn, vectors, write

from memory_mcp.errors import Conflict, NotFound
from memory_mcp.models import Filter, Kind, Source, State, Trust, new_id
from memory_mcp.storage import SqliteStore, driver
from memory_mcp.storage.values import Coordinates

pytestmark = pytest.mark.anyio

# ---- new memories --------------------------------------------------------------------------------------------------


async def test_a_memory_is_read_as_it_was_written(store: SqliteStore):
    [origin] = await write(store, draft("where it came from"))
    whole = draft(
        "東京 and the deploy port 8080",
        kind=Kind.DECISION,
        namespace="project",
        tags=("ops", "東京"),
        key="deploy_port",
        pinned=True,
        session_id="s1",
        speaker="Mai",
        title="Notes",
        importance=0.9,
        confidence=0.4,
        source=Source.TOOL,
        trust=Trust.UNTRUSTED,
        valid_from=NOW - timedelta(days=3),
        valid_to=NOW + timedelta(days=3),
        expires_at=NOW + timedelta(days=30),
        derived_from=(origin,),
    )
    [memory_id] = await write(store, whole)
    assert await store.get([memory_id]) == [whole.memory]


async def test_memories_are_read_in_the_order_asked_and_unknown_ids_left_out(store: SqliteStore):
    ids = await write(store, draft("one"), draft("two"), draft("three"))
    asked = [ids[2], new_id(), ids[0]]
    assert [one.content for one in await store.get(asked)] == ["three", "one"]


async def test_key_tags_title_speaker_and_content_are_indexed(store: SqliteStore):
    indexed = draft("sailing", key="favourite_pastime", tags=("Hobby",), title="Diary", speaker="Mai")
    [memory_id] = await write(store, indexed)
    for word in ("sail", "favourite", "pastime", "hobby", "diary", "mai"):
        assert await found_by(store, word) == [memory_id], word


async def test_a_memory_has_one_vector_a_sentence_of_the_active_model(store: SqliteStore):
    await store.write([replace(draft("one. two."), vectors=vectors(1, 2))], door="cli")
    check = await store.check()
    assert (check.counts["sentences"], check.counts["vectors"], check.counts["awaiting vectors"]) == (2, 2, 0)


async def test_nothing_is_written_when_one_of_several_drafts_fails(store: SqliteStore):
    with pytest.raises(NotFound, match="Nothing was changed: there is no memory 'nowhere'"):
        await store.write([draft("fine"), draft("not fine", supersedes=("nowhere",))], door="cli")
    assert (await store.stats()).memories == 0
    assert await found_by(store, "fine") == []


async def test_two_tasks_that_write_at_once_both_succeed(store: SqliteStore):
    """B09: calls of one model turn are written side by side."""
    await asyncio.gather(*(write(store, draft(f"text {number}")) for number in range(50)))
    assert (await store.stats()).memories == 50
    assert await healthy(store)


# ---- the same text again -------------------------------------------------------------------------------------------


async def test_similar_text_is_another_memory_and_identical_text_the_same(store: SqliteStore):
    """B31: a changed number must not be taken for a duplicate."""
    [port] = await write(store, draft("The deploy port is 8080", tags=("ops",)))
    [other] = await store.write([draft("The deploy port is 8081")], door="cli")
    [again] = await store.write([draft("The deploy port is 8080", tags=("infra",))], door="cli")
    assert not other.duplicate
    assert (again.id, again.duplicate) == (port, True)
    assert (await store.get([port]))[0].tags == ("infra", "ops")
    assert await found_by(store, "infra") == [port]
    assert (await store.stats()).memories == 2
    assert await healthy(store)


async def test_identical_text_is_reinforced_by_what_is_stronger_or_explicit(store: SqliteStore):
    """B33: storing the same text with other options takes effect."""
    [memory_id] = await write(store, draft("I like tea", importance=0.8, confidence=0.4))
    stronger = draft(
        "I like tea",
        kind=Kind.PREFERENCE,
        importance=0.3,
        confidence=0.9,
        key="drink",
        pinned=True,
    )
    await write(store, stronger)
    [held] = await store.get([memory_id])
    assert (held.importance, held.confidence) == (0.8, 0.9)
    assert (held.kind, held.key, held.pinned) == (Kind.PREFERENCE, "drink", True)
    assert await found_by(store, "drink") == [memory_id]
    assert await healthy(store)


async def test_a_plain_repetition_takes_nothing_away(store: SqliteStore):
    rich = draft("I like tea", kind=Kind.PREFERENCE, key="drink", importance=0.9, pinned=True, tags=("a",))
    [memory_id] = await write(store, rich)
    await write(store, draft("I like tea"))
    assert await store.get([memory_id]) == [rich.memory]


async def test_identical_text_in_another_namespace_is_another_memory(store: SqliteStore):
    ids = await write(store, draft("I like tea"), draft("I like tea", namespace="project"))
    assert len(set(ids)) == 2


async def test_identical_text_twice_in_one_batch_is_one_memory(store: SqliteStore):
    ids = await write(store, draft("I like tea"), draft("I like tea"))
    assert len(set(ids)) == 1


async def test_text_that_is_history_or_archived_may_be_stored_anew(store: SqliteStore):
    [old] = await write(store, draft("blue", key="colour"))
    await write(store, draft("green", key="colour"))
    [again] = await store.write([draft("blue", key="colour")], door="cli")
    assert not again.duplicate
    assert again.id != old
    await store.archive([again.id], now=NOW, door="cli")
    [third] = await store.write([draft("blue")], door="cli")
    assert not third.duplicate


@pytest.mark.parametrize(
    ("held", "given", "left"),
    [(None, 1, None), (1, None, None), (1, 5, 5), (5, 1, 5), (None, None, None)],
)
async def test_a_repetition_never_makes_the_time_to_live_shorter(
    store: SqliteStore, held: int | None, given: int | None, left: int | None
):
    def until(days: int | None):
        return days and NOW + timedelta(days=days)

    [memory_id] = await write(store, draft("I like tea", expires_at=until(held)))
    assert await write(store, draft("I like tea", expires_at=until(given))) == [memory_id]
    assert (await store.get([memory_id]))[0].expires_at == until(left)


async def test_text_whose_time_is_up_is_stored_anew_unless_it_is_pinned(store: SqliteStore):
    over = NOW - timedelta(seconds=1)
    [gone, stays] = await write(store, draft("tea", expires_at=over), draft("ink", expires_at=over, pinned=True))
    [again, pinned] = await store.write([draft("tea"), draft("ink")], door="cli")
    assert (again.duplicate, pinned.duplicate, pinned.id) == (False, True, stays)
    assert again.id != gone
    assert await healthy(store)


@pytest.mark.parametrize(
    ("held", "again"),
    [
        ((Source.TOOL, Trust.UNTRUSTED), (Source.USER, Trust.TRUSTED)),
        ((Source.USER, Trust.TRUSTED), (Source.TOOL, Trust.UNTRUSTED)),
    ],
)
async def test_who_repeats_a_text_neither_vouches_for_it_nor_hides_it(
    store: SqliteStore, held: tuple[Source, Trust], again: tuple[Source, Trust]
):
    [memory_id] = await write(store, draft("tea", source=held[0], trust=held[1]))
    assert await write(store, draft("tea", source=again[0], trust=again[1])) == [memory_id]
    [stands] = await store.get([memory_id])
    assert (stands.source, stands.trust) == held


async def test_the_same_import_twice_is_stored_once(store: SqliteStore):
    imported = draft("from an export", source=Source.IMPORT)
    [first] = await write(store, imported)
    [second] = await store.write([imported], door="cli")
    assert (second.id, second.duplicate) == (first, True)


async def test_the_second_import_of_something_that_is_history_by_now_leaves_the_present_alone(store: SqliteStore):
    imported = draft("blue", key="colour", source=Source.IMPORT)
    [old] = await write(store, imported)
    [new] = await write(store, draft("green", key="colour"))
    [again] = await store.write([imported], door="cli")
    assert (again.id, again.duplicate, again.superseded) == (old, True, ())
    assert [one.id for one in (await store.page(Filter(), 10)).memories] == [new]


# ---- turns ---------------------------------------------------------------------------------------------------------


async def test_turns_are_numbered_within_their_session(store: SqliteStore):
    await write(store, turn("a"), turn("b"), turn("c", session_id="s2"))
    await write(store, turn("d"))
    assert [(one.content, one.sequence) for one in await store.turns("s1", "user")] == [("a", 1), ("b", 2), ("d", 3)]
    assert [one.sequence for one in await store.turns("s2", "")] == [1]


async def test_the_retry_of_a_turn_is_the_same_turn_and_later_the_same_words_are_said_anew(store: SqliteStore):
    [first] = await write(store, turn("yes"))
    [retry] = await store.write([turn("yes", created_at=NOW + timedelta(minutes=9))], door="cli")
    [later] = await store.write([turn("yes", created_at=NOW + timedelta(minutes=30))], door="cli")
    [other] = await store.write([turn("yes", speaker="assistant", created_at=NOW + timedelta(minutes=30))], door="cli")
    assert (retry.id, retry.duplicate) == (first, True)
    assert not later.duplicate
    assert not other.duplicate


async def test_the_retry_of_several_turns_adds_nothing_and_a_longer_batch_its_end(store: SqliteStore):
    said = [turn("hello"), turn("hello"), turn("how are you?", speaker="assistant")]
    first = await write(store, *said)
    assert len(set(first)) == 3
    again = await store.write([turn("hello"), turn("hello"), *said[2:], turn("fine")], door="cli")
    assert [one.id for one in again[:3]] == first
    assert [one.duplicate for one in again] == [True, True, True, False]


async def test_a_turn_at_a_place_that_holds_another_text_is_refused(store: SqliteStore):
    [first] = await write(store, turn("a", sequence=4))
    [again] = await write(store, turn("a", sequence=4))
    assert again == first
    with pytest.raises(Conflict, match="already has another turn 4"):
        await write(store, turn("b", sequence=4))
    await write(store, turn("c"))
    assert [(one.content, one.sequence) for one in await store.turns("s1", "user")] == [("a", 4), ("c", 5)]


async def test_a_message_of_a_host_is_kept_once(store: SqliteStore):
    at = Coordinates("claude-code", "session", "message-1", "user")
    [first] = await write(store, turn("hello", at=at))
    [second] = await store.write([turn("hello, corrected", at=at)], door="hook")
    [third] = await store.write([turn("hello", at=replace(at, message_id="message-2"))], door="hook")
    assert (second.id, second.duplicate) == (first, True)
    assert not third.duplicate


# ---- what replaces something ---------------------------------------------------------------------------------------


async def test_a_key_stored_again_replaces_its_holder_and_keeps_it_as_history(store: SqliteStore):
    [old] = await write(store, draft("blue", key="colour"))
    [new] = await store.write([draft("green", key="colour", created_at=NOW + timedelta(days=1))], door="cli")
    assert new.superseded == (old,)
    [was] = await store.get([old])
    assert (was.state, was.superseded_by) == (State.SUPERSEDED, new.id)
    assert was.superseded_at == was.valid_to == NOW + timedelta(days=1)
    assert [one.id for one in (await store.page(Filter(), 10)).memories] == [new.id]
    assert [name for name, _ in await store.similar(vectors(0), Filter(), 0.9, 10)] == [new.id]
    assert await healthy(store)


async def test_a_key_is_a_slot_of_one_namespace(store: SqliteStore):
    await write(store, draft("blue", key="colour"))
    [other] = await store.write([draft("green", key="colour", namespace="project")], door="cli")
    assert other.superseded == ()


async def test_the_same_words_under_two_keys_are_two_memories(store: SqliteStore):
    home, work = await store.write([draft("Tokyo", key="home"), draft("Tokyo", key="work")], door="cli")
    assert (work.duplicate, work.superseded) == (False, ())
    assert [one.key for one in await store.get([home.id, work.id])] == ["home", "work"]
    assert await write(store, draft("Tokyo", key="work"), draft("Tokyo", key="home")) == [work.id, home.id]
    assert (await store.write([draft("Tokyo")], door="cli"))[0].duplicate


async def test_what_was_learned_before_the_holder_of_its_key_becomes_its_history_once(store: SqliteStore):
    [holder] = await write(store, draft("Oslo", key="home"))
    early = {"key": "home", "created_at": NOW - timedelta(days=9)}
    [past] = await store.write([draft("Rome", **early)], door="cli")
    assert (past.duplicate, past.superseded) == (False, ())
    [was] = await store.get([past.id])
    assert (was.state, was.superseded_by, was.superseded_at, was.valid_to) == (State.SUPERSEDED, holder, NOW, NOW)
    assert [one.id for one in (await store.page(Filter(), 10)).memories] == [holder]
    then = Filter(states=(), as_of=NOW - timedelta(days=1))
    assert [one.id for one in (await store.page(then, 10)).memories] == [past.id]
    [again] = await store.write([draft("Rome", **early)], door="cli")
    assert (again.id, again.duplicate) == (past.id, True)
    assert await healthy(store)


async def test_what_is_named_is_replaced_also_by_what_was_learned_earlier(store: SqliteStore):
    holder, other = await write(store, draft("Oslo", key="home"), draft("some town"))
    early = {"key": "home", "created_at": NOW - timedelta(days=9)}
    [past] = await store.write([draft("Rome", supersedes=(other,), **early)], door="cli")
    assert past.superseded == (other,)
    [named] = await store.write([draft("Bern", supersedes=(holder,), **early)], door="cli")
    assert named.superseded == (holder,)
    assert [one.content for one in (await store.page(Filter(), 10)).memories] == ["Bern"]


@pytest.mark.parametrize("by_name", [False, True])
async def test_untrusted_text_does_not_replace_what_is_trusted(store: SqliteStore, by_name: bool):
    [trusted] = await write(store, draft("Oslo", key="home"))
    way = {"supersedes": (trusted,)} if by_name else {"key": "home"}
    outside = draft("Rome", source=Source.TOOL, trust=Trust.UNTRUSTED, **way)
    with pytest.raises(Conflict, match=f"Nothing was saved: .* untrusted .* memory {trusted}"):
        await store.write([draft("fine"), outside], door="mcp")
    assert [one.content for one in (await store.page(Filter(), 10)).memories] == ["Oslo"]


async def test_untrusted_text_that_repeats_a_trusted_memory_changes_nothing_but_its_time(store: SqliteStore):
    told = draft("Oslo", importance=0.4, confidence=0.5, expires_at=NOW + timedelta(days=1))
    [trusted] = await write(store, told)
    before = (await store.get([trusted]))[0]
    outside = draft(
        "Oslo", kind=Kind.PREFERENCE, key="home", importance=1.0, confidence=1.0, pinned=True, tags=("new",),
        valid_from=NOW, valid_to=NOW, source=Source.TOOL, trust=Trust.UNTRUSTED,
    )  # fmt: skip
    [holder] = await write(store, draft("Rome", key="home", source=Source.TOOL, trust=Trust.UNTRUSTED))
    [again] = await store.write([outside], door="mcp")
    assert (again.id, again.duplicate, again.superseded) == (trusted, True, ())
    assert (await store.get([holder]))[0].state is State.ACTIVE
    after = (await store.get([trusted]))[0]
    assert replace(after, updated_at=before.updated_at) == before
    assert await healthy(store)


async def test_untrusted_text_replaces_untrusted_text_and_is_replaced_by_trusted(store: SqliteStore):
    outside = {"key": "home", "source": Source.TOOL, "trust": Trust.UNTRUSTED}
    ids = await write(store, draft("Rome", **outside), draft("Bern", **outside), draft("Oslo", key="home"))
    assert [one.state for one in await store.get(ids)] == [State.SUPERSEDED, State.SUPERSEDED, State.ACTIVE]


async def test_memories_named_as_superseded_become_history_also_when_they_were_already(store: SqliteStore):
    first, second = await write(store, draft("one"), draft("two"))
    [third] = await write(store, draft("three", supersedes=(first,)))
    [fourth] = await store.write([draft("four", supersedes=(first, second))], door="cli")
    assert fourth.superseded == (first, second)
    by = {one.content: one.superseded_by for one in await store.get([first, second, third])}
    assert by == {"one": fourth.id, "two": fourth.id, "three": ""}


async def test_a_known_text_can_take_over_a_key(store: SqliteStore):
    [known] = await write(store, draft("green"))
    [holder] = await write(store, draft("blue", key="colour"))
    [again] = await store.write([draft("green", key="colour")], door="cli")
    assert (again.id, again.duplicate, again.superseded) == (known, True, (holder,))
    assert (await store.get([known]))[0].key == "colour"
    assert await healthy(store)


async def test_what_was_true_is_kept_when_its_end_was_known(store: SqliteStore):
    end = NOW - timedelta(days=10)
    [old] = await write(store, draft("lives in Rome", key="home", valid_to=end))
    await write(store, draft("lives in Oslo", key="home"))
    assert (await store.get([old]))[0].valid_to == end


async def test_twenty_versions_of_one_memory_leave_one_live_one_and_no_strays(store: SqliteStore):
    """B17, B39: exactly one set of vectors a memory, and old versions do not take the places of live ones."""
    for version in range(20):
        [last] = await write(store, draft(f"version {version}", key="slot", seed=7))
    assert [name for name, _ in await store.similar(vectors(7), Filter(), 0.5, 3)] == [last]
    assert (await store.check()).counts["sentences"] == 20
    assert await healthy(store)


# ---- bad rows ------------------------------------------------------------------------------------------------------


async def test_a_damaged_row_is_left_out_and_never_stops_the_others(
    store: SqliteStore, path: Path, caplog: pytest.LogCaptureFixture
):
    """B09: one bad row is a warning that names its id, not a failure of every call."""
    bad, good, strange = await write(store, draft("secret text"), draft("good"), draft("bytes"))
    other = driver.connect(path)
    other.execute("pragma ignore_check_constraints = on")
    other.execute("update memory set kind = 'unheard-of' where id = :id", {"id": bad})
    other.execute("update memory set content = cast(x'41ff42' as text) where id = :id", {"id": strange})
    other.close()
    assert [one.content for one in (await store.page(Filter(), 10)).memories] == ["A\ufffdB", "good"]
    assert [one.id for one in await store.get([bad, good])] == [good]
    assert bad in caplog.text
    assert "secret text" not in caplog.text
