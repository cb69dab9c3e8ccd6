"""What is too much is refused in words, with memory bounded, and the next call works."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp_types import JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

from memory_mcp.stdio.owed import LISTEN, MOST_AT_ONCE, MOST_BYTES, Owed
from tests.rawstdio import VERSIONS, Json, RawServer

SETTINGS = {"MEMORY_MCP_MODEL": "none", "MEMORY_MCP_STORES_A_MINUTE": "1000000"}
MIB = 1024 * 1024
GROWTH = 128 * MIB
"""What a server may take for one request of at most 8 MiB, over what it held before; half of it is the parsed text."""

FLOOD = 32 * MIB
"""The same for many small requests, and for what is never kept."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawServer]:
    """A server that has loaded all it needs."""
    with started(tmp_path_factory.mktemp("limits") / "memory.db") as server:
        yield server
        assert server.end_input() == 0


@contextmanager
def started(db: Path) -> Iterator[RawServer]:
    with RawServer(db, SETTINGS) as server:
        server.initialize()
        server.tool("store", content="The kiln is fired on Fridays.")
        server.tool("recall", query="kiln")
        yield server


@contextmanager
def within(server: RawServer, most: int) -> Iterator[None]:
    """Require that the process never holds `most` bytes more than now; where there is no /proc, nothing is required."""
    before = _peak(server, forget=True)
    yield
    assert _peak(server) - before < most


def _peak(server: RawServer, *, forget: bool = False) -> int:
    place = Path(f"/proc/{server.process.pid}")
    if not place.exists():
        return 0
    if forget:
        (place / "clear_refs").write_text("5")
    [line] = [line for line in (place / "status").read_text().splitlines() if line.startswith("VmHWM")]
    return int(line.split()[1]) * 1024


def answers(server: RawServer) -> bool:
    return server.tool("recall", query="kiln")["structuredContent"]["hits"] != []


def call(number: int, tool: str, **arguments: Any) -> bytes:
    params = {"name": tool, "arguments": arguments}
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}).encode()


# ---- one request -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("store", {"content": "x" * 16_001}, "content has 16,001 characters, the limit is 16,000; nothing was saved"),
        ("store", {"content": "x" * 7 * MIB}, "the limit is 16,000; nothing was saved"),
        ("store", {"content": "x" * 7 * MIB + "\U0001f5dd"}, "the limit is 16,000; nothing was saved"),
        ("recall", {"query": "x" * 4_001}, "query has 4,001 characters; at most 4,000"),
        ("recall", {"query": "word " * 200_000}, "query has 1,000,000 characters; at most 4,000"),
        ("recall", {"query": "x", "context": "word " * 200_000}, "context has 1,000,000 characters; at most 4,000"),
        ("forget", {"query": "word " * 200_000}, "query has 1,000,000 characters; at most 4,000"),
        ("store", {"content": "x", "tags": ["t"] * 33}, "tags has 33 entries; at most 32. Nothing was saved."),
        ("store", {"content": "x", "tags": ["t" * 65]}, "tags has 65 characters, the limit is 64; nothing was saved"),
        ("recall", {"ids": ["0" * 36] * 201}, "ids has 201 entries; at most 200."),
        ("forget", {"ids": [f"{n:036}" for n in range(90_000)]}, "ids has 90,000 entries; at most 200. Nothing was"),
        ("recall", {"kinds": ["nothing"] * 90_000}, "kinds has 90,000 entries; at most 11."),
        ("store", {"content": "x", "tags": ",".join("t" * 500_000)}, "tags has 500,000 entries; at most 32."),
        ("store", {"content": "x", "supersedes": [1] * 90_000}, "supersedes has 90,000 entries; at most 200."),
        ("summarize", {"session_id": "s", "useful_ids": [[]] * 40_000}, "useful_ids has 40,000 entries; at most 200."),
        ("summarize", {"session_id": "s", "messages": [1] * 90_000}, "messages has 90,000 entries; at most 10,000."),
        ("summarize", {"session_id": "s", "messages": [{"role": 1}] * 10_000}, "messages[0].role must be a text."),
        ("summarize", {"session_id": "s", "key_facts": ["x"] * 90_000}, "key_facts has 90,000 entries; at most 200."),
        ("summarize", {"session_id": "s", "lessons": ["x"] * 90_000}, "lessons has 90,000 entries; at most 50."),
        ("summarize", {"session_id": "s", "actions": [1] * 90_000}, "actions has 90,000 entries; at most 200."),
        (
            "summarize",
            {"session_id": "s", "messages": [dict.fromkeys(map(str, range(90_000)), 1)]},
            "messages[0] has 90,000 entries; at most 16. Nothing was saved.",
        ),
        ("summarize", {"session_id": "s", "key_facts": "[" + "1," * 2_000_000 + "1]"}, "has 2,000,001 entries"),
        ("store", {"content": "x", "tags": "[" * 1_000_000}, "tags has 1,000,000 characters, the limit is 64"),
        ("store", dict.fromkeys(map(str, range(90_000)), 1), "Unknown argument '0', '1', '2'."),
        ("recall", {"limit": "9" * 1_000_000}, "limit must be a whole number"),
        ("store", {"content": "x", "key": "k" * MIB}, "key has 1,048,576 characters, the limit is 200"),
        ("recall", {"kinds": ["fact"], "cursor": "c" * MIB}, "is not one of ours"),
        ("recall", {"since": "1" * MIB}, "as a date"),
    ],
)
def test_an_argument_beyond_its_limit_is_refused_in_words(server: RawServer, tool: str, arguments: Json, told: str):
    """B66."""
    with within(server, GROWTH):
        refused = server.tool(tool, **arguments)
    assert refused["isError"] is True
    assert told in refused["content"][0]["text"]
    assert answers(server)


def requesting(method: str, params: bytes) -> bytes:
    return b'{"jsonrpc": "2.0", "id": 7, "method": "%b", "params": %b}' % (method.encode(), params)


def storing(tags: bytes) -> bytes:
    return requesting("tools/call", b'{"name": "store", "arguments": {"content": "x", "tags": %b}}' % tags)


@pytest.mark.parametrize(
    ("line", "request_id", "told"),
    [
        (storing(b"[" * 5_000 + b"]" * 5_000), 7, "nested too deeply. Nothing was saved."),
        (storing(b"[" * 100_000 + b"]" * 100_000), 7, "Nothing was saved"),
        (storing(b'{"a": ' * 90_000 + b"1" + b"}" * 90_000), 7, "nested too deeply. Nothing was saved."),
        (b"[" * 4 * MIB, None, "Nothing was saved"),
        (storing(json.dumps([f"tag {n}" for n in range(100_000)]).encode()), 7, "more than 100,000 entries. Nothing"),
        (storing(b"[" + b"1," * 2_000_000 + b"1]"), 7, "more than 100,000 entries. Nothing was saved"),
        (storing(b"[" + b"[]," * 2_000_000 + b"1]"), 7, "more than 100,000 entries. Nothing was saved"),
        (
            requesting("ping", b'{"a": 1, %b}' % b", ".join(b'"%d": 1' % n for n in range(500_000))),
            7,
            "more than 100,000 entries",
        ),
        (
            requesting("tools/call", b'{"name": "recall", "limit": %b}' % (b"9" * 10_000)),
            7,
            "a number that is too long",
        ),
        (b'{"jsonrpc": "2.0", "method": "ping", "id": %b}' % (b"9" * 10_000), None, "a number that is too long"),
        (requesting("m" * MIB, b"{}"), 7, "Method not found"),
        (requesting("resources/read", b'{"uri": "memory://memory/%b"}' % (b"x" * MIB)), 7, "No memory with id"),
        (
            requesting("prompts/get", b'{"name": "briefing", "arguments": {"task": "%b"}}' % (b"x" * MIB)),
            7,
            "at most 4,000 are searched",
        ),
    ],
    ids=lambda value: value[:60].decode() if isinstance(value, bytes) else None,
)
def test_a_line_beyond_a_limit_is_refused_by_its_id(server: RawServer, line: bytes, request_id: int | None, told: str):
    """B66, and that a refusal does not give back all that was sent."""
    with within(server, GROWTH):
        server.send_line(line)
        refusal = server.receive()
    assert (refusal["id"], told in refusal["error"]["message"]) == (request_id, True)
    assert len(json.dumps(refusal)) < 500
    assert answers(server)


def test_many_commas_in_a_text_are_no_values(server: RawServer):
    messages = [{"role": "user", "content": 'Listed: [{"\\",' + "," * 2_500}] * 50
    assert json.dumps(messages).count(",") > 100_000
    kept = server.tool("summarize", session_id="commas", summary="Commas were counted.", messages=messages)
    assert kept["isError"] is False


# ---- a line that does not end ------------------------------------------------------------------------------


def pour(server: RawServer) -> None:
    server.process.stdin.write(b'{"jsonrpc": "2.0", "id": 7, "method": "tools/call", ')
    server.process.stdin.write(b'"params": {"name": "store", "arguments": {"content": "')
    for _ in range(200):
        server.process.stdin.write(b"x" * 1_000_000)
    server.process.stdin.flush()


def test_a_line_of_two_hundred_megabytes_is_refused_without_being_kept(server: RawServer):
    """B66."""
    with within(server, FLOOD):
        pour(server)
        server.send_line(b'"}}}')
        refusal = server.receive()
    assert refusal["id"] == 7
    assert "8 MiB" in refusal["error"]["message"]
    assert answers(server)


def test_two_hundred_megabytes_without_a_line_end_are_refused_when_the_input_ends(tmp_path: Path):
    """B66."""
    with started(tmp_path / "memory.db") as server:
        with within(server, FLOOD):
            pour(server)
            server.process.stdin.close()
            refusal = server.receive()
        assert server.wait() == 0
    assert (refusal["id"], "8 MiB" in refusal["error"]["message"]) == (7, True)


def test_half_a_line_before_the_end_of_input_is_refused_and_nothing_of_it_is_done(tmp_path: Path):
    db = tmp_path / "memory.db"
    with started(db) as server:
        server.process.stdin.write(call(7, "store", content="Never whole.")[:-2])
        assert server.end_input() == 0
        assert [message["error"]["code"] for message in server.remaining()] == [-32700]
    with started(db) as server:
        assert server.tool("recall", query="whole")["structuredContent"]["hits"] == []


# ---- floods ------------------------------------------------------------------------------------------------


def test_two_thousand_calls_at_once_are_all_done_and_answered(tmp_path: Path):
    """So many at once are worked on as `MOST_AT_ONCE` says; the rest waits in the pipe, and is read in its turn."""
    with started(tmp_path / "memory.db") as server:
        asked = range(1_000, 3_000)
        with within(server, FLOOD):
            for number in asked:
                server.send_line(call(number, "store", content=f"Jar {number} stands on shelf {number % 7}."))
            got = [server.receive() for _ in asked]
        assert sorted(answer["id"] for answer in got) == list(asked)
        assert len({answer["result"]["structuredContent"]["id"] for answer in got}) == len(asked)
        stats = json.loads(server.call("resources/read", {"uri": "memory://stats"})["result"]["contents"][0]["text"])
        assert stats["memories"] == len(asked) + 1


def test_a_flood_of_large_calls_is_answered_with_memory_for_a_few(server: RawServer):
    with within(server, 2 * GROWTH):
        for number in range(20):
            server.send_line(call(2_000 + number, "store", content=f"{number}" + "x" * 5 * MIB))
        got = [server.receive() for _ in range(20)]
    assert {answer["id"] for answer in got} == set(range(2_000, 2_020))
    assert all(answer["result"]["isError"] for answer in got)
    assert answers(server)


def test_a_flood_of_unknown_methods_is_refused_one_by_one(server: RawServer):
    with within(server, FLOOD):
        for number in range(2_000):
            server.send_line(b'{"jsonrpc": "2.0", "id": %d, "method": "nothing/%d"}' % (9_000 + number, number))
        got = [server.receive() for _ in range(2_000)]
    assert {(one["id"], one["error"]["code"]) for one in got} == {(9_000 + number, -32601) for number in range(2_000)}
    assert answers(server)


def test_a_flood_of_cancel_notices_stops_nothing_that_they_do_not_name(server: RawServer):
    """B51, and that what names no request, or is no name of one, is passed over."""
    asked = server.request("tools/call", {"name": "recall", "arguments": {"query": "kiln"}})
    with within(server, FLOOD):
        for number in range(3_000):
            wrong: tuple[object, ...] = (f"none {number}", [number], None, {"id": asked}, 1.5)
            server.notify("notifications/cancelled", {"requestId": wrong[number % 5], "reason": "Escape"})
        assert "result" in server.answer(asked)
    assert answers(server)


def test_calls_that_are_cancelled_at_once_leave_room_for_later_ones(server: RawServer):
    for number in range(4 * MOST_AT_ONCE):
        asked = server.request("tools/call", {"name": "store", "arguments": {"content": f"Cut off {number}."}})
        server.notify("notifications/cancelled", {"requestId": str(asked)})
    assert "result" in server.call("ping")
    assert answers(server)


# ---- how many at once --------------------------------------------------------------------------------------


def asking(number: int | str, method: str = "ping") -> JSONRPCRequest:
    return JSONRPCRequest(jsonrpc="2.0", id=number, method=method)


def answering(number: int | str) -> JSONRPCResponse:
    return JSONRPCResponse(jsonrpc="2.0", id=number, result={})


def full(size: int = 100) -> Owed:
    owed = Owed(patience=0.05)
    for number in range(MOST_AT_ONCE):
        owed.note_incoming(asking(number), size)
    return owed


@pytest.mark.anyio
@pytest.mark.parametrize(
    "freed",
    [
        answering(3),
        answering("3"),
        JSONRPCNotification(jsonrpc="2.0", method="notifications/cancelled", params={"requestId": 3}),
    ],
)
async def test_there_is_room_again_once_a_request_is_answered_or_cancelled(freed):
    owed = full()
    assert not await owed.has_room(asking("next"), 100)
    if isinstance(freed, JSONRPCResponse):
        owed.note_outgoing(freed)
    else:
        owed.note_incoming(freed, 100)
    assert await owed.has_room(asking("next"), 100)


@pytest.mark.anyio
async def test_who_waits_for_room_is_let_in_by_the_next_answer():
    owed = Owed(patience=60)
    owed.note_incoming(asking(1), MOST_BYTES)
    found: list[bool] = []

    async def wait() -> None:
        found.append(await owed.has_room(asking(2), 100))

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(wait)
        await anyio.wait_all_tasks_blocked()
        owed.note_outgoing(answering(1))
    assert found == [True]


@pytest.mark.anyio
async def test_large_requests_wait_for_each_other_and_one_alone_always_has_room():
    owed = Owed(patience=0.05)
    assert await owed.has_room(asking(1), MOST_BYTES)
    owed.note_incoming(asking(1), MOST_BYTES - 100)
    assert await owed.has_room(asking(2), 100)
    assert not await owed.has_room(asking(2), 101)


@pytest.mark.anyio
async def test_a_request_waits_for_the_one_whose_id_it_bears():
    owed = Owed(patience=0.05)
    owed.note_incoming(asking(1), 100)
    assert not await owed.has_room(asking("1"), 100)
    owed.note_outgoing(answering(1))
    assert await owed.has_room(asking("1"), 100)


@pytest.mark.anyio
async def test_who_listens_takes_no_room():
    owed = Owed(patience=0.05)
    for number in range(MOST_AT_ONCE):
        owed.note_incoming(asking(number, LISTEN), 100)
    assert await owed.has_room(asking("next"), 100)


def test_what_finds_no_room_is_refused_and_what_comes_after_it_is_read(tmp_path: Path):
    """A host that asks 64 wide forgets at once, and answers none of our questions before it has asked one more."""
    capable = {"protocolVersion": VERSIONS[-1], "capabilities": {"elicitation": {}}}
    with RawServer(tmp_path / "memory.db", SETTINGS) as server:
        server.call("initialize", capable | {"clientInfo": {"name": "raw", "version": "0"}})
        server.notify("notifications/initialized")
        server.tool("store", content="The kiln is fired on Fridays.", tags=["pottery"])
        for number in range(100, 100 + MOST_AT_ONCE):
            server.send_line(call(number, "forget", tags=["pottery"]))
        questions = [server.receive() for _ in range(MOST_AT_ONCE)]
        server.send_line(call(7, "recall"))
        for question in questions:
            answer = {"jsonrpc": "2.0", "id": question["id"], "result": {"action": "cancel"}}
            server.send_line(json.dumps(answer).encode())
        refusal = server.answer(7)
        assert "Nothing was saved; ask again" in refusal["error"]["message"]
        assert {server.receive()["id"] for _ in questions} == set(range(100, 100 + MOST_AT_ONCE))
        assert answers(server)
        assert server.end_input() == 0
