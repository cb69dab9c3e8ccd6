"""The server as a process on two pipes: every version, every kind of ending, every kind of line."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.rawstdio import MODERN, PATIENCE, VERSIONS, RawServer, envelope, start

WORDS_ONLY = {"MEMORY_MCP_MODEL": "none"}
TEXTS = "Grüße, γειά, 你好, 日本語, emoji 🗝️👩‍👩‍👧, math 𝒜"


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawServer]:
    """One server for everything that must leave it as it was."""
    with RawServer(tmp_path_factory.mktemp("shared") / "memory.db", WORDS_ONLY) as server:
        server.initialize()
        yield server
        assert server.end_input() == 0


def rows(db: Path) -> list[str]:
    """Read the contents, once no server has the file open."""
    with sqlite3.connect(db) as connection:
        found = [content for (content,) in connection.execute("select content from memory order by id")]
    connection.close()
    return found


# ---- versions and eras -------------------------------------------------------------------------------------


@pytest.mark.parametrize("version", VERSIONS)
def test_every_handshake_version_is_served(db: Path, version: str):
    with RawServer(db, WORDS_ONLY) as server:
        opened = server.initialize(version)["result"]
        assert opened["protocolVersion"] == version
        assert opened["instructions"]
        assert opened["capabilities"]["resources"] == {"subscribe": True, "listChanged": True}
        assert len(server.call("tools/list")["result"]["tools"]) == 4
        assert server.tool("store", content="Kept.")["isError"] is False
        assert server.call("ping")["result"] == {}
        assert server.end_input() == 0


def test_an_unknown_version_is_offered_the_newest_handshake(db: Path):
    with RawServer(db, WORDS_ONLY) as server:
        assert server.initialize("1999-01-01")["result"]["protocolVersion"] == VERSIONS[-1]
        assert server.end_input() == 0


def test_the_version_without_handshake_is_served(db: Path):
    with RawServer(db, WORDS_ONLY) as server:
        found = server.call("server/discover", envelope())["result"]
        assert found["supportedVersions"] == [MODERN]
        assert found["instructions"]
        stored = server.call("tools/call", envelope(name="store", arguments={"content": "Kept."}))
        assert stored["result"]["isError"] is False
        assert server.end_input() == 0


@pytest.mark.parametrize("version", VERSIONS)
def test_a_probe_may_be_followed_by_a_handshake(db: Path, version: str):
    with RawServer(db, WORDS_ONLY) as server:
        for _ in range(2):
            assert server.call("server/discover", envelope())["result"]["resultType"] == "complete"
        assert server.initialize(version)["result"]["protocolVersion"] == version
        assert server.tool("recall")["isError"] is False
        assert server.end_input() == 0


def test_a_probe_of_an_unknown_version_is_refused_and_a_handshake_may_follow(db: Path):
    with RawServer(db, WORDS_ONLY) as server:
        probe = envelope()
        probe["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2099-01-01"
        refused = server.call("server/discover", probe)["error"]
        assert (refused["code"], refused["data"]["supported"]) == (-32022, [MODERN])
        assert server.initialize(VERSIONS[-1])["result"]["protocolVersion"] == VERSIONS[-1]
        assert server.end_input() == 0


def test_a_probe_is_answered_in_the_sdk_s_own_words(db: Path):
    with RawServer(db, WORDS_ONLY) as server:
        ours = server.call("server/discover", envelope())["result"]
        server.call("tools/list", envelope())
        assert server.call("server/discover", envelope())["result"] == ours
        assert server.end_input() == 0


def test_a_probe_alone_opens_the_memory(db: Path):
    with RawServer(db, WORDS_ONLY) as server:
        server.call("server/discover", envelope())
        assert server.end_input() == 0
    assert db.exists()


# ---- endings -----------------------------------------------------------------------------------------------


def test_calls_accepted_before_the_end_of_input_are_done_and_answered(db: Path):
    """B55."""
    opening = {"protocolVersion": VERSIONS[-1], "capabilities": {}, "clientInfo": {"name": "raw", "version": "0"}}
    with RawServer(db, WORDS_ONLY) as server:
        asked = [server.request("initialize", opening)]
        server.notify("notifications/initialized")
        for n in range(3):
            asked += [server.request("tools/call", {"name": "store", "arguments": {"content": f"Line {n}."}})]
        assert server.end_input() == 0
        answers = {message["id"]: message for message in server.remaining()}
    assert sorted(answers) == asked
    assert all("result" in answer for answer in answers.values())
    assert sorted(rows(db)) == ["Line 0.", "Line 1.", "Line 2."]


def test_input_that_ends_at_once_ends_the_server(db: Path):
    """B16."""
    with RawServer(db, WORDS_ONLY) as server:
        assert server.end_input() == 0
        assert server.remaining() == []


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
@pytest.mark.parametrize("busy", [False, True])
def test_a_signal_ends_the_server_and_the_file_is_left_in_order(db: Path, number: signal.Signals, busy: bool):
    """B16."""
    with RawServer(db, WORDS_ONLY) as server:
        server.initialize()
        server.tool("store", content="Kept.")
        if busy:
            for n in range(50):
                server.request("tools/call", {"name": "store", "arguments": {"content": f"More {n}."}})
        server.process.send_signal(number)
        assert server.wait() == 0
        answered = [message for message in server.remaining() if "result" in message]
    assert not Path(f"{db}-wal").exists()
    assert len(rows(db)) >= 1 + len(answered)


def test_a_client_that_stops_listening_ends_the_server(db: Path):
    with start(db, WORDS_ONLY) as process:
        process.stdout.close()
        process.stdin.write(b'{"jsonrpc": "2.0", "id": 1, "method": "ping"}\n')
        process.stdin.flush()
        assert process.wait(PATIENCE) == 0
        process.stdin.close()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_standard_stream_that_is_closed_at_the_start_ends_the_server_or_serves(db: Path, closed: str):
    command = f"exec {sys.executable} -m memory_mcp {closed}"
    environ = {**os.environ, **WORDS_ONLY, "MEMORY_MCP_DB": str(db)}
    done = subprocess.run(["sh", "-c", command], stdin=subprocess.DEVNULL, env=environ, timeout=PATIENCE, check=False)
    assert done.returncode == 0


# ---- lines -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "request_id", "code"),
    [
        (b"hello", None, -32700),
        (b"{", None, -32700),
        (b"\xff\xfe\x00", None, -32700),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": "\xff"}}', None, -32700),
        (b"5", None, -32600),
        (b'[{"jsonrpc": "2.0", "id": 1, "method": "ping"}]', None, -32600),
        (b'{"id": 7, "method": "ping"}', 7, -32600),
        (b'{"jsonrpc": "1.0", "id": "seven", "method": "ping"}', "seven", -32600),
        (b'{"jsonrpc": "2.0", "id": 1.5, "method": "ping"}', None, -32600),
        (b'{"jsonrpc": "2.0", "id": null, "method": "ping"}', None, -32600),
        (b'{"jsonrpc": "2.0", "id": 7, "method": 5}', 7, -32600),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": [1]}', 7, -32600),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": "\\ud800"}}', 7, -32602),
        (b'{"jsonrpc": "2.0", "id": "a", "method": "ping", "params": {"\\udfff": 1}}', "a", -32602),
        (
            b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": ' + b"[" * 5_000 + b"]" * 5_000 + b"}}",
            7,
            -32600,
        ),
        (
            b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": ' + b"[" * 300 + b"]" * 300 + b"}}",
            7,
            -32600,
        ),
        (b'{"jsonrpc": "2.0", "id": 7, "method": "ping", "params": {"a": ' + b"9" * 5_000 + b"}}", 7, -32600),
        (b'{"jsonrpc": "2.0", "method": "ping", "id": ' + b"9" * 5_000 + b"}", None, -32600),
        (
            b'{"method": "ping", "params": {"a": ' + b"[" * 5_000 + b"]" * 5_000 + b'}, "jsonrpc": "2.0", "id": "z"}',
            "z",
            -32600,
        ),
    ],
)
def test_a_line_that_cannot_be_served_is_refused_by_its_id_and_the_next_works(
    shared: RawServer, line: bytes, request_id: object, code: int
):
    """B66, and lone surrogates, which the SDK leaves unanswered."""
    shared.send_line(line)
    refusal = shared.receive()
    assert (refusal["id"], refusal["error"]["code"]) == (request_id, code)
    assert refusal["error"]["message"]
    assert shared.call("ping")["result"] == {}


@pytest.mark.parametrize(
    "line", [b"", b"   ", b'{"jsonrpc": "2.0", "method": "notifications/odd", "params": {"a": "\\ud800"}}']
)
def test_a_blank_line_and_a_bad_notification_are_not_answered(shared: RawServer, line: bytes):
    shared.send_line(line)
    assert shared.call("ping")["result"] == {}
    assert shared.notices == []


def test_a_lone_surrogate_stores_nothing(shared: RawServer):
    answer = shared.call("tools/call", {"name": "store", "arguments": {"content": "broken \ud800 pair"}})
    assert "Nothing was saved" in answer["error"]["message"]
    assert shared.tool("recall", query="broken pair")["structuredContent"]["hits"] == []


def test_an_id_at_the_end_of_an_overlong_line_is_found(shared: RawServer):
    shared.send_line(
        b'{"method": "ping", "params": {"id": 1, "a": "' + b"x" * 9_000_000 + b'"}, "jsonrpc": "2.0", "id": 7}'
    )
    assert shared.receive()["id"] == 7


@pytest.mark.parametrize("wrong", [b"1.5", b"1e5", b"01"])
def test_an_id_that_is_no_whole_number_is_not_taken_for_one(shared: RawServer, wrong: bytes):
    shared.send_line(b'{"id": ' + wrong + b', "method": "ping", "params": {"a": "' + b"x" * 9_000_000 + b'"}}')
    refusal = shared.receive()
    assert refusal["id"] is None
    assert "8 MiB" in refusal["error"]["message"]


def test_a_byte_order_mark_before_a_request_is_passed_over(shared: RawServer):
    shared.send_line(b'\xef\xbb\xbf{"jsonrpc": "2.0", "id": 8, "method": "ping"}')
    assert shared.receive()["result"] == {}


def test_a_line_of_five_megabytes_is_read_and_its_content_refused(shared: RawServer):
    told = shared.tool("store", content="x" * 5_000_000)
    assert told["isError"] is True
    assert "16,000" in told["content"][0]["text"]
    assert shared.call("ping")["result"] == {}


@pytest.mark.parametrize("token", [0, "token", None])
def test_progress_comes_to_who_gave_a_token_and_the_answer_always(shared: RawServer, token: object):
    """B55."""
    shared.notices.clear()
    messages = [{"role": "user", "content": "The ferry leaves at nine."}]
    params = {"name": "summarize", "arguments": {"session_id": f"progress {token}", "messages": messages}}
    answer = shared.call("tools/call", params | ({} if token is None else {"_meta": {"progressToken": token}}))
    told = [one["params"] for one in shared.notices if one["method"] == "notifications/progress"]
    shared.notices.clear()
    assert "result" in answer
    assert [one["progress"] for one in told] == ([] if token is None else [0, 1])
    assert all(one["progressToken"] == token for one in told)


def test_cancelled_calls_are_not_answered_and_every_later_one_is(shared: RawServer):
    """B51."""
    for n in range(30):
        arguments = {"session_id": f"cancelled {n}", "summary": f"Cut off {n}.", "key_facts": [f"A {n}.", f"B {n}."]}
        asked = shared.request("tools/call", {"name": "summarize", "arguments": arguments})
        for _ in range(n % 4):
            shared.call("ping")
        shared.notify("notifications/cancelled", {"requestId": asked, "reason": "Escape"})
        kept = shared.tool("recall", session_id=f"cancelled {n}", limit=50)["structuredContent"]["hits"]
        assert len(kept) in {0, 3}
    shared.notices.clear()


# ---- bytes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "environ",
    [
        {"PYTHONIOENCODING": "cp1252"},
        {"PYTHONIOENCODING": "cp950"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    ],
    ids=["cp1252", "cp950", "C"],
)
def test_the_wire_is_utf_8_whatever_the_platform_says(db: Path, environ: dict[str, str]):
    """B26."""
    with RawServer(db, WORDS_ONLY | environ) as server:
        server.initialize()
        raw = {
            "jsonrpc": "2.0",
            "id": "u",
            "method": "tools/call",
            "params": {"name": "store", "arguments": {"content": TEXTS}},
        }
        server.send_line(json.dumps(raw, ensure_ascii=False).encode())
        stored = server.answer("u")["result"]["structuredContent"]["id"]
        [hit] = server.tool("recall", ids=[stored])["structuredContent"]["hits"]
        assert hit["content"] == TEXTS
        assert server.end_input() == 0
        assert any(TEXTS.encode() in line for line in server.lines)


def test_nothing_but_protocol_is_written_to_stdout(db: Path, tmp_path: Path):
    """B07: with every tool called, an error forced, the model loaded, and libraries that print."""
    (tmp_path / "sitecustomize.py").write_text(
        "import atexit, os, sys\n"
        "class Loud:\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        if name in ('mcp', 'numpy', 'sqlcipher3'):\n"
        "            print('Welcome to', name); os.write(1, b'and from below\\n')\n"
        "sys.meta_path.insert(0, Loud())\n"
        "atexit.register(print, 'Goodbye')\n"
    )
    with RawServer(db, {"PYTHONPATH": str(tmp_path)}) as server:
        server.initialize()
        stored = server.tool("store", content="Printed.")["structuredContent"]["id"]
        server.tool("recall", query="print")
        server.tool("summarize", session_id="s", summary="Printed.")
        server.tool("store", contnet="x")
        server.tool("forget", ids=[stored])
        assert server.end_input() == 0
        errors = server.errors.decode()
        for line in server.lines:
            assert json.loads(line)["jsonrpc"] == "2.0"
    assert "Welcome to numpy" in errors
    assert "Goodbye" in errors


def test_an_unexpected_error_is_logged_without_content(db: Path):
    with RawServer(db, WORDS_ONLY | {"MEMORY_MCP_LOG": "debug"}) as server:
        server.initialize()
        server.tool("store", content="The secret word is xylophone.")
        server.tool("recall", query="xylophone")
        server.tool("store", content="xylophone", kind="xylophone")
        server.tool("summarize", session_id="xylophone", summary="xylophone")
        assert server.end_input() == 0
        assert b"xylophone" not in server.errors


# ---- the handshake waits for nothing -----------------------------------------------------------------------


@pytest.mark.parametrize("heavy", ["numpy", "sqlcipher3", "anthropic", "memory_mcp.service", "memory_mcp.text"])
def test_the_handshake_does_not_wait_for_heavy_imports(tmp_path: Path, heavy: str):
    """B04."""
    ready = "import sys; from memory_mcp.server.server import build_server; from memory_mcp.config import Settings"
    program = f"{ready}; build_server(Settings(db=sys.argv[1])).lowlevel; sys.exit({heavy!r} in sys.modules)"
    checkout = Path(__file__).parent.parent
    command = [sys.executable, "-c", program, tmp_path / "m.db"]
    assert subprocess.run(command, cwd=checkout, check=False).returncode == 0


def test_calls_are_answered_while_the_model_loads(db: Path):
    """B04."""
    with RawServer(db, {}) as server:
        server.initialize()
        assert server.tool("store", content="Early bird.")["isError"] is False
        found = server.tool("recall", query="bird")["structuredContent"]
        assert [hit["content"] for hit in found["hits"]] == ["Early bird."]
        assert found["mode"] == "hybrid" or found["notice"]
        assert server.end_input() == 0


def test_a_locked_file_does_not_delay_the_handshake(db: Path):
    """B04."""
    with RawServer(db, WORDS_ONLY) as server:
        server.initialize()
        server.tool("store", content="First.")
        assert server.end_input() == 0
    with sqlite3.connect(db) as lock:
        lock.execute("pragma journal_mode = delete")
        lock.execute("begin exclusive")
        with RawServer(db, WORDS_ONLY) as server:
            assert "result" in server.initialize()
            assert len(server.call("tools/list")["result"]["tools"]) == 4
            assert server.end_input() == 0
    lock.close()


def test_an_episode_of_another_process_is_told_to_subscribers(db: Path):
    """B50."""
    with RawServer(db, WORDS_ONLY) as one, RawServer(db, WORDS_ONLY) as other:
        for server in (one, other):
            server.initialize()
            server.tool("recall")
        one.call("resources/subscribe", {"uri": "memory://episodes/recent"})
        other.tool("summarize", session_id="elsewhere", summary="Happened elsewhere.")
        told = {(message["method"], message.get("params", {}).get("uri")) for message in (one.receive(), one.receive())}
        assert told == {
            ("notifications/resources/updated", "memory://episodes/recent"),
            ("notifications/resources/list_changed", None),
        }
        assert one.end_input() == 0
        assert other.end_input() == 0


def test_two_servers_share_one_file(db: Path):
    with RawServer(db, WORDS_ONLY) as one, RawServer(db, WORDS_ONLY) as other:
        one.initialize()
        other.initialize()
        one.tool("store", content="Said to the first.")
        found = other.tool("recall", query="first")["structuredContent"]["hits"]
        assert [hit["content"] for hit in found] == ["Said to the first."]
        assert one.end_input() == 0
        assert other.end_input() == 0
