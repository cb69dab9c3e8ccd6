"""Nothing listens, and nothing leaves the machine unless the person chose a service."""

import json
import os
import re
import sys
from pathlib import Path

import pytest

from tests.fake_anthropic import fake_anthropic, summary
from tests.rawstdio import RawServer
from tests.shell import process

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there even an event loop makes a connection to itself")

SAID = [{"role": "user", "content": "The ferry to Otsu leaves at nine, and Aiko has the tickets."}]

WATCHER = """
import os, sys

def heard(event, given):
    if event in ("socket.bind", "socket.connect", "socket.getaddrinfo", "socket.gethostbyname", "socket.sendto"):
        with open(os.environ["HEARD"], "a") as file:
            print(event, given[1:], file=file)

sys.addaudithook(heard)
"""
"""Python tells such a hook whatever any library asks of the network, whether it succeeds or not."""


@pytest.fixture
def watched(tmp_path: Path) -> dict[str, str]:
    """Settings of a process that writes down what it asks of the network; a key of the paid service is there."""
    (tmp_path / "sitecustomize.py").write_text(WATCHER)
    (tmp_path / "heard").touch()
    python_path = os.pathsep.join([str(tmp_path), str(Path(__file__).parent.parent)])
    return {"PYTHONPATH": python_path, "HEARD": str(tmp_path / "heard"), "ANTHROPIC_API_KEY": "none"}


def use(server: RawServer) -> None:
    server.initialize()
    stored = server.tool("store", content="The kiln is fired on Fridays.")["structuredContent"]["id"]
    server.tool("summarize", session_id="ferry", messages=SAID)
    server.tool("recall", query="When is pottery burnt?")
    server.call("resources/read", {"uri": "memory://briefing"})
    server.tool("forget", ids=[stored])


def test_a_server_at_work_has_no_socket_that_anybody_could_reach(tmp_path: Path):
    with RawServer(tmp_path / "memory.db", {}) as server:
        use(server)
        own = Path(f"/proc/{server.process.pid}")
        if not own.exists():
            pytest.skip("sockets are read from /proc")
        links = [str(one.readlink()) for one in (own / "fd").iterdir()]
        held = {link[8:-1] for link in links if link.startswith("socket:[")}
        reachable = {
            table: held & set(re.findall(r"\b\d+\b", (own / "net" / table).read_text()))
            for table in ("tcp", "tcp6", "udp", "udp6", "raw", "raw6")
            if (own / "net" / table).exists()
        }
        listening = [
            line
            for line in (own / "net/unix").read_text().splitlines()[1:]
            if line.split()[6] in held and int(line.split()[3], 16) & 0x10000  # linux/net.h: __SO_ACCEPTCON
        ]
        assert server.end_input() == 0
    assert held, "its own event loop has a pair of them"
    assert set().union(*reachable.values()) == set()
    assert listening == []


def test_nothing_asks_the_network_for_anything(tmp_path: Path, watched: dict[str, str]):
    db = tmp_path / "memory.db"
    with RawServer(db, watched) as server:
        use(server)
        assert server.end_input() == 0
    hook = {"hook_event_name": "SessionStart", "session_id": "s", "cwd": "/", "transcript_path": ""}
    for words, told in (
        (["recall", "ferry"], b""),
        (["doctor"], b""),
        (["summarize", "--pending"], b""),
        (["context", "--hook", "claude-code"], json.dumps(hook).encode()),
    ):
        assert process(*words, "--db", str(db), stdin=told, **watched).returncode == 0
    assert Path(watched["HEARD"]).read_text() == ""


def test_only_the_address_of_the_service_is_asked_where_the_person_chose_it(tmp_path: Path, watched: dict[str, str]):
    with fake_anthropic(summary("Aiko has the tickets for the ferry to Otsu.")) as service:
        chosen = {"MEMORY_MCP_SUMMARIZER": "anthropic", "ANTHROPIC_BASE_URL": service.url, "NO_PROXY": "127.0.0.1"}
        with RawServer(tmp_path / "memory.db", {**watched, **chosen}) as server:
            use(server)
            assert server.end_input() == 0
    heard = Path(watched["HEARD"]).read_text().splitlines()
    port = service.url.rpartition(":")[2]
    assert heard
    assert [line for line in heard if "'127.0.0.1'" not in line or port not in line] == []
