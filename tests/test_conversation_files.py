"""What files of conversations say."""

import json
from datetime import UTC, datetime, timedelta, timezone

import pytest

from memory_mcp.conversation_files import Dialogue, read
from memory_mcp.errors import InvalidInput

JAPAN = timezone(timedelta(hours=9))


def heard(data: object) -> list[Dialogue]:
    raw = data if isinstance(data, bytes) else data.encode() if isinstance(data, str) else json.dumps(data).encode()
    return read(raw, UTC)


def told(one: Dialogue) -> list[tuple[str, str, str]]:
    return [(turn.message.role, turn.message.name, turn.message.content) for turn in one.turns]


QUESTION, ANSWER = ("user", "", "Where is the key?"), ("assistant", "", "Under the mat.")


@pytest.mark.parametrize(
    "data",
    [
        [{"role": "user", "content": "Where is the key?"}, {"role": "assistant", "content": "Under the mat."}],
        {"messages": [{"role": "human", "text": "Where is the key?"}, {"role": "model", "text": "Under the mat."}]},
        [{"author": {"role": "user"}, "content": {"parts": ["Where is the key?"]}},
         {"author": {"role": "assistant"}, "content": [{"type": "text", "text": "Under the mat."}]}],
        '{"role":"user","content":"Where is the key?"}\n\n{"role":"assistant","content":"Under the mat."}\n',
        "User: Where is the key?\nAssistant: Under the mat.\n",
        "User：Where is the key?\r\nAI：Under the mat.\r\n",
        b"\xef\xbb\xbfHuman: Where is the key?\nClaude: Under the mat.",
        "User: Where is the key?\nAssistant: Under the mat.".encode("utf-16"),
    ],
    ids=["list", "table", "parts", "lines", "transcript", "wide colon", "byte order mark", "utf-16"],
)  # fmt: skip
def test_every_known_form_says_the_same(data):
    [one] = heard(data)
    assert told(one) == [QUESTION, ANSWER]
    assert one.skipped == ()


def test_a_dialogue_of_named_people_keeps_sessions_names_times_and_places():
    data = {
        "sample_id": "d1",
        "conversation": {
            "speaker_a": "Ken", "speaker_b": "Mia",
            "session_2_date_time": "9:05 am on 12 March, 2024",
            "session_2": [{"speaker": "Mia", "dia_id": "D2:1", "text": "The roof leaks."}],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [{"speaker": "Ken", "dia_id": "D1:1", "text": "Hello Mia."}],
        },
    }  # fmt: skip
    first, second = heard([data])
    assert (first.name, second.name) == ("d1/session_1", "d1/session_2")
    assert told(second) == [("user", "Mia", "The roof leaks.")]
    assert (first.turns[0].id, first.turns[0].message.at) == ("D1:1", datetime(2023, 5, 8, 13, 56, tzinfo=UTC))


def test_lines_without_a_name_go_on_with_what_was_said_and_other_colons_are_text():
    [one] = heard("User: Try this:\n  port: 8080\nsee https://example.org\nAssistant: Done.\nUser: Thanks.")
    assert told(one)[0][2] == "Try this:\n  port: 8080\nsee https://example.org"
    assert len(one.turns) == 3


@pytest.mark.parametrize(
    ("written", "at"),
    [
        ("2024-03-01T10:00:00Z", datetime(2024, 3, 1, 10, tzinfo=UTC)),
        ("2024-03-01T10:00:00", datetime(2024, 3, 1, 1, tzinfo=UTC)),
        (1709287200, datetime(2024, 3, 1, 10, tzinfo=UTC)),
        (1709287200000, datetime(2024, 3, 1, 10, tzinfo=UTC)),
        ("last week", None), (None, None), (True, None), (1e300, None),
    ],
)  # fmt: skip
def test_times_are_read_and_clocks_without_an_offset_are_the_person_s(written, at):
    [one] = read(json.dumps([{"role": "user", "content": "x", "timestamp": written}]).encode(), JAPAN)
    assert one.turns[0].message.at == at


def test_a_transcript_may_bear_times():
    [one] = heard("[2023-05-08 13:56] Ken: Hello.\n[2023-05-08 13:57] Mia: Hi.")
    assert [turn.message.at for turn in one.turns] == [
        datetime(2023, 5, 8, 13, 56, tzinfo=UTC), datetime(2023, 5, 8, 13, 57, tzinfo=UTC),
    ]  # fmt: skip


def test_what_cannot_be_used_is_skipped_and_told_with_its_place():
    """B57: hidden and system parts are left out; what is valid is in."""
    data = [
        {"role": "system", "content": "You are helpful."},
        {"role": "user", "content": None},
        {"role": "user", "content": "Valid.", "title": None},
        {"role": "user", "content": "Context of the host.", "hidden": True},
        {"content": "Who said this?"},
        7,
    ]
    [one] = heard(data)
    assert told(one) == [("user", "", "Valid.")]
    assert [line.partition(":")[0] for line in one.skipped] == [f"message {place}" for place in (1, 2, 4, 5, 6)]


def test_conversations_of_one_file_do_not_spoil_each_other():
    """B57."""
    message = {"role": "user", "content": "Fine."}
    found = heard([{"id": "a", "title": None, "messages": [message]}, {"id": "b", "messages": []}, {"id": "c"}, "?"])
    assert [(one.name, len(one.turns), bool(one.skipped)) for one in found if one.turns or one.skipped] == [
        ("a", 1, False), ("c", 0, True), ("4", 0, True),
    ]  # fmt: skip


def test_a_broken_line_does_not_spoil_the_others():
    """B57."""
    [one] = heard('{"role":"user","content":"a"}\n\n{"role": "us\n{"role":"user","content":"b"}')
    assert [turn.message.content for turn in one.turns] == ["a", "b"]
    assert one.skipped == ("line 3: is not valid JSON",)


@pytest.mark.parametrize("data", [b"", b"[]", b"{}", b"[1, 2", b"\xff\xfe\x00", b"\x80\x81\x82", b"just some prose"])
def test_a_file_without_a_conversation_is_refused(data: bytes):
    with pytest.raises(InvalidInput, match="Nothing was saved"):
        read(data, UTC)
