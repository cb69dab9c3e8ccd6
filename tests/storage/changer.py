"""A program for tests: changes a memory file as it is told, a line each (verb and argument), and answers each line.

Argument: path. Verbs: store SEED, forget ID, archive ID, restore ID, move ID, embed ID.
"""

import asyncio
import sys
from pathlib import Path

from drafts import MODEL, NOW, draft, vectors

from memory_mcp.models import Revision
from memory_mcp.storage import SqliteStore, open_store


async def change(store: SqliteStore, verb: str, argument: str) -> str:
    match verb:
        case "store":
            [written] = await store.write([draft(f"text {argument}", seed=int(argument))], door="cli")
            return written.id
        case "forget":
            await store.forget([argument], now=NOW, door="cli")
        case "archive":
            await store.archive([argument], now=NOW, door="cli")
        case "restore":
            await store.restore([argument], now=NOW, door="cli")
        case "move":
            await store.revise(argument, Revision(namespace="project"), expires_at=None, now=NOW, door="cli")
        case "embed":
            [memory] = await store.get([argument])
            await store.put_vectors([(memory, vectors(77, 78))])
    return argument


async def main(path: Path) -> None:
    store = await open_store(path, now=lambda: NOW)
    await store.use_model(MODEL, now=NOW)
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(await change(store, *line.split()), flush=True)
    await store.close()


asyncio.run(main(Path(sys.argv[1])))
