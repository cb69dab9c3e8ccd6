"""Which messages of a conversation are new, and how they are cut."""

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.config import MAX_CONTENT, Settings
from memory_mcp.conversations import (
    MAX_ACTIONS,
    MAX_KEY_FACTS,
    MAX_LESSON,
    MAX_LESSONS,
    MAX_MESSAGE,
    MAX_MESSAGES,
    action,
    episode,
    lessons,
    message,
    require_bounded,
    require_short,
    spoken,
    turn,
    unseen,
)
from memory_mcp.errors import InvalidInput
from memory_mcp.models import Action, Conversation, KeyFact, Memory, Message
from memory_mcp.summarizers import Summary

NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)

SENTENCE = "The boiler was serviced in May."
chats = st.lists(
    st.builds(Message, st.sampled_from(["user", "assistant"]), st.sampled_from(["Yes.", "No.", "Why?", SENTENCE])),
    max_size=8,
)


def kept(messages: list[Message]) -> list[Memory]:
    """The turns that a session holds after these messages."""
    told = Conversation("s1", namespace="user")
    turns = [turn(one, told, Settings(), NOW) for one in messages]
    return [replace(one, sequence=place) for place, one in enumerate(turns, 1)]


# ---- what is new ---------------------------------------------------------------------------------------------------


@given(chats, chats)
def test_of_a_whole_conversation_only_the_end_is_new(before: list[Message], after: list[Message]):
    new, _ = unseen(kept(before), [*before, *after])
    assert new == after


@given(chats)
def test_the_same_conversation_again_holds_nothing_new(messages: list[Message]):
    assert unseen(kept(messages), messages) == ([], 0)


@given(chats, chats)
def test_what_is_new_is_always_the_end_of_what_is_given(before: list[Message], given_now: list[Message]):
    new, _ = unseen(kept(before), given_now)
    assert new == given_now[len(given_now) - len(new) :]


@given(chats, chats, st.sets(st.integers(0, 8)))
def test_forgotten_turns_do_not_come_back_with_the_whole_conversation(before, after, gone):
    """B40: the places of the others show that something was there."""
    before = [*before, Message("user", SENTENCE)]
    left = [one for place, one in enumerate(kept(before), 1) if place not in gone or place == len(before)]
    assert unseen(left, [*before, *after]) == (after, 0)


def test_a_later_part_is_new_even_when_it_holds_a_known_word():
    before = [Message("user", "Yes.")]
    part = [Message("assistant", "Shall we begin?"), Message("user", "Yes."), Message("user", "Now.")]
    assert unseen(kept(before), part) == (part, 0)


def test_a_part_that_overlaps_with_the_end_goes_on_there():
    first, second, third = (Message("user", word) for word in ("one", "two", "three"))
    assert unseen(kept([first, second]), [second, third]) == ([third], 0)


def test_the_same_words_of_another_speaker_are_new():
    assert len(unseen(kept([Message("user", "Yes.")]), [Message("user", "Yes.", "Ann")])[0]) == 1


@given(chats)
def test_a_kept_turn_gives_back_its_message(messages: list[Message]):
    back = [message(one) for one in kept(messages)]
    assert [(one.role, one.content) for one in back] == [(one.role, one.content) for one in messages]


# ---- what is kept of it --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("role", ["system", "tool"])
def test_system_text_and_tool_output_are_not_what_was_said(role: str):
    assert spoken([Message(role, "text")], "redact") == ([], ())


@given(st.text("ab \n", min_size=1, max_size=60).filter(str.strip))
def test_an_overlong_message_is_cut_between_words_and_nothing_of_it_is_lost(text: str):
    long = text * (MAX_CONTENT // len(text) + 20)
    parts, _ = spoken([Message("user", long)], "redact")
    assert "".join("".join(part.content for part in parts).split()) == "".join(long.split())
    assert all(0 < len(part.content) <= MAX_CONTENT for part in parts)
    if " " in text.strip() or "\n" in text.strip():
        assert " ".join(part.content for part in parts).split() == long.split()


@pytest.mark.parametrize(
    "wrong",
    [
        Message("narrator", "text"),
        Message("user", "a\0b"),
        Message("user", "\ud800"),
        Message("user", "text", "n" * 201),
        Message("user", "text", "a\0b"),
        Message("user", "x" * (MAX_MESSAGE + 1)),
    ],
)
def test_a_message_that_cannot_be_kept_is_named(wrong: Message):
    with pytest.raises(InvalidInput, match=r"messages\[1\]"):
        spoken([Message("user", "fine"), wrong], "redact")


@pytest.mark.parametrize(
    ("text", "fits"), [("w " * 200, True), ("w " * 201, False), ("あ" * 200, True), ("あ" * 201, False)]
)
def test_a_summary_is_measured_in_words_or_in_characters(text: str, fits: bool):
    if fits:
        require_short(text)
    else:
        with pytest.raises(InvalidInput, match="at most 200"):
            require_short(text)


@pytest.mark.parametrize(
    ("field", "one", "most"),
    [
        ("messages", Message("user", "Yes."), MAX_MESSAGES),
        ("key_facts", KeyFact("The port is 8080"), MAX_KEY_FACTS),
        ("lessons", "Ask first.", MAX_LESSONS),
        ("actions", Action("search", ok=True), MAX_ACTIONS),
    ],
)
def test_a_conversation_holds_only_so_much_of_each(field: str, one: object, most: int):
    require_bounded(Conversation("s1", **{field: (one,) * most}))
    with pytest.raises(InvalidInput, match=f"^{field} has {most + 1:,} entries; at most {most:,}.*Nothing was saved"):
        require_bounded(Conversation("s1", **{field: (one,) * (most + 1)}))


def test_a_lesson_is_short():
    with pytest.raises(InvalidInput, match="lessons has 1,001 characters"):
        lessons(["x" * (MAX_LESSON + 1)], "redact")


def test_an_episode_is_no_longer_than_any_memory():
    learned = tuple(f"{place:03}" + "x" * (MAX_LESSON - 3) for place in range(17))
    with pytest.raises(InvalidInput, match=r"summary and lessons have 17,\d{3} characters.*16,000.*Nothing was saved"):
        episode(Conversation("s1", lessons=learned), Summary("A talk."), [], Settings(), NOW)
    told = episode(Conversation("s1", lessons=learned[:15]), Summary("A talk."), [], Settings(), NOW)
    assert len(told.memory.content) <= MAX_CONTENT


@pytest.mark.parametrize("hidden", ["gh" + "p_" + "Q7z" * 12, "<private>x</private>"])
@pytest.mark.parametrize("field", ["tool", "input_digest"])
def test_an_action_that_names_a_secret_is_refused(field: str, hidden: str):
    """B65"""
    with pytest.raises(InvalidInput, match=rf"actions\.{field} holds a (?:secret|private block).*nothing was saved"):
        action(Action(**({"tool": "search", "ok": True} | {field: hidden})), "redact")


def test_a_speaker_whose_name_is_a_secret_is_refused():
    """B65"""
    with pytest.raises(InvalidInput, match=r"messages\[0\]\.name holds a secret"):
        spoken([Message("user", "hello there", "gh" + "p_" + "Q7z" * 12)], "redact")


@pytest.mark.parametrize("year", [1, 999, 9_999])
def test_a_message_from_beyond_every_clock_is_refused(year: int):
    said = Message("user", "hello", at=datetime(year, 1, 1, tzinfo=UTC))
    with pytest.raises(InvalidInput, match="time must lie in the years 1000 to 9000"):
        turn(said, Conversation("s1", namespace="user"), Settings(), NOW)
