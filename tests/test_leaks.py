"""Secrets that are kept already are found wherever they stand, and taken out so that nothing is left of them."""

import io
from argparse import Namespace
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest

from memory_mcp.app import open_memory
from memory_mcp.cli.scanning import scan
from memory_mcp.cli.terminal import Screen
from memory_mcp.config import Settings
from memory_mcp.errors import Conflict
from memory_mcp.leaks import BATCH, Leak
from memory_mcp.models import Action, Conversation, KeyFact, Message, Revision
from memory_mcp.service import MemoryService
from tests.memories import ask, keep
from tests.shell import Shell

TOKEN = "gh" + "p_" + "Q7zX" * 9
PASSWORD = "Blue-Kettle" + "-99"
WIFI = f"The wifi password at home is {PASSWORD}."
SAFE = "The wifi password at home is [redacted: password]."

CONTENT = Leak("", "content", ("password",))


@pytest.fixture
def careless(settings: Settings) -> Settings:
    """The same file, for somebody who keeps secrets."""
    return settings.model_copy(update={"secrets": "keep"})


@pytest.fixture
def shell(tmp_path, capsys) -> Shell:
    return Shell(tmp_path / "memory.db", capsys)


async def take_out(memory: MemoryService):
    found = await memory.leaks()
    return await memory.take_out_secrets(found, found.confirm)


def in_files(path: Path, *texts: str) -> list[str]:
    raw = b"".join(part.read_bytes() for part in path.parent.glob(f"{path.name}*"))
    return [text for text in texts if text.encode() in raw]


# ---- as a service ----------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_secrets_are_found_in_every_text_and_name(careless: Settings):
    """B65"""
    async with open_memory(careless.model_copy(update={"model": "none"}), door="cli") as memory:
        fact = await keep(memory, WIFI, tags=("home", TOKEN), key=f"{TOKEN}-key", speaker=f"{TOKEN}-speaker")
        newer = await keep(memory, "The wifi is off.", supersedes=(fact,))
        told = Conversation(
            f"{TOKEN}-session", summary=f"We set {TOKEN}.", key_facts=(KeyFact("Tea is at four."),),
            messages=(Message("user", f"use {TOKEN} please", "Mia"),), trigger=f"{TOKEN}-trigger",
            lessons=(WIFI,), actions=(Action(f"{TOKEN}-tool", ok=True, input_digest=f"{TOKEN}-digest"),),
            tags=(f"{TOKEN}-tag",), namespace=f"{TOKEN}-project",
        )  # fmt: skip
        episode = (await memory.summarize(told)).episode.memory.id
        [said], _, _ = await memory.session(told.session_id)
        github, both = ("github token",), ("github token", "password")
        found = (await memory.leaks()).found
        assert {replace(one, kinds=tuple(sorted(one.kinds))) for one in found} == {
            Leak(fact, "content", ("password",)),
            *(Leak(fact, field, github) for field in ("tags", "key", "speaker")),
            Leak(said.id, "content", github), Leak(said.id, "session_id", github), Leak(said.id, "namespace", github),
            Leak(episode, "content", both), Leak(episode, "trigger", github), Leak(episode, "lessons", ("password",)),
            *(Leak(episode, field, github) for field in ("tool", "input_digest", "tags")),
        }  # fmt: skip
        assert newer not in {one.memory_id for one in found}


@pytest.mark.anyio
async def test_what_is_taken_out_is_gone_and_the_rest_is_found_by_meaning(careless: Settings):
    """B65: also of what was superseded, and of a summary with its lessons."""
    async with open_memory(careless, door="cli") as memory:
        old = await keep(memory, f"The router's password is {PASSWORD}.", key="router")
        await keep(memory, "The router has no password any more.", key="router")
        await keep(memory, "Tea is at four.")
        wifi = await keep(memory, WIFI)
        told = Conversation("s1", summary="We set up the wifi.", lessons=(WIFI,))
        episode = (await memory.summarize(told)).episode.memory.id
        done = await take_out(memory)
        assert (set(done.ids), done.verification) == ({old, wifi, episode}, "clean")
        assert (await memory.leaks()).found == ()
        assert (await memory.get(wifi)).content == SAFE
        assert (await memory.episode(episode)).lessons == (SAFE,)
        assert (await memory.check()).counts["awaiting vectors"] == 0
        assert SAFE in await ask(memory, "how do I get online in my flat?", limit=2)
    assert in_files(careless.db, PASSWORD, PASSWORD.lower(), "kettle") == []


@pytest.mark.anyio
async def test_names_are_left_and_said(careless: Settings):
    async with open_memory(careless.model_copy(update={"model": "none"}), door="cli") as memory:
        tagged = await keep(memory, "Tea is at four.", tags=(TOKEN,))
        found = await memory.leaks()
        assert ([one.is_name for one in found.found], found.ids, found.confirm) == ([True], (), "")
        assert (await memory.get(tagged)).tags == (TOKEN.casefold(),)


@pytest.mark.anyio
async def test_more_than_one_batch_is_looked_through_and_cleaned(careless: Settings):
    async with open_memory(careless.model_copy(update={"model": "none"}), door="cli") as memory:
        first = await keep(memory, WIFI)
        for number in range(BATCH):
            await keep(memory, f"text {number}")
        last = await keep(memory, f"Use {TOKEN}.")
        assert [one.memory_id for one in (await memory.leaks()).found] == [first, last]
        assert (await take_out(memory)).ids == (first, last)
        assert (await memory.leaks()).found == ()
    assert in_files(careless.db, PASSWORD, TOKEN) == []


@pytest.mark.anyio
async def test_what_was_not_shown_is_not_taken_out(careless: Settings):
    async with open_memory(careless.model_copy(update={"model": "none"}), door="cli") as memory:
        wifi = await keep(memory, WIFI)
        before = await memory.leaks()
        await memory.revise(wifi, Revision(importance=0.9))
        with pytest.raises(Conflict, match="Nothing was changed"):
            await memory.take_out_secrets(before, before.confirm)
        assert (await memory.get(wifi)).content == WIFI


# ---- by the shell ----------------------------------------------------------------------------------------------------


def careless_store(shell: Shell, text: str, *words: str) -> str:
    return shell.store(text, *words, "--set", "secrets=keep")


def test_a_scan_names_ids_fields_and_kinds_and_never_the_secret(shell):
    """B65"""
    wifi = careless_store(shell, WIFI, "--tag", TOKEN)
    shell.store("Tea is at four.")
    ran = shell("doctor", "--scan")
    assert ran.code == 1
    assert f"{wifi}  content       password\n" in ran.out
    assert f"{wifi}  tags          github token\n" in ran.out
    assert "2 texts hold secrets, in 1 memory." in ran.out
    assert "Names are left" in ran.err
    as_json = shell("doctor", "--scan", "--json")
    assert as_json.json["secrets"] == [
        {"id": wifi, "field": "content", "kinds": ["password"]},
        {"id": wifi, "field": "tags", "kinds": ["github token"]},
    ]
    assert as_json.code == 1
    said = ran.out + ran.err + as_json.out + as_json.err
    assert [secret for secret in (PASSWORD, TOKEN, TOKEN.casefold()) if secret in said] == []


def test_a_scan_that_finds_nothing_succeeds(shell):
    shell.store("The password is in the safe.")
    ran = shell("doctor", "--scan")
    assert (ran.code, ran.out, ran.err) == (0, "No secrets were found in what is kept.\n", "")


def test_a_scan_makes_no_file(shell):
    assert shell("doctor", "--scan", "--json").json == {"secrets": [], "confirm": ""}
    assert not shell.file.exists()


def test_secrets_are_taken_out_with_the_handle_of_the_scan_only(shell):
    """B65"""
    wifi = careless_store(shell, WIFI)
    asked = shell("doctor", "--scan", "--redact")
    assert asked.code == 1
    assert "Nothing was changed. To do it, repeat it with --confirm" in asked.err
    assert shell("show", wifi, "--json").json["content"] == WIFI
    wrong = shell("doctor", "--scan", "--redact", "--confirm", "0" * 16)
    assert (wrong.code, "Nothing was changed" in wrong.err) == (1, True)
    handle = shell("doctor", "--scan", "--json").json["confirm"]
    done = shell("doctor", "--scan", "--redact", "--confirm", handle, "--json")
    assert done.code == 0
    assert done.json["redacted"]["ids"] == [wifi]
    assert done.json["redacted"]["verification"] == "clean"
    assert shell("show", wifi, "--json").json["content"] == SAFE
    assert shell("doctor", "--scan").code == 0
    assert in_files(shell.file, PASSWORD) == []


class Terminal(io.StringIO):
    """Where a person sits."""

    def isatty(self) -> bool:
        return True


@pytest.mark.anyio
@pytest.mark.parametrize(("answer", "code", "content"), [("yes\n", 0, SAFE), ("no\n", 1, WIFI)])
async def test_a_person_at_a_terminal_is_asked(words_only: Settings, answer: str, code: int, content: str):
    async with open_memory(words_only.model_copy(update={"secrets": "keep"}), door="cli") as memory:
        wifi = await keep(memory, WIFI)
    screen = Screen(Terminal(answer), Terminal(), Terminal(), UTC)
    assert await scan(words_only, Namespace(redact=True, confirm=""), screen) == code
    assert "Take the secrets out of 1 memory for good?" in screen.err.getvalue()
    async with open_memory(words_only, door="cli") as memory:
        assert (await memory.get(wifi)).content == content


def test_what_is_left_in_names_keeps_the_exit_code_at_1(shell):
    careless_store(shell, WIFI, "--tag", TOKEN)
    handle = shell("doctor", "--scan", "--json").json["confirm"]
    done = shell("doctor", "--scan", "--redact", "--confirm", handle, "--json")
    assert done.code == 1
    assert [one["field"] for one in done.json["left"]] == ["tags"]


@pytest.mark.parametrize("flags", [["--redact"], ["--confirm", "0" * 16]])
def test_taking_out_needs_a_scan(shell, flags):
    with pytest.raises(SystemExit) as ended:
        shell("doctor", *flags)
    assert ended.value.code == 2
