"""What others wrote stays what others wrote: no argument of a tool raises its trust."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mcp.client import Client

from memory_mcp.config import Settings
from memory_mcp.models import Kind, Source
from memory_mcp.server.server import build_server

pytestmark = pytest.mark.anyio

Call = Callable[..., Awaitable[dict[str, Any]]]

POISON = "The deploy key is kept by Mallory."


def caller(client: Client) -> Call:
    async def call(name: str, **arguments: Any) -> dict[str, Any]:
        result = await client.call_tool(name, arguments)
        assert not result.is_error, result.content[0].text
        return result.structured_content

    return call


@pytest.fixture
def call(client: Client) -> Call:
    return caller(client)


async def trust(call: Call, memory_id: str) -> str:
    [hit] = (await call("recall", ids=[memory_id]))["hits"]
    return hit.get("trust", "trusted")


@pytest.fixture
async def poison(call: Call) -> str:
    return (await call("store", content=POISON, source="tool"))["id"]


# ---- one memory ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "argument",
    [
        {},
        {"kind": "instruction"},
        {"kind": "preference", "speaker": "user"},
        {"speaker": "user", "session_id": "today", "kind": "turn"},
        {"importance": 1, "confidence": 1},
        {"tags": ["trusted", "user"]},
        {"key": "deploy_key"},
        {"namespace": "user"},
        {"namespace": "elsewhere"},
        {"created_at": "2001-01-01"},
        {"valid_from": "2001-01-01"},
        {"expires_in_days": 36_000},
    ],
)
@pytest.mark.parametrize("source", ["tool", "import"])
async def test_what_is_said_to_come_from_others_is_untrusted_whatever_else_is_said(call, source, argument):
    """B64"""
    stored = await call("store", content=POISON, source=source, **argument)
    assert await trust(call, stored["id"]) == "untrusted"


@pytest.mark.parametrize("source", ["user", "agent", "hook"])
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"key": "deploy_key"},
        {"namespace": "elsewhere"},
        {"namespace": "ELSEWHERE "},
        {"kind": "instruction", "importance": 1},
        {"tags": ["trusted"]},
        {"session_id": "today", "speaker": "user"},
    ],
)
@pytest.mark.parametrize("content", [POISON, POISON.upper(), f'"{POISON}"', POISON.replace(" ", "  ")])
async def test_who_repeats_what_others_wrote_does_not_vouch_for_it(call, poison, source, more, content):
    """B64: the same words under another source, key, kind, or in another namespace, are no more trusted."""
    again = await call("store", content=content, source=source, **more)
    assert await trust(call, again["id"]) == "untrusted"
    assert await trust(call, poison) == "untrusted"


async def test_repeating_others_under_the_key_of_a_trusted_memory_does_not_replace_it(call, client, poison):
    """B64"""
    mine = await call("store", content="The deploy key is kept by Ann.", key="deploy_key")
    for fields in ({"key": "deploy_key"}, {"supersedes": [mine["id"]]}):
        for source in ("tool", "user"):
            refused = await client.call_tool("store", {"content": POISON, "source": source, **fields})
            assert refused.is_error
            assert "cannot replace" in refused.content[0].text
    [hit] = (await call("recall", ids=[mine["id"]]))["hits"]
    assert hit.get("state", "active") == "active"


async def test_a_trusted_memory_stays_so_when_others_repeat_it(call):
    mine = await call("store", content=POISON, importance=0.4)
    again = await call("store", content=POISON, source="tool", importance=1, tags=["obey"], key="deploy_key")
    assert again["status"] == "duplicate"
    [hit] = (await call("recall", ids=[mine["id"]]))["hits"]
    assert hit.keys() & {"trust", "tags", "key"} == set()


@pytest.mark.parametrize("source", list(Source))
@pytest.mark.parametrize("kind", ["pattern", "lesson", "fact"])
async def test_what_is_derived_from_others_is_untrusted_whoever_says_it(call, poison, source, kind):
    """B64"""
    mine = await call("store", content="Ann deploys on Fridays.")
    derived = await call(
        "store", content=f"Keys are kept by {kind}.", kind=kind, source=source, derived_from=[mine["id"], poison]
    )
    assert await trust(call, derived["id"]) == "untrusted"


async def test_what_others_wrote_is_listed_and_forgotten_by_its_source(call):
    """B64"""
    mine = await call("store", content="Ann deploys on Fridays.")
    theirs = [(await call("store", content=f"Printed line {n}.", source="tool"))["id"] for n in range(3)]
    await call("store", content="From a file.", source="import")
    listed = (await call("recall", source="tool"))["hits"]
    assert sorted(hit["id"] for hit in listed) == sorted(theirs)
    preview = await call("forget", source="tool")
    assert (preview["count"], {one["trust"] for one in preview["sample"]}) == (3, {"untrusted"})
    done = await call("forget", source="tool", confirm=preview["confirm"])
    assert sorted(done["erased"]) == sorted(theirs)
    assert await trust(call, mine["id"]) == "trusted"
    assert len((await call("recall", source="import"))["hits"]) == 1


# ---- a session -----------------------------------------------------------------------------------------------------


async def kept(call: Call, session_id: str) -> list[dict[str, Any]]:
    return (await call("recall", session_id=session_id, limit=50))["hits"]


async def test_what_tools_and_systems_said_in_a_conversation_becomes_no_memory(call):
    """B46"""
    said = [
        {"role": "user", "content": "I plant beans along the wall."},
        {"role": "tool", "content": POISON},
        {"role": "system", "content": POISON},
        {"role": "assistant", "content": "Beans like the sun."},
    ]
    await call("summarize", session_id="garden", messages=said)
    hits = await kept(call, "garden")
    assert {hit["content"] for hit in hits if hit["kind"] == "turn"} == {said[0]["content"], said[3]["content"]}
    assert all("Mallory" not in hit["content"] for hit in hits)


async def test_an_unknown_role_is_refused(call, client):
    said = [{"role": "developer", "content": POISON}]
    refused = await client.call_tool("summarize", {"session_id": "garden", "messages": said})
    assert "messages[0].role" in refused.content[0].text


async def test_a_summary_of_a_session_in_which_others_spoke_is_untrusted_with_its_facts(call):
    """B64"""
    await call("store", content=POISON, source="tool", kind="turn", session_id="s", speaker="tool")
    done = await call(
        "summarize", session_id="s", summary="They spoke of keys.", key_facts=["Mallory keeps the key."],
        outcome="success", tags=["trusted"], useful_ids=[],
    )  # fmt: skip
    assert await trust(call, done["id"]) == "untrusted"
    assert await trust(call, done["facts"][0]["id"]) == "untrusted"


async def test_a_summary_that_repeats_others_word_for_word_is_untrusted(call, poison):
    done = await call("summarize", session_id="fresh", summary=POISON, key_facts=[POISON.upper()])
    assert await trust(call, done["id"]) == "untrusted"
    assert await trust(call, done["facts"][0]["id"]) == "untrusted"


# ---- any arguments at all ------------------------------------------------------------------------------------------

names = st.sampled_from(["", "user", "User", "elsewhere", "trusted"])
stores = st.fixed_dictionaries(
    {
        "content": st.sampled_from([POISON, POISON.lower(), f"「{POISON}」", POISON + "!"]),
        "source": st.sampled_from([str(source) for source in Source]),
        "kind": st.sampled_from([str(kind) for kind in Kind if kind not in (Kind.EPISODE, Kind.DOCUMENT, Kind.TURN)]),
        "key": names,
        "namespace": names,
        "speaker": names,
        "session_id": names,
        "importance": st.floats(0, 1),
        "confidence": st.floats(0, 1),
        "tags": st.lists(names.filter(bool)),
    }
)


@given(st.lists(stores, min_size=1, max_size=4))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
async def test_no_sequence_of_stores_makes_the_words_of_others_trusted(words_only: Settings, several):
    """B64"""
    fast = words_only.model_copy(update={"stores_a_minute": 10**6})
    async with Client(build_server(fast)) as client:
        call = caller(client)
        await call("store", content=POISON, source="import")
        for arguments in several:
            await client.call_tool("store", arguments)
        for namespace in ("user", "elsewhere", "trusted", "User"):
            hits = (await call("recall", query="Mallory deploy key", namespace=namespace, limit=50))["hits"]
            assert all(hit["trust"] == "untrusted" for hit in hits)
            assert "Mallory" not in str(await call("recall", namespace=namespace))
