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

_MEANINGS: tuple[tuple[str, type[StoreUnavailable], str], ...] = (
    ("SQLITE_BUSY", StoreBusy, "another program is writing to {path} for too long. Try again in a moment."),
    ("SQLITE_LOCKED", StoreBusy, "another program is writing to {path} for too long. Try again in a moment."),
    (
        "SQLITE_FULL",
        StoreFull,
        "the disk, or the size allowed for {path}, is used up. Free some space, then try again.",
    ),
    (
        "SQLITE_READONLY",
        StoreReadOnly,
        "{path} cannot be written. Give yourself write permission for the file and its folder, or set MEMORY_MCP_DB.",
    ),
    (
        "SQLITE_CANTOPEN",
        StoreReadOnly,
        "{path} cannot be opened. Its folder must exist and be writable; or set MEMORY_MCP_DB to another place.",
    ),
    ("SQLITE_PERM", StoreReadOnly, "the system refuses access to {path}. Check its permissions."),
    (
        "SQLITE_NOTADB",
        StoreForeign,
        "{path} is not a memory file, or it is encrypted and the key is missing or wrong. The file was not touched. Check"
        " MEMORY_MCP_KEY_FILE and MEMORY_MCP_KEY, or set MEMORY_MCP_DB to another place.",
    ),
    (
        "SQLITE_CORRUPT",
        StoreDamaged,
        "{path} is damaged. Keep a copy of it, run `memory-mcp doctor`, and restore a backup.",
    ),
    (
        "SQLITE_IOERR",
        StoreUnavailable,
        "the disk reports an error for {path} ({name}). Check the disk, then try again.",
    ),
)


def translate(error: Exception, path: Path, *, saving: bool) -> StoreUnavailable:
    """Turn an error of the driver into one of ours, which says that nothing was saved and what to do."""
    name: str = getattr(error, "sqlite_errorname", None) or type(error).__name__
    start = "Nothing was saved" if saving else "Nothing could be read"
    for prefix, kind, advice in _MEANINGS:
        if name.startswith(prefix):
            return kind(f"{start}: {advice.format(path=path, name=name)}")
    return StoreUnavailable(f"{start}: SQLite refused ({name}: {error}). Please report this.")
