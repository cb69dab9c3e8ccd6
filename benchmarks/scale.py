"""How recall grows with the file: python benchmarks/scale.py [--up-to 100000] [--questions 100].

Files are filled with made-up texts (see filling.py) and asked in process and through a real stdio server. Beside each
time stands its limit: one embedding of the question and one scan of all sign bits in numpy, measured in the same run.
Run it pinned to one core (taskset -c 0), and read the ratios. The plot needs the dependency group `bench`.
"""

import argparse
import asyncio
import shutil
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from filling import SELECTIVITIES, Turned, Writer, fill, memories
from host import Host
from measure import RESULTS, percentiles, report

from memory_mcp.app import open_memory
from memory_mcp.config import Settings
from memory_mcp.embedding.protocol import Embedder
from memory_mcp.embedding.universal import load_universal
from memory_mcp.models import Query
from memory_mcp.service import MemoryService

SIZES = (1_000, 10_000, 50_000, 100_000, 500_000)
STORES = 50

LONG_ENGLISH = """
We have been going back and forth about this for most of the week, and I would like to settle it before the others
come back from their holidays. As far as I remember we first talked about it in spring, when the old supplier raised
the prices for the second time and nobody was willing to sign for another year. Somebody, I believe it was Mara, had
made a table with three offers in it, one of them from a small company near the coast, and we agreed that price alone
should not decide, because the deliveries in winter had been late so often that two of the workshops had to be closed
for days. Then there was the question of the storage room, which is damp, and of the insurance that only pays when
somebody signs a list every evening. Jonas offered to do that until the end of June, but I do not know who does it
now, and whether the lists are still kept in the blue folder or were scanned as he had suggested. I also recall that
we wanted to try the new labels on one shelf only, to see whether the glue holds when it gets cold, and to write down
the results so that the next group would not have to start from nothing. Could you tell me what we decided in the end
about the supplier, the storage room, the lists and the labels, who is responsible for each of them, and what was said
to be done first after the holidays are over?
"""

LONG_JAPANESE = """
先週からずっと考えているのですが、みんなが休暇から戻る前に決めておきたいことがあります。最初にこの話をしたのは春で、以前の業者が
二度目の値上げをした時だったと思います。三社の見積もりを表にまとめてくれたのは田中さんで、値段だけでは決めないという結論になりました。
冬の配達が何度も遅れて、二つの作業場を何日も閉めなければならなかったからです。それから倉庫の湿気の問題と、毎晩だれかが名簿に署名しないと
支払われない保険の話もありました。六月の末までは山本さんが引き受けてくれましたが、今はだれが担当しているのか、名簿はまだ青い
フォルダーにあるのか、それとも提案のとおり読み取って保存したのか分かりません。新しいラベルは寒くなっても剥がれないかどうかを確かめるために、
まず一つの棚だけで試して、次の担当者が最初からやり直さずに済むように結果を書き残すことにしていたはずです。業者と倉庫と名簿とラベルについて、
最終的に何を決めて、それぞれの責任者はだれで、休暇が終わったら最初に何をすることになっていたのか、教えてもらえますか。
"""


def timed(action: Callable[[], object]) -> float:
    """Time one call."""
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def questions(count: int) -> list[str]:
    """Ask for the first memories of the file by some of their words."""
    writer = Writer(11)
    return [writer.question(memory.content) for memory in islice(memories(), count)]


def limits(model: Embedder, sentences: int, asked: Sequence[str]) -> list[float]:
    """Time what no search can save: to embed the question, and to go once through the sign bits of all sentences."""
    chance, dimension = np.random.default_rng(0), model.identity.dimension
    bits = chance.integers(0, 1 << 63, (dimension // 64, sentences), np.uint64)
    taken = []
    for text in asked:
        start = time.perf_counter()
        [vector] = model.embed([text], query=True)
        words = np.packbits(vector > 0, bitorder="little").view(np.uint64)
        distances = np.zeros(sentences, np.uint16)
        for plane, word in zip(bits, words, strict=True):
            distances += np.bitwise_count(plane ^ word)
        np.argpartition(distances, min(400, sentences - 1))
        taken.append(time.perf_counter() - start)
    return taken


async def in_process(path: Path, asked: Sequence[str]) -> dict[str, list[float]]:
    """Time recalls without a protocol around them, by how many memories the filter lets through."""
    async with open_memory(Settings(db=path), door="mcp") as memory:
        await memory.embeddings.ready()
        found = {"recall in process": await _recalls(memory, [Query(text) for text in asked])}
        for percent, kind in SELECTIVITIES.items():
            by_kind = [Query(text, kinds=(kind,)) for text in asked]
            by_tag = [Query(text, tags=(f"percent{percent}",)) for text in asked]
            found[f"recall in process, {percent} % pass by kind"] = await _recalls(memory, by_kind)
            found[f"recall in process, {percent} % pass by tag"] = await _recalls(memory, by_tag)
        sure = [Query(text, min_confidence=0.5) for text in asked]
        found["recall in process, 100 % pass by confidence"] = await _recalls(memory, sure)
        for name, text in (("English", LONG_ENGLISH), ("Japanese", LONG_JAPANESE)):
            found[f"recall in process, long {name} question"] = await _recalls(memory, [Query(text)] * 20)
    return found


async def _recalls(memory: MemoryService, queries: Sequence[Query]) -> list[float]:
    await memory.recall(queries[0])
    taken = []
    for query in queries:
        start = time.perf_counter()
        await memory.recall(query)
        taken.append(time.perf_counter() - start)
    return taken


def through_stdio(path: Path, asked: Sequence[str]) -> tuple[dict[str, list[float]], dict[str, float]]:
    """Time a server from its start (B68); gives times, and megabytes that it holds."""
    writer, start = Writer(23), time.perf_counter()
    with Host(MEMORY_MCP_DB=path) as host:
        host.initialize()
        found = {"start to handshake": [time.perf_counter() - start]}
        found["first store"] = [timed(lambda: host.call("store", content=writer.text()))]
        found["first recall"] = [timed(lambda: host.call("recall", query=asked[0]))]
        _await_model(host)
        found["first recall by meaning"] = [timed(lambda: host.call("recall", query=asked[2]))]
        for text in asked[3:9]:
            host.call("recall", query=text)
        found["tenth recall"] = [timed(lambda: host.call("recall", query=asked[9]))]
        found["recent episodes"] = [timed(lambda: host.request("resources/read", uri="memory://episodes/recent"))]
        found["recall"] = [timed(lambda text=text: host.call("recall", query=text)) for text in asked]
        found["store"] = [timed(lambda: host.call("store", content=writer.text())) for _ in range(STORES)]
        found["recall after a store"] = _after_stores(host, asked[:STORES], writer)
        held = {"resident MB, model loaded": host.resident_mb(), "resident MB at most": host.most_resident_mb()}
    with Host(MEMORY_MCP_DB=path, MEMORY_MCP_MODEL="none") as host:
        host.initialize()
        host.call("recall", query=asked[0])
        held["resident MB, without a model"] = host.resident_mb()
    return found, held


def _after_stores(host: Host, asked: Sequence[str], writer: Writer) -> list[float]:
    taken = []
    for text in asked:
        host.call("store", content=writer.text())
        taken.append(timed(lambda text=text: host.call("recall", query=text)))
    return taken


def together(path: Path, asked: Sequence[str]) -> dict[str, list[float]]:
    """Let two servers recall while a third stores ten times a second."""
    done, taken, stored, texts = threading.Event(), [], [], Writer(29)

    def read(host: Host) -> None:
        taken.extend([timed(lambda text=text: host.call("recall", query=text)) for text in asked])

    def write(host: Host) -> None:
        while not done.wait(0.1):
            stored.append(timed(lambda: host.call("store", content=texts.text())))

    with Host(MEMORY_MCP_DB=path) as one, Host(MEMORY_MCP_DB=path) as other, Host(MEMORY_MCP_DB=path) as third:
        for host in (one, other, third):
            host.initialize()
            _await_model(host)
        writing = threading.Thread(target=write, args=(third,))
        reading = [threading.Thread(target=read, args=(host,)) for host in (one, other)]
        for thread in (writing, *reading):
            thread.start()
        for thread in reading:
            thread.join()
        done.set()
        writing.join()
    return {"recall, two processes, while a third stores": taken, "store, while two processes recall": stored}


def _await_model(host: Host) -> None:
    while host.call("recall", query="warm up")["mode"] != "hybrid":
        time.sleep(0.05)


def at_size(path: Path, size: int, sentences: int, asked: Sequence[str], model: Embedder) -> list[dict[str, Any]]:
    """Measure one size; each recall also as a multiple of its limit."""
    disk = sum(part.stat().st_size for part in path.parent.glob(f"{path.name}*")) / size
    least = limits(model, sentences, asked)
    times, held = through_stdio(path, asked)
    times |= asyncio.run(in_process(path, asked)) | together(path, asked[: len(asked) // 2])
    limit = statistics.median(least)
    rows = [{"memories": size, "what": "limit: one embedding, one scan", **percentiles(least)}]
    for what, taken in times.items():
        ratio = {"times the limit": round(statistics.median(taken) / limit, 1)} if "recall" in what else {}
        rows.append({"memories": size, "what": what, **percentiles(taken), **ratio})
    counts = held | {"bytes on disk a memory": disk, "sentences": sentences}
    return rows + [{"memories": size, "what": what, "value": round(value)} for what, value in counts.items()]


def draw(rows: Sequence[dict[str, Any]]) -> None:
    """Draw recall and its limit over the number of memories."""
    try:
        from matplotlib import pyplot  # noqa: PLC0415 - only of the group `bench`
    except ImportError:
        print("not drawn: pip install --group bench")
        return
    figure, axes = pyplot.subplots(figsize=(7, 4.5))
    lines = ("recall", "recall in process", "store", "limit: one embedding, one scan")
    for what, style in zip(lines, ("o-", "s-", "^-", "k--"), strict=True):
        points = [(row["memories"], row["p50_ms"]) for row in rows if row["what"] == what]
        axes.plot(*zip(*points, strict=True), style, label=what if "limit" in what else f"{what}, median")
    axes.set(xscale="log", yscale="log", xlabel="memories", ylabel="milliseconds")
    axes.grid(visible=True, which="both", alpha=0.3)
    axes.legend()
    figure.tight_layout()
    figure.savefig(RESULTS / "scale.png", dpi=120)


def main() -> None:
    """Measure, report and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--up-to", type=int, default=100_000, help="largest of the sizes 1,000 to 500,000")
    parser.add_argument("--questions", type=int, default=100, help="at each size")
    arguments = parser.parse_args()
    model, source, rows = load_universal(), memories(), []
    turned, asked, filled, sentences = Turned(model), questions(arguments.questions), 0, 0
    with tempfile.TemporaryDirectory() as name:
        whole, copy = Path(name) / "whole.db", Path(name) / "copy.db"
        for size in (size for size in SIZES if size <= arguments.up_to):
            sentences += asyncio.run(fill(whole, islice(source, size - filled), turned))
            filled = size
            for old in copy.parent.glob("copy.db*"):
                old.unlink()
            shutil.copy(whole, copy)  # what is stored while measuring is not there at the next size
            rows += at_size(copy, size, sentences, asked, model)
            print(f"{size:,} memories measured", flush=True)
    report("scale", rows)
    draw(rows)


if __name__ == "__main__":
    main()
