"""Files and databases below the store, for tests of them."""

import stat
from pathlib import Path

from memory_mcp.models import Filter
from memory_mcp.storage.audit import Act
from memory_mcp.storage.database import Database
from memory_mcp.storage.listing import page
from memory_mcp.storage.schema import packaged_migrations

ACT = Act("cli", 0)
KNOWN = packaged_migrations()
FIRST = KNOWN[:1]
KEY = "ab" * 32


async def contents(database: Database) -> list[str]:
    return [one.content for one in (await database.read(page, Filter(), 100, "")).memories]


def raw(path: Path) -> bytes:
    return path.read_bytes()


def put(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def grow(path: Path, pages: int) -> None:
    """Make a closed file as long as so many pages, with a hole for all that is new, and let its header say so."""
    with path.open("r+b") as file:
        file.truncate(pages * 4096)
        file.seek(28)
        file.write(pages.to_bytes(4, "big"))


def move(path: Path, to: Path) -> None:
    path.rename(to)


def names(folder: Path) -> list[str]:
    return sorted(part.name for part in folder.iterdir() if part.is_file())


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)
