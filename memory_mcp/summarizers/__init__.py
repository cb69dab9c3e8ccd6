"""How a conversation is summarized when the host's own model did not."""

from memory_mcp.summarizers.anthropic import AnthropicSummarizer
from memory_mcp.summarizers.extractive import NOTHING_SAID, ExtractiveSummarizer, says_something
from memory_mcp.summarizers.protocol import Budget, Progress, Summarizer, Summary, no_progress

__all__ = [
    "NOTHING_SAID",
    "AnthropicSummarizer",
    "Budget",
    "ExtractiveSummarizer",
    "Progress",
    "Summarizer",
    "Summary",
    "no_progress",
    "says_something",
]
