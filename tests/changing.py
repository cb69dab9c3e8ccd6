"""A program for tests: lets a memory file come to the model of a folder, and tells at every step how far it is.

A line `<done> told` before each batch, `<done> embedding` once a text is embedded and not written yet. Arguments: file,
folder, and the minutes by which its clock is ahead: a lease that a killed one left is over by then.
"""

import asyncio
import sys
from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

from memory_mcp.config import Settings
from memory_mcp.models import utc_now
from tests.memories import WordsEmbedder, memory_with
from tests.modelling import load


class Telling(WordsEmbedder):
    done = 0

    def embed(self, texts: Sequence[str], *, query: bool = False):
        vectors = super().embed(texts, query=query)
        print(self.done, "embedding", flush=True)
        return vectors


async def main(path: Path, folder: str, ahead: timedelta) -> None:
    model = Telling(load(folder).identity)

    def told(done: int, of: int) -> None:
        model.done = done
        print(done, "told", flush=True)

    async with memory_with(Settings(db=path), lambda: model, lambda: utc_now() + ahead) as memory:
        changed = await memory.use_model(told)
    print(changed.status)


asyncio.run(main(Path(sys.argv[1]), sys.argv[2], timedelta(minutes=int(sys.argv[3]))))
