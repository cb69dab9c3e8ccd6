"""How recalled memories are shown: within a budget, labelled as stored data, weightiest first."""

from dataclasses import dataclass
from datetime import tzinfo

from memory_mcp.models import Recall


@dataclass(frozen=True)
class Rendered:
    """One answer in two forms that carry the same facts: lines for people and models, and plain data for programs."""

    text: str
    data: dict[str, object]


def render_recall(recall: Recall, *, limit: int, zone: tzinfo) -> Rendered:
    """Write an answer in at most `limit` UTF-8 bytes, each form. `data` has hits, mode, notice, omitted, next_cursor."""
    raise NotImplementedError


def render_briefing(recall: Recall, *, limit: int, zone: tzinfo) -> str:
    """Write a briefing as text for a prompt, a hook or a shell. '' when there is nothing to tell."""
    raise NotImplementedError
