import os
from pathlib import Path

import pytest
from mcp.client import Client

from memory_mcp.config import Settings
from memory_mcp.errors import InvalidInput, StoreUnavailable
from memory_mcp.models import NewMemory
from memory_mcp.server.opening import Opening
from memory_mcp.server.server import build_server
from tests.memories import ask, keep
from tests.rawstdio import ERAS, RawServer

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


@pytest.mark.parametrize("era", ERAS)
async def test_a_setting_that_cannot_be_used_keeps_no_host_from_its_answer_and_every_call_says_so(
    words_only: Settings, era: str
):
    problem = InvalidInput("MEMORY_MCP_TTL is not usable: write kind=days.")
    async with Client(build_server(words_only, problem), mode=era) as client:
        assert len((await client.list_tools()).tools) == 4
        for tool, arguments in (("recall", {"query": "tea"}), ("store", {"content": "Tea is green."})):
            told = await client.call_tool(tool, arguments)
            assert told.is_error
            assert "MEMORY_MCP_TTL is not usable" in told.content[0].text
    assert not words_only.db.exists()


def test_a_server_with_a_bad_setting_answers_its_host(tmp_path: Path):
    with RawServer(tmp_path / "memory.db", {"MEMORY_MCP_TTL": "nonsense"}) as server:
        assert "result" in server.initialize()
        told = server.tool("recall")
        assert told["isError"]
        assert "MEMORY_MCP_TTL is not usable" in told["content"][0]["text"]
        assert server.end_input() == 0
    assert b"MEMORY_MCP_TTL" in server.errors
