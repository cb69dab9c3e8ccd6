"""Logs, errors and the audit hold nothing of what was said: every text of these trials has one mark in it."""

import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.storage import driver
from tests.fake_anthropic import Answer, fake_anthropic
from tests.rawstdio import Json, RawServer, envelope
from tests.shell import CHECKOUT, Ran, Shell, process

MARK = "zarq"
"""Begins a word of every text, name and question; no other word of this project has it in it."""

LOUD = {"MEMORY_MCP_LOG": "debug", "MEMORY_MCP_MODEL": "none", "MEMORY_MCP_STORES_A_MINUTE": "100000"}

SAID = [
    {"role": "user", "content": f"The {MARK}harbour ferry leaves at nine.", "name": f"{MARK}mika"},
    {"role": "assistant", "content": f"I shall book the {MARK}ferry for two people on Friday."},
]


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


def kept(server: RawServer) -> str:
    """Fill a memory with every kind of text and name; gives an id."""
    stored = server.tool(
        "store",
        content=f"The {MARK}gate code changes in June.",
        tags=[f"{MARK}tag"],
        key=f"{MARK}key",
        session_id=f"{MARK}session",
        speaker=f"{MARK}speaker",
        namespace=f"{MARK}project",
    )["structuredContent"]["id"]
    server.tool("summarize", session_id=f"{MARK}session", messages=SAID, trigger=f"{MARK}trigger")
    server.tool(
        "summarize",
        session_id=f"{MARK}own",
        summary=f"They spoke of the {MARK}summary.",
        key_facts=[f"A {MARK}fact of it."],
        lessons=[f"A {MARK}lesson."],
        actions=[{"tool": f"{MARK}tool"}],
    )
    return stored


def marked(texts: str | bytes) -> list[str]:
    """Show where the mark stands, with what is around it."""
    text = texts.decode("utf-8", "replace") if isinstance(texts, bytes) else texts
    return [text[max(0, at.start() - 200) : at.end() + 80] for at in re.finditer(MARK, text)]


def audit(db: Path) -> str:
    connection = driver.connect(db)
    rows = [tuple(row) for row in connection.execute("select * from audit")]
    connection.close()
    assert rows
    return repr(rows)


# ---- a server that works -----------------------------------------------------------------------------------


REFUSED: list[tuple[str, Json]] = [
    ("store", {"content": f"{MARK}\0"}),
    ("store", {"content": f"<private>{MARK}</private>"}),
    ("store", {"content": MARK * 5_000}),
    ("store", {"content": MARK, "kind": MARK}),
    ("store", {"content": MARK, MARK: MARK}),
    ("store", {"content": MARK, "tags": [{MARK: MARK}]}),
    ("store", {"content": MARK, "supersedes": [MARK]}),
    ("store", {"content": MARK, "derived_from": [MARK]}),
    ("store", {"content": MARK, "created_at": MARK}),
    ("store", {"content": MARK, "importance": MARK}),
    ("recall", {"since": MARK}),
    ("recall", {"ids": [MARK]}),
    ("recall", {"kinds": ["fact"], "cursor": MARK}),
    ("recall", {"query": MARK * 2_000}),
    ("summarize", {"session_id": MARK, "messages": [{"role": MARK, "content": MARK}]}),
    ("summarize", {"session_id": f"{MARK}nothing"}),
    ("summarize", {"session_id": MARK, "messages": [{"role": "user", "content": "Hello."}]}),
    ("summarize", {"session_id": MARK, "summary": f"{MARK} " * 300}),
    ("summarize", {"session_id": MARK, "summary": MARK, "key_facts": [{"content": MARK, "kind": MARK}]}),
    ("forget", {"query": MARK, "confirm": MARK}),
    ("forget", {"ids": [MARK]}),
    (MARK, {MARK: MARK}),
]

ODD: list[tuple[str, Json]] = [
    (f"{MARK}/method", {MARK: MARK}),
    ("resources/read", {"uri": f"memory://memory/{MARK}"}),
    ("resources/read", {"uri": f"{MARK}://{MARK}"}),
    ("resources/subscribe", {"uri": f"memory://session/{MARK}"}),
    ("prompts/get", {"name": MARK}),
    ("prompts/get", {"name": "briefing", "arguments": {MARK: MARK}}),
    ("prompts/get", {"name": "briefing", "arguments": {"task": MARK * 2_000}}),
    ("completion/complete", {"ref": {"type": "ref/prompt", "name": MARK}, "argument": {"name": MARK, "value": MARK}}),
    ("logging/setLevel", {"level": MARK}),
]


@pytest.mark.parametrize("modern", [False, True])
def test_a_server_logs_nothing_of_what_it_is_told_or_refuses(db: Path, modern: bool):
    """B65."""
    with RawServer(db, LOUD) as server:
        if not modern:
            server.initialize()
        more = envelope() if modern else {}

        def call(method: str, params: Json) -> Json:
            return server.call(method, {**params, **more})

        def tool(name: str, arguments: Json) -> Json:
            return call("tools/call", {"name": name, "arguments": arguments})

        stored = tool("store", {"content": f"The {MARK}gate code changes in June.", "session_id": f"{MARK}session"})
        tool("summarize", {"session_id": f"{MARK}session", "messages": SAID})
        tool("recall", {"query": f"{MARK}gate code", "context": f"{MARK}context"})
        refusals = [tool(name, arguments) for name, arguments in REFUSED]
        assert all("error" in one or one["result"]["isError"] for one in refusals)
        for method, params in ODD:
            call(method, params)
        for uri in ("memory://briefing", "memory://episodes/recent", f"memory://session/{MARK}session"):
            assert "result" in call("resources/read", {"uri": uri})
        server.send_line(b'{"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": "zarq"}}')
        server.send_line(b'{"zarq": [zarq')
        server.send_line(b'{"jsonrpc": "2.0", "id": "zarq", "method": "zarq", "params": ["zarq"]}')
        server.notify("notifications/cancelled", {"requestId": [MARK], "reason": MARK})
        tool("forget", {"ids": [stored["result"]["structuredContent"]["id"]]})
        preview = tool("forget", {"session_id": f"{MARK}session"})["result"]["structuredContent"]
        tool("forget", {"session_id": f"{MARK}session", "confirm": preview["confirm"]})
        assert server.end_input() == 0
        assert marked(server.errors) == []
    assert marked(audit(db)) == []


def long_text(name: str) -> str:
    return f"{name} " + " ".join(f"word{number}" for number in range(2_000))


@pytest.mark.parametrize(
    ("tool", "given"),
    [
        (tool, name)
        for tool, names in (
            ("recall", "since until as_of outcome source session_id namespace ids cursor limit kinds tags unknown"),
            (
                "store",
                "content kind tags importance key supersedes derived_from valid_from session_id created_at source",
            ),
            ("summarize", "session_id summary trigger outcome lessons actions started_at useful_ids key_facts"),
            ("forget", "ids query tags session_id source before confirm"),
        )
        for name in names.split()
    ],
)
def test_an_error_repeats_at_most_sixty_characters_of_an_argument(shared: RawServer, tool: str, given: str):
    text = long_text(given)
    required = {"store": {"content": "x"}, "summarize": {"session_id": "s", "summary": "x"}}.get(tool, {})
    if given == "unknown":
        arguments: dict[str, Any] = {text: "x"}
    else:
        arguments = {**required, given: text, **({"kinds": ["fact"]} if given == "cursor" else {})}
    answer = shared.tool(tool, **arguments)["content"][0]["text"]
    assert not any(text[place : place + 61] in answer for place in range(len(text) - 61))


@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("TEXT", {}),
        ("resources/read", {"uri": "memory://memory/TEXT"}),
        ("resources/read", {"uri": "TEXT"}),
        ("resources/subscribe", {"uri": "TEXT"}),
        ("prompts/get", {"name": "TEXT"}),
        ("prompts/get", {"name": "summarize_session", "arguments": {"session_id": "TEXT"}}),
        ("prompts/get", {"name": "briefing", "arguments": {"task": "TEXT"}}),
        ("tools/call", {"name": "TEXT", "arguments": {}}),
    ],
)
def test_nor_does_an_error_of_the_protocol(shared: RawServer, method: str, params: Json):
    text = long_text("text")
    asked = json.loads(json.dumps(params).replace("TEXT", text))
    answer = json.dumps(shared.call(method.replace("TEXT", text), asked))
    assert not any(text[place : place + 61] in answer for place in range(len(text) - 61))


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RawServer]:
    with RawServer(tmp_path_factory.mktemp("discretion") / "memory.db", LOUD) as server:
        server.initialize()
        yield server


# ---- a server in trouble -----------------------------------------------------------------------------------


def change(db: Path, *statements: str) -> None:
    connection = driver.connect(db)
    connection.execute("pragma ignore_check_constraints = on")
    for statement in statements:
        connection.execute(statement)
    connection.close()


def use(server: RawServer) -> list[str]:
    """Call everything; gives what the tools say."""
    asked: list[tuple[str, Json]] = [
        ("recall", {}),
        ("recall", {"query": f"{MARK}gate code"}),
        ("recall", {"kinds": ["fact", "episode", "turn"]}),
        ("store", {"content": f"Another {MARK}text."}),
        ("summarize", {"session_id": f"{MARK}session"}),
        ("forget", {"tags": [f"{MARK}tag"]}),
    ]
    told = [server.tool(name, **arguments)["content"][0]["text"] for name, arguments in asked]
    for uri in ("memory://briefing", "memory://episodes/recent", "memory://stats"):
        server.call("resources/read", {"uri": uri})
    for name in ("briefing", "consolidate", "review_memories"):
        server.call("prompts/get", {"name": name})
    server.call("resources/list")
    return told


def test_what_is_damaged_is_logged_by_its_id(db: Path):
    with RawServer(db, LOUD) as server:
        server.initialize()
        kept(server)
        assert server.end_input() == 0
    change(
        db,
        f"update memory set kind = '{MARK}' where content like 'The {MARK}gate%'",
        "update memory set created_at = 9000000000000000000 where kind = 'turn'",
        f"update episode set lessons = '{MARK}'",
        f"update memory set content = cast(x'{MARK.encode().hex()}ff' as text) where content like 'A {MARK}fact%'",
    )
    with RawServer(db, LOUD) as server:
        server.initialize()
        use(server)
        assert server.end_input() == 0
        assert b"is damaged and was left out" in server.errors
        assert marked(server.errors) == []


def test_a_damaged_file_is_logged_without_what_stands_in_it(db: Path):
    with RawServer(db, LOUD) as server:
        server.initialize()
        kept(server)
        assert server.end_input() == 0
    pages = bytearray(db.read_bytes())
    for start in range(2 * 4096, len(pages), 4096):
        pages[start : start + 24] = MARK.encode() * 6
    db.write_bytes(pages)
    with RawServer(db, LOUD) as server:
        server.initialize()
        told = use(server)
        assert server.end_input() == 0
        assert any("is damaged" in one for one in told)
        assert marked(server.errors) == []
        assert [one for one in told if marked(one)] == []


def test_a_locked_file_is_told_and_logged_without_what_was_to_be_saved(db: Path):
    with RawServer(db, LOUD) as server:
        server.initialize()
        kept(server)
        holder = driver.connect(db)
        holder.execute("begin immediate")
        told = server.tool("store", content=f"Never {MARK}saved.")
        holder.close()
        assert server.end_input() == 0
        assert "Nothing was saved" in told["content"][0]["text"]
        assert marked(server.errors) == []
        assert marked(told["content"][0]["text"]) == []


FAILING_MODEL = """
import numpy as np

class SentenceTransformer:
    max_seq_length, tokenizer, prompts = None, None, {}

    def __init__(self, *_, **__):
        self.worked = 0

    def get_embedding_dimension(self):
        return 8

    def encode(self, texts, **_):
        raise %s(f"the tokens of {texts} are out of range")
"""


@pytest.mark.parametrize("error", ["ValueError", "KeyError"])
def test_a_model_that_fails_is_told_and_logged_without_what_it_was_given(db: Path, tmp_path: Path, error: str):
    (tmp_path / "sentence_transformers.py").write_text(FAILING_MODEL % error)
    (tmp_path / "weights").mkdir()
    (tmp_path / "weights/config.json").write_text("{}")
    (tmp_path / "weights/model.safetensors").write_bytes(b"none")
    settings = {"MEMORY_MCP_MODEL": str(tmp_path / "weights"), "PYTHONPATH": str(tmp_path)}
    with RawServer(db, LOUD | settings) as server:
        server.initialize()
        told = [server.tool("store", content=f"A {MARK}text."), server.tool("recall", query=f"{MARK}question")]
        notices = [one["content"][0]["text"] for one in told]
        assert server.end_input() == 0
        assert marked(server.errors) == []
    assert any(error in one or "stderr says where" in one for one in notices)
    assert [one for one in notices if "tokens of" in one] == []


ANSWERS = {
    "refused": Answer(f"messages.0: {MARK}harbour is not allowed", status=400),
    "no key": Answer(f"{MARK}harbour", status=401),
    "prose": Answer(f"no JSON, but {MARK}harbour"),
    "html": Answer(raw=f"<html>{MARK}harbour</html>".encode()),
    "invented": Answer(json.dumps({"summary": f"An invented {MARK}thing of 4711."})),
}


def test_a_summary_that_fails_is_told_and_logged_without_what_was_said(db: Path):
    with fake_anthropic() as service:
        environ = {
            "MEMORY_MCP_SUMMARIZER": "anthropic",
            "ANTHROPIC_API_KEY": "none",
            "ANTHROPIC_BASE_URL": service.url,
            "ANTHROPIC_LOG": "debug",
        }
        with RawServer(db, LOUD | environ) as server:
            server.initialize()
            for session, answer in ANSWERS.items():
                service.answer(answer)
                told = server.tool("summarize", session_id=session, messages=SAID)
                assert (told["isError"], marked(told["content"][0]["text"])) == (True, [])
            assert server.end_input() == 0
            assert marked(server.errors) == []
        shown = process("summarize", "--pending", "--db", str(db), **LOUD, **environ)
    assert (shown.returncode, marked(shown.stderr)) == (1, [])
    assert marked(attempts(db)) == []
    assert marked(audit(db)) == []


def attempts(db: Path) -> str:
    connection = driver.connect(db)
    reasons = [reason for (reason,) in connection.execute("select reason from attempt")]
    connection.close()
    assert reasons
    return repr(reasons)


# ---- what libraries and threads say ------------------------------------------------------------------------


PROGRAM = """
import asyncio, logging, threading
from memory_mcp import logs

logs.begin("debug")
logs.watch_threads()

def fail(what):
    raise ValueError(f"zarq in {what}")

async def forget_a_task():
    await asyncio.wait([asyncio.create_task(asyncio.to_thread(fail, "a task"))])

try:
    fail("a library")
except ValueError:
    logging.getLogger("mcp.server").exception("handler for %r raised", "zarq")
logging.getLogger("httpx").warning("zarq in a warning")
logging.getLogger("memory_mcp.trial").debug("ours")
asyncio.run(forget_a_task())
thread = threading.Thread(target=fail, args=("a thread",))
thread.start()
thread.join()
"""


def test_of_what_libraries_and_threads_say_only_the_place_is_logged():
    run = subprocess.run([sys.executable, "-c", PROGRAM], cwd=CHECKOUT, capture_output=True, text=True, check=True)
    lines = run.stderr.splitlines()
    assert marked(run.stderr) == []
    assert "DEBUG memory_mcp.trial: ours" in lines
    assert any(line.startswith("ERROR mcp.server: at <string>:") for line in lines)
    assert any(line.startswith("ERROR asyncio: at base_events.py:") for line in lines)
    assert "ERROR memory_mcp.logs: Unexpected ValueError in a thread:" in lines


# ---- the shell and the hooks -------------------------------------------------------------------------------


@pytest.fixture
def shell(db: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Shell:
    for name, value in LOUD.items():
        monkeypatch.setenv(name, value)
    return Shell(db, capsys)


def test_the_shell_says_on_stderr_nothing_of_what_is_kept(shell: Shell, db: Path, tmp_path: Path):
    file = tmp_path / "chat.json"
    file.write_text(json.dumps([*SAID, {"role": MARK, "content": MARK}, {"content": MARK}, MARK]))
    memory = shell.store(f"The {MARK}gate code changes in June.", "--tag", f"{MARK}tag", "--key", f"{MARK}key")
    other = shell.store(f"A {MARK}text to be archived.")
    ran: list[Ran] = [
        shell("recall", f"{MARK}gate", "--explain"),
        shell("recall", "--rate", "useful", memory),
        shell("list"),
        shell("show", memory),
        shell("edit", memory, "--importance", "0.9", "--tag", f"{MARK}other"),
        shell("edit", memory, "--importance", "7"),
        shell("pin", memory),
        shell("archive", other),
        shell("restore", other),
        shell("import-conversation", str(file)),
        shell("import-conversation", str(file), "--dry-run"),
        shell("summarize", "--pending"),
        shell("summarize", "chat"),
        shell("context"),
        shell("audit", "relevance"),
        shell("consolidate"),
        shell("maintain"),
        shell("stats"),
        shell("doctor"),
        shell("store", f"<private>{MARK}</private>"),
        shell("store", f"{MARK}\a"),
        shell("store", MARK, "--supersedes", "none"),
        shell("recall", "--since", "never"),
        shell("forget", "--tag", f"{MARK}other"),
        shell("forget", memory, other),
    ]
    assert {0, 1} == {one.code for one in ran}
    assert [marked(one.err) for one in ran if marked(one.err)] == []
    assert marked(audit(db)) == []


def hook(event: str, record: Path) -> bytes:
    told = {"session_id": f"{MARK}s", "transcript_path": str(record), "cwd": "/", "prompt": f"What of the {MARK}gate?"}
    return json.dumps({"hook_event_name": event, **told}).encode()


@pytest.fixture
def record(tmp_path: Path) -> Path:
    """What a host keeps of a conversation, with lines that cannot be read among it."""
    at = "2026-05-04T09:00:00Z"
    lines = [
        json.dumps({"type": "user", "uuid": "m1", "timestamp": at, "message": {"content": f"I like {MARK}figs."}}),
        json.dumps({"type": "user", "uuid": "m2", "timestamp": MARK, "message": {"content": [{MARK: MARK}]}}),
        json.dumps(
            {"type": "user", "uuid": "m3", "timestamp": at, "message": {"content": f"<private>{MARK}</private>"}}
        ),
        json.dumps({"type": "user", "uuid": "m4", "timestamp": at, "message": {"content": f"{MARK}\u202e\0"}}),
        f"{{{MARK}",
    ]
    path = tmp_path / "record.jsonl"
    path.write_text("\n".join(lines) + "\n")
    return path


TROUBLES = ("none", "locked", "damaged", "newer", "folder", "nonsense", "unreadable")


@pytest.mark.parametrize("trouble", TROUBLES)
@pytest.mark.parametrize(
    ("event", "words"),
    [
        ("Stop", ("capture", "claude-code", "--on")),
        ("SessionStart", ("context", "--hook", "claude-code")),
        ("UserPromptSubmit", ("context", "--hook", "claude-code")),
    ],
)
def test_a_hook_says_on_stderr_nothing_of_what_it_is_told(
    db: Path, record: Path, trouble: str, event: str, words: tuple[str, ...]
):
    told, holder = hook(event, record), None
    if trouble == "folder":
        db.mkdir()
    else:
        process("store", f"The {MARK}gate code changes in June.", "--db", str(db), **LOUD)
    if trouble == "locked":
        holder = driver.connect(db)
        holder.execute("begin immediate")
    elif trouble == "damaged":
        db.write_bytes(MARK.encode() * 20_000)
    elif trouble == "newer":
        change(db, "pragma user_version = 999")
    elif trouble == "nonsense":
        told = told.replace(b'"hook_event_name"', b"zarq")
    elif trouble == "unreadable":
        record.write_bytes(MARK.encode() + b"\xff\xfe\n" * 50)
        os.utime(record, (time.time() + 5, time.time() + 5))
    run = process(*words, "--db", str(db), stdin=told, **LOUD)
    if holder:
        holder.close()
    assert run.returncode == 0
    assert marked(run.stderr) == []
