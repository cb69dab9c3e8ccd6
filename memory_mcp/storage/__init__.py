"""Where memories are kept: everything that is SQL."""

from memory_mcp.storage.sqlite import SqliteStore, open_store, open_store_in_haste

__all__ = ["SqliteStore", "open_store", "open_store_in_haste"]
