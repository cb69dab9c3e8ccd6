"""Two servers and a hook at one session, as processes of their own: one episode, one request to the paid service."""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.fake_anthropic import Answer, Body, fake_anthropic, summary
from tests.rawstdio import Json, RawServer
from tests.shell import process

SAID = ("I moved to Oslo last week, to Parkveien 12.", "How is the flat?", "Good. We deploy to port 8080 from now on.")


def transcript(folder: Path, *said: str) -> Path:
    """Write a conversation as Claude Code records it."""
    roles = ("user", "assistant")
    lines = [
        {
            "type": roles[number % 2],
            "uuid": f"m{number}",
            "timestamp": f"2026-05-04T09:{number:02}:00.000Z",
            "sessionId": "s1",
            "message": {"role": roles[number % 2], "content": text},
        }
        for number, text in enumerate(said)
    ]
    file = folder / "s1.jsonl"
    file.write_text("".join(f"{json.dumps(line)}\n" for line in lines), encoding="utf-8")
    return file


def hook(db: Path, file: Path, event: str) -> subprocess.CompletedProcess[bytes]:
    told = {"session_id": "s1", "transcript_path": str(file), "cwd": str(file.parent), "hook_event_name": event}
    return process("--db", str(db), "capture", "claude-code", "--on", stdin=json.dumps(told).encode())


def settled(server: RawServer) -> Json:
    """Ask until nobody is at the session any more; the servers' background may have got to it first."""
    for _ in range(2_000):
        result = server.tool("summarize", session_id="s1")
        if not (result.get("isError") and "by another process" in result["content"][0]["text"]):
            return result
    raise AssertionError("the session was never let go")


def test_two_servers_and_a_hook_at_once_make_one_episode_and_one_request(tmp_path: Path):
    def slowly(_: Body) -> Answer:
        reply = summary("The user moved to Oslo, to Parkveien 12. Deploys go to port 8080.")
        return Answer(reply.text, wait=0.5)

    db, file = tmp_path / "memory.db", transcript(tmp_path, *SAID)
    assert hook(db, file, "Stop").returncode == 0
    with fake_anthropic(slowly) as api:
        environ = {
            "MEMORY_MCP_SUMMARIZER": "anthropic", "MEMORY_MCP_MODEL": "none",
            "ANTHROPIC_API_KEY": "fake", "ANTHROPIC_BASE_URL": api.url,
        }  # fmt: skip
        with RawServer(db, environ) as one, RawServer(db, environ) as other, ThreadPoolExecutor() as pool:
            for server in (one, other):
                server.initialize()
            calls = [pool.submit(server.tool, "summarize", session_id="s1") for server in (one, other)]
            ended = pool.submit(hook, db, file, "SessionEnd")
            results = [call.result() for call in calls]
            assert ended.result().returncode == 0
            again = settled(one)
            episodes = one.tool("recall", kinds=["episode"])["structuredContent"]["hits"]
    refused = [result["content"][0]["text"] for result in results if result.get("isError")]
    assert all("by another process" in text for text in refused)
    assert again["structuredContent"]["status"] == "unchanged"
    assert len(episodes) == 1
    assert len(api.requests) == 1


def test_a_session_that_ended_is_summarized_by_a_server_unasked(tmp_path: Path):
    db, file = tmp_path / "memory.db", transcript(tmp_path, *SAID)
    hook(db, file, "SessionEnd")
    with fake_anthropic(summary("The user moved to Oslo, to Parkveien 12.")) as api:
        environ = {
            "MEMORY_MCP_SUMMARIZER": "anthropic", "MEMORY_MCP_MODEL": "none",
            "ANTHROPIC_API_KEY": "fake", "ANTHROPIC_BASE_URL": api.url,
        }  # fmt: skip
        with RawServer(db, environ) as server:
            server.initialize()
            hits: list = []
            for _ in range(5_000):
                hits = server.tool("recall", kinds=["episode"])["structuredContent"]["hits"]
                if hits:
                    break
    assert [hit["content"] for hit in hits] == ["The user moved to Oslo, to Parkveien 12."]
    assert len(api.requests) == 1
    [done] = json.loads(process("--db", str(db), "audit", "log", "--verb", "summarize", "--json").stdout)["lines"]
    assert done["door"] == "background"
