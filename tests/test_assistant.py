"""The example assistant, run as its reader would run it, against a stand-in for the API on this machine."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from memory_mcp.config import Settings
from memory_mcp.models import Filter, Kind, NewMemory, Source
from tests.fake_anthropic import Answer, FakeAnthropic, fake_anthropic
from tests.memories import memory_with
from tests.shell import CHECKOUT

pytestmark = pytest.mark.anyio

SCRIPT = CHECKOUT / "scripts" / "assistant.py"
ALLERGY = "Hanako is allergic to buckwheat."


@pytest.fixture
def api() -> Iterator[FakeAnthropic]:
    with fake_anthropic(Answer("Very well.")) as fake:
        yield fake


def start(file: Path, api: FakeAnthropic, **environ: str) -> subprocess.Popen[str]:
    settings = {"ANTHROPIC_API_KEY": "sk-test", "ANTHROPIC_BASE_URL": api.url, "MEMORY_MCP_DB": str(file)}
    return subprocess.Popen(
        [sys.executable, str(SCRIPT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env=os.environ
        | {"PYTHONPATH": str(CHECKOUT), "PYTHONUTF8": "1", "MEMORY_MCP_MODEL": "none"}
        | settings
        | environ,
    )


def talk(file: Path, api: FakeAnthropic, *lines: str, **environ: str) -> str:
    """Say these lines, then close the input; gives what was printed."""
    out, err = start(file, api, **environ).communicate("".join(f"{line}\n" for line in lines), timeout=60)
    assert err == ""
    return out


def remember(content: str, kind: str = "fact", **more: Any) -> Answer:
    call = {
        "type": "tool_use",
        "id": "toolu_1",
        "name": "remember",
        "input": {"content": content, "kind": kind, **more},
    }
    return Answer(content=(call,), stop="tool_use")


def said(request: dict[str, Any]) -> str:
    """The last thing that the model was told, whatever its form."""
    content = request["messages"][-1]["content"]
    return content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)


@pytest.fixture
def file(settings: Settings) -> Path:
    return settings.db


def test_the_script_is_short_enough_to_be_read():
    lines = SCRIPT.read_text("utf-8").splitlines()
    assert len(lines) <= 150
    assert max(map(len, lines)) <= 120


def test_the_second_conversation_knows_what_the_first_one_learned(file: Path, api: FakeAnthropic):
    api.answer(remember(ALLERGY, "preference"), Answer("I shall remember that."), Answer("Soba is off the list."))
    real = {"MEMORY_MCP_MODEL": "universal"}
    first = talk(file, api, "Please remember: Hanako is allergic to buckwheat.", "bye", **real)
    assert "I shall remember that." in first
    assert "Kept as an episode" in first
    assert "stored as" in said(api.requests[1])
    assert ALLERGY not in api.requests[0]["system"]
    api.requests.clear()
    talk(file, api, "Hanako comes for dinner.", "What must she not eat?", **real)
    for request in api.requests:
        assert ALLERGY in request["system"]
        assert "never instructions" in request["system"]
        assert ALLERGY in said(request)  # the second question finds her by the message before it
    assert [message["content"] for message in api.requests[1]["messages"]][1] == "Soba is off the list."


async def test_what_others_wrote_is_not_brought_up_unasked(words_only: Settings, api: FakeAnthropic, clock):
    async with memory_with(words_only, None, clock) as memory:
        await memory.store(NewMemory("Invoices go to the walrus", source=Source.TOOL))
        await memory.store(NewMemory("Invoices go to accounts"))
    talk(words_only.db, api, "Where do invoices go?")
    [request] = api.requests
    assert "accounts" in said(request)
    assert "walrus" not in json.dumps(request)


@pytest.mark.parametrize("failure", [Answer("overloaded", status=529), Answer("no such key", status=401)])
async def test_when_the_api_fails_the_talk_goes_on_and_nothing_said_is_lost(
    words_only: Settings, api: FakeAnthropic, clock, failure: Answer
):
    api.answer(failure, failure, failure, Answer("Here I am again."))
    if failure.status == 401:  # not worth another try
        api.answer(failure, Answer("Here I am again."))
    out = talk(words_only.db, api, "The ferry leaves at nine on Sundays.", "Are you there?")
    assert "What you said is kept; ask again." in out
    assert "Here I am again." in out
    assert api.requests[-1]["messages"][0]["content"] == "The ferry leaves at nine on Sundays."
    assert await kept(words_only, clock) == [
        "The ferry leaves at nine on Sundays.",
        "Are you there?",
        "Here I am again.",
    ]


async def test_an_api_that_nobody_runs_is_said_and_the_words_are_kept(words_only: Settings, clock):
    with fake_anthropic(Answer("")) as api:
        pass
    out = talk(words_only.db, api, "The ferry leaves at nine on Sundays.")
    assert "Connection error" in out
    assert "Kept as an episode: The ferry leaves at nine on Sundays." in out
    assert await kept(words_only, clock) == ["The ferry leaves at nine on Sundays."]


async def test_what_falls_out_of_the_window_is_kept_as_turns_in_order(words_only: Settings, api: FakeAnthropic, clock):
    lines = [f"Chapter {number}: " + f"the harbour of town {number} has {number} cranes, " * 8 for number in range(30)]
    talk(words_only.db, api, *lines, MEMORY_MCP_CONTEXT_TOKENS="2000")
    for request in api.requests:
        assert len(json.dumps(request["messages"])) < 4 * 1_000 + 2_000  # half the window, and what was recalled
        assert request["messages"][0]["role"] == "user"
    assert said(api.requests[-1]).endswith(lines[-1].strip())
    assert len(api.requests[-1]["messages"]) < 30
    turns = await kept(words_only, clock)
    assert turns == [one for line in lines for one in (line.strip(), "Very well.")]


async def test_a_line_longer_than_the_window_is_kept_whole(words_only: Settings, api: FakeAnthropic, clock):
    line = " ".join(f"word{number}" for number in range(1_000))
    talk(words_only.db, api, line, MEMORY_MCP_CONTEXT_TOKENS="1000")
    *pieces, _ = await kept(words_only, clock)
    assert " ".join(pieces) == line


@pytest.mark.skipif(os.name == "nt", reason="Windows sends Ctrl-C to a whole console")
async def test_ctrl_c_ends_the_conversation_with_its_episode(words_only: Settings, api: FakeAnthropic, clock):
    running = start(words_only.db, api)
    assert running.stdin
    assert running.stdout
    running.stdin.write("The ferry leaves at nine on Sundays.\n")
    running.stdin.flush()
    while "Very well." not in running.stdout.readline():
        pass
    running.send_signal(signal.SIGINT)
    out, err = running.communicate(timeout=60)
    assert (running.returncode, err) == (0, "")
    assert "Kept as an episode" in out
    assert len(await kept(words_only, clock)) == 2


def test_without_a_key_it_says_what_to_set(file: Path, api: FakeAnthropic):
    running = start(file, api, ANTHROPIC_API_KEY="")
    out, err = running.communicate("Hello\n", timeout=60)
    assert running.returncode != 0
    assert out == ""
    assert "Set ANTHROPIC_API_KEY" in err
    assert not file.exists()


def test_an_unusable_setting_is_named(file: Path, api: FakeAnthropic):
    running = start(file, api, MEMORY_MCP_TZ="Mars/Olympus")
    _, err = running.communicate("Hello\n", timeout=60)
    assert running.returncode != 0
    assert "MEMORY_MCP_TZ" in err
    assert "Traceback" not in err


def test_what_the_model_asks_wrongly_is_answered_in_words_and_the_talk_goes_on(file: Path, api: FakeAnthropic):
    nothing = Answer(content=({"type": "tool_use", "id": "t", "name": "remember", "input": {}},), stop="tool_use")
    wrong = (remember("x" * 17_000), remember("Tea", "rumour"), nothing)
    api.answer(*wrong, Answer("I shall write it shorter."))
    assert "I shall write it shorter." in talk(file, api, "Keep this.")
    told = [said(request) for request in api.requests[1:]]
    reasons = ("content has 17,000 characters", "'rumour' is not a valid Kind", "content")
    for what, answer in zip(reasons, told, strict=True):
        assert "Not remembered" in answer
        assert what in answer


def test_a_model_that_never_stops_calling_is_stopped(file: Path, api: FakeAnthropic):
    api.answer(remember("The kettle is blue."))
    assert "(no answer)" in talk(file, api, "The kettle is blue.")
    assert len(api.requests) == 8


def test_nothing_said_leaves_nothing_behind(file: Path, api: FakeAnthropic):
    assert talk(file, api) == "> \n"
    assert api.requests == []


async def kept(settings: Settings, clock) -> list[str]:
    """What was said, as turns of the one session, in their order; the session is summarized."""
    async with memory_with(settings, None, clock) as memory:
        turns = (await memory.db.page(Filter(kinds=(Kind.TURN,)), 200)).memories
        assert len({turn.session_id for turn in turns}) == 1
        assert len(await memory.recent_episodes()) == 1
        assert await memory.pending_sessions() == []
        return [turn.content for turn in sorted(turns, key=lambda turn: turn.sequence or 0)]
