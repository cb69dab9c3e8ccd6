"""What the driver's errors mean for whoever must act."""

from pathlib import Path

from memory_mcp.errors import (
    StoreBusy,
    StoreDamaged,
    StoreForeign,
    StoreFull,
    StoreReadOnly,
    StoreUnavailable,
)

_BUSY = "another program has been writing to {path} for too long. Try again in a moment."
_FULL = (
    "the disk, or the size allowed for {path} (8 GB), is used up. Free some space on the disk, or forget what is not"
    " needed any more (`memory-mcp audit relevance` names some), then try again."
)
_READ_ONLY = (
    "{path} cannot be opened for writing. The file and its folder must exist and be yours to write;"
    " or set MEMORY_MCP_DB to another place."
)
_FOREIGN = (
    "{path} is not a memory file, or it is encrypted and the key is missing or wrong. It was not touched."
    " Check MEMORY_MCP_KEY_FILE and MEMORY_MCP_KEY, or set MEMORY_MCP_DB to another place."
)
_DAMAGED = "{path} is damaged. Keep a copy of it, run `memory-mcp doctor`, and restore a backup."
_DISK = "the disk reports an error for {path} ({name}). Check the disk, then try again."

_MEANINGS: tuple[tuple[str, type[StoreUnavailable], str], ...] = (
    ("SQLITE_BUSY", StoreBusy, _BUSY),
    ("SQLITE_LOCKED", StoreBusy, _BUSY),
    ("SQLITE_FULL", StoreFull, _FULL),
    ("SQLITE_READONLY", StoreReadOnly, _READ_ONLY),
    ("SQLITE_CANTOPEN", StoreReadOnly, _READ_ONLY),
    ("SQLITE_PERM", StoreReadOnly, _READ_ONLY),
    ("SQLITE_NOTADB", StoreForeign, _FOREIGN),
    ("SQLITE_CORRUPT", StoreDamaged, _DAMAGED),
    ("SQLITE_IOERR", StoreUnavailable, _DISK),
)


def translate(error: Exception, path: Path, outcome: str) -> StoreUnavailable:
    """Turn an error of the driver into one of ours, which says what to do, after the outcome: 'Nothing was saved'."""
    name: str = getattr(error, "sqlite_errorname", None) or type(error).__name__
    for prefix, kind, advice in _MEANINGS:
        if name.startswith(prefix):
            return kind(f"{outcome}: {advice.format(path=path, name=name)}")
    return StoreUnavailable(f"{outcome}: SQLite refused ({name}). Please report this.")
