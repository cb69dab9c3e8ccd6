"""What each host's own record of a conversation says."""

from functools import partial

from memory_mcp.transcripts import antigravity, claude_code, codex, gemini
from memory_mcp.transcripts.hearing import read
from memory_mcp.transcripts.lines import mark_at
from memory_mcp.transcripts.protocol import Heard, Reader, Transcript, Used

READERS: dict[str, Reader] = {
    "claude-code": partial(read, claude_code.hear),
    "codex": partial(read, codex.hear),
    "gemini": partial(read, gemini.hear),
    "antigravity": partial(read, antigravity.hear),
}
"""By the names of the hosts that have hooks."""

__all__ = ["READERS", "Heard", "Reader", "Transcript", "Used", "mark_at"]
