"""The shell's verbs export and import: where they write, what they refuse, what they say."""

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from tests.exports import HEADER, line
from tests.shell import CHECKOUT, COFFEE, Shell, process

FILLER = "a long text " * 1_000


@pytest.fixture
def shell(tmp_path, capsys) -> Shell:
    return Shell(tmp_path / "memory.db", capsys)


@pytest.fixture
def other(tmp_path, capsys) -> Shell:
    """Another machine."""
    return Shell(tmp_path / "elsewhere" / "memory.db", capsys)


def test_all_that_is_kept_moves_to_another_machine_and_is_found_there_by_meaning(shell, other, tmp_path):
    coffee = shell.store(COFFEE, "--tag", "drinks")
    out = shell("export", str(tmp_path / "all.jsonl"))
    assert (out.code, out.err) == (0, "")
    assert out.out == f"Exported 1 memory. They are in {tmp_path / 'all.jsonl'}, for you alone.\n"
    moved = other("import", str(tmp_path / "all.jsonl"), model="universal")
    assert moved.code == 0
    assert moved.out == f"{tmp_path / 'all.jsonl'}: 1 imported, 0 known already\n"
    assert "Trusted, as" in moved.err
    found = other("recall", "how do I like my hot drinks?", "--json", model="universal").json["hits"]
    assert [(hit["id"], hit["reasons"]["meaning"] > 0) for hit in found] == [(coffee, True)]


def test_an_export_without_a_file_is_the_whole_of_standard_output(shell, other, monkeypatch):
    """As in memory-mcp export | ssh there memory-mcp import -"""
    shell.store(COFFEE)
    out = shell("export")
    assert out.err == "Exported 1 memory.\n"
    assert [json.loads(text).keys() & {"format", "memory"} for text in out.out.splitlines()] == [{"format"}, {"memory"}]
    piped = process("--db", str(other.file), "--model", "none", "import", "-", "--json", stdin=out.out.encode())
    assert json.loads(piped.stdout)["files"]["-"]["imported"] == 1


def test_a_dry_run_says_what_would_come_in_and_keeps_nothing(shell, tmp_path):
    (tmp_path / "some.jsonl").write_text(HEADER + line(COFFEE) + "broken\n", encoding="utf-8")
    foretold = shell("import", str(tmp_path / "some.jsonl"), "--dry-run")
    assert "some.jsonl: would import 1, 0 known already" in foretold.out
    assert "line 3: it is not valid JSON" in foretold.err
    assert "this was a dry run" in foretold.err
    assert foretold.code == 1  # as the run itself will end
    assert not shell.file.exists()
    assert shell("list", "--json").json["memories"] == []
    assert "1 imported" in shell("import", str(tmp_path / "some.jsonl")).out


def test_a_file_that_is_no_export_holds_up_no_other_and_is_no_success(shell, tmp_path):
    (tmp_path / "chat.json").write_text('[{"role": "user", "content": "hello"}]', encoding="utf-8")
    (tmp_path / "some.jsonl").write_text(HEADER + line(COFFEE), encoding="utf-8")
    done = shell("import", *(str(tmp_path / name) for name in ("chat.json", "missing", ".", "some.jsonl")))
    assert done.code == 1
    assert "some.jsonl: 1 imported" in done.out
    assert "memory-mcp import-conversation" in done.err
    assert "missing: It cannot be read" in done.err


def test_what_was_forgotten_is_told_with_the_flag_that_brings_it_back(shell, tmp_path):
    coffee = shell.store(COFFEE)
    shell("export", str(tmp_path / "all.jsonl"))
    shell("forget", coffee)
    stays = shell("import", str(tmp_path / "all.jsonl"))
    assert "0 imported, 0 known already, 1 forgotten on request and left so" in stays.out
    assert "--include-forgotten" in stays.err
    back = shell("import", str(tmp_path / "all.jsonl"), "--include-forgotten")
    assert "1 imported" in back.out
    assert "1 had been forgotten on request; their blocks are lifted" in back.err
    assert COFFEE in shell("list").out


def test_others_files_are_labelled_and_stay_out_of_the_briefing(shell, other, tmp_path):
    other.store(COFFEE, "--pin")
    other("export", str(tmp_path / "theirs.jsonl"))
    assert shell("import", str(tmp_path / "theirs.jsonl"), "--untrusted").err == ""
    assert COFFEE not in shell("context").out
    assert [one["trust"] for one in shell("list", "--source", "import", "--json").json["memories"]] == ["untrusted"]


# ---- where it is written ---------------------------------------------------------------------------------------------


def test_a_file_that_is_there_is_replaced_only_if_one_says_so(shell, tmp_path):
    shell.store(COFFEE)
    target = tmp_path / "all.jsonl"
    target.write_text("mine", encoding="utf-8")
    refused = shell("export", str(target))
    assert refused.code == 1
    assert "--force" in refused.err
    assert target.read_text("utf-8") == "mine"
    assert shell("export", str(target), "--force").code == 0
    assert COFFEE in target.read_text("utf-8")


OWN = [
    "memory.db",
    "memory.db-wal",
    "memory.db-shm",
    "memory.db.paused",
    "memory.db.v1.backup",
    "memory.db.v1.backup.part",
]


@pytest.mark.parametrize("name", OWN)
@pytest.mark.parametrize("way", ["itself", "dots", "link", "link to its folder"])
@pytest.mark.parametrize("verb", ["export", "import", "import-conversation"])
def test_what_belongs_to_the_memory_file_is_neither_written_nor_read_by_whatever_way(shell, tmp_path, verb, name, way):
    """B62: links are followed, then whole components are compared."""
    shell.store(COFFEE)
    before = (tmp_path / "memory.db").read_bytes()
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "link").symlink_to(tmp_path / name)
    (tmp_path / "elsewhere" / "folder").symlink_to(tmp_path)
    path = {
        "itself": tmp_path / name,
        "dots": tmp_path / "elsewhere" / ".." / name,
        "link": tmp_path / "elsewhere" / "link",
        "link to its folder": tmp_path / "elsewhere" / "folder" / name,
    }[way]
    refused = shell(verb, str(path), *(["--force"] if verb == "export" else []))
    assert refused.code == 1
    assert "elongs to the memory file" in refused.err
    assert (tmp_path / "memory.db").read_bytes() == before


@pytest.mark.parametrize("name", ["memory.db.jsonl", "memory.db.vacation.backup", "my-memory.db", "memory.db-export"])
def test_names_that_only_begin_alike_are_free(shell, tmp_path, name):
    """B62: whole components, not beginnings of texts."""
    shell.store(COFFEE)
    assert shell("export", str(tmp_path / name)).code == 0


def test_a_hard_link_to_the_memory_file_is_the_memory_file(shell, tmp_path):
    """B62."""
    shell.store(COFFEE)
    (tmp_path / "alias").hardlink_to(tmp_path / "memory.db")
    for verb in ("export", "import"):
        assert "elongs to the memory file" in shell(verb, str(tmp_path / "alias")).err


@pytest.mark.parametrize("target", ["", os.devnull, "missing/all.jsonl"])
def test_what_is_no_place_for_a_file_is_refused(shell, tmp_path, target):
    """B62: no folder, no device, and no folder is made."""
    shell.store(COFFEE)
    refused = shell("export", str(tmp_path / target), "--force")
    assert refused.code == 1
    assert "Nothing was exported" in refused.err
    assert sorted(one.name for one in tmp_path.iterdir()) == ["home", "memory.db"]


def test_without_a_memory_file_nothing_is_exported_and_none_is_made(shell, tmp_path):
    refused = shell("export", str(tmp_path / "all.jsonl"))
    assert refused.code == 1
    assert "no memory file" in refused.err
    assert [one.name for one in tmp_path.iterdir()] == ["home"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such bound")
@pytest.mark.parametrize("there", [False, True])
def test_an_export_that_finds_no_room_leaves_no_half_file(shell, tmp_path, there):
    """B59: nothing stands under the final name but what was there, and the exit code says so."""
    for number in range(20):
        shell.store(f"{number} {FILLER}")
    (tmp_path / "out").mkdir()
    target = tmp_path / "out" / "all.jsonl"
    if there:
        target.write_text("mine", encoding="utf-8")
    program = (
        "import resource, sys\n"
        "from memory_mcp.cli.entry import main\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))\n"
        "sys.exit(main(sys.argv[1:]))"
    )
    words = ["--db", str(shell.file), "--model", "none", "export", str(target), "--force"]
    ran = subprocess.run(
        [sys.executable, "-c", program, *words],
        env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (ran.returncode, ran.stdout) == (1, "")
    assert "cannot be written" in ran.stderr
    assert "Nothing was exported" in ran.stderr
    assert {one.name: one.read_text("utf-8") for one in target.parent.iterdir()} == (
        {"all.jsonl": "mine"} if there else {}
    )


@pytest.mark.skipif(not hasattr(os, "geteuid"), reason="Windows has other permissions")
def test_an_export_into_a_folder_that_cannot_be_written_says_so(shell, tmp_path):
    """B59."""
    shell.store(COFFEE)
    (tmp_path / "out").write_text("a file where a folder should be", encoding="utf-8")
    refused = shell("export", str(tmp_path / "out" / "all.jsonl"))
    assert refused.code == 1
    assert "cannot be written" in refused.err


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
@pytest.mark.parametrize("umask", [0, 0o022, 0o077, 0o377])
def test_an_export_is_for_its_owner_alone_under_any_umask(shell, tmp_path, umask):
    """B65: also where a file that everybody may read is replaced."""
    shell.store(COFFEE)
    target = tmp_path / "all.jsonl"
    target.write_text("open to all", encoding="utf-8")
    target.chmod(0o666)
    before = os.umask(umask)
    try:
        assert shell("export", str(target), "--force").code == 0
    finally:
        os.umask(before)
    assert stat.S_IMODE(target.stat().st_mode) == 0o600
    assert sorted(one.name for one in tmp_path.iterdir()) == ["all.jsonl", "home", "memory.db"]


def test_a_link_is_followed_to_the_file_that_is_meant(shell, tmp_path):
    shell.store(COFFEE)
    (tmp_path / "kept").mkdir()
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "kept" / "all.jsonl")
    assert shell("export", str(tmp_path / "link.jsonl")).code == 0
    assert COFFEE in Path(tmp_path / "kept" / "all.jsonl").read_text("utf-8")
    assert (tmp_path / "link.jsonl").is_symlink()
