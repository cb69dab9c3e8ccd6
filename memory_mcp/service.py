"""The verbs: what can be asked of a memory. Every edge calls these and nothing below them."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from datetime import datetime

from memory_mcp.config import Settings
from memory_mcp.embedding import Embeddings
from memory_mcp.models import (
    Conversation,
    Episode,
    Forgotten,
    Memory,
    NewMemory,
    Preview,
    Query,
    Recall,
    Revision,
    Selection,
    Stats,
    Stored,
    Summarized,
)
from memory_mcp.storage.protocol import Check, Page, Store
from memory_mcp.summarizers import Summarizer


@dataclass(frozen=True)
class MemoryService:
    """A memory, opened. `door` names the edge that calls (mcp, cli, web, hook, background) for the audit."""

    db: Store
    embeddings: Embeddings
    summarizer: Summarizer
    settings: Settings
    now: Callable[[], datetime]
    door: str = "mcp"

    async def store(self, new: NewMemory) -> Stored:
        """Keep one text. Raises `InvalidInput`, `NotFound` (supersedes, derived_from), `StoreUnavailable`."""
        raise NotImplementedError

    async def recall(self, query: Query) -> Recall:
        """Find what fits a question; without one, list by filters or give the briefing (mode 'briefing')."""
        raise NotImplementedError

    async def summarize(self, conversation: Conversation) -> Summarized:
        """Turn one session into an episode and its key facts; messages are kept verbatim as turns."""
        raise NotImplementedError

    async def forget(self, selection: Selection) -> Forgotten | Preview:
        """Erase exact ids, or what a confirm handle stands for; anything wider gives a preview."""
        raise NotImplementedError

    async def archive(self, selection: Selection) -> list[str] | Preview:
        """Stop recalling memories, reversibly; the same rules as `forget`."""
        raise NotImplementedError

    async def restore(self, selection: Selection) -> list[str] | Preview:
        """Take archived memories back."""
        raise NotImplementedError

    async def revise(self, memory_id: str, change: Revision) -> Memory:
        """Change importance, confidence, tags, kind, namespace, pinned or expiry of one memory."""
        raise NotImplementedError

    async def rate(self, ids: Sequence[str], *, useful: bool) -> list[str]:
        """Say that recalled memories helped, or not. Returns the ids that exist."""
        raise NotImplementedError

    async def get(self, memory_id: str) -> Memory:
        """Read one memory by its id. Raises `NotFound`."""
        raise NotImplementedError

    async def episode(self, memory_id: str) -> Episode:
        """Read one episode by its id. Raises `NotFound`."""
        raise NotImplementedError

    async def recent_episodes(self, limit: int = 20) -> list[Episode]:
        """Read the newest episodes of every namespace."""
        raise NotImplementedError

    async def session(self, session_id: str) -> tuple[list[Memory], list[Episode]]:
        """Read a session's kept turns, in order, and its episodes. Raises `NotFound`."""
        raise NotImplementedError

    async def page(self, query: Query) -> Page:
        """List memories by filters, newest first, whole, without a token budget; for people and exports."""
        raise NotImplementedError

    async def stats(self) -> Stats:
        """Counts and sizes."""
        raise NotImplementedError

    async def check(self) -> Check:
        """Compare indexes with rows."""
        raise NotImplementedError

    async def problems(self) -> list[str]:
        """Every degraded state, one sentence each; empty is health."""
        raise NotImplementedError

    async def maintain(self) -> None:
        """Do what is due: missing vectors, expired memories, an unfinished erasure, counted recalls."""
        raise NotImplementedError


Listener = Callable[[], Awaitable[None]]
