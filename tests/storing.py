"""A program for tests: stores texts in a memory file, without a model, until its input ends; then says how many.

Arguments: path, name.
"""

import asyncio
import sys
import threading
from itertools import count
from pathlib import Path

from memory_mcp.app import open_memory
from memory_mcp.config import Settings
from memory_mcp.models import NewMemory


async def main(path: Path, name: str) -> None:
    ended = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.read(), ended.set()), daemon=True).start()
    async with open_memory(Settings(db=path, model="none"), door="cli") as memory:
        for number in count():
            if ended.is_set():
                break
            await memory.store(NewMemory(f"Note {number} of {name} about the weather of the day"))
            await asyncio.sleep(0.01)  # two that never rest would only measure how fast one disk is
    print(number)


asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
