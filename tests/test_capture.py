"""What hooks keep: in this process on a real file, and as hosts call them, in processes of their own."""

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.app import open_memory
from memory_mcp.capture import AT_ONCE, Kept, capture
from memory_mcp.config import Settings
from memory_mcp.errors import StoreFull
from memory_mcp.hooks import Event, HookEvent
from memory_mcp.models import Conversation, Filter, Kind, Memory, Source, Trust
from memory_mcp.storage import SqliteStore, driver, open_store
from memory_mcp.storage.database import open_in_haste
from tests.conftest import Clock
from tests.shell import CHECKOUT, process

pytestmark = pytest.mark.anyio

BUCKWHEAT = "I am allergic to buckwheat."
SECRET = "my key is sk-ant-" + "a1B2c3D4" * 5


@pytest.fixture
def settings(tmp_path: Path) -> Settings:
    return Settings(db=tmp_path / "memory.db", capture="on", model="none")


@pytest.fixture
async def store(settings: Settings, clock: Clock) -> AsyncIterator[SqliteStore]:
    opened = await open_store(settings.db, now=clock)
    yield opened
    await opened.close()


class Record:
    """A host's record of one conversation, as Claude Code writes it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._said = 0
        path.touch()

    def say(self, *texts: str, role: str = "user", at: str = "2026-05-04T09:00:00Z") -> "Record":
        for text in texts:
            self._said += 1
            self.line({"type": role, "uuid": f"m{self._said}", "timestamp": at, "message": {"content": text}})
        return self

    def use(self, call: str, tool: str, output: str, *, fails: bool = False) -> "Record":
        given = {"type": "tool_use", "id": call, "name": tool, "input": {"path": "/home/ada"}}
        result = {"type": "tool_result", "tool_use_id": call, "content": output, "is_error": fails}
        at = "2026-05-04T09:00:00Z"
        self.line({"type": "assistant", "uuid": f"{call}-1", "timestamp": at, "message": {"content": [given]}})
        return self.line({"type": "user", "uuid": f"{call}-2", "timestamp": at, "message": {"content": [result]}})

    def line(self, value: dict[str, Any]) -> "Record":
        with self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(value) + "\n")
        return self

    def event(self, event: Event = "stop", cwd: Path | None = None) -> HookEvent:
        return HookEvent("claude-code", event, "s1", self.path, cwd)

    def hook(self, **fields: Any) -> bytes:
        told = {"hook_event_name": "Stop", "session_id": "s1", "transcript_path": str(self.path), "cwd": "/"}
        return json.dumps(told | fields).encode()


@pytest.fixture
def record(tmp_path: Path) -> Record:
    return Record(tmp_path / "t.jsonl")


async def turns(store: SqliteStore) -> list[Memory]:
    return await store.turns("s1", "")


async def said(store: SqliteStore) -> list[str]:
    return [turn.content for turn in await turns(store)]


# ---- what is kept ----------------------------------------------------------------------------------------------------


async def test_turns_are_kept_in_order_with_speaker_time_place_and_source(
    store: SqliteStore, settings: Settings, clock: Clock, record: Record
):
    record.say(BUCKWHEAT).say("Noted.", role="assistant", at="2026-05-04T09:01:00Z")
    assert await capture(record.event(), store, settings, clock()) == Kept(2)
    told, answered = await turns(store)
    assert (told.content, told.speaker, told.sequence, told.source) == (BUCKWHEAT, "user", 1, Source.USER)
    assert (answered.speaker, answered.sequence, answered.source) == ("assistant", 2, Source.AGENT)
    assert {told.trust, answered.trust} == {Trust.TRUSTED}
    assert (told.kind, told.namespace, told.session_id) == (Kind.TURN, "user", "s1")
    assert told.created_at == datetime(2026, 5, 4, 9, tzinfo=UTC)
    assert told.expires_at == clock() + timedelta(days=90)


async def test_each_call_keeps_what_is_new_and_one_without_news_writes_nothing(
    store: SqliteStore, settings: Settings, clock: Clock, record: Record
):
    record.say("one")
    assert await capture(record.event(), store, settings, clock()) == Kept(1)
    changes = await store.changes()
    assert await capture(record.event(), store, settings, clock()) == Kept()
    assert await store.changes() == changes
    record.say("two", "three")
    assert await capture(record.event("compact"), store, settings, clock()) == Kept(2)
    assert await said(store) == ["one", "two", "three"]


async def test_a_resumed_session_goes_on_and_its_end_is_only_marked(
    store: SqliteStore, settings: Settings, clock: Clock, record: Record
):
    record.say("one")
    await capture(record.event("end"), store, settings, clock())
    [session] = await store.pending_sessions((), 9)
    assert (session.turns, session.ended_at) == (1, clock())
    record.say("two")
    await capture(record.event(), store, settings, clock.turn(hours=1))
    [session] = await store.pending_sessions((), 9)
    assert (session.turns, session.ended_at) == (2, None)
    assert [turn.sequence for turn in await turns(store)] == [1, 2]


async def test_a_conversation_of_which_there_is_no_record_ends_without_a_word(
    store: SqliteStore, settings: Settings, clock: Clock, tmp_path: Path
):
    for path in (None, tmp_path / "never written.jsonl"):
        event = HookEvent("claude-code", "end", "s1", path)
        assert await capture(event, store, settings, clock()) == Kept()
    assert (await store.stats()).memories == 0


async def test_a_transcript_that_shrinks_or_starts_anew_gives_no_turn_twice(
    store: SqliteStore, settings: Settings, clock: Clock, record: Record
):
    record.say("one", "two")
    await capture(record.event(), store, settings, clock())
    before = await turns(store)
    kept = record.path.read_text("utf-8").splitlines()[1]
    record.path.write_text(f"{kept}\n", "utf-8")
    record.say("three")
    assert await capture(record.event(), store, settings, clock.turn(hours=1)) == Kept(1)
    assert (await turns(store))[:2] == before, "what is known stays as it is"
    assert await said(store) == ["one", "two", "three"]


async def test_a_time_that_has_not_come_yet_costs_no_turn(
    store: SqliteStore, settings: Settings, clock: Clock, record: Record
):
    record.say("from tomorrow", at="2036-01-01T00:00:00Z").say("from nowhere", at="")
    assert await capture(record.event(), store, settings, clock()) == Kept(2)
    assert {turn.created_at for turn in await turns(store)} == {clock()}


async def test_uses_of_tools_become_the_actions_of_the_episode_and_what_they_printed_is_not_kept(
    settings: Settings, clock: Clock, record: Record
):
    record.say("What is in the notes?").use("c1", "Read", "three apple trees").use("c2", "Bash", "no", fails=True)
    async with open_memory(settings, door="cli", now=clock) as memory:
        await capture(record.event(), memory.db, settings, clock())
        done = await memory.summarize(Conversation("s1", summary="The notes were read."))
        assert [(one.tool, one.ok, one.duration) for one in done.episode.actions] == [
            ("Read", True, 0.0),
            ("Bash", False, 0.0),
        ]
        assert len({one.input_digest for one in done.episode.actions}) == 1
        assert (await memory.db.stats()).by_kind == {"turn": 1, "episode": 1}


async def test_what_tools_print_is_kept_as_untrusted_where_that_is_asked_for(
    store: SqliteStore, settings: Settings, clock: Clock, record: Record
):
    record.use("c1", "Read", "three apple trees").use("c2", "mcp__memory__recall", BUCKWHEAT)
    await capture(record.event(), store, settings.model_copy(update={"capture": "tools"}), clock())
    [printed] = await turns(store)
    assert (printed.content, printed.source, printed.trust) == ("three apple trees", Source.TOOL, Trust.UNTRUSTED)


async def test_an_overlong_message_is_kept_in_parts_once(
    store: SqliteStore, settings: Settings, clock: Clock, record: Record
):
    words = " ".join(f"word{number}" for number in range(5_000))
    record.say(words)
    await capture(record.event(), store, settings, clock())
    assert " ".join(await said(store)) == words
    assert [turn.sequence for turn in await turns(store)] == [1, 2, 3]
    record.path.write_text(record.path.read_text("utf-8").replace("Z", "Z ", 1), "utf-8")
    assert await capture(record.event(), store, settings, clock()) == Kept()


async def test_more_than_one_call_may_take_is_taken_by_those_that_follow(
    store: SqliteStore, settings: Settings, clock: Clock, record: Record
):
    long = "word " * (AT_ONCE // 12)
    texts = [f"{number} {long}" for number in range(5)]
    record.say(*texts)
    for left in (3, 1, 0):
        await capture(record.event(), store, settings, clock())
        assert len({turn.content[0] for turn in await turns(store) if turn.content[1] == " "}) == 5 - left
    assert await capture(record.event(), store, settings, clock()) == Kept()


async def test_what_tools_print_takes_no_room_where_it_is_not_kept(
    store: SqliteStore, settings: Settings, clock: Clock, record: Record
):
    for number in range(5):
        record.say(f"text {number}").use(f"c{number}", "Read", "x" * AT_ONCE)
    assert await capture(record.event(), store, settings, clock()) == Kept(5)


async def test_a_message_that_cannot_be_kept_holds_up_no_other(
    store: SqliteStore, settings: Settings, clock: Clock, record: Record
):
    record.say("one", "e" + "\u0301" * 40, "\x1b[31mred\x00", "two")
    kept = await capture(record.event(), store, settings, clock())
    assert (kept.written, kept.skipped) == (3, 1)
    assert "message m2: messages[0].content holds more than 30 combining marks" in kept.notices[-1]
    assert await said(store) == ["one", "\ufffd[31mred\ufffd", "two"]


# ---- what is not kept ------------------------------------------------------------------------------------------------


async def test_private_words_are_left_out_and_secrets_redacted_before_anything_is_written(
    store: SqliteStore, settings: Settings, clock: Clock, record: Record
):
    record.say("<private>my salary is 5</private>", "tea <private>and gin</private> please", SECRET)
    await capture(record.event(), store, settings, clock())
    assert await said(store) == ["tea  please", "my key is [redacted: anthropic key]"]
    await store.close()
    assert b"salary" not in settings.db.read_bytes()


async def test_a_turn_that_was_forgotten_is_not_learned_again(
    store: SqliteStore, settings: Settings, clock: Clock, record: Record
):
    """B40: neither by the next hook nor by reading the whole record anew."""
    record.say(BUCKWHEAT, "and I like tea")
    await capture(record.event(), store, settings, clock())
    [first, _] = await turns(store)
    await store.forget([first.id], now=clock(), door="cli")
    record.path.write_text(record.path.read_text("utf-8").replace("Z", "Z ", 1), "utf-8")
    record.say("goodbye")
    assert await capture(record.event(), store, settings, clock()) == Kept(1)
    assert await said(store) == ["and I like tea", "goodbye"]


async def test_no_digest_of_the_record_outlives_what_was_forgotten_of_it(
    store: SqliteStore, settings: Settings, clock: Clock, record: Record
):
    """Where reading goes on stays known, so that what was said while paused is not read after all."""
    record.say("and I like tea", BUCKWHEAT)
    await capture(record.event(), store, settings, clock())
    settings.pause_marker.touch()
    record.say("off the record")
    await capture(record.event(), store, settings, clock())
    settings.pause_marker.unlink()
    known = await store.reading("claude-code", "s1")
    await store.forget([(await turns(store))[1].id], now=clock(), door="cli")
    assert known
    assert known.mark
    assert await store.reading("claude-code", "s1") == replace(known, mark=b"")
    record.say("goodbye")
    assert await capture(record.event(), store, settings, clock()) == Kept(1)
    assert await said(store) == ["and I like tea", "goodbye"]


async def test_what_is_said_while_capture_is_paused_is_not_kept_afterwards_either(
    store: SqliteStore, settings: Settings, clock: Clock, record: Record
):
    record.say("before")
    await capture(record.event(), store, settings, clock())
    settings.pause_marker.touch()
    record.say("off the record").use("c1", "Read", "text")
    assert await capture(record.event(), store, settings, clock()) == Kept()
    settings.pause_marker.unlink()
    record.say("after")
    await capture(record.event(), store, settings, clock())
    assert await said(store) == ["before", "after"]


async def test_a_conversation_about_an_excluded_folder_is_not_kept(
    store: SqliteStore, settings: Settings, clock: Clock, record: Record, tmp_path: Path
):
    diary, other = tmp_path / "diary", tmp_path / "diary2"
    for folder in (diary / "may", other):
        folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(diary)
    excluding = settings.model_copy(update={"exclude": (diary,)})
    for cwd in (diary, diary / "may", tmp_path / "link" / "may", other / ".." / "diary", None):
        record.say(f"about {cwd}")
        assert await capture(record.event(cwd=cwd), store, excluding, clock()) == Kept()
    record.say("about something else")
    assert await capture(record.event(cwd=other), store, excluding, clock()) == Kept(1)
    assert await said(store) == ["about something else"]


async def test_two_hosts_may_call_their_conversations_the_same(
    store: SqliteStore, settings: Settings, clock: Clock, record: Record, tmp_path: Path
):
    record.say("here")
    await capture(record.event(), store, settings, clock())
    line = {"id": "m1", "type": "user", "timestamp": "2026-05-04T09:00:00Z", "content": "there"}
    other = Record(tmp_path / "g.jsonl").line(line)
    await capture(replace(other.event(), host="gemini"), store, settings, clock())
    assert sorted(await said(store)) == ["here", "there"]


# ---- as hosts call it ------------------------------------------------------------------------------------------------


def hook(file: Path, record: Record, *words: str, **fields: Any) -> subprocess.CompletedProcess[bytes]:
    return process("capture", "claude-code", "--db", str(file), *words, stdin=record.hook(**fields))


def start(file: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "memory_mcp", "capture", "claude-code", "--on", "--db", str(file)]
    environ = {**os.environ, "PYTHONPATH": str(CHECKOUT)}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environ)


async def kept_in(file: Path) -> list[str]:
    store = await open_store(file, now=lambda: datetime.now(UTC))
    found = (await store.page(Filter(), 100)).memories
    await store.close()
    return [one.content for one in reversed(found)]


def silent(ran: subprocess.CompletedProcess[bytes]) -> bool:
    return (ran.returncode, ran.stdout, ran.stderr) == (0, b"", b"")


def says(ran: subprocess.CompletedProcess[bytes], *words: str) -> bool:
    """Whether the host goes on, and a person can read in one line why nothing was kept."""
    complaint = ran.stderr.decode()
    assert (ran.returncode, ran.stdout) == (0, b""), complaint
    assert complaint.count("\n") == 1, complaint
    return all(word in complaint for word in words)


async def test_a_hook_keeps_nothing_and_makes_nothing_until_the_person_has_opted_in(record: Record, tmp_path: Path):
    file = tmp_path / "memory.db"
    record.say("hello")
    assert silent(hook(file, record))
    assert not file.exists()
    assert silent(hook(file, record, "--on"))
    assert silent(hook(file, record, MEMORY_MCP_CAPTURE="on"))
    assert await kept_in(file) == ["hello"]


async def test_the_pause_wins_over_what_was_agreed_to(record: Record, tmp_path: Path):
    file = tmp_path / "memory.db"
    record.say("hello")
    assert process("pause", "--db", str(file)).returncode == 0
    assert silent(hook(file, record, "--on"))
    assert await kept_in(file) == []


@pytest.mark.parametrize(
    ("host", "stdin", "answer"),
    [
        ("claude-code", b"", b""),
        ("claude-code", b"\xff", b""),
        ("codex", b"[]", b""),
        ("gemini", b"{}", b"{}"),
        ("antigravity", b'{"hook_event_name": "Stop"}', b"{}"),
    ],
)
def test_every_host_gets_the_answer_that_changes_nothing(host: str, stdin: bytes, answer: bytes, tmp_path: Path):
    ran = process("capture", host, "--on", "--db", str(tmp_path / "memory.db"), stdin=stdin)
    assert (ran.returncode, ran.stdout.strip(), ran.stderr) == (0, answer, b"")


async def test_two_hooks_at_once_on_one_session_keep_every_turn_once_and_in_order(record: Record, tmp_path: Path):
    file, texts = tmp_path / "memory.db", [f"text {number}" for number in range(40)]
    record.say(*texts)
    running = [start(file) for _ in range(3)]
    outcomes = [one.communicate(record.hook(), timeout=60) for one in running]
    assert [one.returncode for one in running] == [0, 0, 0]
    assert {out for out, _ in outcomes} == {b""}
    silent(hook(file, record, "--on"))  # whoever had to wait too long left it to the next
    store = await open_store(file, now=lambda: datetime.now(UTC))
    found = await turns(store)
    await store.close()
    assert [turn.content for turn in found] == texts
    assert [turn.sequence for turn in found] == list(range(1, 41))


async def test_where_the_file_is_locked_the_host_goes_on_and_the_next_hook_keeps_it(record: Record, tmp_path: Path):
    """B70: one line on stderr, nothing lost."""
    file = tmp_path / "memory.db"
    silent(hook(file, record.say("one"), "--on"))
    other = driver.connect(file)
    other.execute("begin immediate")
    assert says(hook(file, record.say("two"), "--on"), "Nothing was saved", "another program")
    other.rollback()
    other.close()
    assert silent(hook(file, record.say("three"), "--on"))
    assert await kept_in(file) == ["one", "two", "three"]


async def test_where_the_disk_is_full_the_host_goes_on_and_a_later_hook_keeps_it(
    store: SqliteStore, settings: Settings, clock: Clock, record: Record
):
    """B70: the place in the record moves only with what was written."""
    await store.close()
    database = await open_in_haste(settings.db)
    hasty = SqliteStore(database, clock, timedelta())
    await database.maintain(lambda at: at.execute("pragma max_page_count = 80").fetchone())
    record.say(*(f"{number} " + "long text " * 1_500 for number in range(10)))
    with pytest.raises(StoreFull, match="Nothing was saved: the disk"):
        await capture(record.event(), hasty, settings, clock())
    assert await hasty.reading("claude-code", "s1") is None
    await database.maintain(lambda at: at.execute("pragma max_page_count = 100000").fetchone())
    assert await capture(record.event(), hasty, settings, clock()) == Kept(10)
    await hasty.close()


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has other permissions")
@pytest.mark.parametrize("place", ["folder", "file/below", "/proc/memory.db"])
def test_where_nothing_can_be_written_the_host_goes_on(place: str, record: Record, tmp_path: Path):
    """B70: a place that cannot hold the file is told of, and nothing else happens."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    assert says(hook(tmp_path / place, record.say("one"), "--on"), "Nothing was saved")


def test_a_file_of_another_program_is_not_touched(record: Record, tmp_path: Path):
    file = tmp_path / "memory.db"
    file.write_bytes(b"a diary, and no database" * 100)
    assert says(hook(file, record.say("one"), "--on"), "not a memory file")
    assert file.read_bytes().startswith(b"a diary")


def test_a_setting_that_cannot_be_used_does_not_stop_the_host(record: Record, tmp_path: Path):
    ran = process("capture", "claude-code", "--on", stdin=record.hook(), MEMORY_MCP_TZ="Mars/Crater")
    assert says(ran, "MEMORY_MCP_TZ")


def test_a_record_that_cannot_be_read_does_not_stop_the_host(record: Record, tmp_path: Path):
    ran = hook(tmp_path / "memory.db", record, "--on", transcript_path=str(tmp_path))
    assert says(ran, "is not a file")


def test_wrong_usage_does_not_stop_the_host(record: Record):
    """B70: an exit code of 2 would block the person's prompt."""
    assert says(process("capture", "emacs", stdin=record.hook()), "invalid choice")


async def test_an_encrypted_file_takes_what_was_said(record: Record, tmp_path: Path):
    file, key = tmp_path / "memory.db", "ab" * 32
    record.say(BUCKWHEAT)
    ran = process("capture", "claude-code", "--on", "--db", str(file), stdin=record.hook(), MEMORY_MCP_KEY=key)
    assert silent(ran)
    assert b"buckwheat" not in file.read_bytes()
    store = await open_store(file, key=key, now=lambda: datetime.now(UTC))
    assert await said(store) == [BUCKWHEAT]
    await store.close()


def test_a_hook_loads_no_model_no_server_and_no_network_library(record: Record, tmp_path: Path):
    record.say("hello")
    code = (
        "import sys; from memory_mcp.cli import main; main(sys.argv[1:]);"
        "print([name for name in ('numpy', 'mcp', 'anthropic', 'httpx2', 'memory_mcp.embedding', 'sqlite_vec',"
        " 'memory_mcp.summarizers') if name in sys.modules])"
    )
    words = ["capture", "claude-code", "--on", "--db", str(tmp_path / "memory.db")]
    ran = subprocess.run(
        [sys.executable, "-c", code, *words], input=record.hook(), capture_output=True, cwd=CHECKOUT, check=True
    )
    assert ran.stdout.decode().strip() == "[]"
