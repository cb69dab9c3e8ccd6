"""What every call finds at hand."""

from dataclasses import dataclass

from memory_mcp.server.notices import Notices
from memory_mcp.server.opening import Opening


@dataclass(frozen=True)
class Desk:
    """The way to the memory, and those who want to know when it changes."""

    opening: Opening
    notices: Notices
