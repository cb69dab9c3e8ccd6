"""Long-term memory for AI assistants, on the user's own machine."""
