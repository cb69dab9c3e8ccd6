"""How a text of any length becomes one vector."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from memory_mcp.embedding.parts import embed_by_parts, split_to_fit


@given(st.text(max_size=300), st.integers(1, 40))
def test_parts_fit_and_together_are_the_whole_text(text: str, limit: int):
    parts = split_to_fit(text, lambda part: len(part) <= limit)
    assert "".join(parts) == text
    assert all(len(part) <= limit for part in parts)


def test_a_text_is_cut_at_a_space_near_its_middle():
    parts = split_to_fit("alpha beta gamma delta", lambda part: len(part) <= 12)
    assert parts == ["alpha beta", " gamma delta"]


def test_a_long_text_becomes_the_mean_of_its_parts_among_others():
    """Stand-in model: x for texts of a, y for texts of b."""

    def encode(texts: list[str]) -> NDArray[np.float32]:
        return np.array([[1, 0] if "a" in text else [0, 1] for text in texts], dtype=np.float32)

    vectors = embed_by_parts(["b", "aabb", "a"], fits=lambda text: len(text) <= 2, encode=encode)
    half = np.sqrt(0.5)
    assert np.allclose(vectors, [[0, 1], [half, half], [1, 0]])
