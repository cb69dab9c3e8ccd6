"""The four tools as a host uses them, in both protocol eras."""

import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp.client import Client
from mcp_types import CallToolResult, ElicitResult

from memory_mcp.config import Settings
from memory_mcp.server.server import build_server
from tests.rawstdio import ERAS

pytestmark = pytest.mark.anyio

Call = Callable[..., Awaitable[dict[str, Any]]]


def text(result: CallToolResult) -> str:
    [block] = result.content
    return block.text


@pytest.fixture
def call(client: Client) -> Call:
    """Call a tool that must succeed; gives the structured part."""

    async def succeed(name: str, **arguments: Any) -> dict[str, Any]:
        result = await client.call_tool(name, arguments)
        assert not result.is_error, text(result)
        return result.structured_content

    return succeed


@pytest.fixture
def refused(client: Client) -> Callable[..., Awaitable[str]]:
    """Call a tool that must fail; gives what the model reads."""

    async def fail(name: str, **arguments: Any) -> str:
        result = await client.call_tool(name, arguments)
        assert result.is_error, result
        return text(result)

    return fail


async def contents(call: Call, **arguments: Any) -> list[str]:
    return [hit["content"] for hit in (await call("recall", **arguments))["hits"]]


# ---- each verb ---------------------------------------------------------------------------------------------


async def test_what_is_stored_is_recalled(call: Call):
    stored = await call("store", content="Mika's daughter is called Hana.", kind="relationship", tags=["family"])
    found = await call("recall", query="daughter")
    assert stored["status"] == "stored"
    assert found["hits"][0]["id"] == stored["id"]
    assert found["hits"][0]["content"] == "Mika's daughter is called Hana."
    assert found["hits"][0]["kind"] == "relationship"
    assert found["mode"] == "keyword"


async def test_why_a_hit_ranks_where_it_does_stays_out_of_the_reply(call: Call):
    await call("store", content="Nora keeps the boat in Lisbon")
    [hit] = (await call("recall", query="Where is Nora's boat?"))["hits"]
    assert hit.keys() == {"id", "content", "created_at", "label", "score"}


async def test_both_parts_of_an_answer_carry_the_same_facts(client: Client):
    stored = await client.call_tool("store", {"content": "The kiln is fired on Fridays."})
    found = await client.call_tool("recall", {"query": "kiln"})
    assert stored.structured_content["id"] in text(stored)
    assert stored.structured_content["status"] in text(stored)
    for hit in found.structured_content["hits"]:
        assert hit["id"] in text(found)
        assert hit["content"] in text(found)


async def test_defaults_and_nulls_are_left_out(client: Client):
    result = await client.call_tool("store", {"content": "Short."})
    assert result.structured_content.keys() <= {"id", "status", "notice"}
    assert "null" not in json.dumps(result.structured_content)


async def test_the_same_text_again_is_a_duplicate(call: Call):
    first = await call("store", content="The gate code changes in June.")
    again = await call("store", content="The gate code changes in June.")
    assert again["status"] == "duplicate"
    assert again["id"] == first["id"]


async def test_a_key_supersedes_its_earlier_value(call: Call):
    old = await call("store", content="Favourite restaurant: Ume.", key="favourite_restaurant")
    new = await call("store", content="Favourite restaurant: Sora.", key="favourite_restaurant")
    assert (new["status"], new["superseded"]) == ("superseded", [old["id"]])
    assert await contents(call, query="favourite restaurant") == ["Favourite restaurant: Sora."]


async def test_a_superseded_memory_is_history(call: Call):
    old = await call("store", content="The API listens on port 8000.")
    await call("store", content="The API listens on port 8080.", supersedes=[old["id"]])
    assert await contents(call, query="API port") == ["The API listens on port 8080."]
    assert len(await contents(call, query="API port", include_history=True)) == 2


async def test_without_a_query_recall_gives_the_briefing(call: Call):
    await call("store", content="Deploys happen on Tuesdays.", kind="decision", importance=0.9)
    briefing = await call("recall")
    assert briefing["mode"] == "briefing"
    assert [hit["content"] for hit in briefing["hits"]] == ["Deploys happen on Tuesdays."]


async def test_with_filters_alone_recall_lists_page_by_page_each_memory_once(call: Call):
    """B49."""
    stored = {(await call("store", content=f"Shelf {n} holds jar {n}.", tags=["shelf"]))["id"] for n in range(25)}
    seen: list[str] = []
    page = await call("recall", tags=["shelf"], limit=10)
    while True:
        assert page["mode"] == "list"
        seen += [hit["id"] for hit in page["hits"]]
        if "next_cursor" not in page:
            break
        page = await call("recall", tags=["shelf"], limit=10, cursor=page["next_cursor"])
    assert len(seen) == len(set(seen))
    assert set(seen) == stored


async def test_memories_are_recalled_by_id(call: Call):
    stored = await call("store", content="The spare key is under the red pot.")
    assert await contents(call, ids=[stored["id"]]) == ["The spare key is under the red pot."]


async def test_a_host_s_own_summary_becomes_an_episode_with_its_facts(call: Call):
    kept = await call(
        "summarize",
        session_id="2026-05-04 garden",
        summary="Planned the garden. Tomatoes go to the south wall.",
        key_facts=["Tomatoes grow at the south wall.", {"content": "Ken waters on Sundays.", "kind": "decision"}],
        outcome="success",
        lessons=["Measure the beds first."],
        actions=[{"tool": "web_search", "ok": True, "duration": 1.5}],
    )
    assert (kept["session_id"], kept["status"], len(kept["facts"])) == ("2026-05-04 garden", "stored", 2)
    assert "summary" not in kept
    assert "Ken waters on Sundays." in await contents(call, query="Who waters?")


async def test_messages_alone_are_summarized_here_and_kept(call: Call):
    kept = await call(
        "summarize",
        session_id="s1",
        messages=[
            {"role": "user", "content": "I moved to Sapporo last month because of the new job."},
            {"role": "assistant", "content": "How do you like the snow in Sapporo?"},
        ],
    )
    assert kept["turns_stored"] == 2
    assert "Sapporo" in kept["summary"]


async def test_exact_ids_are_forgotten_at_once(call: Call, refused):
    stored = await call("store", content="My locker number is 4711.")
    gone = await call("forget", ids=[stored["id"]])
    assert gone["erased"] == [stored["id"]]
    assert gone["verification"] == "clean"
    assert await contents(call, query="locker number") == []
    assert stored["id"] in await refused("recall", ids=[stored["id"]])


async def test_a_wide_forget_previews_and_erases_exactly_that_when_confirmed(call: Call):
    for n in range(3):
        await call("store", content=f"Old project note {n}.", tags=["old"])
    kept = await call("store", content="New project note.", tags=["new"])
    preview = await call("forget", tags=["old"])
    assert (preview["count"], len(preview["sample"])) == (3, 3)
    assert len(await contents(call, tags=["old"])) == 3
    gone = await call("forget", tags=["old"], confirm=preview["confirm"])
    assert len(gone["erased"]) == 3
    assert await contents(call, ids=[kept["id"]]) == ["New project note."]


async def test_a_confirm_handle_stands_for_nothing_else(call: Call, refused):
    await call("store", content="Note one.", tags=["t"])
    preview = await call("forget", tags=["t"])
    await call("store", content="Note two.", tags=["t"])
    assert "Nothing was changed" in await refused("forget", tags=["t"], confirm=preview["confirm"])
    assert len(await contents(call, tags=["t"])) == 2


async def test_a_restore_undoes_that_a_memory_was_superseded(call: Call):
    old = await call("store", content="The boat is called Kamome", key="boat")
    new = await call("store", content="The boat is called Umi", key="boat")
    undone = await call("forget", ids=[old["id"]], restore=True)
    assert undone == {"restored": [old["id"]], "archived": [new["id"]]}
    assert [hit["content"] for hit in (await call("recall", query="boat"))["hits"]] == ["The boat is called Kamome"]


async def test_a_forget_names_what_it_was_learned_from_and_what_is_out_of_reach(call: Call):
    source = await call("store", content="Ken said that he rows")
    fact = await call("store", content="Ken rows", derived_from=[source["id"]])
    forgotten = await call("forget", ids=[fact["id"]])
    assert forgotten["origins"] == [source["id"]]
    assert all(part in forgotten["detail"] for part in ("searched", source["id"], "Out of reach", "snapshots"))


async def test_what_is_archived_is_not_recalled_until_it_is_restored(call: Call):
    stored = await call("store", content="The boat is called Kamome.")
    assert (await call("forget", ids=[stored["id"]], archive=True))["archived"] == [stored["id"]]
    assert await contents(call, query="boat") == []
    assert (await call("forget", ids=[stored["id"]], restore=True))["restored"] == [stored["id"]]
    assert await contents(call, query="boat") == ["The boat is called Kamome."]


# ---- harmless forms ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("tags", ['["a", "b"]', "a, b", ["a", "b"], "a,b,"])
async def test_a_list_may_be_written_as_text(call: Call, tags: object):
    """B53."""
    stored = await call("store", content="Tagged.", tags=tags)
    [hit] = (await call("recall", ids=stored["id"]))["hits"]
    assert list(hit["tags"]) == ["a", "b"]


async def test_a_comma_within_a_listed_tag_separates_nothing(call: Call):
    stored = await call("store", content="Tagged.", tags=["paris, texas"])
    [hit] = (await call("recall", ids=[stored["id"]]))["hits"]
    assert list(hit["tags"]) == ["paris, texas"]


@pytest.mark.parametrize("limit", ["1", 1.0, 1, "1.0"])
async def test_a_number_may_be_written_as_text_or_with_a_point(call: Call, limit: object):
    """B53."""
    for n in range(2):
        await call("store", content=f"Lamp {n} is lit.")
    assert len(await contents(call, query="lamp", limit=limit)) == 1


@pytest.mark.parametrize("flag", ["true", True, "True"])
async def test_a_flag_may_be_written_as_text(call: Call, flag: object):
    """B53."""
    stored = await call("store", content="The attic is dry.")
    assert "archived" in await call("forget", ids=[stored["id"]], archive=flag)


async def test_null_and_empty_mean_absent(call: Call):
    """B52, B53."""
    stored = await call(
        "store",
        content="Nulls.",
        kind=None,
        tags=None,
        importance=None,
        key=None,
        supersedes="",
        source="",
        valid_from="",
    )
    assert stored["status"] == "stored"


@pytest.mark.parametrize("wrapper", ["arguments", "args", "input", "params"])
@pytest.mark.parametrize("form", [dict, json.dumps], ids=["object", "text"])
async def test_arguments_may_be_wrapped_once_more(call: Call, wrapper: str, form):
    """B53."""
    assert (await call("store", **{wrapper: form({"content": "Wrapped."})}))["status"] == "stored"


@pytest.mark.parametrize(
    "facts", ["Rain, then sun.", ["Rain, then sun."], '["Rain, then sun."]', {"content": "Rain, then sun."}]
)
async def test_key_facts_may_be_one_text_one_object_or_a_list(call: Call, facts: object):
    """B53: a sentence is not cut at its commas."""
    await call("summarize", session_id="s", summary="Weather.", key_facts=facts)
    assert "Rain, then sun." in await contents(call, query="rain sun")


async def test_kinds_may_be_written_in_any_case(call: Call):
    await call("store", content="I like tea.", kind="Preference")
    assert await contents(call, kinds="PREFERENCE") == ["I like tea."]


# ---- refusals ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool", "arguments", "told"),
    [
        ("store", {}, ["content is missing"]),
        ("store", {"content": "x", "kind": "banana"}, ["kind must be one of", "fact", "lesson"]),
        ("store", {"content": "x", "importance": 7}, ["importance must be at most 1"]),
        ("store", {"content": "x", "importance": "much"}, ["importance must be a number"]),
        ("store", {"content": "x", "expires_in_days": "soon"}, ["expires_in_days must be a number"]),
        ("store", {"content": "x", "tags": {"a": 1}}, ["tags must be a list"]),
        ("store", {"content": "x", "tags": [["a"]]}, ["tags[0] must be a text"]),
        ("store", {"content": {"text": "x"}}, ["content must be a text"]),
        ("store", {"content": "x", "kind": "episode"}, ["episode", "summarize"]),
        ("store", {"content": ""}, ["content"]),
        ("store", {"content": " \n "}, ["content"]),
        ("store", {"content": "a\x00b"}, ["content"]),
        ("store", {"content": "x" * 16_001}, ["content", "16,000", "Split it"]),
        ("store", {"content": "x", "tags": [f"t{n}" for n in range(100_000)]}, ["tags"]),
        ("store", {"content": "x", "valid_from": "2026-02-30"}, []),
        ("store", {"content": "x", "created_at": "3026-01-01"}, ["created_at"]),
        ("store", {"content": "x", "supersedes": ["nonesuch"]}, ["nonesuch"]),
        ("store", {"content": "x", "derived_from": ["nonesuch"]}, ["derived_from"]),
        ("store", {"content": "x", "contnet": "y"}, ["Unknown argument 'contnet'", "content, kind, tags"]),
        ("summarize", {"summary": "x"}, ["session_id is missing"]),
        ("summarize", {"session_id": "s", "summary": "word " * 201}, ["201 words", "200"]),
        ("summarize", {"session_id": "s"}, []),
        ("summarize", {"session_id": "s", "messages": [{"role": "user"}]}, ["messages[0].content is missing"]),
        ("summarize", {"session_id": "s", "messages": [{"role": "cat", "content": "x"}]}, ["messages[0].role"]),
        ("summarize", {"session_id": "s", "key_facts": [{"content": "x", "knd": "y"}]}, ["key_facts[0].knd"]),
        ("summarize", {"session_id": "s", "summary": "x", "outcome": "meh"}, ["outcome must be one of success"]),
        ("forget", {}, ["ids"]),
        ("forget", {"ids": ["nonesuch"]}, ["nonesuch"]),
        ("forget", {"ids": ["a"], "query": "b"}, ["alone"]),
        ("forget", {"query": "x", "archive": True, "restore": True}, ["archive", "restore"]),
        ("forget", {"before": "yesteryear"}, []),
    ],
)
async def test_a_wrong_call_is_told_in_words_and_changes_nothing(call: Call, refused, tool, arguments, told):
    stored = await call("store", content="A witness.")
    answer = await refused(tool, **arguments)
    for part in (*told, "othing was"):
        assert part in answer
    assert "pydantic" not in answer
    assert "input_value" not in answer
    assert "Error executing" not in answer
    assert "\n" not in answer
    assert len(answer) < 700
    everything = await call("recall", since="2000-01-01", limit=50)
    assert [hit["id"] for hit in everything["hits"]] == [stored["id"]]


@pytest.mark.parametrize(
    ("arguments", "told"),
    [
        ({"query": "x", "limit": 0}, "limit must be at least 1"),
        ({"query": "x", "limit": 51}, "limit must be at most 50"),
        ({"query": "x", "limit": "many"}, "limit must be a whole number"),
        ({"query": "x", "kinds": ["fact", "nope"]}, "kinds[1] must be one of"),
        ({"query": "x", "min_confidence": 2}, "min_confidence must be at most 1"),
        ({"query": "x" * 4_001}, "query"),
        ({"query": "x", "since": "2026-05-05", "until": "2026-05-01"}, "since"),
        ({"query": "x", "since": "the day after never"}, ""),
        ({"tags": "x", "cursor": "forged"}, "cursor"),
        ({"query": "x", "max_tokens": 0}, "max_tokens must be at least 1"),
        ({"ids": ["nonesuch"]}, "nonesuch"),
        ({"query": "x", "include_history": "perhaps"}, "include_history must be true or false"),
        ({"q": "x"}, "Unknown argument 'q'. recall takes: query, limit"),
    ],
)
async def test_a_wrong_question_is_told_in_words(refused, arguments, told):
    answer = await refused("recall", **arguments)
    assert told in answer
    assert "pydantic" not in answer
    assert "\n" not in answer


async def test_an_unknown_tool_names_the_four(refused):
    assert "recall, store, summarize, forget" in await refused("remember", content="x")


async def test_what_was_sent_is_not_repeated_by_an_error(refused):
    answer = await refused("store", content=["my secret plan"], importance="my secret plan")
    assert "secret" not in answer


# ---- bounds ------------------------------------------------------------------------------------------------


async def test_a_reply_is_bounded_and_says_what_was_left_out(client: Client, call: Call):
    """B54: a long answer is not shown at all by some hosts."""
    for n in range(20):
        await call(
            "store",
            content=f"Report {n}: " + "the harbour was quiet again today. " * 400,
            kind="turn",
            session_id="log",
            speaker=f"p{n}",
        )
    result = await client.call_tool("recall", {"query": "harbour report", "limit": 20})
    assert len(text(result).encode()) <= 4_000
    assert len(json.dumps(result.structured_content, ensure_ascii=False).encode()) <= 4_000
    assert result.structured_content.get("omitted", 0) > 0
    assert all(hit["excerpt"] for hit in result.structured_content["hits"])


async def test_a_caller_may_ask_for_more_but_not_beyond_a_tenth_of_the_context(words_only: Settings):
    async with Client(build_server(words_only.model_copy(update={"context_tokens": 20_000}))) as client:
        for n in range(20):
            await client.call_tool("store", {"content": f"Report {n}: " + "the harbour was quiet again. " * 400})
        sizes = []
        for tokens in (500, 2_000, 1_000_000):
            found = await client.call_tool("recall", {"query": "harbour", "limit": 20, "max_tokens": tokens})
            sizes.append(len(text(found).encode()))
    assert sizes[0] <= 2_000 < sizes[1] <= 8_000
    assert sizes[2] <= 8_000


async def test_a_very_wide_forget_answers_within_bounds(client: Client, call: Call):
    for n in range(120):
        await call("store", content=f"Crumb {n} lies here.", tags=["crumb"])
    preview = await client.call_tool("forget", {"tags": ["crumb"]})
    gone = await client.call_tool("forget", {"tags": ["crumb"], "confirm": preview.structured_content["confirm"]})
    for result in (preview, gone):
        assert len(text(result).encode()) <= 4_000
        assert len(json.dumps(result.structured_content).encode()) <= 4_000
    assert preview.structured_content["count"] == 120
    assert "erased (120 in all)" in gone.structured_content["notice"]
    assert "erased (120 in all)" in text(gone)


async def test_many_key_facts_are_answered_within_bounds(client: Client):
    facts = [f"Fact number {n} of the long meeting." for n in range(150)]
    result = await client.call_tool("summarize", {"session_id": "s", "summary": "A long meeting.", "key_facts": facts})
    assert len(text(result).encode()) <= 4_000
    assert "facts (150 in all)" in result.structured_content["notice"]


async def test_a_preview_of_nothing_has_nothing_to_confirm(call: Call):
    preview = await call("forget", query="unheard of")
    assert preview.keys() == {"count", "notice"}
    assert preview["count"] == 0


# ---- a person is asked -------------------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
@pytest.mark.parametrize(
    ("action", "agreed", "left"), [("accept", True, 0), ("accept", False, 2), ("decline", None, 2), ("cancel", None, 2)]
)
async def test_a_host_that_can_ask_its_user_asks_before_a_wide_forget(words_only: Settings, era, action, agreed, left):
    asked: list[str] = []

    async def answer(context, params):
        asked.append(params.message)
        return ElicitResult(action=action, content=None if agreed is None else {"agreed": agreed})

    async with Client(build_server(words_only), mode=era, elicitation_callback=answer) as client:
        for n in range(2):
            await client.call_tool("store", {"content": f"Diary page {n}.", "tags": ["diary"]})
        result = await client.call_tool("forget", {"tags": ["diary"]})
        listed = await client.call_tool("recall", {"tags": ["diary"]})
    assert [message.splitlines()[0].startswith("Forget 2 memories") for message in asked] == [True]
    assert len(listed.structured_content["hits"]) == left
    assert result.is_error == (action == "decline" or agreed is False)
    assert ("confirm" in (result.structured_content or {})) == (action == "cancel")


# ---- progress and cancelling -------------------------------------------------------------------------------


async def test_summarize_reports_rising_progress_to_who_asked_for_it(client: Client):
    """B55."""
    seen: list[float] = []

    async def note(progress: float, total: float | None, message: str | None) -> None:
        seen.append(progress)

    messages = [{"role": "user", "content": "The ferry leaves at nine from pier three."}]
    result = await client.call_tool("summarize", {"session_id": "s", "messages": messages}, progress_callback=note)
    assert not result.is_error
    assert seen == sorted(set(seen))
    assert len(seen) == 2


@pytest.mark.parametrize("wait", range(6))
async def test_a_cancelled_call_is_wholly_done_or_not_at_all_and_the_next_works(client: Client, call: Call, wait: int):
    """B51."""
    with anyio.CancelScope() as scope:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(
                client.call_tool, "summarize", {"session_id": "c", "summary": "Cut off.", "key_facts": ["Cut."]}
            )
            for _ in range(wait):
                await anyio.lowlevel.checkpoint()
            scope.cancel()
    assert len(await contents(call, session_id="c")) in (0, 2)


# ---- files that cannot be used -----------------------------------------------------------------------------


@pytest.mark.parametrize("era", ERAS)
async def test_a_foreign_file_is_told_by_each_call_and_used_once_it_is_gone(words_only: Settings, era: str):
    """B04: the handshake and the lists come whatever state the file is in."""
    words_only.db.write_bytes(b"This is not a database, but somebody's novel. " * 100)
    async with Client(build_server(words_only), mode=era) as client:
        assert len((await client.list_tools()).tools) == 4
        assert (await client.list_resources()).resources
        told = await client.call_tool("store", {"content": "Lost?"})
        assert told.is_error
        assert "Nothing was saved" in text(told)
        words_only.db.unlink()
        assert not (await client.call_tool("store", {"content": "Found."})).is_error


async def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path):
    (tmp_path / "file").write_text("in the way")
    settings = Settings(db=tmp_path / "file" / "memory.db", model="none")
    async with Client(build_server(settings)) as client:
        told = await client.call_tool("recall", {"query": "x"})
    assert told.is_error
    assert "MEMORY_MCP_DB" in text(told)
