"""What each verb does and says."""

import io
from pathlib import Path

import pytest

from memory_mcp.cli.flags import WRITTEN
from memory_mcp.config import MAX_QUERY
from memory_mcp.storage import driver
from tests.shell import COFFEE, Ran, Shell


@pytest.fixture
def shell(tmp_path, capsys) -> Shell:
    return Shell(tmp_path / "memory.db", capsys)


# ---- the main job --------------------------------------------------------------------------------------------------


def test_what_is_stored_is_recalled_by_meaning_and_explained(shell):
    coffee = shell.store(COFFEE, model="universal")
    shell.store("The boiler was serviced in May", model="universal")
    found = shell("recall", "how do I like my hot drinks?", "--explain", "--limit", "1", model="universal")
    assert found.code == 0
    assert found.out.startswith(coffee)
    assert COFFEE in found.out
    assert all(part in found.out for part in ("score", "meaning", "salience"))
    assert "words" not in found.out
    assert found.err == ""


def test_a_clue_that_a_text_answers_is_explained(shell):
    shell.store("Nora keeps the boat in Lisbon")
    assert "cues 0." in shell("recall", "where is Nora's boat?", "--explain").out
    assert "cues" not in shell("recall", "where is Nora's boat?").out


def test_recall_as_json_has_a_hits_own_fields_and_its_reasons(shell):
    shell.store(COFFEE, "--tag", "Food")
    recalled = shell("recall", "coffee", "--json").json
    assert recalled.keys() == {"hits", "mode", "notice", "omitted", "next_cursor"}
    assert recalled["mode"] == "keyword"
    [hit] = recalled["hits"]
    assert hit["content"] == COFFEE
    assert hit["tags"] == ["food"]
    assert hit.keys() >= {"id", "kind", "created_at", "score", "label", "reasons"}
    assert hit["reasons"].keys() >= {"meaning", "words", "neighbours", "cues", "salience"}


def test_what_was_stored_without_a_model_is_found_by_meaning_as_soon_as_there_is_one(shell):
    coffee = shell.store(COFFEE)
    found = shell("recall", "how do I like my hot drinks?", "--json", model="universal").json
    assert [hit["id"] for hit in found["hits"]] == [coffee]
    assert found["hits"][0]["reasons"]["meaning"] > 0
    assert shell("stats", "--json").json["awaiting_vectors"] == 0


def test_a_file_that_takes_no_vectors_is_still_searched(shell, tmp_path):
    coffee = shell.store(COFFEE)
    connection = driver.connect(tmp_path / "memory.db")
    driver.load_vectors(connection)
    connection.execute(
        "create trigger full before update of embedded_by on memory begin select raise(fail, 'disk I/O error'); end"
    )
    connection.close()
    found = shell("recall", "coffee", model="universal")
    assert coffee in found.out
    assert "found by words only" in found.err


def test_a_question_from_a_pipe_does_not_end_with_a_line_break(shell, monkeypatch):
    coffee = shell.store(COFFEE)
    question = "coffee".ljust(MAX_QUERY) + "\n"
    monkeypatch.setattr("sys.stdin", io.StringIO(question))
    assert coffee in shell("recall", "-").out


def test_a_degraded_state_is_said_beside_the_answer(shell):
    """B02: an answer by words alone is announced."""
    shell.store(COFFEE)
    found = shell("recall", "coffee")
    assert COFFEE in found.out
    assert "by words only" in found.err


def test_a_correction_supersedes_and_the_earlier_text_is_shown_on_request(shell):
    old = shell.store("The API runs on port 8000", "--key", "port")
    new = shell("store", "The API runs on port 8080", "--key", "port")
    assert f"it supersedes {old}." in new.out
    assert old not in shell("list").out
    assert "superseded" in shell("list", "--history").out


def test_identical_text_is_known_already(shell):
    coffee = shell.store(COFFEE)
    again = shell("store", COFFEE)
    assert again.code == 0
    assert again.out == f"Known already as {coffee}; its time was renewed.\n"


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (("--tag", "drinks"), "tags"),
        (("--tag", "drinks", "--key", "coffee"), "tags and key"),
        (("--tag", "drinks", "--key", "coffee", "--kind", "preference"), "tags, key and kind"),
        (("--kind", "preference"), "kind"),
    ],
)
def test_a_known_text_says_what_it_took_over(shell, given, named):
    coffee = shell.store(COFFEE)
    again = shell("store", COFFEE, *given)
    assert again.out == f"Known already as {coffee}; its time was renewed and its {named} brought up to date.\n"


@pytest.mark.parametrize("kind", WRITTEN)
def test_every_kind_that_is_offered_can_be_stored(shell, kind):
    assert shell("store", COFFEE, "--kind", kind).code == 0


def test_everything_known_about_a_memory_is_shown(shell):
    coffee = shell.store(COFFEE, "--kind", "preference", "--importance", "0.9", "--source", "tool", "--session", "s1")
    shown = shell("show", coffee)
    assert shown.out.rstrip().endswith(COFFEE)
    for name, value in {"kind": "preference", "importance": "0.9", "trust": "untrusted", "session id": "s1"}.items():
        assert f"{name:18}{value}\n" in shown.out
    assert shell("show", coffee, "--json").json["content"] == COFFEE


def test_what_is_known_about_a_memory_is_edited_and_its_text_is_not(shell):
    coffee = shell.store(COFFEE, "--tag", "old")
    revised = shell(
        "edit", coffee, "--importance", "0.9", "--confidence", "0.4", "--tag", "new", "--kind", "preference",
        "--expires-in-days", "5", "--move-to", "kitchen", "--json",
    ).json  # fmt: skip
    assert revised["content"] == COFFEE
    assert (revised["importance"], revised["confidence"], revised["tags"]) == (0.9, 0.4, ["new"])
    assert (revised["kind"], revised["namespace"]) == ("preference", "kitchen")
    assert revised["expires_at"]
    plain = shell("edit", coffee, "--no-tags", "--expires-in-days", "0", "--json").json
    assert (plain["tags"], plain["expires_at"]) == ([], None)


def test_where_one_works_does_not_move_a_memory(shell):
    coffee = shell.store(COFFEE)
    edited = shell("--namespace", "kitchen", "edit", coffee, "--importance", "0.9", "--json").json
    assert edited["namespace"] == "user"


def test_a_pin_is_put_on_and_taken_off(shell):
    coffee = shell.store(COFFEE)
    assert "pinned" in shell("pin", coffee).out
    assert shell("show", coffee, "--json").json["pinned"]
    assert "pinned" not in shell("unpin", coffee).out


def test_ratings_are_counted(shell):
    coffee = shell.store(COFFEE)
    assert shell("recall", "--rate", "useful", coffee).out == f"Rated {coffee} useful.\n"
    assert shell("recall", "--rate", "useless", coffee, "--json").json == {"rated": [coffee]}
    shown = shell("show", coffee, "--json").json
    assert (shown["useful"], shown["useless"]) == (1, 1)


def test_a_list_is_paged_newest_first(shell):
    ids = [shell.store(f"fact number {number}") for number in range(3)]
    first = shell("list", "--limit", "2", "--json").json
    rest = shell("list", "--limit", "2", "--cursor", first["next_cursor"], "--json").json
    assert [memory["id"] for memory in first["memories"] + rest["memories"]] == ids[::-1]
    assert rest["next_cursor"] == ""
    assert "--cursor" in shell("list", "--limit", "2").err


def test_as_many_are_recalled_as_were_asked_for(shell):
    for number in range(25):
        shell.store(f"coffee number {number} costs {number} cents")
    assert len(shell("recall", "coffee", "--limit", "25", "--json").json["hits"]) == 25


def test_a_tag_is_matched_whole(shell):
    """B30: one flag is one tag, whatever stands in it."""
    python = shell.store("written in python", "--tag", "python")
    both = shell.store("two words", "--tag", "a,b", "--tag", "100%")
    assert [memory["id"] for memory in shell("list", "--tag", "PYTHON", "--json").json["memories"]] == [python]
    assert [memory["id"] for memory in shell("list", "--tag", "a,b", "--json").json["memories"]] == [both]
    for part in ("py", "a", "%", "_"):
        assert shell("list", "--tag", part, "--json").json["memories"] == []


def test_a_bare_date_is_the_persons_own_day(shell, monkeypatch):
    """B23."""
    for zone in ("Asia/Tokyo", "America/Los_Angeles"):
        monkeypatch.setenv("MEMORY_MCP_TZ", zone)
        shell.store(f"stored in {zone}")
        assert zone in shell("list", "--since", "today").out
        assert zone not in shell("list", "--until", "yesterday").out


def test_times_are_shown_in_the_persons_zone(shell, monkeypatch):
    """B61."""
    coffee = shell.store(COFFEE)
    monkeypatch.setenv("MEMORY_MCP_TZ", "Asia/Tokyo")
    assert "JST" in shell("list").out.splitlines()[0]
    assert "JST" in shell("show", coffee).out


def test_the_briefing_is_printed_for_hooks(shell):
    shell.store(COFFEE, "--pin")
    briefing = shell("context", "--max-tokens", "500")
    assert COFFEE in briefing.out
    assert len(briefing.out.encode()) <= 4 * 500 + 1
    assert COFFEE in shell("recall").out


def test_the_counts_are_told(shell):
    shell.store(COFFEE)
    assert shell("stats", "--json").json["memories"] == 1
    assert "memories" in shell("stats").out


@pytest.mark.parametrize("verb", ["list", "recall"])
def test_an_empty_memory_says_how_to_begin(shell, verb):
    empty = shell(verb)
    assert empty.code == 0
    assert 'Try: memory-mcp store "' in empty.out
    assert empty.err == ""


def test_a_list_with_nothing_in_it_says_so_when_there_are_memories(shell):
    shell.store(COFFEE)
    assert "Nothing fits" in shell("list", "--tag", "unknown").out


# ---- forget, archive, restore --------------------------------------------------------------------------------------


@pytest.fixture
def three(shell) -> list[str]:
    return [shell.store(text) for text in ("draft note P4", "binding rule about draft beer", "P4 outcome")]


def test_a_full_id_is_forgotten_at_once(shell, three):
    gone = shell("forget", three[0])
    assert gone.code == 0
    assert f"Forgot {three[0]}." in gone.out
    assert "nothing of it is left" in gone.out
    assert three[0] not in shell("list").out


def test_forgetting_by_words_shows_full_ids_and_changes_nothing(shell, three):
    """B38."""
    preview = shell("forget", "--query", "P4 draft")
    assert preview.code == 1
    assert three[0] in preview.out
    assert three[1] not in preview.out
    assert "Nothing was changed" in preview.err
    assert len(shell("list", "--json").json["memories"]) == 3


def test_a_previews_handle_forgets_exactly_what_it_showed(shell, three):
    """B38."""
    handle = shell("forget", "--query", "P4 draft", "--json").json["confirm"]
    gone = shell("forget", "--query", "P4 draft", "--confirm", handle, "--json")
    assert gone.code == 0
    assert gone.json["ids"] == [three[0]]
    assert len(shell("list", "--json").json["memories"]) == 2


def test_a_handle_of_another_preview_is_refused(shell, three):
    handle = shell("forget", "--query", "P4", "--json").json["confirm"]
    assert shell("forget", "--query", "draft", "--confirm", handle).code == 1
    assert shell("archive", "--query", "P4", "--confirm", handle).code == 1
    assert len(shell("list", "--json").json["memories"]) == 3


def test_a_shortened_or_unknown_id_touches_nothing_and_is_no_success(shell, three):
    """B38."""
    for wrong in (three[0][:8], "0" * 36):
        refused = shell("forget", wrong)
        assert refused.code == 1
        assert wrong in refused.err
    assert len(shell("list", "--json").json["memories"]) == 3


def test_an_unknown_id_among_known_ones_is_named(shell, three):
    partly = shell("forget", three[0], "no-such-id")
    assert partly.code == 1
    assert f"Forgot {three[0]}." in partly.out
    assert "no-such-id" in partly.err


def test_nothing_that_fits_is_no_success(shell, three):
    assert shell("forget", "--tag", "unknown").code == 1


def test_one_memory_is_previewed_in_the_singular(shell, three):
    assert "To forget this one, repeat it" in shell("forget", "--query", "P4 draft").err
    assert "To forget these 2, repeat it" in shell("forget", "--query", "P4").err


def test_a_superseded_memory_is_restored_and_its_successor_archived(shell):
    old = shell.store("Tea at five", "--key", "tea")
    new = shell.store("Tea at six", "--key", "tea")
    assert shell("restore", old).out == f"Restored {old}.\nArchived {new}, which had replaced it.\n"
    assert shell("restore", old).code == 1


def test_what_was_forgotten_is_listed_by_its_place_and_can_be_let_come_back(shell):
    assert shell("forgotten").out == "Nothing that was forgotten is kept from coming back.\n"
    gone = [shell.store(f"Note {number} about {COFFEE}") for number in range(3)]
    assert shell("forget", *gone).code == 0
    listed = shell("forgotten", "--limit", "2")
    assert f"memory {gone[0]} is not imported again" in listed.out
    assert "coffee" not in listed.out
    [last] = shell("forgotten", "--after", listed.err.split()[-1], "--json").json
    assert (last["what"], last["memory_id"]) == ("memory", gone[2])
    lifted = shell("forgotten", "--lift", str(last["number"]), "--lift", "999")
    assert (lifted.code, lifted.out) == (1, f"Lifted {last['number']}.\n")
    assert "no block 999" in lifted.err
    assert len(shell("forgotten", "--json").json) == 2


def test_an_archived_memory_is_not_recalled_until_it_is_restored(shell, three):
    assert shell("archive", three[2]).out == f"Archived {three[2]}.\n"
    assert three[2] not in shell("recall", "outcome").out
    assert [one["id"] for one in shell("list", "--archived", "--json").json["memories"]] == [three[2]]
    assert [one["id"] for one in shell("list", "--json").json["memories"]] == [three[1], three[0]]
    assert shell("restore", three[2]).out == f"Restored {three[2]}.\n"
    assert three[2] in shell("recall", "outcome").out


# ---- the installation ----------------------------------------------------------------------------------------------


def settings_of(ran: Ran) -> dict[str, tuple[object, str]]:
    return {row["variable"]: (row["value"], row["origin"]) for row in ran.json}


def test_a_flag_goes_before_the_environment_and_that_before_the_default(shell, tmp_path, monkeypatch):
    monkeypatch.setenv("MEMORY_MCP_NAMESPACE", "from-environment")
    monkeypatch.setenv("MEMORY_MCP_DB", "unused.db")
    shown = settings_of(shell("settings", "--json"))
    assert shown["MEMORY_MCP_DB"] == (str(tmp_path / "memory.db"), "flag")
    assert shown["MEMORY_MCP_NAMESPACE"] == ("from-environment", "environment")
    assert shown["MEMORY_MCP_LOG"] == ("warning", "default")
    assert settings_of(shell("settings", "--json", "--namespace", "x"))["MEMORY_MCP_NAMESPACE"] == ("x", "flag")


def test_settings_name_every_variable_and_hide_the_key(shell, monkeypatch):
    monkeypatch.setenv("MEMORY_MCP_KEY", "ab" * 32)
    for shown in (shell("settings"), shell("settings", "--json")):
        assert "MEMORY_MCP_SUMMARIZER" in shown.out
        assert "*****" in shown.out
        assert "abab" not in shown.out


def test_a_variable_that_is_no_setting_is_named_with_the_one_that_was_meant(shell, monkeypatch):
    monkeypatch.setenv("MEMORY_MCP_NAMESPCE", "kitchen")
    monkeypatch.setenv("MEMORY_MCP_ZZ", "1")
    shown = shell("settings").err.splitlines()
    assert shown == [
        "MEMORY_MCP_NAMESPCE is no setting: did you mean MEMORY_MCP_NAMESPACE?",
        "MEMORY_MCP_ZZ is no setting.",
    ]


def test_a_flag_may_stand_before_or_after_the_verb(shell, tmp_path):
    shell.store(COFFEE, "--namespace", "kitchen")
    assert shell("--namespace", "kitchen", "list", "--json").json["memories"][0]["namespace"] == "kitchen"
    assert shell("list", "--json", "--db", str(tmp_path / "other.db")).json["memories"] == []


def test_a_pause_is_seen_until_it_is_ended(shell, tmp_path):
    marker = tmp_path / "memory.db.paused"
    assert str(marker) in shell("pause").out
    assert marker.exists()
    assert shell("stats", "--json").json["capture_paused"]
    assert "not paused" in shell("resume").out
    assert not marker.exists()
    assert not shell("stats", "--json").json["capture_paused"]


def test_a_pause_does_not_stop_what_is_stored_on_purpose(shell):
    shell("pause")
    assert shell("store", COFFEE).code == 0


def test_the_block_for_a_host_is_the_whole_answer_and_holds_the_settings_made(shell, tmp_path):
    shown = shell("install", "--print", "claude-desktop")
    entry = shown.json["mcpServers"]["memory"]
    assert Path(entry["command"]).is_absolute()
    assert entry["env"] == {"MEMORY_MCP_DB": str(tmp_path / "memory.db"), "MEMORY_MCP_MODEL": "none"}
    assert "claude_desktop_config.json" in shown.err


def test_the_key_is_not_printed_into_a_hosts_file(shell, monkeypatch):
    monkeypatch.setenv("MEMORY_MCP_KEY", "ab" * 32)
    shown = shell("install", "--print", "antigravity")
    assert "abab" not in shown.out + shown.err
    assert "MEMORY_MCP_KEY is written nowhere" in shown.err
    assert "MEMORY_MCP_KEY_FILE" in shown.err


@pytest.mark.parametrize(("language", "word"), [("en", "recall"), ("ja", "記憶")])
def test_the_preferences_are_printed_in_both_languages(shell, language, word):
    assert word in shell("install", "--preferences", language).out
