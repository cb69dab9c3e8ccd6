"""What is forgotten, archived and restored, and what must be confirmed before."""

from collections.abc import AsyncIterator

import pytest

from memory_mcp.answers import Changed, Forgotten, Preview
from memory_mcp.config import MAX_FORGET_AT_ONCE, Settings
from memory_mcp.errors import Conflict, InvalidInput, NotFound
from memory_mcp.models import Conversation, KeyFact, Kind, Message, Query, Revision, Selection, Source, State
from memory_mcp.service import MemoryService
from memory_mcp.storage import driver
from tests.conftest import Clock
from tests.memories import ask, keep, memory_with

pytestmark = pytest.mark.anyio

VERBS = ("forget", "archive", "restore")


@pytest.fixture
async def memory(words_only: Settings, clock: Clock) -> AsyncIterator[MemoryService]:
    async with memory_with(words_only, None, clock) as opened:
        yield opened


async def preview_of(memory: MemoryService, chosen: Selection, verb: str = "forget") -> Preview:
    found = await getattr(memory, verb)(chosen)
    assert isinstance(found, Preview)
    return found


async def count(memory: MemoryService) -> int:
    return (await memory.stats()).memories


async def test_exact_ids_are_erased_at_once_and_unknown_ones_are_named(memory: MemoryService):
    gone, stays = await keep(memory, "My locker number is 4711"), await keep(memory, "My bike is blue")
    forgotten = await memory.forget(Selection(ids=(gone, "no-such-id")))
    assert isinstance(forgotten, Forgotten)
    assert (forgotten.ids, forgotten.missing, forgotten.verification) == ((gone,), ("no-such-id",), "clean")
    assert await ask(memory, "locker bike") == ["My bike is blue"]
    assert (await memory.get(stays)).content == "My bike is blue"


async def test_unknown_ids_alone_are_an_error(memory: MemoryService):
    """B38: zero is not a success, and the beginning of an id is no id."""
    kept = await keep(memory, "text")
    with pytest.raises(NotFound, match="Nothing was changed"):
        await memory.forget(Selection(ids=(kept[:8],)))
    assert await count(memory) == 1


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    "chosen",
    [
        Selection(),
        Selection(query="  ", tags=("", " "), session_id=""),
        Selection(confirm="0" * 16),
        Selection(ids=("x",), query="x"),
        Selection(ids=("x",), tags=("x",)),
        Selection(ids=("x",), session_id="x"),
        Selection(ids=("x",), source=Source.TOOL),
        Selection(ids=("x",), before="2026-01-01"),
        Selection(query="?!"),
        Selection(before="the day before"),
        Selection(ids=tuple(map(str, range(201)))),
    ],
)
async def test_no_selector_and_mixed_selectors_are_refused(memory: MemoryService, verb: str, chosen: Selection):
    """B37: nothing is erased by an empty argument."""
    await keep(memory, "text")
    with pytest.raises(InvalidInput):
        await getattr(memory, verb)(chosen)
    assert await count(memory) == 1


@pytest.mark.parametrize(
    "chosen",
    [
        Selection(query="draft P4"),
        Selection(tags=("Draft",)),
        Selection(session_id="s1"),
        Selection(source=Source.TOOL),
        Selection(before="2026-05-04"),
        Selection(namespace="proj"),
    ],
)
async def test_each_selector_previews_exactly_what_it_then_erases(
    memory: MemoryService, clock: Clock, chosen: Selection
):
    """B37, B38: one word in common is not enough, and nothing goes before it is confirmed."""
    await keep(memory, "binding rule about draft beer")
    await keep(memory, "P4 outcome")
    for number in range(2):
        await keep(
            memory, f"draft note P4, number {number}", tags=("draft",), session_id="s1", source=Source.TOOL,
            namespace="proj" if chosen.namespace else "", created_at=clock().replace(day=3),
        )  # fmt: skip
    preview = await preview_of(memory, chosen)
    assert (preview.count, len(preview.ids), len(preview.sample)) == (2, 2, 2)
    assert all(one.content.startswith("draft note P4") for one in preview.sample)
    assert await count(memory) == 4
    forgotten = await memory.forget(Selection(**(vars(chosen) | {"confirm": preview.confirm})))
    assert isinstance(forgotten, Forgotten)
    assert sorted(forgotten.ids) == sorted(preview.ids)
    assert await count(memory) == 2


async def test_a_selection_of_nothing_has_nothing_to_confirm(memory: MemoryService):
    await keep(memory, "text")
    assert await preview_of(memory, Selection(tags=("unused",))) == Preview(0, "")


async def test_a_wide_selection_keeps_to_the_asked_namespace_and_the_person_s(memory: MemoryService):
    await keep(memory, "mine", tags=("t",))
    await keep(memory, "theirs", tags=("t",), namespace="proj")
    assert (await preview_of(memory, Selection(tags=("t",)))).count == 1
    assert [one.content for one in (await preview_of(memory, Selection(tags=("t",), namespace="proj"))).sample] == [
        "theirs"
    ]


async def test_history_and_archive_are_forgotten_too(memory: MemoryService):
    old = await keep(memory, "old wine", tags=("t",))
    await keep(memory, "new wine", tags=("t",), supersedes=(old,))
    hidden = await keep(memory, "hidden wine", tags=("t",))
    await memory.archive(Selection(ids=(hidden,)))
    assert (await preview_of(memory, Selection(tags=("t",)))).count == 3


async def test_a_handle_stands_for_its_set_its_verb_and_its_versions(memory: MemoryService):
    first = await keep(memory, "one", tags=("t",))
    chosen = Selection(tags=("t",))
    confirm = (await preview_of(memory, chosen)).confirm

    async def refused(verb: str, **changed) -> None:
        with pytest.raises(Conflict, match="Nothing was changed"):
            await getattr(memory, verb)(Selection(**({"tags": ("t",), "confirm": confirm} | changed)))

    await refused("archive")
    await refused("forget", confirm=confirm[::-1])
    await refused("forget", confirm="é")
    await memory.revise(first, Revision(importance=0.9))
    await refused("forget")
    confirm = (await preview_of(memory, chosen)).confirm
    await keep(memory, "two", tags=("t",))
    await refused("forget")
    assert await count(memory) == 2
    confirm = (await preview_of(memory, chosen)).confirm
    assert isinstance(await memory.forget(Selection(tags=("t",), confirm=confirm)), Forgotten)
    await refused("forget")


async def test_a_handle_is_valid_in_every_process_on_the_file(words_only: Settings, clock: Clock):
    async with memory_with(words_only, None, clock) as here, memory_with(words_only, None, clock) as there:
        await keep(here, "one", tags=("t",))
        preview = await preview_of(here, Selection(tags=("t",)))
        assert (await preview_of(there, Selection(tags=("t",)))).confirm == preview.confirm
    async with memory_with(words_only, None, clock) as later:
        forgotten = await later.forget(Selection(tags=("t",), confirm=preview.confirm))
        assert isinstance(forgotten, Forgotten)
        assert forgotten.ids == preview.ids


async def test_a_handle_of_another_file_is_worthless(words_only: Settings, clock: Clock, tmp_path):
    async with memory_with(words_only, None, clock) as memory:
        kept = await keep(memory, "one", tags=("t",))
        confirm = (await preview_of(memory, Selection(tags=("t",)))).confirm
        copy = await memory.get(kept)
    elsewhere = words_only.model_copy(update={"db": tmp_path / "other.db"})
    async with memory_with(elsewhere, None, clock) as memory:
        await keep(memory, copy.content, tags=("t",))
        with pytest.raises(Conflict):
            await memory.forget(Selection(tags=("t",), confirm=confirm))


async def test_more_ids_than_are_exact_need_a_handle(memory: MemoryService):
    ids = tuple([await keep(memory, f"text {number}") for number in range(MAX_FORGET_AT_ONCE + 1)])
    preview = await preview_of(memory, Selection(ids=ids))
    assert preview.count == len(ids)
    assert await count(memory) == len(ids)
    with pytest.raises(Conflict):
        await memory.forget(Selection(ids=ids, confirm="0" * 16))
    forgotten = await memory.forget(Selection(ids=ids, confirm=preview.confirm))
    assert isinstance(forgotten, Forgotten)
    assert len(forgotten.ids) == len(ids)


async def test_what_was_distilled_from_a_session_goes_with_it_and_is_listed(memory: MemoryService):
    summarized = await memory.summarize(
        Conversation(
            "s1",
            summary="Talked about a birthday.",
            messages=(Message("user", "My birthday is on the ninth of June."),),
            key_facts=(KeyFact("The birthday is on 9 June"),),
        )
    )
    fact = summarized.facts[0].id
    preview = await preview_of(memory, Selection(query="birthday", session_id="s1"))
    forgotten = await memory.forget(Selection(query="birthday", session_id="s1", confirm=preview.confirm))
    assert isinstance(forgotten, Forgotten)
    assert fact in (*forgotten.ids, *forgotten.cascaded)
    assert await ask(memory, "birthday", include_history=True) == []


async def test_a_forgotten_fact_marks_its_session_to_be_summarized_again(memory: MemoryService):
    summarized = await memory.summarize(
        Conversation(
            "s1", summary="Met Ann.", messages=(Message("user", "I met Ann."),), key_facts=(KeyFact("Ann exists"),)
        )
    )
    forgotten = await memory.forget(Selection(ids=(summarized.facts[0].id,)))
    assert isinstance(forgotten, Forgotten)
    assert forgotten.resummarize == ("s1",)
    assert "summarize(session_id='s1')" in (await memory.recall(Query())).notice


async def test_an_unfinished_erasure_is_finished_by_the_upkeep(words_only: Settings, clock: Clock):
    """A reader of another process keeps the log alive for a while."""
    async with memory_with(words_only, None, clock) as memory:
        kept = await keep(memory, "My locker number is 4711")
        reader = driver.connect(words_only.db)
        reader.execute("begin")
        reader.execute("select count(*) from memory").fetchone()
        forgotten = await memory.forget(Selection(ids=(kept,)))
        assert isinstance(forgotten, Forgotten)
        assert forgotten.verification == "pending"
        assert any("not verified" in problem for problem in await memory.problems())
        reader.close()
        await memory.maintain()
        assert not any("not verified" in problem for problem in await memory.problems())


# ---- archive and restore -------------------------------------------------------------------------------------------


async def test_what_is_archived_is_in_no_answer_until_it_is_restored(memory: MemoryService):
    kept = await keep(memory, "The boat is called Kamome")
    assert await memory.archive(Selection(ids=(kept,))) == Changed((kept,))
    assert await ask(memory, "boat") == await ask(memory) == await ask(memory, "boat", include_history=True) == []
    assert (await memory.get(kept)).state is State.ARCHIVED
    assert await memory.archive(Selection(ids=(kept,))) == Changed(())
    assert await memory.restore(Selection(ids=(kept,))) == Changed((kept,))
    assert await ask(memory, "boat") == ["The boat is called Kamome"]


async def test_a_wide_archive_and_restore_touch_what_their_previews_count(memory: MemoryService):
    """B30: counts in the reply equal the rows touched."""
    old = await keep(memory, "old boat", tags=("t",))
    new = await keep(memory, "new boat", tags=("t",), supersedes=(old,))
    preview = await preview_of(memory, Selection(tags=("t",)), "archive")
    assert preview.ids == (new,)
    assert await memory.archive(Selection(tags=("t",), confirm=preview.confirm)) == Changed((new,))
    back = await preview_of(memory, Selection(tags=("t",)), "restore")
    assert await memory.restore(Selection(tags=("t",), confirm=back.confirm)) == Changed((new,))


async def test_a_memory_cannot_be_restored_into_a_slot_that_is_taken(memory: MemoryService):
    first = await keep(memory, "Tea", key="drink")
    await memory.archive(Selection(ids=(first,)))
    await keep(memory, "Coffee", key="drink")
    with pytest.raises(Conflict, match="drink"):
        await memory.restore(Selection(ids=(first,)))
    assert (await memory.get(first)).state is State.ARCHIVED


async def test_a_kind_is_no_selector_but_turns_can_be_forgotten_by_session(memory: MemoryService):
    await keep(memory, "We began", kind=Kind.TURN, session_id="s1", speaker="user")
    assert (await preview_of(memory, Selection(session_id="s1"))).count == 1
