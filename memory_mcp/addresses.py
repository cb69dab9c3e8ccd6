"""The URIs under which memories can be read."""

from urllib.parse import quote

EPISODES = "memory://episodes/recent"
BRIEFING = "memory://briefing"
STATS = "memory://stats"

LISTED = 20
"""How many recent episodes are listed as resources of their own."""


def episode(memory_id: str) -> str:
    """Give the address of one episode."""
    return f"memory://episode/{_safe(memory_id)}"


def memory(memory_id: str) -> str:
    """Give the address of one memory."""
    return f"memory://memory/{_safe(memory_id)}"


def session(session_id: str) -> str:
    """Give the address of one session, whose id may hold anything."""
    return f"memory://session/{_safe(session_id)}"


def _safe(name: str) -> str:
    # A name of dots alone would be taken for a path by whoever normalises the address.
    return quote(name, safe="") if name.strip(".") else name.replace(".", "%2E")
