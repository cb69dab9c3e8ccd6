"""The shell's verbs that look after what is kept."""

import re

import pytest

from tests.shell import Shell

BULLETS = ("Ann asked for bullet points.", "Ann wanted bullet points again.", "Ann asked to have it as bullet points.")


@pytest.fixture
def shell(tmp_path, capsys) -> Shell:
    return Shell(tmp_path / "memory.db", capsys)


@pytest.fixture
def recurring(shell: Shell) -> list[str]:
    """Something told in three sessions; the ids."""
    return [shell.store(text, "--session", f"s{number}") for number, text in enumerate(BULLETS)]


def test_what_recurs_is_listed_with_number_dates_and_ids_and_stored_on_request(shell: Shell, recurring: list[str]):
    listed = shell("consolidate", model="universal")
    assert listed.code == 0
    assert all(one in listed.out for one in recurring)
    number = re.match(r"(\d{6})  pattern  3 times, 20\d\d-\d\d-\d\d to", listed.out)[1]
    assert "--accept" in listed.err
    done = shell("consolidate", "--accept", number, "--text", "Ann reads bullet points", "--json", model="universal")
    [stored] = done.json
    assert (done.code, stored["number"], stored["status"]) == (0, int(number), "stored")
    shown = shell("show", stored["id"], "--json").json
    assert (shown["content"], shown["kind"]) == ("Ann reads bullet points", "pattern")
    assert set(shown["derived_from"]) == set(recurring)
    assert "Nothing recurs" in shell("consolidate", model="universal").out


def test_all_proposals_are_stored_once(shell: Shell, recurring: list[str]):
    assert "as a pattern of 3 memories." in shell("consolidate", "--all", model="universal").out
    again = shell("consolidate", "--all", "--json", model="universal")
    assert (again.code, again.json) == (0, [])


def test_proposals_as_json_say_all_that_the_list_says(shell: Shell, recurring: list[str]):
    [one] = shell("consolidate", "--json", model="universal").json["proposals"]
    assert one.keys() == {
        "number", "content", "kind", "namespace", "times", "first", "last", "importance", "confidence", "supersedes",
        "derived_from", "sentences",
    }  # fmt: skip
    assert (set(one["derived_from"]), one["times"], one["supersedes"]) == (set(recurring), 3, [])


def test_a_number_that_is_not_proposed_stores_nothing(shell: Shell, recurring: list[str]):
    done = shell("consolidate", "--accept", "7", model="universal")
    assert done.code == 1
    assert "Not stored: 7 is not proposed" in done.err
    assert shell("stats", "--json").json["memories"] == 3


def test_without_a_model_it_is_said_that_nothing_can_be_proposed(shell: Shell, recurring: list[str]):
    assert "no model" in shell("consolidate").err


@pytest.mark.parametrize(
    "words", [("--all", "--accept", "1"), ("--text", "x"), ("--accept", "1", "--accept", "2", "--text", "x")]
)
def test_wrong_flags_are_wrong_usage(shell: Shell, words: tuple[str, ...]):
    with pytest.raises(SystemExit) as left:
        shell("consolidate", *words)
    assert left.value.code == 2


def test_a_dry_run_says_what_is_due_and_changes_nothing(shell: Shell):
    old = shell.store("A note", "--expires-in-days", "0.000000001")
    foretold = shell("maintain", "--dry-run")
    assert "1 memory to be erased" in foretold.out
    assert old in foretold.out
    assert "dry run" in foretold.err
    assert shell("show", old).code == 0
    done = shell("maintain", "--json").json
    assert (done["expired"], done["faded"], done["dry_run"]) == ([old], [], False)
    assert shell("show", old).code == 1
    assert shell("maintain").out == "Nothing is due.\n"


def test_what_is_doubtful_is_listed_with_the_command_that_settles_it(shell: Shell):
    twelve = shell.store("The office has 12 desks.")
    fourteen = shell.store("The office has 14 desks.")
    found = shell("audit", "relevance", model="universal")
    assert "1 pair that may contradict each other" in found.out
    command = re.search(r'memory-mcp store "..." --kind fact (.*)', found.out)[1]
    assert set(command.split()) == {"--supersedes", twelve, fourteen}
    shell("store", "The office has 14 desks!", *command.split())
    assert shell("audit", "relevance", model="universal").out == "Nothing is doubtful.\n"


def test_the_audit_as_json_counts_each_sort(shell: Shell):
    found = shell("audit", "relevance", "--json", model="universal").json
    assert {one["doubt"]: one["count"] for one in found["doubted"]} == {
        "commanding": 0, "useless": 0, "unused": 0, "stale": 0, "contradictory": 0,
    }  # fmt: skip
