"""Laws of the arithmetic of recall."""

from datetime import timedelta

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from memory_mcp import scoring
from memory_mcp.models import Kind

ages = st.floats(0, 40_000)
kinds = st.sampled_from(Kind)


def floats(*shape: int, high: float = 50):
    return arrays(np.float64, shape, elements=st.floats(0, high))


# ---- decay and reinforcement ---------------------------------------------------------------------------------------


@given(ages, ages, kinds)
def test_the_older_never_weighs_more(one: float, other: float, kind: Kind):
    newer, older = scoring.decay(np.array([min(one, other), max(one, other)]), [kind, kind])
    assert 0 <= older <= newer <= 1


@pytest.mark.parametrize(
    ("kind", "days"),
    [
        (Kind.PREFERENCE, 365), (Kind.DECISION, 180), (Kind.METRIC, 30), (Kind.EPISODE, 14), (Kind.TURN, 14),
        (Kind.PATTERN, 365), (Kind.LESSON, 365),
    ],
)  # fmt: skip
def test_half_is_left_after_the_half_life(kind: Kind, days: float):
    assert scoring.decay(np.array([0.0, days, 2 * days]), [kind] * 3) == pytest.approx([1, 0.5, 0.25])
    assert timedelta(days=days) == scoring.HALF_LIVES[kind]


@given(ages, st.sampled_from([Kind.FACT, Kind.INSTRUCTION, Kind.RELATIONSHIP, Kind.DOCUMENT]))
def test_what_does_not_fade_weighs_the_same_at_any_age(age: float, kind: Kind):
    assert scoring.decay(np.array([age]), [kind])[0] == 1


def test_a_kind_that_is_damaged_and_a_date_in_the_future_do_no_harm():
    assert scoring.decay(np.array([5.0, -5.0]), ["unheard-of", Kind.TURN]) == pytest.approx([1, 1])


@given(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(-(10**6), 10**6), st.integers(-(10**6), 10**6))
def test_more_use_and_better_ratings_never_weigh_less(used: int, more: int, rating: int, other: int):
    uses, ratings = np.array([used, used + more] * 2), np.array([min(rating, other)] * 2 + [max(rating, other)] * 2)
    low, used_more, rated_more, both = scoring.reinforcement(uses, ratings)
    assert 0.5 <= low <= min(used_more, rated_more)
    assert max(used_more, rated_more) <= both <= 1.5


def test_what_was_neither_used_nor_rated_is_neutral():
    assert scoring.reinforcement(np.array([0]), np.array([0]))[0] == 1


# ---- words ---------------------------------------------------------------------------------------------------------


@given(floats(4), floats(4, 6, high=2.2))
def test_coverage_lies_within_its_range_and_more_never_covers_less(weights, shares):
    covered = scoring.coverage(weights, shares)
    assert covered.shape == (6,)
    assert (covered >= 0).all()
    assert (covered <= 1.2).all()
    assert (scoring.coverage(weights, shares + 0.1) >= covered - 1e-9).all()


@given(floats(4, high=9), floats(4, 6, high=2.2), st.permutations(range(4)), st.permutations(range(6)))
def test_coverage_does_not_depend_on_any_order(weights, shares, terms, memories):
    shuffled = scoring.coverage(weights[terms], shares[terms][:, memories])
    assert shuffled == pytest.approx(scoring.coverage(weights, shares)[memories])


def test_a_memory_with_every_term_once_at_average_length_is_covered_wholly():
    shares = scoring.saturation(np.ones((3, 1)), np.array([10.0]), 10.0)
    assert scoring.coverage(np.array([1.0, 2.0, 0.5]), shares) == pytest.approx([1])


def test_without_terms_nothing_is_covered():
    assert scoring.coverage(np.zeros(0), np.zeros((0, 3))).tolist() == [0, 0, 0]


@given(st.integers(1, 10**6), st.integers(0, 10**6), st.integers(0, 10**6))
def test_a_rarer_term_never_weighs_less_and_none_weighs_nothing(memories: int, one: int, other: int):
    counts = sorted((min(one, memories), min(other, memories)))
    rarer, commoner = scoring.term_weights(np.array(counts), memories)
    assert rarer >= commoner > 0


@given(floats(1, 5), floats(5, high=500), st.floats(0, 500))
def test_repetition_counts_less_and_less(counts, tokens, average: float):
    once, twice = (scoring.saturation(times * counts, tokens, average) for times in (1, 2))
    assert (once <= twice + 1e-9).all()
    assert (twice <= 2 * once + 1e-9).all()
    assert (twice <= 2.2).all()


# ---- meaning -------------------------------------------------------------------------------------------------------


@given(floats(5, high=1), st.floats(0.1, 1))
def test_meaning_keeps_the_order_of_cosines_within_its_range(cosines, ceiling: float):
    scaled = scoring.meaning(cosines, ceiling)
    assert (scaled >= 0).all()
    assert (scaled <= 1.3).all()
    order = np.argsort(cosines, kind="stable")
    assert (np.diff(scaled[order]) >= 0).all()


def test_a_memory_without_vectors_has_no_meaning_and_a_negative_cosine_none_either():
    assert scoring.meaning(np.array([np.nan, -0.4, 0.56]), 0.56).tolist() == [0, 0, 1]


# ---- neighbours ----------------------------------------------------------------------------------------------------


@given(
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 6)), max_size=20, unique=True), st.sampled_from([-2, -1, 1, 2])
)
def test_a_neighbour_is_the_turn_so_many_places_on_in_the_same_session(places: list[tuple[int, int]], step: int):
    sessions, sequences = (np.array([place[n] for place in places], np.int64) for n in (0, 1))
    for index, found in enumerate(scoring.neighbours(sessions, sequences, step).tolist()):
        session, sequence = places[index]
        wanted = (session, sequence + step)
        expected = places.index(wanted) if sequence > 0 and wanted[1] > 0 and wanted in places else -1
        assert found == expected


def test_what_stands_at_a_neighbour_s_place_is_taken_and_nothing_where_there_is_none():
    values, places = np.array([[1.0, 2.0, 3.0]]), np.array([2, -1, 0])
    assert scoring.shifted(values, places).tolist() == [[3, 0, 1]]
