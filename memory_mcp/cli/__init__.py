"""The shell's face: the process's one entry, and the same verbs for a person."""

from memory_mcp.cli.entry import main

__all__ = ["main"]
