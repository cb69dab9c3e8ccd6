"""Groups of near sentences and closest pairs, on vectors laid out by hand."""

import numpy as np
import pytest

from memory_mcp.recurrence import close_pairs, groups


def at(*degrees: float) -> np.ndarray:
    """Unit vectors at these angles: the cosine of a difference says how near two are."""
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


NEAR = float(np.cos(np.radians(10.5)))


def found(vectors: np.ndarray, owners: list[int], least: int = 3) -> list[list[int]]:
    return [group.tolist() for group in groups(vectors, np.array(owners), NEAR, least)]


def test_the_middle_comes_first_and_the_others_by_distance():
    assert found(at(0, 8, 10, 19, 90), [0, 1, 2, 3, 4]) == [[2, 1, 3, 0]]


def test_the_largest_group_comes_first_and_no_sentence_is_in_two():
    assert found(at(0, 1, 2, 40, 41, 42, 43), list(range(7))) == [[3, 4, 5, 6], [0, 1, 2]]


def test_a_group_that_lost_sentences_to_a_larger_one_is_counted_anew():
    vectors = at(0, 1, 2, 3, 4, 13, 20, 21, 22, 60, 61, 62, 63)
    assert [sorted(group) for group in found(vectors, list(range(13)))] == [
        [0, 1, 2, 3, 4, 5], [9, 10, 11, 12], [6, 7, 8],
    ]  # fmt: skip


def test_what_one_memory_says_several_times_counts_once_by_its_nearest_sentence():
    vectors, owners = at(0, 5, 1, 2, 50), [0, 0, 1, 2, 3]
    assert [sorted({owners[place] for place in group}) for group in found(vectors, owners)] == [[0, 1, 2]]
    assert found(at(0, 1, 2), [0, 0, 1]) == []


def test_close_pairs_are_of_different_owners_closest_first_and_bounded():
    vectors, owners = at(0, 1, 5, 90, 92), np.array([0, 0, 1, 2, 3])
    pairs = close_pairs(vectors, owners, NEAR, 10)
    assert [pair[:2] for pair in pairs] == [(2, 3), (0, 1)]
    assert pairs[1][2] == pytest.approx(np.cos(np.radians(4)), abs=1e-6)
    assert len(close_pairs(vectors, owners, NEAR, 1)) == 1


def test_many_that_are_all_alike_are_one_group():
    vectors = at(*np.linspace(0, 5, 2_500))
    assert [len(group) for group in found(vectors, list(range(2_500)))] == [2_500]
    assert len(close_pairs(vectors, np.arange(2_500), NEAR, 50)) == 50


def test_where_nothing_is_stored_nothing_recurs():
    nothing = np.zeros((0, 1), np.float32)
    assert found(nothing, []) == []
    assert close_pairs(nothing, np.zeros(0, np.int64), NEAR, 5) == []
