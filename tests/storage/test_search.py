"""The evidence that the file gives for a question."""

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from drafts import NOW, draft, turn, vectors, write

from memory_mcp.models import Filter, Kind, Source, Trust
from memory_mcp.storage import SqliteStore
from memory_mcp.storage.database import Database
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.filters import clause, needs_rows, sought
from memory_mcp.storage.search import EXACT_UP_TO, TOKENIZER, quantise, sign_bits
from memory_mcp.storage.signs import Signs
from memory_mcp.storage.values import Evidence, Probe

pytestmark = pytest.mark.anyio


async def gather(
    store: SqliteStore, *terms: str, seeds: tuple[int, ...] = (), where: Filter | None = None, **bounds
) -> Evidence:
    asked = vectors(*seeds) if seeds else None
    return await store.search(Probe(asked, terms, where or Filter(), **bounds))


async def ids(store: SqliteStore, evidence: Evidence) -> list[str]:
    """Ids of the candidates that the filter lets through, in the order of the evidence."""
    found = await store.rows(evidence.rows.tolist())
    return [found[row].id for row in evidence.rows[evidence.eligible].tolist()]


# ---- what is found -------------------------------------------------------------------------------------------------


async def test_an_empty_file_gives_empty_evidence(store: SqliteStore):
    evidence = await gather(store, "word", seeds=(1,))
    assert len(evidence.rows) == 0
    assert evidence.counts.shape == (1, 0)
    assert (evidence.memories, evidence.tokens_in_all) == (0, 0)


async def test_the_evidence_counts_terms_and_measures_nearness(store: SqliteStore):
    first, second, third = await write(
        store, draft("kettle and kettle", seed=1), draft("a red kettle", seed=2), draft("nothing", seed=3)
    )
    evidence = await gather(store, "kettle", "red", seeds=(1,))
    assert await ids(store, evidence) == [first, second, third]
    assert evidence.counts.tolist() == [[2, 1, 0], [0, 1, 0]]
    assert evidence.frequencies.tolist() == [2, 1]
    assert evidence.tokens.tolist() == [3, 3, 1]
    assert (evidence.memories, evidence.tokens_in_all) == (3, 7)
    expected = vectors(1, 2, 3) @ vectors(1)[0]
    assert evidence.cosine == pytest.approx(expected, abs=0.02)


async def test_the_best_sentence_and_the_best_of_several_questions_count(store: SqliteStore):
    await store.write([replace(draft("two sentences"), vectors=vectors(1, 2)), draft("one", seed=3)], door="cli")
    evidence = await gather(store, seeds=(2, 3))
    assert evidence.cosine == pytest.approx([1, 1], abs=0.01)


async def test_what_comes_in_by_its_words_is_measured_too(store: SqliteStore):
    await write(store, *(draft(f"filler {n}", seed=n) for n in range(10)), draft("kettle", seed=99))
    evidence = await gather(store, "kettle", seeds=(3,), kept_by_meaning=1)
    assert len(evidence.rows) == 2
    assert not np.isnan(evidence.cosine).any()


async def test_without_vectors_words_are_found_and_nearness_is_unknown(store: SqliteStore):
    await store.write([replace(draft("a kettle"), vectors=None), draft("another kettle")], door="cli")
    assert np.isnan((await gather(store, "kettle")).cosine).all()
    assert np.isnan((await gather(store, "kettle", seeds=(0,))).cosine).tolist() == [True, False]


async def test_words_are_found_in_any_form_and_a_lone_character_as_a_beginning(store: SqliteStore):
    kettles, cat = await write(store, draft("Kettles were boiling"), draft("猫の名前"))
    assert await ids(store, await gather(store, "kettle", "boil")) == [kettles]
    assert await ids(store, await gather(store, "猫*")) == [cat]
    assert await ids(store, await gather(store, "名前")) == [cat]


async def test_key_tags_title_and_speaker_are_found_as_words(store: SqliteStore):
    [kept] = await write(store, draft("text", key="favourite_tea", tags=("kitchen",), title="Menu", speaker="Ann"))
    for word in ("favourite", "kitchen", "menu", "ann"):
        assert await ids(store, await gather(store, word)) == [kept]


# ---- turns ---------------------------------------------------------------------------------------------------------


async def test_a_turn_brings_its_neighbours_which_are_candidates_only_where_the_filter_lets_them(store: SqliteStore):
    said = await write(store, *(turn(f"turn {n}", seed=n) for n in range(9)), turn("kettle", session_id="s2"))
    await store.archive([said[5]], now=NOW, door="cli")
    evidence = await gather(store, "4")
    assert evidence.sequences.tolist() == [3, 4, 5, 6, 7]
    assert evidence.is_turn.all()
    assert evidence.eligible.tolist() == [True, True, True, False, True]
    assert len(set(evidence.sessions.tolist())) == 1


async def test_a_turn_that_asks_is_known(store: SqliteStore):
    await write(store, turn("kettle?"), turn("kettle！？ "), turn("kettle."))
    assert (await gather(store, "kettle")).asks.tolist() == [True, True, False]


# ---- filters -------------------------------------------------------------------------------------------------------


@pytest.fixture
async def one_of_each(store: SqliteStore) -> SqliteStore:
    drafts = [
        draft("kettle plain"),
        draft("kettle elsewhere", namespace="proj"),
        draft("kettle decided", kind=Kind.DECISION),
        draft("kettle tagged", tags=("a", "b")),
        draft("kettle tagged half", tags=("a",)),
        draft("kettle read", source=Source.TOOL, trust=Trust.UNTRUSTED),
        draft("kettle unsure", confidence=0.2),
        draft("kettle earlier", created_at=NOW - timedelta(days=9)),
        draft("kettle over", expires_at=NOW - timedelta(days=1)),
        draft("kettle pinned", expires_at=NOW - timedelta(days=1), pinned=True),
        draft("kettle in session", session_id="s1"),
        draft("kettle once true", valid_to=NOW - timedelta(days=1)),
    ]
    await store.write(drafts, door="cli")
    return store


FILTERS = {
    "elsewhere": Filter(namespaces=("proj",)),
    "decided": Filter(kinds=(Kind.DECISION,)),
    "tagged": Filter(tags=("A", "b")),
    "read": Filter(source=Source.TOOL),
    "read ": Filter(trust=Trust.UNTRUSTED),
    "earlier": Filter(until=NOW - timedelta(days=1)),
    "in session": Filter(session_id="s1"),
}


@pytest.mark.parametrize(("name", "where"), FILTERS.items(), ids=[name.strip() for name in FILTERS])
@pytest.mark.parametrize("asked", [((), (0,)), (("kettle",), ())], ids=["meaning", "words"])
async def test_each_filter_lets_through_what_it_says(one_of_each: SqliteStore, name: str, where: Filter, asked):
    terms, seeds = asked
    evidence = await gather(one_of_each, *terms, seeds=seeds, where=where)
    found = [one.content for one in (await one_of_each.rows(evidence.rows.tolist())).values()]
    assert found == [f"kettle {name.strip()}"]


@pytest.mark.parametrize(
    ("where", "missing"),
    [
        (Filter(now=NOW), "over"),
        (Filter(min_confidence=0.5), "unsure"),
        (Filter(as_of=NOW), "once true"),
        (Filter(since=NOW), "earlier"),
    ],
)
async def test_each_bound_leaves_out_what_lies_beyond(one_of_each: SqliteStore, where: Filter, missing: str):
    for terms, seeds in (((), (0,)), (("kettle",), ())):
        evidence = await gather(one_of_each, *terms, seeds=seeds, where=where)
        found = {one.content for one in (await one_of_each.rows(evidence.rows.tolist())).values()}
        assert len(found) == 11
        assert f"kettle {missing}" not in found


async def test_filters_hold_before_any_cut_also_in_a_large_collection(store: SqliteStore):
    """B20: more sentences than are scored exactly, and the one that passes is the farthest of all."""
    many = [replace(draft(f"n{n}"), vectors=np.tile(vectors(1), (150, 1))) for n in range(EXACT_UP_TO // 150 + 2)]
    rare = replace(draft("rare", tags=("b",), kind=Kind.METRIC, confidence=0.9), vectors=-vectors(1))
    *_, wanted = [one.id for one in await store.write([*many, rare], door="cli")]
    assert wanted not in await ids(store, await gather(store, seeds=(1,), kept_by_meaning=5))
    for where in (Filter(tags=("b",)), Filter(kinds=(Kind.METRIC,)), Filter(tags=("b",), now=NOW)):
        assert await ids(store, await gather(store, seeds=(1,), where=where, kept_by_meaning=5)) == [wanted]


async def test_words_are_looked_for_until_enough_pass_the_filter(store: SqliteStore):
    """B20, for words."""
    drafts = [draft(f"kettle kettle {n}", seed=n) for n in range(60)]
    *_, wanted = await write(store, *drafts, draft("one kettle among a great many other words", tags=("b",)))
    found = await gather(store, "kettle", where=Filter(tags=("b",)), kept_by_words=1)
    assert await ids(store, found) == [wanted]


@pytest.mark.parametrize(
    "where",
    [Filter(), Filter(namespaces=("user",)), Filter(kinds=(Kind.FACT, Kind.TURN)), Filter(namespaces=("nowhere",)),
     Filter(trust=Trust.TRUSTED, since=NOW), Filter(states=(), until=NOW)],
)  # fmt: skip
async def test_what_stands_beside_the_bits_answers_as_the_rows_do(one_of_each: SqliteStore, database: Database, where):
    def both(connection: Connection) -> tuple[list[int], list[int]]:
        signs = Signs()
        signs.refresh(connection)
        condition, values = clause(where)
        found = connection.execute(f"select m.row from memory m where {condition} order by m.row", values).fetchall()
        return signs.facets["memory"][signs.passing(connection, where)].tolist(), [row for (row,) in found]

    assert not needs_rows(where)
    assert not sought(where)
    by_bits, by_rows = await database.read(both)
    assert by_bits == by_rows


@pytest.mark.parametrize(
    ("text", "asked"),
    [("Where is it?", True), ("どこですか？」", True), ('"Where?" ', True), ("Where? There.", False), ("", False)],
)
async def test_a_candidate_tells_whether_it_asks(store: SqliteStore, text: str, asked: bool):
    await write(store, draft(f"the kettle {text}"))
    assert (await gather(store, "kettle")).asks.tolist() == [asked]


async def test_terms_are_cut_as_the_index_cuts_them(database: Database):
    [sql] = await database.read(
        lambda at: at.execute("select sql from sqlite_master where name = 'fulltext'").fetchone()
    )
    assert f'tokenize = "{TOKENIZER}"' in sql


# ---- vectors as bytes ----------------------------------------------------------------------------------------------


def test_a_vector_keeps_its_direction_in_a_byte_a_number():
    for vector in vectors(*range(20)):
        kept = np.frombuffer(quantise(vector), np.int8).astype(np.float64)
        assert np.abs(kept).max() == 127
        assert kept @ vector / np.linalg.norm(kept) > 0.999


def test_a_vector_of_nothing_is_not_divided_by():
    assert quantise(np.zeros(8, np.float32)) == bytes(8)


def test_signs_are_packed_with_the_first_number_in_the_lowest_bit():
    assert sign_bits(np.array([1, -1, -1, -1, -1, -1, -1, 0.5], np.float32)) == b"\x81"
