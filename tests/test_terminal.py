import io
import json
import unicodedata
from dataclasses import replace
from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.cli.terminal import Screen, as_json, visible
from memory_mcp.errors import InvalidInput
from memory_mcp.models import Kind, Memory

MIDNIGHT = datetime(2026, 3, 1, 23, 30, tzinfo=UTC)


def screen(source: str = "", *, as_json: bool = False) -> Screen:
    """A screen whose output can be read back."""
    return Screen(io.StringIO(source), io.StringIO(), io.StringIO(), ZoneInfo("Asia/Tokyo"), as_json)


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred", "\\x1b[31mred"),
        ("title\x1b]0;owned\x07", "title\\x1b]0;owned\\x07"),
        ("one\rtwo", "one\\rtwo"),
        ("eight-bit \x9b31m", "eight-bit \\x9b31m"),
        ("nul\x00", "nul\\x00"),
        ("right\u202eto left", "right\\u202eto left"),
        ("tag \U000e0041", "tag \\U000e0041"),
        ("half \ud83d", "half \\ud83d"),
        ("two\nlines\tand a tab", "two\nlines\tand a tab"),
        ("全角\u3000空白 😀 Ελλάδα", "全角\u3000空白 😀 Ελλάδα"),
        ("family 👨\u200d👩\u200d👧, می\u200cخواهم", "family 👨\u200d👩\u200d👧, می\u200cخواهم"),
    ],
)
def test_escape_sequences_are_shown_and_writing_is_left_alone(text, shown):
    """B27, B60: a terminal must not obey what is stored."""
    assert visible(text) == shown


@given(st.text())
def test_nothing_printed_can_control_a_terminal(text):
    """B60."""
    for printed in (visible(text), as_json(text)):
        assert all(unicodedata.category(c) not in {"Cc", "Cs"} for c in printed.replace("\n", "").replace("\t", ""))


@given(st.text(), st.text())
def test_json_gives_back_exactly_what_was_stored(name, text):
    """B26, B27."""
    assert json.loads(as_json({name: text})) == {name: text}


def test_a_time_is_shown_in_the_persons_zone_with_the_zone():
    """B23, B61."""
    assert screen().time(MIDNIGHT) == "2026-03-02 08:30 JST"


def test_a_missing_time_is_unknown_and_not_now():
    """B61."""
    assert screen().time(None) == "unknown"
    assert "unknown" in screen().details({"created_at": None})[0]


def test_a_text_cannot_pose_as_another_memory():
    memory = Memory("id-1", "first line\nid-2  fact  2026-01-01", MIDNIGHT, MIDNIGHT)
    head, *rest = screen().summary(memory).split("\n")
    assert head.startswith("id-1")
    assert all(line.startswith("    ") for line in rest)


def test_a_turn_is_shown_with_its_speaker_and_the_namespace_only_where_it_is_not_the_default_one():
    turn = Memory("id-1", "See you in Porto.\nBye.", MIDNIGHT, MIDNIGHT, kind=Kind.TURN, speaker="Ann\nid-2")
    head, *said = screen().summary(turn).split("\n")
    assert head == "id-1  turn  2026-03-02 08:30 JST"
    assert said == ["    Ann\\nid-2: See you in Porto.", "    Bye."]
    assert "  namespace=kitchen" in screen().summary(replace(turn, namespace="kitchen"))


def test_details_leave_out_what_says_nothing():
    lines = screen().details({"tags": (), "key": "", "expires_at": None, "importance": 0.0, "kind": "fact"})
    assert [line.split()[0] for line in lines] == ["importance", "kind"]


def test_remarks_do_not_mix_with_the_answer():
    shown = screen(as_json=True)
    shown.answer({"a": 1}, "words")
    shown.note("careful")
    assert json.loads(shown.out.getvalue()) == {"a": 1}
    assert shown.err.getvalue() == "careful\n"


def test_without_a_terminal_nobody_agrees():
    assert not screen("yes\n").agrees("Forget these 3?")


def test_a_byte_order_mark_is_no_content():
    assert screen("\ufeffhello").read() == "hello"


def test_input_in_another_encoding_is_refused():
    source = io.TextIOWrapper(io.BytesIO("café".encode("latin-1")), encoding="utf-8")
    with pytest.raises(InvalidInput, match="UTF-8"):
        Screen(source, io.StringIO(), io.StringIO(), UTC).read()
