from datetime import timedelta

import pytest
from drafts import NOW, draft, turn

from memory_mcp.errors import InvalidInput
from memory_mcp.models import Filter, Kind, Trust, new_id
from memory_mcp.storage import SqliteStore

pytestmark = pytest.mark.anyio


async def contents(store: SqliteStore, where: Filter) -> list[str]:
    return [one.content for one in (await store.page(where, 100)).memories]


async def test_pages_follow_each_other_newest_first_without_gap_or_repetition(store: SqliteStore):
    await store.write([draft(f"{number}") for number in range(7)], door="cli")
    await store.write([draft("newest", created_at=NOW + timedelta(days=1))], door="cli")
    seen, cursor = [], ""
    for _ in range(3):
        page = await store.page(Filter(), 3, cursor)
        seen += [one.content for one in page.memories]
        cursor = page.next_cursor
        await store.write([draft(f"stored meanwhile {new_id()}", created_at=NOW + timedelta(days=2))], door="cli")
    assert seen == ["newest", "6", "5", "4", "3", "2", "1", "0"]
    assert cursor == ""


@pytest.mark.parametrize(
    "cursor", ["x", "nonsense!", "MQ", "MS4yLjM", "é", "OTk5OTk5OTk5OTk5OTk5OTk5OTk5LjE", "' or 1=1 --", "\x00"]
)
async def test_a_cursor_that_is_not_ours_is_refused(store: SqliteStore, cursor: str):
    with pytest.raises(InvalidInput, match="not one of ours"):
        await store.page(Filter(), 3, cursor)


async def test_tags_are_matched_whole_and_all_of_them(store: SqliteStore):
    """B30: 'py' is not 'python', and signs of SQL patterns mean nothing."""
    await store.write(
        [draft("a", tags=("python", "web")), draft("b", tags=("Py",)), draft("c", tags=("100%", "a,b"))], door="cli"
    )
    assert await contents(store, Filter(tags=("py",))) == ["b"]
    assert await contents(store, Filter(tags=("PYTHON", "web"))) == ["a"]
    assert await contents(store, Filter(tags=("python", "py"))) == []
    assert await contents(store, Filter(tags=("%",))) == []
    assert await contents(store, Filter(tags=("a,b",))) == ["c"]


async def test_what_matters_most_comes_first(store: SqliteStore):
    drafts = [
        draft("unimportant", importance=0.1, created_at=NOW + timedelta(days=1)),
        draft("important", importance=0.9),
        draft("older", created_at=NOW - timedelta(days=1)),
        draft("newer"),
        draft("used", created_at=NOW - timedelta(days=2)),
        draft("pinned", importance=0.0, pinned=True),
        turn("a turn", importance=1.0),
    ]
    ids = [one.id for one in await store.write(drafts, door="cli")]
    await store.count_access([ids[4]], now=NOW)
    found = await store.weightiest(Filter(), 5)
    assert [one.content for one in found] == ["pinned", "important", "used", "newer", "older"]


async def test_a_count_is_of_what_the_filter_lets_through(store: SqliteStore):
    await store.write([draft(f"{n}", kind=(Kind.FACT, Kind.METRIC)[n % 2]) for n in range(5)], door="cli")
    assert await store.count(Filter()) == 5
    assert await store.count(Filter(kinds=(Kind.METRIC,))) == 2
    assert await store.count(Filter(trust=Trust.UNTRUSTED)) == 0


async def test_a_selection_names_everything_up_to_a_date_oldest_first(store: SqliteStore):
    drafts = [draft(f"{day}", created_at=NOW + timedelta(days=day), trust=Trust.UNTRUSTED) for day in (2, 0, 1)]
    ids = [one.id for one in await store.write(drafts, door="cli")]
    chosen = await store.select(Filter(trust=Trust.UNTRUSTED), before=NOW + timedelta(days=2), limit=10)
    assert [memory_id for memory_id, _ in chosen] == [ids[1], ids[2]]
    assert chosen == await store.versions([ids[1], ids[2]])
    assert len(await store.select(Filter(), before=None, limit=2)) == 2
    assert await store.select(Filter(kinds=(Kind.METRIC,)), before=None, limit=10) == []
