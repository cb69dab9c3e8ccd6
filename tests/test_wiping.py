"""Everything is erased once its count was typed: bytes, backups and settings; a server that runs goes on."""

import asyncio
import json
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from memory_mcp.app import open_memory
from memory_mcp.config import Settings
from memory_mcp.errors import Conflict
from memory_mcp.models import Conversation, Kind, Message, Selection, utc_now
from memory_mcp.storage import driver
from memory_mcp.storage.search import quantise, sign_bits
from memory_mcp.tokens import index_tokens
from tests.exports import fill, opened
from tests.memories import keep, universal
from tests.rawstdio import RawServer
from tests.shell import COFFEE, Shell, at_a_terminal, process

LOOK = """
import sys
from pathlib import Path
patterns = [bytes.fromhex(line).lower() for line in sys.stdin.read().split()]
held = [path.read_bytes().lower() for path in Path(sys.argv[1]).iterdir() if path.is_file()]
print(sum(any(pattern in one for one in held) for pattern in patterns))
"""

TEXTS = [
    *(f"The quixotic plan {number * 7919} of zanzibarian xylotomist {number} is hidden" for number in range(25)),
    *(f"第{number * 7919}の秘密の計画は紫陽花と向日葵の陰に隠されている" for number in range(25)),
]

KEY = "ab" * 32


@pytest.fixture
def shell(tmp_path, capsys) -> Shell:
    return Shell(tmp_path / "memory.db", capsys)


def traces() -> list[bytes]:
    """By what each text would betray itself: its own bytes, its longer words in the index, its vectors."""
    found: list[bytes] = []
    for text, vector in zip(TEXTS, universal().embed(TEXTS), strict=True):
        whole = quantise(vector)
        tokens = [token.encode() for token in index_tokens(text).split()]
        found += [text.encode(), text[3:24].encode(), sign_bits(vector), whole[:24], whole[-24:]]
        found += [token for token in tokens if len(token) >= 6]
    return list(dict.fromkeys(found))


def found_in(folder: Path, patterns: list[bytes]) -> int:
    """Count the patterns that stand in any file of a folder, whatever their case; seen by another process."""
    lines = "\n".join(pattern.hex() for pattern in patterns)
    done = subprocess.run(
        [sys.executable, "-c", LOOK, str(folder)], input=lines, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def filled(db: Path, key: str = "") -> int:
    """Keep each text in another way, with vectors; gives how many memories there are."""

    async def keep_all() -> int:
        async with open_memory(Settings.from_env({"MEMORY_MCP_DB": str(db), "MEMORY_MCP_KEY": key}), door="cli") as one:
            for number, text in enumerate(TEXTS[:-4]):
                kind = (Kind.FACT, Kind.LESSON, Kind.DECISION, Kind.TURN)[number % 4]
                slot = "slot" if number in (0, 4) else ""
                await keep(one, text, kind=kind, key=slot, tags=(f"tag {number}",), namespace=f"project {number % 3}")
            said = tuple(Message("user", text) for text in TEXTS[-4:-2])
            await one.summarize(Conversation("a session of Xerxes", messages=said, summary=TEXTS[-2]))
            await one.archive(Selection(ids=(await keep(one, TEXTS[-1]),)))
            return (await one.stats()).memories

    return asyncio.run(keep_all())


def back_up(db: Path) -> list[Path]:
    """Copies as they are made before a migration, a whole and a half one, with all that the file holds."""
    whole = db.with_name(f"{db.name}.v2.backup")
    connection = driver.connect(db)
    connection.execute("vacuum into ?", (str(whole),))
    connection.close()
    half = whole.with_name(f"{whole.name}.part")
    half.write_bytes(whole.read_bytes()[: 2**16])
    return [whole, half]


def names(folder: Path) -> set[str]:
    return {one.name for one in folder.iterdir() if one.is_file()}


# ---- nothing is left -------------------------------------------------------------------------------------------------


def test_no_byte_of_texts_tokens_or_vectors_is_left_under_a_server_that_goes_on(tmp_path: Path):
    """B36: in no file of the folder; what is not ours stays; what the server stores then is kept."""
    db = tmp_path / "memory.db"
    count = filled(db)
    back_up(db)
    foreign = {"memory.db.v2.backup.mine", "memory.dbx", "memory.db.vacation.backup"}
    for name in foreign:
        (tmp_path / name).write_text("mine", encoding="utf-8")
    patterns = traces()
    assert found_in(tmp_path, patterns) > 0.8 * len(patterns)
    with RawServer(db, {}) as server:
        server.initialize()
        assert "quixotic" in str(server.tool("recall", query="a quixotic plan", namespace="project 0"))
        wiped = process("--db", str(db), "wipe", "--confirm", str(count), "--json")
        assert wiped.returncode == 0, wiped.stderr
        told = json.loads(wiped.stdout)
        assert (told["memories"], told["verification"], told["file_removed"]) == (count, "clean", False)
        assert found_in(tmp_path, patterns) == 0
        assert names(tmp_path) == foreign | {"memory.db", "memory.db-wal", "memory.db-shm"}
        assert "quixotic" not in str(server.tool("recall", query="a quixotic plan", namespace="project 0"))
        assert not server.tool("store", content="A new beginning")["isError"]
        assert server.end_input() == 0
    found = process("--db", str(db), "recall", "how did it begin anew?", "--json")
    assert [hit["content"] for hit in json.loads(found.stdout)["hits"]] == ["A new beginning"]
    [first] = json.loads(process("--db", str(db), "audit", "log", "--verb", "wipe", "--json").stdout)["lines"]
    assert (first["door"], first["count"], first["ids"]) == ("cli", count, [])
    assert json.loads(process("--db", str(db), "doctor", "--json").stdout)["healthy"]


@pytest.mark.parametrize("key", ["", KEY])
def test_the_file_itself_goes_where_nobody_has_it_open(tmp_path: Path, key: str):
    """B36: encrypted or not, with log, backups, half backups and the pause marker; a new file begins with nothing."""
    db = tmp_path / "memory.db"
    environ = {"MEMORY_MCP_DB": str(db), "MEMORY_MCP_KEY": key, "MEMORY_MCP_MODEL": "none"}
    count = filled(db, key)
    if not key:
        back_up(db)
    process("pause", **environ)
    wiped = process("wipe", "--confirm", str(count), **environ)
    assert wiped.returncode == 0, wiped.stderr
    assert names(tmp_path) == set()
    assert b"Capture was paused, and is not any more." in wiped.stderr
    assert b"install HOST --remove" in wiped.stderr
    assert process("store", COFFEE, **environ).returncode == 0
    assert json.loads(process("stats", "--json", **environ).stdout)["memories"] == 1


def test_every_table_is_as_empty_as_in_a_new_file_and_the_secret_is_another(tmp_path: Path):
    """Also what was forgotten, the audit, sessions, uses of tools, and how far hosts' records were read."""

    async def wiped() -> tuple[bytes, bytes]:
        async with opened(tmp_path / "memory.db") as memory:
            await fill(memory)
            await memory.db.note_failure("captured", "user", "no reason", now=utc_now())
            await memory.db.spend("2026-05-04", 0.1)
            await memory.db.lease("upkeep", "somebody", now=utc_now(), duration=timedelta(minutes=1))
            before = await memory.db.secret()
            await memory.wipe((await memory.stats()).memories)
            return before, await memory.db.secret()

    async def fresh() -> None:
        async with opened(tmp_path / "fresh.db"):
            pass

    secrets = asyncio.run(wiped())
    asyncio.run(fresh())
    after, new = counts(tmp_path / "memory.db"), counts(tmp_path / "fresh.db")
    assert after.pop("audit") == 1 + new.pop("audit")
    assert after == new
    assert secrets[0] != secrets[1]


def counts(db: Path) -> dict[str, int]:
    connection = driver.connect(db)
    driver.load_vectors(connection)
    listed = [name for (name,) in connection.execute("select name from sqlite_master where type = 'table'")]
    found = {
        name: connection.execute(f"select count(*) from {name}").fetchone()[0]
        for name in listed
        if name not in ("sqlite_sequence", "fulltext")
    }
    connection.close()
    return found


# ---- only what was confirmed -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("words", [(), ("--json",), ("--confirm", "3"), ("--confirm", "1"), ("--confirm", "-2")])
def test_without_the_right_count_nothing_is_erased_and_that_is_no_success(shell, tmp_path, words):
    """B37: everything at once needs a confirmation of its own."""
    shell.store(COFFEE)
    shell.store("The boiler was serviced in May")
    shell("pause")
    backups = back_up(tmp_path / "memory.db")
    refused = shell("wipe", *words)
    assert refused.code == 1
    assert "Nothing was erased" in refused.err
    assert all(one.exists() for one in (*backups, tmp_path / "memory.db.paused"))
    assert len(shell("list", "--json").json["memories"]) == 2


def test_the_preview_says_what_would_go(shell, tmp_path):
    shell.store(COFFEE, "--kind", "preference")
    shell.store("The boiler was serviced in May")
    shell("pause")
    [whole, _] = back_up(tmp_path / "memory.db")
    shown = shell("wipe")
    for part in ("memory.db: 2 memories", "1 preference", "1 fact", str(whole), "memory.db.paused"):
        assert part in shown.out
    assert "memory-mcp wipe --confirm 2" in shown.err
    assert shell("wipe", "--json").json["by_kind"] == {"preference": 1, "fact": 1}


def test_what_was_stored_after_the_count_was_read_is_not_erased_unseen(shell):
    shell.store(COFFEE)
    count = shell("wipe", "--json").json["memories"]
    shell.store("Stored a moment later")
    assert shell("wipe", "--confirm", str(count)).code == 1
    assert len(shell("list", "--json").json["memories"]) == 2


def test_nothing_to_erase_is_said_and_no_file_is_made(shell, tmp_path):
    assert "There is no memory file" in shell("wipe").out
    assert names(tmp_path) == set()


def test_a_session_that_is_being_summarized_is_waited_for(tmp_path: Path):
    """What a summarizer has read already would be written after everything was erased."""

    async def wiped() -> None:
        async with opened(tmp_path / "memory.db") as memory:
            await keep(memory, COFFEE)
            await memory.db.lease("summary/user/s", "x", now=memory.now(), duration=timedelta(minutes=3))
            with pytest.raises(Conflict, match="Nothing was erased"):
                await memory.wipe(1)
            await memory.db.release("summary/user/s", "x")
            assert (await memory.wipe(1)).verification == "clean"

    asyncio.run(wiped())


@pytest.mark.parametrize(("typed", "code", "left"), [("2", 0, 0), ("3", 1, 2), ("yes", 1, 2), ("", 1, 2)])
def test_at_a_terminal_a_person_types_the_count(shell, tmp_path, typed: str, code: int, left: int):
    shell.store(COFFEE)
    shell.store("The boiler was serviced in May")
    words = ("--db", str(tmp_path / "memory.db"), "--model", "none", "wipe")
    ended, shown = at_a_terminal(*words, typed=f"{typed}\n", asked="type the number of memories:")
    assert "2 memories" in shown
    assert ended == code
    assert shell("stats", "--json").json["memories"] == left
