"""What becomes of a secret on every way in, as the person set it, and where it is never repeated."""

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

from memory_mcp.app import open_memory
from memory_mcp.capture import capture
from memory_mcp.config import Secrets, Settings
from memory_mcp.errors import InvalidInput
from memory_mcp.hooks import HookEvent
from memory_mcp.models import Action, Conversation, KeyFact, Message, NewMemory, Revision
from memory_mcp.server.server import build_server
from memory_mcp.service import MemoryService
from memory_mcp.storage import open_store
from memory_mcp.summarizers import Summary
from tests.conftest import Clock
from tests.fake_anthropic import fake_anthropic, summary
from tests.memories import keep, memory_with
from tests.shell import Shell, process

TOKEN = "gh" + "p_" + "Q7zX" * 9
SAID = f"Ken's token is {TOKEN} until May."
SAFE = "Ken's token is [redacted: github token] until May."

In = Callable[[MemoryService], Awaitable[object]]


@asynccontextmanager
async def memory_that(secrets: Secrets, settings: Settings, clock: Clock) -> AsyncIterator[MemoryService]:
    """A memory that treats secrets so."""
    async with open_memory(settings.model_copy(update={"secrets": secrets}), door="cli", now=clock) as memory:
        yield memory


async def all_that_is_kept(memory: MemoryService) -> str:
    """Every text in the file, names and all."""
    found, _ = await memory.db.texts(0, 10_000)
    return "\n".join(one.text for one in found)


def summarized(**fields) -> In:
    return lambda memory: memory.summarize(Conversation(**{"session_id": "s1", "summary": "We talked."} | fields))


def stored(**fields) -> In:
    return lambda memory: memory.store(NewMemory(**{"content": "Tea is at four."} | fields))


def revised(change: Revision) -> In:
    async def change_one(memory: MemoryService) -> object:
        return await memory.revise(await keep(memory, "Tea is at four."), change)

    return change_one


TEXTS: dict[str, In] = {
    "content": stored(content=SAID),
    "summary": summarized(summary=SAID),
    "key_facts": summarized(key_facts=(KeyFact(SAID),)),
    "lessons": summarized(lessons=(SAID,)),
    "messages[0].content": summarized(messages=(Message("user", SAID),)),
}

NAMES: dict[str, In] = {
    "tags": stored(tags=(TOKEN,)),
    "key": stored(key=TOKEN),
    "namespace": stored(namespace=TOKEN),
    "speaker": stored(speaker=TOKEN),
    "session_id": stored(session_id=TOKEN),
    "session_id of a summary": summarized(session_id=TOKEN),
    "namespace of a summary": summarized(namespace=TOKEN),
    "tags of a summary": summarized(tags=(TOKEN,)),
    "trigger": summarized(trigger=TOKEN),
    "key of a key fact": summarized(key_facts=(KeyFact("Tea is at four.", key=TOKEN),)),
    "actions.tool": summarized(actions=(Action(TOKEN, ok=True),)),
    "actions.input_digest": summarized(actions=(Action("grep", ok=True, input_digest=TOKEN),)),
    "messages[0].name": summarized(messages=(Message("user", "Tea is at four.", TOKEN),)),
    "tags of a change": revised(Revision(tags=(TOKEN,))),
    "namespace of a change": revised(Revision(namespace=TOKEN)),
}

# ---- as the person set it ------------------------------------------------------------------------------------------


@pytest.mark.anyio
@pytest.mark.parametrize("way", TEXTS)
async def test_a_secret_in_a_text_is_left_out_and_said(words_only: Settings, clock: Clock, way: str):
    """B65"""
    async with memory_that("redact", words_only, clock) as memory:
        done = await TEXTS[way](memory)
        assert getattr(done, "notice", "").count("1 secret was redacted (github token).") == 1
        kept = await all_that_is_kept(memory)
    assert SAFE in kept
    assert TOKEN not in kept


@pytest.mark.anyio
@pytest.mark.parametrize("way", TEXTS | NAMES)
async def test_where_secrets_are_refused_nothing_is_saved_and_it_is_said_how_to_change_that(
    words_only: Settings, clock: Clock, way: str
):
    """B65"""
    async with memory_that("refuse", words_only, clock) as memory:
        with pytest.raises(InvalidInput, match=r"holds a secret \(github token\); nothing was saved\.") as refusal:
            await (TEXTS | NAMES)[way](memory)
        assert str(refusal.value).startswith(way.split(" of a ", maxsplit=1)[0])
        assert "MEMORY_MCP_SECRETS" in str(refusal.value)
        assert TOKEN not in str(refusal.value)
        assert TOKEN.casefold() not in (await all_that_is_kept(memory)).casefold()
        assert (await memory.stats()).memories == ("of a change" in way)


@pytest.mark.anyio
@pytest.mark.parametrize("way", NAMES)
async def test_a_secret_in_a_name_is_refused_unless_it_is_to_be_kept(words_only: Settings, clock: Clock, way: str):
    """B65: what is left of a name without it would name something else."""
    async with memory_that("redact", words_only, clock) as memory:
        with pytest.raises(InvalidInput, match=r"holds a secret \(github token\)"):
            await NAMES[way](memory)


@pytest.mark.anyio
@pytest.mark.parametrize("way", TEXTS | NAMES)
async def test_who_wants_to_keep_secrets_does(words_only: Settings, clock: Clock, way: str):
    async with memory_that("keep", words_only, clock) as memory:
        done = await (TEXTS | NAMES)[way](memory)
        assert "secret" not in getattr(done, "notice", "")
        assert TOKEN.casefold() in (await all_that_is_kept(memory)).casefold()


@pytest.mark.anyio
@pytest.mark.parametrize("secrets", ["redact", "refuse", "keep"])
async def test_private_blocks_are_left_out_whatever_becomes_of_secrets(
    words_only: Settings, clock: Clock, secrets: Secrets
):
    async with memory_that(secrets, words_only, clock) as memory:
        await keep(memory, "I live in <private>Suginami</private> Tokyo")
        assert "Suginami" not in await all_that_is_kept(memory)


# ---- what hooks and files tell --------------------------------------------------------------------------------------


def a_record(path: Path, *texts: str) -> HookEvent:
    """What Claude Code writes of a conversation, and the hook that tells of it."""
    lines = [
        {"type": "user", "uuid": f"m{number}", "timestamp": "2026-05-04T09:00:00Z", "message": {"content": text}}
        for number, text in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return HookEvent("claude-code", "stop", "s1", path, None)


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("secrets", "kept", "skipped", "said"),
    [
        ("redact", ["one", SAFE, "two"], 0, "1 secret was redacted (github token)."),
        ("refuse", ["one", "two"], 1, "messages[0].content holds a secret (github token); nothing was saved."),
        ("keep", ["one", SAID, "two"], 0, ""),
    ],
)
async def test_a_captured_message_with_a_secret_holds_up_no_other(
    tmp_path: Path, clock: Clock, secrets: Secrets, kept: list[str], skipped: int, said: str
):
    """B65"""
    settings = Settings(db=tmp_path / "memory.db", model="none", capture="on", secrets=secrets)
    store = await open_store(settings.db, now=clock)
    done = await capture(a_record(tmp_path / "t.jsonl", "one", SAID, "two"), store, settings, clock())
    assert [one.content for one in await store.turns("s1", "")] == kept
    assert (done.written, done.skipped) == (len(kept), skipped)
    assert said in " ".join(done.notices)
    assert TOKEN not in " ".join(done.notices)
    await store.close()


def test_a_hook_says_what_it_left_out_and_why(tmp_path: Path):
    """B65"""
    event = a_record(tmp_path / "t.jsonl", SAID)
    told = {"hook_event_name": "Stop", "session_id": "s1", "transcript_path": str(event.transcript_path), "cwd": "/"}
    for secrets, says in (("refuse", "1 message could not be kept"), ("redact", "1 secret was redacted")):
        ran = process(
            "capture", "claude-code", "--on", stdin=json.dumps(told).encode(),
            MEMORY_MCP_DB=str(tmp_path / f"{secrets}.db"), MEMORY_MCP_SECRETS=secrets,
        )  # fmt: skip
        assert (ran.returncode, ran.stdout) == (0, b"")
        assert says in ran.stderr.decode()
        assert TOKEN not in ran.stderr.decode()


@pytest.fixture
def shell(tmp_path, capsys) -> Shell:
    return Shell(tmp_path / "memory.db", capsys)


def contents(shell: Shell) -> list[str]:
    return [one["content"] for one in shell("list", "--json").json["memories"]]


def test_an_imported_message_with_a_secret_is_skipped_and_told_where_secrets_are_refused(shell, tmp_path):
    """B65"""
    file = tmp_path / "chat.txt"
    file.write_text(f"User: {SAID}\nAssistant: Noted.\nUser: Tea is at four.\n", encoding="utf-8")
    ran = shell("import-conversation", str(file), "--set", "secrets=refuse")
    assert ran.out == "chat: 2 turns stored, 0 known already\n"
    assert "message 1: messages[0].content holds a secret (github token); nothing was saved" in ran.err
    assert sorted(contents(shell)) == ["Noted.", "Tea is at four."]


def test_a_message_of_a_speaker_who_is_called_by_a_secret_is_skipped_and_told(shell, tmp_path):
    """B65"""
    file = tmp_path / "chat.txt"
    file.write_text(f"{TOKEN}: hello\nMia: Tea is at four.\n{TOKEN}: again\nMia: Yes.\n", encoding="utf-8")
    ran = shell("import-conversation", str(file))
    assert ran.out == "chat: 2 turns stored, 0 known already\n"
    assert "messages[0].name holds a secret" in ran.err
    assert TOKEN not in ran.out + ran.err


def test_ids_in_a_file_that_are_secrets_give_way_to_places(shell, tmp_path):
    """B65: nothing that was said is lost by it."""
    chats = [
        {"id": f"{TOKEN}{number}", "messages": [{"id": TOKEN, "role": "user", "content": f"Tea is at {number}."}]}
        for number in range(2)
    ]
    (tmp_path / "chat.json").write_text(json.dumps(chats), encoding="utf-8")
    ran = shell("import-conversation", str(tmp_path / "chat.json"))
    assert ran.out == "chat/1: 1 turn stored, 0 known already\nchat/2: 1 turn stored, 0 known already\n"
    assert sorted(contents(shell)) == ["Tea is at 0.", "Tea is at 1."]
    assert TOKEN.encode() not in b"".join(part.read_bytes() for part in tmp_path.glob("memory.db*"))


def test_a_session_that_an_import_calls_by_a_secret_is_refused(shell, tmp_path):
    (tmp_path / "chat.txt").write_text("User: Tea is at four.\n", encoding="utf-8")
    ran = shell("import-conversation", str(tmp_path / "chat.txt"), "--session", TOKEN)
    assert (ran.code, TOKEN in ran.err, "session_id holds a secret" in ran.err) == (1, False, True)


# ---- what summarizers see and write ---------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_a_secret_that_is_kept_here_does_not_leave_this_machine(
    words_only: Settings, clock: Clock, monkeypatch: pytest.MonkeyPatch
):
    """B65: what the person wants in the file is not what a service is sent."""
    for name in ("ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_PROFILE", "ANTHROPIC_CUSTOM_HEADERS"):
        monkeypatch.delenv(name, raising=False)
    with fake_anthropic(summary("Ken has a token until May.")) as api:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "fake")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", api.url)
        asking = words_only.model_copy(update={"summarizer": "anthropic"})
        async with memory_that("keep", asking, clock) as memory:
            told = Conversation("s1", messages=(Message("user", SAID), Message("user", f"{TOKEN} it is.", TOKEN)))
            done = await memory.summarize(told)
            assert done.episode.engine == "claude-haiku-5-5"
            assert SAID in await all_that_is_kept(memory)
    assert "Ken's token is [redacted: github token] until May." in api.prompts[0]
    assert TOKEN not in json.dumps(api.requests)


class Repeats:
    """A summarizer that says again what was said last, also as a lesson and as a fact."""

    name = "repeats"

    async def summarize(self, messages, progress=None) -> Summary:
        said = messages[-1].content
        return Summary(said, (KeyFact(said, key=TOKEN), KeyFact("Tea is at four.")), (said,), "repeats")


@pytest.mark.anyio
@pytest.mark.parametrize("secrets", ["redact", "refuse"])
async def test_a_summarizer_brings_no_secret_back_from_turns_that_were_kept_before(
    words_only: Settings, clock: Clock, secrets: Secrets
):
    """B65: it is taken out and said, for nobody else could write the summary."""
    async with memory_that("keep", words_only, clock) as memory:
        await memory.take_in([("1", Message("user", SAID))], Conversation("s1"))
    careful = words_only.model_copy(update={"secrets": secrets})
    async with memory_with(careful, None, clock, summarizer=Repeats()) as memory:
        done = await memory.summarize(Conversation("s1"))
        assert "1 secret was redacted (github token)." in done.notice
        assert SAFE in done.episode.memory.content
        assert done.episode.lessons == (SAFE,)
        facts = [await memory.get(one.id) for one in done.facts]
        assert [(one.content, one.key) for one in facts] == [(SAFE, ""), ("Tea is at four.", "")]


@pytest.mark.anyio
async def test_a_summarizer_may_repeat_a_secret_that_is_to_be_kept(words_only: Settings, clock: Clock):
    async with memory_with(
        words_only.model_copy(update={"secrets": "keep"}), None, clock, summarizer=Repeats()
    ) as memory:
        done = await memory.summarize(Conversation("s1", messages=(Message("user", SAID),)))
        assert SAID in done.episode.memory.content


# ---- what is never repeated -----------------------------------------------------------------------------------------


CALLS = [
    ("store", {"content": SAID, "derived_from": [TOKEN]}),
    ("store", {"content": "x", "supersedes": [TOKEN]}),
    ("store", {"content": "x", "valid_from": f"password: {TOKEN}"}),
    ("store", {"content": "x", TOKEN: "y"}),
    ("recall", {"ids": [TOKEN]}),
    ("recall", {"since": TOKEN}),
    ("recall", {"cursor": TOKEN}),
    ("summarize", {"session_id": TOKEN}),
    ("summarize", {"session_id": "s1", "messages": [{"role": TOKEN, "content": "x"}]}),
    ("forget", {"ids": [TOKEN]}),
    ("forget", {"query": "x", "confirm": TOKEN}),
    (TOKEN, {}),
]


@pytest.mark.anyio
@pytest.mark.parametrize("secrets", ["redact", "keep"])
@pytest.mark.parametrize(("tool", "arguments"), CALLS)
async def test_no_error_of_a_tool_repeats_a_secret(words_only: Settings, tool: str, arguments, secrets: Secrets):
    """B65: hosts log what comes back."""
    server = build_server(words_only.model_copy(update={"secrets": secrets}))
    async with Client(server) as client:
        answer = await client.call_tool(tool, arguments)
    told = answer.model_dump_json()
    assert answer.is_error, told
    assert TOKEN[:12] not in told


@pytest.mark.anyio
@pytest.mark.parametrize("uri", [f"memory://memory/{TOKEN}", f"memory://session/{TOKEN}", f"memory://{TOKEN}"])
async def test_no_error_of_a_resource_repeats_a_secret(server, uri: str):
    """B65"""
    async with Client(server) as client:
        with pytest.raises(MCPError) as refusal:
            await client.read_resource(uri)
    assert TOKEN[:12] not in str(refusal.value)


@pytest.mark.anyio
async def test_no_error_of_a_prompt_repeats_a_secret(server):
    """B65"""
    async with Client(server) as client:
        with pytest.raises(MCPError) as refusal:
            await client.get_prompt("consolidate", {"namespace": f"{TOKEN}\x00"})
    assert TOKEN[:12] not in str(refusal.value)


@pytest.mark.parametrize(
    "words",
    [
        ["show", TOKEN],
        ["pin", TOKEN],
        ["forget", TOKEN],
        ["list", "--since", TOKEN],
        ["list", "--cursor", TOKEN],
        ["list", "--set", f"{TOKEN}=1"],
        ["list", "--set", f"tz={TOKEN}"],
        ["list", "--set", f"ttl={TOKEN}"],
        ["import-conversation", f"{TOKEN}.txt"],
        ["list", "--kind", TOKEN],
        ["list", f"--{TOKEN}"],
        [TOKEN],
    ],
)
def test_no_error_of_a_command_repeats_a_secret(tmp_path: Path, words: list[str]):
    """B65: a shell's errors end in logs."""
    ran = process(*words, MEMORY_MCP_DB=str(tmp_path / "memory.db"), MEMORY_MCP_MODEL="none")
    assert ran.returncode in (1, 2)
    assert ran.stderr
    assert TOKEN[:12] not in (ran.stdout + ran.stderr).decode()


def test_no_error_of_a_hook_repeats_a_secret(tmp_path: Path):
    """B65"""
    told = {"hook_event_name": "Stop", "session_id": TOKEN, "transcript_path": str(tmp_path / "t"), "cwd": "/"}
    for words, stdin in ((("capture", "claude-code", "--on"), json.dumps(told)), (("capture", TOKEN), "")):
        ran = process(*words, stdin=stdin.encode(), MEMORY_MCP_DB=str(tmp_path / "memory.db"))
        assert ran.returncode == 0
        assert ran.stderr
        assert TOKEN[:12] not in ran.stderr.decode()


@pytest.mark.anyio
async def test_what_was_asked_is_not_kept(words_only: Settings):
    """B65: questions and the arguments of prompts are no way in."""
    async with Client(build_server(words_only)) as client:
        await client.call_tool("recall", {"query": SAID, "context": SAID})
        await client.get_prompt("briefing", {"task": SAID})
        await client.get_prompt("summarize_session", {"session_id": TOKEN})
    assert TOKEN.encode() not in b"".join(part.read_bytes() for part in words_only.db.parent.glob("memory.db*"))
