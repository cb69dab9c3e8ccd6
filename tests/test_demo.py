"""The demonstration keeps its word: it passes only where every promise was kept."""

import sys
from pathlib import Path

import pytest

from memory_mcp.cli import demo
from memory_mcp.tokens import query_terms

pytestmark = pytest.mark.anyio

ABSENT_MINDED = """
from typing import Any
from mcp.server import MCPServer

server = MCPServer("absent-minded", log_level="ERROR")

@server.tool()
def recall(query: str) -> dict[str, Any]:
    return {"mode": "hybrid", "hits": [{"id": "1", "content": "Something else."}]}

@server.tool()
def store(
    content: str, session_id: str, kind: str = "", tags: list[str] = [], importance: float = 0, key: str = ""
) -> dict[str, Any]:
    return {"id": content, "status": "stored"}

server.run("stdio")
"""


async def tell(*server: str) -> tuple[int, str]:
    told: list[str] = []
    status = await demo.run(told.append, server) if server else await demo.run(told.append)
    return status, "\n".join(told)


@pytest.mark.parametrize(("question", "answer"), [*demo.QUESTIONS.items(), (demo.KNEE_QUESTION, demo.KNEE)])
def test_no_question_shares_a_word_with_its_answer(question, answer):
    assert not set(query_terms(question)) & set(query_terms(answer))


async def test_the_installed_server_keeps_every_promise():
    status, told = await tell()
    assert "Everything went as promised." in told
    assert status == 0


async def test_a_memory_that_recalls_something_else_is_found_out(tmp_path: Path):
    (tmp_path / "server.py").write_text(ABSENT_MINDED)
    status, told = await tell(sys.executable, str(tmp_path / "server.py"))
    assert "NOT AS PROMISED: 'Which musical instrument" in told
    assert status == 1


async def test_a_server_that_does_not_start_is_reported_and_not_a_traceback():
    status, told = await tell(sys.executable, "-c", "")
    assert "NOT AS PROMISED: Connection closed" in told
    assert status == 1
