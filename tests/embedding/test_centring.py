"""Vectors that all look the same way are told apart again; others are left as they are."""

import numpy as np
from numpy.typing import NDArray

from memory_mcp.embedding.centring import UNRELATED, common_part, without
from tests.memories import WordsEmbedder


def squeezed(texts: list[str]) -> NDArray[np.float32]:
    """Vectors as those of E5: a little of the text, much of what is common to all."""
    vectors = 0.5 * WordsEmbedder().embed(texts)
    vectors[:, 0] += 1.0
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_what_is_common_to_all_texts_is_taken_out():
    one, two, three = ["the kettle is blue", "the kettle was blue", "invoices go to Basel"]
    before = squeezed([one, two, three])
    after = without(common_part(squeezed), before)
    assert before[0] @ before[2] > 0.75
    assert after[0] @ after[2] < 0.2
    assert after[0] @ after[1] > after[0] @ after[2] + 0.3
    assert np.allclose(np.linalg.norm(after, axis=1), 1, atol=1e-5)


def test_a_model_that_tells_texts_apart_is_left_as_it_is():
    part = common_part(WordsEmbedder().embed)
    vectors = WordsEmbedder().embed(UNRELATED)
    assert part is None
    assert without(part, vectors) is vectors
