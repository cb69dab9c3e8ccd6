"""A program for tests: opens a memory file and stores texts, telling each id once it is written.

Arguments: path, name, number of texts (0: until it is ended).
"""

import asyncio
import sys
from datetime import UTC, datetime
from itertools import count
from pathlib import Path

from drafts import MODEL, draft

from memory_mcp.storage import open_store


async def main(path: Path, name: str, wanted: int) -> None:
    store = await open_store(path, now=lambda: datetime.now(UTC))
    await store.use_model(MODEL, now=datetime.now(UTC))
    for number in range(wanted) if wanted else count():
        [written] = await store.write([draft(f"text {number} of {name}", tags=(name,), seed=number)], door="cli")
        print(written.id, flush=True)
    await store.close()


asyncio.run(main(Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])))
