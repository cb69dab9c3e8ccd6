"""Where the parts are put together: the only place that knows every concrete class."""

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from datetime import datetime

from memory_mcp.config import Settings
from memory_mcp.models import utc_now
from memory_mcp.service import MemoryService


@asynccontextmanager
async def open_memory(
    settings: Settings, *, door: str = "mcp", now: Callable[[], datetime] = utc_now
) -> AsyncIterator[MemoryService]:
    """Open the file, begin to load the model, and close both at the end."""
    raise NotImplementedError
    yield
