"""Where memories are kept: everything that is SQL."""

from memory_mcp.storage.sqlite import SqliteStore, open_store, open_store_in_haste
from memory_mcp.storage.wiping import remove_unused

__all__ = ["SqliteStore", "open_store", "open_store_in_haste", "remove_unused"]
