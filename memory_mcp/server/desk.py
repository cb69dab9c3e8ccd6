"""What every call finds at hand."""

from dataclasses import dataclass

from memory_mcp.server.notices import Notices
from memory_mcp.server.opening import Opening


@dataclass(frozen=True)
class Desk:
    """The memory, and those who want to know when it changes."""

    memory: Opening
    notices: Notices
