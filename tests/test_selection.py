"""The handle that confirms a selection."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.errors import Conflict, NotFound
from memory_mcp.selection import handle, missing, require_match

versions = st.lists(st.tuples(st.uuids().map(str), st.integers(0, 2**53)), max_size=8, unique_by=lambda one: one[0])


@given(versions, st.randoms(use_true_random=False))
def test_a_handle_does_not_depend_on_the_order(chosen, random):
    shuffled = list(chosen)
    random.shuffle(shuffled)
    require_match(handle(b"secret", "forget", shuffled), handle(b"secret", "forget", chosen))


@given(versions.filter(bool), st.data())
def test_a_handle_stands_for_one_set_one_verb_one_file(chosen, data):
    mine = handle(b"secret", "forget", chosen)
    place = data.draw(st.integers(0, len(chosen) - 1))
    (name, version), others = chosen[place], [one for n, one in enumerate(chosen) if n != place]
    for other in (
        handle(b"secret", "archive", chosen),
        handle(b"another", "forget", chosen),
        handle(b"secret", "forget", others),
        handle(b"secret", "forget", [*others, (name, version + 1)]),
    ):
        with pytest.raises(Conflict, match="Nothing was changed"):
            require_match(other, mine)


def test_ids_that_do_not_exist_are_named_and_are_an_error_only_when_there_are_no_others():
    assert missing(["a", "b"], [("a", 1)]) == ("b",)
    assert missing([], []) == ()
    with pytest.raises(NotFound, match="b"):
        missing(["b"], [])
