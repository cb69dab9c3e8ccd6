"""What of a conversation fits: nothing is lost, the order stays, the budget holds."""

from functools import reduce
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_mcp.models import Message
from memory_mcp.working import LEAST_BUDGET, WorkingMemory, cost, estimate, windows

words = st.sampled_from(
    ["tea ", "on\n", "Hanako, ", "東京へ", "花子。", "🦊", "👩🏽‍🚀", "สวัสดี", "привет ", "\ud83d", "x" * 90]
)
texts = st.builds("".join, st.lists(words, max_size=60)) | st.builds(str.__mul__, words, st.integers(0, 3_000))
messages = st.builds(
    Message, st.sampled_from(["user", "assistant", "tool"]), texts, name=st.sampled_from(["", "Ben", "花" * 200])
)
conversations = st.lists(messages, max_size=12)
budgets = st.integers(LEAST_BUDGET, 2_000)


def spoken(said) -> str:
    """All that was said and by whom; pieces of one message are that message."""
    told = ""
    last = None
    for message in said:
        told += (
            message.content
            if (message.role, message.name) == last
            else f"\n{message.role} {message.name}: {message.content}"
        )
        last = message.role, message.name
    return told


# ---- how long a text is --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("", 0), ("tea", 1), ("four", 1), ("four.", 2), ("a" * 4_000, 1_000),
        ("花子は京都に住む。", 9), ("花子 lives in 京都", 4 + 3), ("안녕하세요", 5), ("привет", 3), ("🦊", 1),
    ],
)  # fmt: skip
def test_a_token_is_four_bytes_or_a_character_of_a_script_without_spaces(text: str, tokens: int):
    assert estimate(text) == tokens


@given(texts, texts)
def test_a_longer_text_never_takes_fewer_tokens(one: str, other: str):
    assert max(estimate(one), estimate(other)) <= estimate(one + other) <= estimate(one) + estimate(other)


# ---- the running conversation --------------------------------------------------------------------------------------


@given(conversations, budgets)
@settings(max_examples=150, deadline=None)
def test_what_fell_out_and_what_is_held_is_all_that_was_said_in_order(said: list[Message], budget: int):
    memory, fallen = WorkingMemory(budget), []
    for message in said:
        memory, out = memory.add(message)
        fallen += out
        assert sum(map(cost, memory.messages)) <= budget
        assert memory.messages
    assert spoken([*fallen, *memory.messages]) == spoken(said)


@given(conversations, budgets)
@settings(max_examples=100, deadline=None)
def test_at_once_or_one_by_one_the_budget_holds_and_the_end_is_kept(said: list[Message], budget: int):
    at_once, fallen = WorkingMemory(budget).add(*said)
    assert sum(map(cost, at_once.messages)) <= budget
    assert spoken([*fallen, *at_once.messages]) == spoken(said)
    one_by_one = reduce(lambda memory, message: memory.add(message)[0], said, WorkingMemory(budget))
    assert at_once.messages[-1:] == one_by_one.messages[-1:]


def exchange(number: int, size: int = 80) -> list[Message]:
    return [
        Message("user", f"Question {number}: " + "why " * size),
        Message("assistant", f"I look it up, {number}."),
        Message("tool", f"Result {number}: " + "because " * size, name="recall"),
        Message("assistant", f"Answer {number}."),
    ]


def test_the_oldest_exchange_falls_out_whole():
    first, second = exchange(1), exchange(2)
    budget = sum(map(cost, [*first, *second]))
    memory, fallen = WorkingMemory(budget).add(*first, *second)
    assert fallen == ()
    memory, fallen = memory.add(Message("user", "And now?"))
    assert list(fallen) == first
    assert list(memory.messages) == [*second, Message("user", "And now?")]


def test_of_a_single_long_exchange_a_tool_s_result_goes_with_the_call_before_it():
    asked, *first, _ = exchange(1)
    second = [Message("assistant", "Once more."), Message("tool", "Nothing. " * 60), Message("tool", "Nothing. " * 60)]
    budget = sum(map(cost, [asked, *first, *second]))
    memory, fallen = WorkingMemory(budget).add(asked, *first, *second)
    assert fallen == ()
    memory, fallen = memory.add(Message("assistant", "x" * 4 * cost(asked)))
    assert list(fallen) == [asked, *first]
    memory, fallen = memory.add(Message("tool", "y" * 4 * (budget - cost(memory.messages[-1]) - 8)))
    assert list(fallen) == second


def test_an_overlong_message_is_cut_where_a_line_ends_and_its_end_is_held():
    lines = [f"line {number} of a long log" for number in range(500)]
    memory, fallen = WorkingMemory(LEAST_BUDGET).add(Message("user", "\n".join(lines)))
    pieces = [*fallen, *memory.messages]
    assert len(pieces) > 10
    assert all(piece.content.endswith("\n") for piece in pieces[:-1])
    assert memory.messages[-1].content.endswith(lines[-1])


@pytest.mark.parametrize("text", ["花子は京都へ行き、" * 400, "word " * 2_000, "👩🏽‍🚀" * 800])
def test_without_lines_a_message_is_cut_after_a_clause_a_word_or_a_character(text: str):
    unit = text[: len(text) // text.count(text[:3])]
    _, fallen = WorkingMemory(LEAST_BUDGET).add(Message("user", text))
    assert fallen
    assert all(len(piece.content) % len(unit) == 0 for piece in fallen)


@pytest.mark.parametrize("build", [WorkingMemory, lambda budget: windows([], budget)])
def test_a_budget_that_holds_no_message_is_refused(build):
    with pytest.raises(ValueError, match="too small"):
        build(LEAST_BUDGET - 1)


# ---- a long conversation -------------------------------------------------------------------------------------------


@given(conversations, budgets)
@settings(max_examples=150, deadline=None)
def test_stretches_hold_everything_once_in_order_within_the_budget(said: list[Message], budget: int):
    found = windows(said, budget)
    parts = [part for window in found for part in window]
    assert all(sum(cost(part.message) for part in window) <= budget for window in found)
    assert [part.place for part in parts] == sorted(part.place for part in parts)
    for place, message in enumerate(said):
        own = [part.message for part in parts if part.place == place]
        assert "".join(one.content for one in own) == message.content
        assert {(one.role, one.name) for one in own} == {(message.role, message.name)}
    for window, after in pairwise(found):
        assert sum(cost(part.message) for part in window) + cost(after[0].message) > budget


def test_a_conversation_that_fits_is_one_stretch():
    said = exchange(1)
    assert [[part.message for part in window] for window in windows(said, 5_000)] == [said]
    assert windows([], 5_000) == []
