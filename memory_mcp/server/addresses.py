"""The URIs under which memories can be read, and what a host is told about each."""

from urllib.parse import quote, unquote

from mcp_types import Annotations, Resource, ResourceTemplate

EPISODES = "memory://episodes/recent"
BRIEFING = "memory://briefing"
STATS = "memory://stats"

EPISODE, MEMORY, SESSION = "memory://episode/", "memory://memory/", "memory://session/"

LISTED = 20
"""How many recent episodes are listed as resources of their own."""

PROSE, DATA = "text/markdown", "application/json"


def episode(memory_id: str) -> str:
    """Give the address of one episode."""
    return EPISODE + _safe(memory_id)


def memory(memory_id: str) -> str:
    """Give the address of one memory."""
    return MEMORY + _safe(memory_id)


def session(session_id: str) -> str:
    """Give the address of one session, whose id may hold anything."""
    return SESSION + _safe(session_id)


def split(uri: str) -> tuple[str, str]:
    """Take an address apart: its kind, and the id it names, which is '' for all others."""
    for prefix in (EPISODE, MEMORY, SESSION):
        name = uri.removeprefix(prefix)
        if name != uri and name and "/" not in name:
            return prefix, unquote(name)
    return uri, ""


def mime_type(uri: str) -> str:
    """Say what reading an address gives."""
    return DATA if uri == STATS else PROSE


def fixed() -> list[Resource]:
    """List the resources that are always there."""
    return [
        Resource(uri=EPISODES, name="recent_episodes", title="Recent episodes", mime_type=PROSE),
        Resource(uri=BRIEFING, name="briefing", title="What a new conversation should know", mime_type=PROSE),
        Resource(uri=STATS, name="stats", title="Counts and sizes", mime_type=DATA),
    ]


def listed(memory_id: str, title: str) -> Resource:
    """List one recent episode."""
    for_models = Annotations(audience=["assistant"], priority=0.4)
    uri = episode(memory_id)
    return Resource(uri=uri, name=f"episode-{memory_id}", title=title, mime_type=PROSE, annotations=for_models)


def templates() -> list[ResourceTemplate]:
    """List the resources that are read by an id."""
    return [
        ResourceTemplate(uri_template=EPISODE + "{episode_id}", name="episode", title="Episode", mime_type=PROSE),
        ResourceTemplate(uri_template=MEMORY + "{memory_id}", name="memory", title="Memory", mime_type=PROSE),
        ResourceTemplate(uri_template=SESSION + "{session_id}", name="session", title="Session", mime_type=PROSE),
    ]


def _safe(name: str) -> str:
    # A name of dots alone would be taken for a path by whoever normalises the address.
    return quote(name, safe="") if name.strip(".") else name.replace(".", "%2E")
