"""How candidates are ranked, on evidence made up by hand."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_mcp.answers import Reasons
from memory_mcp.arranging import arranged, varied
from memory_mcp.models import Kind, Memory, State
from memory_mcp.retrieval import Ranked, rank
from memory_mcp.storage.values import Evidence

NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
CEILING = 0.56


def evidence(*candidates: dict, terms: int = 2, memories: int = 100) -> Evidence:
    """Candidates of average length without any merit but what each of them names."""
    plain = {
        "eligible": True, "cosine": np.nan, "counts": (0,) * terms, "tokens": 10.0, "session": 0, "sequence": 0,
        "asks": False, "importance": 0.5, "created_at": NOW, "used": 0, "rating": 0, "kind": Kind.FACT, "speaker": "",
    }  # fmt: skip
    rows = [plain | candidate for candidate in candidates]

    def column(name: str, dtype) -> np.ndarray:
        return np.array([row[name] for row in rows], dtype)

    kinds = [row["kind"] for row in rows]
    return Evidence(
        rows=np.arange(1, len(rows) + 1),
        eligible=column("eligible", np.bool_),
        cosine=column("cosine", np.float64),
        counts=np.array([row["counts"] for row in rows], np.float64).reshape(len(rows), terms).T,
        tokens=column("tokens", np.float64),
        sessions=column("session", np.int64),
        sequences=column("sequence", np.int64),
        is_turn=np.array([kind == Kind.TURN for kind in kinds], np.bool_),
        asks=column("asks", np.bool_),
        importance=column("importance", np.float64),
        created_at=np.array([row["created_at"].timestamp() * 1000 for row in rows], np.int64),
        used=column("used", np.int64),
        ratings=column("rating", np.int64),
        kinds=kinds,
        speakers=[row["speaker"] for row in rows],
        frequencies=np.array([5] * terms, np.int64),
        memories=memories,
        tokens_in_all=10 * memories,
    )


def ranked(found: Evidence, question: str = "q", **options) -> list[Ranked]:
    return rank(found, question, ceiling=CEILING, now=NOW, **options)


def order(*candidates: dict, question: str = "q") -> list[int]:
    """Rows, best first; the first candidate has row 1."""
    return [one.row for one in ranked(evidence(*candidates), question)]


def turn(place: int, session: int = 1, **merits) -> dict:
    return {"kind": Kind.TURN, "session": session, "sequence": place, "speaker": "Ann"} | merits


# ---- memories that stand alone -------------------------------------------------------------------------------------


def test_meaning_alone_words_alone_and_both():
    both, meaning, words = ranked(evidence({"cosine": 0.5, "counts": (1, 1)}, {"cosine": 0.5}, {"counts": (1, 1)}))
    assert (both.row, meaning.row, words.row) == (1, 2, 3)
    assert (meaning.reasons.words, words.reasons.meaning) == (0, 0)
    assert both.score == pytest.approx(meaning.score + words.score - 0.05 * both.reasons.salience)


def test_what_has_neither_meaning_nor_words_is_no_hit():
    assert order({"counts": (1, 0)}, {}, {"cosine": 0.0}) == [1]


def test_what_the_filter_does_not_let_through_is_no_hit():
    assert order({"counts": (1, 1), "eligible": False}, {"counts": (1, 0)}) == [2]


def test_no_candidates_give_no_hits():
    assert ranked(evidence()) == []


def test_at_most_the_limit_is_ranked():
    assert len(ranked(evidence(*[{"counts": (1, 1)}] * 30), limit=7)) == 7


@pytest.mark.parametrize(
    ("better", "worse"),
    [
        ({"importance": 0.9}, {"importance": 0.1}),
        ({"used": 50}, {"used": 0}),
        ({"rating": 3}, {"rating": -3}),
        ({"kind": Kind.EPISODE}, {"kind": Kind.EPISODE, "created_at": NOW - timedelta(days=30)}),
        ({"kind": Kind.METRIC}, {"kind": Kind.METRIC, "created_at": NOW - timedelta(days=30)}),
        ({}, {"created_at": NOW - timedelta(days=3_000)}),
    ],
)
def test_at_equal_relevance_the_weightier_then_the_newer_comes_first(better: dict, worse: dict):
    same = {"cosine": 0.4, "counts": (1, 0)}
    assert order(same | worse, same | better) == [2, 1]


def test_no_weight_lifts_the_irrelevant_above_the_relevant():
    assert order({"cosine": 0.1, "importance": 1.0, "used": 9_999, "rating": 99}, {"cosine": 0.4, "importance": 0.0})[
        0
    ] == 2  # fmt: skip


@pytest.mark.parametrize(
    ("candidate", "label"),
    [
        ({"cosine": 0.56, "counts": (1, 1)}, "strong"),
        ({"counts": (1, 1)}, "fair"),
        ({"cosine": 0.5}, "fair"),
        ({"cosine": 0.1}, "weak"),
        ({"cosine": 0.3}, "fair"),
    ],
)
def test_labels_go_by_relevance_on_an_absolute_scale(candidate: dict, label: str):
    assert ranked(evidence(candidate, {"cosine": 0.01}))[0].label == label


# ---- turns ---------------------------------------------------------------------------------------------------------


def test_neighbours_lift_each_other():
    """The answer stands beside the turn that holds the question's words."""
    question, answer, elsewhere = turn(4, counts=(1, 1)), turn(5, counts=(0, 0), cosine=0.2), turn(9, cosine=0.2)
    assert order(elsewhere, question, answer)[:2] == [2, 3]


def test_without_a_word_of_the_question_the_turn_itself_comes_before_the_turns_beside_it():
    """A question in another language: a neighbour that holds nothing itself must not come first."""
    before, answer, after = turn(4, cosine=0.03), turn(5, cosine=0.36), turn(6, cosine=0.03)
    assert order(before, answer, after)[0] == 2


def test_without_a_word_of_the_question_a_turn_that_fits_comes_before_a_fact_that_does_not():
    assert order(turn(5, cosine=0.36), {"cosine": 0.13}) == [1, 2]


def test_a_neighbour_of_another_session_lifts_nothing():
    beside, alone = turn(5, cosine=0.2), turn(5, session=2, cosine=0.2)
    assert order(alone, beside, turn(4, counts=(1, 1), eligible=False)) == [2, 1]


def test_the_only_speaker_that_the_question_names_counts():
    ann, bob = turn(3, counts=(1, 0)), turn(3, session=2, counts=(1, 0), speaker="Bob Reed")
    assert order(ann, bob, question="What does Bob like?") == [2, 1]
    assert order(ann, bob, question="What do Bob and Ann like?") == order(ann, bob, question="What is liked?")


@pytest.mark.parametrize("kind", [Kind.TURN, Kind.EPISODE, Kind.DOCUMENT])
def test_a_fact_comes_before_a_longer_text_that_fits_as_well(kind: Kind):
    fit = {"cosine": 0.4, "counts": (1, 0)}
    assert order(fit, fit | {"kind": kind}) == [1, 2]


def test_a_turn_that_asks_gives_way_to_one_that_tells():
    assert order(turn(3, counts=(1, 1), asks=True), turn(3, session=2, counts=(1, 1))) == [2, 1]


# ---- laws ----------------------------------------------------------------------------------------------------------

candidates = st.fixed_dictionaries(
    {
        "cosine": st.one_of(st.just(np.nan), st.floats(-1, 1)),
        "counts": st.tuples(st.integers(0, 5), st.integers(0, 5)),
        "tokens": st.floats(1, 500),
        "session": st.integers(1, 2),
        "importance": st.floats(0, 1),
        "used": st.integers(0, 1_000),
        "rating": st.integers(-20, 20),
        "asks": st.booleans(),
        "kind": st.sampled_from(Kind),
        "speaker": st.sampled_from(["", "Ann", "Bob"]),
        "created_at": st.integers(0, 1_000).map(lambda days: NOW - timedelta(days=days)),
        "eligible": st.booleans(),
    }
)


def gathered(rows: list[dict]) -> Evidence:
    """Evidence in which each turn has a place of its own."""
    return evidence(*(row | {"sequence": place * (row["kind"] == Kind.TURN)} for place, row in enumerate(rows, 1)))


found = st.lists(candidates, min_size=1, max_size=9).map(gathered)


def permuted(one: Evidence, places: list[int]) -> Evidence:
    arrays = ("rows", "eligible", "cosine", "tokens", "sessions", "sequences", "is_turn", "asks", "importance",
              "created_at", "used", "ratings")  # fmt: skip
    lists = {name: [getattr(one, name)[place] for place in places] for name in ("kinds", "speakers")}
    shuffled = {name: getattr(one, name)[places] for name in arrays} | {"counts": one.counts[:, places]}
    return replace(one, **shuffled, **lists)


@given(found, st.randoms(use_true_random=False))
@settings(deadline=None)
def test_the_ranking_does_not_depend_on_the_order_of_the_evidence(one: Evidence, random):
    places = list(range(len(one.rows)))
    random.shuffle(places)
    first, second = ranked(one, "Ann likes"), ranked(permuted(one, places), "Ann likes")
    assert [hit.row for hit in first] == [hit.row for hit in second]
    assert [hit.score for hit in first] == pytest.approx([hit.score for hit in second])


@given(found)
@settings(deadline=None)
def test_scores_order_the_hits_and_lie_within_their_documented_ranges(one: Evidence):
    hits = ranked(one)
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    assert len({hit.row for hit in hits}) == len(hits)
    assert {hit.row for hit in hits} <= set(one.rows[one.eligible].tolist())
    for hit in hits:
        assert 0 < hit.score <= 1.5
        assert 0 <= hit.reasons.meaning <= 1.3
        assert 0 <= hit.reasons.words <= 1.2
        assert 0 <= hit.reasons.salience <= 1.5


@given(candidates, st.integers(1, 3_000))
@settings(deadline=None)
def test_the_older_never_scores_higher(candidate: dict, days: int):
    alone = candidate | {"session": 0, "eligible": True}
    older = alone | {"created_at": alone["created_at"] - timedelta(days=days)}
    scores = {hit.row: hit.score for hit in ranked(evidence(alone, older))}
    assert scores.get(2, 0) <= scores.get(1, 0)


def words(text: str) -> set[str]:
    return set(text.split())


# ---- variety -------------------------------------------------------------------------------------------------------


def test_a_near_copy_of_a_better_one_gives_way():
    found = [
        (0.9, words("the cat sat on the red mat")),
        (0.8, words("the red mat")),
        (0.7, words("sat on the mat cat red")),
    ]
    assert varied(found) == [(0, 0.9), (1, 0.8), (2, 0.35)]


def test_a_near_copy_still_comes_before_what_is_much_worse():
    found = [(0.9, words("one two three")), (0.8, words("one two three")), (0.3, words("four"))]
    assert [place for place, _ in varied(found)] == [0, 1, 2]


@given(st.lists(st.tuples(st.floats(0.01, 1), st.sets(st.sampled_from("abcd"))), max_size=12))
def test_variety_only_changes_the_order(found: list[tuple[float, set[str]]]):
    order = varied(found)
    assert sorted(place for place, _ in order) == list(range(len(found)))
    assert [score for _, score in order] == sorted((score for _, score in order), reverse=True)


# ---- history -------------------------------------------------------------------------------------------------------


def version(row: int, score: float, content: str, newer: str = "") -> tuple[Ranked, Memory]:
    state = State.SUPERSEDED if newer else State.ACTIVE
    memory = Memory(f"m{row}", content, NOW, NOW, state=state, superseded_by=newer)
    return Ranked(row, score, "fair", Reasons()), memory


@pytest.mark.parametrize("scores", [(0.9, 0.5, 0.1), (0.1, 0.5, 0.9), (0.2, 0.9, 0.1)])
def test_what_replaced_a_match_is_the_better_match(scores: tuple[float, float, float]):
    first, second, third = scores
    found = [
        version(1, first, "the old harbour", "m2"), version(2, second, "a newer port", "m3"),
        version(3, third, "the newest quay"), version(4, 0.05, "a cow"),
    ]  # fmt: skip
    hits = arranged(found, past=False)
    assert hits[0][1].id == "m3"
    assert [one.score for one, _ in hits] == sorted((one.score for one, _ in hits), reverse=True)


def test_a_question_about_the_past_is_answered_by_what_held_then():
    found = [version(1, 0.9, "the old harbour", "m2"), version(2, 0.5, "a cow")]
    assert [memory.id for _, memory in arranged(found, past=True)] == ["m1", "m2"]


def test_a_damaged_memory_of_a_time_that_no_calendar_knows_stops_no_question_about_a_date():
    strange = replace(evidence({"counts": (1, 1)}, {"counts": (1, 1)}), created_at=np.array([10**18, -(10**18)]))
    assert len(rank(strange, "in May 2023", ceiling=CEILING, now=NOW)) == 2
