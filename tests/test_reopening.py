import os

import pytest

from memory_mcp.config import Settings
from memory_mcp.errors import StoreUnavailable
from memory_mcp.models import NewMemory
from memory_mcp.server.opening import Opening
from tests.memories import ask, keep

pytestmark = pytest.mark.anyio


@pytest.mark.skipif(os.name == "nt", reason="Windows does not let go of files that are open")
@pytest.mark.parametrize(("gone", "left"), [("memory.db", []), ("memory.db-wal", ["old harbour"])])
async def test_a_file_that_was_removed_under_a_running_server_is_opened_again_by_the_next_call(
    words_only: Settings, gone: str, left: list[str]
):
    opening = Opening(words_only)
    async with opening.lifespan():
        first = await opening.service()
        await keep(first, "old harbour")
        words_only.db.with_name(gone).unlink()
        with pytest.raises(StoreUnavailable, match="replaced or removed"):
            await (await opening.service()).store(NewMemory("lost harbour"))
        second = await opening.service()
        assert second is not first
        assert await ask(second, "harbour") == left
        await keep(second, "new quay")
        assert await opening.service() is second
    async with opening.lifespan():
        assert await ask(await opening.service(), "quay") == ["new quay"]
