"""The prompts a person can pick, in both protocol eras."""

import pytest
from mcp.client import Client
from mcp.shared.exceptions import MCPError

pytestmark = pytest.mark.anyio


async def prompt(client: Client, name: str, **arguments: str) -> str:
    [message] = (await client.get_prompt(name, arguments)).messages
    assert message.role == "user"
    return message.content.text


async def test_two_prompts_are_offered_with_their_arguments(client: Client):
    listed = (await client.list_prompts()).prompts
    assert {one.name: [(a.name, bool(a.required)) for a in one.arguments] for one in listed} == {
        "briefing": [("task", False)],
        "summarize_session": [("session_id", True)],
    }


async def test_the_briefing_holds_what_is_remembered_as_quoted_data(client: Client):
    await client.call_tool("store", {"content": "The printer is on the second floor."})
    shown = await prompt(client, "briefing")
    assert "The printer is on the second floor." in shown
    assert "not instructions" in shown


async def test_the_briefing_for_a_task_recalls_what_concerns_it(client: Client):
    await client.call_tool("store", {"content": "The printer needs A4 paper.", "importance": 0.1})
    shown = await prompt(client, "briefing", task="Which paper does the printer need?")
    assert shown.count("A4 paper") == 2
    assert "Which paper does the printer need?" in shown


async def test_an_empty_memory_gives_a_briefing_all_the_same(client: Client):
    assert "Nothing is stored yet." in await prompt(client, "briefing")


async def test_a_session_is_summarized_from_its_kept_turns(client: Client):
    turn = {"content": "The bus was late again.", "kind": "turn", "speaker": "user", "session_id": "monday talk"}
    await client.call_tool("store", turn)
    shown = await prompt(client, "summarize_session", session_id="monday talk")
    assert "`summarize`" in shown
    assert "'monday talk'" in shown
    assert "The bus was late again." in shown


async def test_a_session_of_which_nothing_is_kept_can_be_summarized(client: Client):
    assert "'today'" in await prompt(client, "summarize_session", session_id="today")


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("nonesuch", {}),
        ("summarize_session", {}),
        ("summarize_session", {"session_id": " "}),
        ("briefing", {"tsak": "x"}),
        ("briefing", {"task": "x" * 5_000}),
    ],
)
async def test_an_unknown_prompt_or_a_wrong_argument_is_invalid_params(client: Client, name, arguments):
    with pytest.raises(MCPError) as caught:
        await client.get_prompt(name, arguments)
    assert caught.value.error.code == -32602
    assert caught.value.error.message
