"""The process: help, exit codes, encodings, the server, a person at a terminal."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import sqlite_vec

from memory_mcp.cli.entry import main
from memory_mcp.cli.parser import VERBS, build_parser
from memory_mcp.storage import driver
from tests.shell import CHECKOUT, COFFEE, Shell, at_a_terminal, process

ODD = "Ünïcödé Ελληνικά 中文 日本語 👩‍💻"


@pytest.fixture
def shell(tmp_path, capsys) -> Shell:
    return Shell(tmp_path / "memory.db", capsys)


# ---- help ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example_that_is_understood(verb, capsys):
    with pytest.raises(SystemExit) as end:
        main([verb, "--help"])
    assert end.value.code == 0
    shown = capsys.readouterr().out
    example = shown.split("example:\n  memory-mcp ")[1]
    assert not any(line.endswith(" ") for line in shown.splitlines())
    assert build_parser().parse_args(shlex.split(example)).verb == verb


@pytest.mark.parametrize("verb", VERBS)
def test_every_flag_says_what_it_is_for(verb, capsys):
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    about = capsys.readouterr().out.split("example:")[0]
    entries = re.findall(r"^  \S.*(?:\n {3,}\S.*)*", about, re.MULTILINE)
    assert len(entries) >= 2  # --help and --json
    assert [entry for entry in entries if not re.search(r"\S\s{2,}\S", entry)] == []


@pytest.mark.parametrize(
    ("verb", "says"), [("store", "where it goes"), ("list", "besides user"), ("forget", "exactly")]
)
def test_help_says_what_a_namespace_means_to_a_verb(verb, says, capsys):
    with pytest.raises(SystemExit):
        main([verb, "--help"])
    about = capsys.readouterr().out.split("--namespace NAME")[1]
    assert says in " ".join(about.split())


def test_the_overview_names_every_verb(capsys):
    with pytest.raises(SystemExit):
        main(["--help"])
    shown = capsys.readouterr().out
    assert set(VERBS) <= set(shown.split())


@pytest.mark.parametrize("flag", ["--version", "--help"])
def test_help_and_version_do_not_wait_for_the_heavy_libraries(flag):
    code = (
        "import sys\nfrom memory_mcp.cli.entry import main\n"
        f"try: main([{flag!r}])\n"
        "except SystemExit: print(sorted({'mcp', 'numpy', 'sqlcipher3', 'anthropic'} & set(sys.modules)))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, cwd=CHECKOUT, text=True, check=True)
    assert ran.stdout.splitlines()[-1] == "[]"


# ---- what goes wrong -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [
        ("show", "no-such-id"),
        ("store", "   "),
        ("store", COFFEE, "--importance", "7"),
        ("store", COFFEE, "--importance", "nan"),
        ("store", COFFEE, "--supersedes", "no-such-id"),
        ("recall", "coffee", "--since", "the day after never"),
        ("list", "--since", "2026-02-02", "--until", "2026-01-01"),
        ("list", "--cursor", "nonsense"),
        ("edit", "no-such-id", "--importance", "0.5"),
        ("pin", "no-such-id"),
    ],
)
def test_what_cannot_be_done_is_one_line_and_exit_code_1(shell, words):
    refused = shell(*words)
    assert refused.code == 1
    assert refused.out == ""
    assert refused.err.startswith("memory-mcp: ")
    assert refused.err.count("\n") == 1


@pytest.mark.parametrize(
    "words",
    [
        ("frobnicate",),
        ("store",),
        ("store", COFFEE, "--kind", "gossip"),
        ("store", COFFEE, "--importance", "much"),
        ("edit", "some-id"),
        ("edit", "some-id", "--namespace", "kitchen"),
        ("recall", "--rate", "useful"),
        ("recall", "--rate", "splendid", "some-id"),
        ("install",),
        ("install", "--print"),
        ("install", "--print", "emacs"),
        ("install", "cursor", "--print", "claude-desktop"),
        ("store", COFFEE, "--kind", "episode"),
        ("store", COFFEE, "--source", "hook"),
        ("context", "--max-tokens", "99"),
        ("context", "--max-tokens", "-5"),
        ("demo",),
        ("demo", "--db", "x.db"),
        ("forget",),
        ("restore", "--confirm", "0123456789abcdef"),
    ],
)
def test_wrong_usage_is_exit_code_2(shell, words, capsys):
    with pytest.raises(SystemExit) as end:
        shell(*words)
    assert end.value.code == 2
    usage, reason = capsys.readouterr().err.splitlines()
    assert usage.startswith("usage: memory-mcp")
    verb = "" if "unrecognized" in reason or "invalid choice: 'frobnicate'" in reason else f" {words[0]}"
    assert reason.startswith(f"memory-mcp{verb}: error: ")


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ((), "say which: IDs, or --query, --tag, --session, --source, --file, --before or --namespace"),
        (("--confirm", "0123456789abcdef"), "repeat the same filters together with --confirm"),
    ],
)
def test_a_choice_of_nothing_is_refused_in_the_words_of_the_shell(shell, words, says, capsys):
    with pytest.raises(SystemExit):
        shell("forget", *words)
    assert says in capsys.readouterr().err


@pytest.mark.parametrize("words", [("show",), ("pin",), ("forget",), ("store", COFFEE, "--supersedes")])
def test_an_unknown_id_says_where_ids_are_shown(shell, words):
    assert "`memory-mcp list` shows full ids." in shell(*words, "no-such-id").err


def test_an_unusable_setting_is_refused_by_name(shell, monkeypatch):
    monkeypatch.setenv("MEMORY_MCP_TZ", "Mars/Olympus")
    assert "MEMORY_MCP_TZ" in shell("stats").err


def test_a_fault_of_ours_is_reported_without_what_it_was_about(tmp_path):
    (tmp_path / "aiosqlite.py").write_text("raise RuntimeError('my secret diary')")
    paths = os.pathsep.join([str(tmp_path), str(CHECKOUT)])
    ran = process("--db", str(tmp_path / "memory.db"), "stats", PYTHONPATH=paths)
    assert ran.returncode == 3
    assert b"RuntimeError" in ran.stderr
    assert b"aiosqlite.py:1" in ran.stderr
    assert b"diary" not in ran.stderr


def test_a_file_that_is_not_ours_is_left_alone(shell, tmp_path):
    path = tmp_path / "memory.db"
    path.write_bytes(b"a shopping list" * 1000)
    assert shell("store", COFFEE).code == 1
    assert path.read_bytes() == b"a shopping list" * 1000


def test_a_reader_that_leaves_early_is_no_error(tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "wb") as closed:
        ran = subprocess.run(
            [sys.executable, "-m", "memory_mcp", "settings"],
            stdout=closed, stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(CHECKOUT)}, check=False,
        )  # fmt: skip
    assert (ran.returncode, ran.stderr) == (0, b"")


# ---- text, whatever the terminal -----------------------------------------------------------------------------------

NARROW = [
    {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"},
    {"PYTHONIOENCODING": "cp1252"},
    {"PYTHONIOENCODING": "cp950"},
]


@pytest.mark.parametrize("environ", NARROW, ids=["C locale", "cp1252", "cp950"])
def test_text_comes_back_identical_whatever_the_locale_says(tmp_path, environ):
    """B26."""
    file = ("--db", str(tmp_path / "memory.db"), "--model", "none")
    kept = process(*file, "store", "-", "--json", stdin=ODD.encode(), **environ)
    assert kept.returncode == 0, kept.stderr
    shown = process(*file, "show", json.loads(kept.stdout)["id"], **environ)
    assert ODD.encode() in shown.stdout


def test_input_that_is_not_utf8_is_refused(tmp_path):
    """B26."""
    ran = process("--db", str(tmp_path / "memory.db"), "store", "-", stdin="café".encode("latin-1"))
    assert ran.returncode == 1
    assert b"UTF-8" in ran.stderr


@pytest.mark.parametrize(
    "words", [("list",), ("recall",), ("show", "ID"), ("context",), ("forget", "--query", "coffee")]
)
def test_an_escape_sequence_in_a_file_is_not_obeyed(shell, tmp_path, words):
    """B60, B27: the file may come from elsewhere, or from a version that let it in."""
    coffee = shell.store(COFFEE)
    connection = driver.connect(tmp_path / "memory.db")
    connection.execute("update memory set content = ?", ["a red \x1b[31m warning \x9b31m\x07"])
    connection.close()
    words = [coffee if word == "ID" else word for word in words]
    for shown in (shell(*words), shell(*words, "--json")):
        assert "warning" in shown.out
        assert not {"\x1b", "\x9b", "\x07"} & set(shown.out)


# ---- the server ----------------------------------------------------------------------------------------------------


def test_without_a_verb_it_serves_and_ends_with_its_input(tmp_path):
    ran = process("--db", str(tmp_path / "memory.db"))
    assert (ran.returncode, ran.stdout) == (0, b"")


def test_without_its_vector_extension_it_keeps_and_finds_by_words_and_says_so(tmp_path):
    """B02: the package can be imported, and its binary is garbage."""
    copy = shutil.copytree(Path(sqlite_vec.__file__).parent, tmp_path / "shadow" / "sqlite_vec")
    [binary] = copy.glob("vec0.*")
    binary.write_bytes(b"not a library")
    environ = {"PYTHONPATH": os.pathsep.join([str(copy.parent), str(CHECKOUT)])}
    file = ("--db", str(tmp_path / "memory.db"))
    kept = process(*file, "store", COFFEE, **environ)
    assert kept.returncode == 0, kept.stderr
    found = process(*file, "recall", "coffee", **environ)
    assert COFFEE.encode() in found.stdout
    assert b"sqlite-vec cannot be loaded" in found.stderr


def test_nothing_is_sent_out_when_a_memory_is_kept_and_found(tmp_path):
    """B05: any attempt to reach a network fails this process."""
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "def refuse(event, args):\n"
        "    if event in ('socket.connect', 'socket.getaddrinfo', 'socket.sendto'): raise RuntimeError(event)\n"
        "sys.addaudithook(refuse)\n"
    )
    environ = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(CHECKOUT)])}
    file = ("--db", str(tmp_path / "memory.db"))
    assert process(*file, "store", COFFEE, **environ).returncode == 0
    found = process(*file, "recall", "how do I like my hot drinks?", "--json", **environ)
    assert json.loads(found.stdout)["mode"] == "hybrid"


# ---- at a terminal -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("typed", "code", "left"), [("yes\n", 0, 0), ("no\n", 1, 1), ("\n", 1, 1), ("y\n", 1, 1), ("", 130, 1)]
)
def test_at_a_terminal_nothing_is_forgotten_without_a_yes_in_full(shell, tmp_path, typed, code, left):
    shell.store(COFFEE, "--tag", "drinks")
    ended, shown = at_a_terminal(
        "--db", str(tmp_path / "memory.db"), "--model", "none", "forget", "--tag", "drinks", typed=typed
    )
    assert ended == code
    assert COFFEE in shown
    assert len(shell("list", "--json").json["memories"]) == left
