"""How many of our listed secrets are found, and how many texts without one are left alone: counted, not timed."""

import pytest

from benchmarks.secret_samples import halves, missed, mistaken, negatives, positives
from memory_mcp.redaction import redact

MISSED = 2
"""Of 50 at most: one more than is missed of the half that no rule was fitted to (benchmarks/README.md)."""

MISTAKEN = 1
"""Of 100 at most: what is taken out of a text by mistake is lost for good, so this weighs more than a miss."""


def test_the_lists_hold_100_texts_with_a_secret_and_200_without():
    assert (len(positives()), len(negatives())) == (100, 200)
    assert len({one.label for one in positives()}) == 100
    assert all(one.secret and one.secret in one.text for one in positives())
    assert not any(one.secret for one in negatives())


@pytest.mark.parametrize("half", [0, 1], ids=["fitted", "held out"])
def test_most_listed_secrets_are_found_whole(half):
    """B65"""
    assert [one.label for one in missed(halves(positives())[half], redact)][MISSED:] == []


@pytest.mark.parametrize("half", [0, 1], ids=["fitted", "held out"])
def test_what_only_looks_like_a_secret_is_left_alone(half):
    """B65"""
    assert [one.label for one in mistaken(halves(negatives())[half], redact)][MISTAKEN:] == []


def test_a_secret_of_which_a_piece_is_left_is_not_counted_as_found():
    sample = positives()[0]
    assert sample.is_left_in(f"The key is {sample.secret[2:10]}.")
    assert not sample.is_left_in("The key is [redacted: aws key].")
