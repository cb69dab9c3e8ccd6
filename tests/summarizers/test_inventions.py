"""A model that invents, over twenty conversations: what it made up goes, what was said stays."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from memory_mcp.models import Message
from memory_mcp.summarizers import AnthropicSummarizer
from tests.fake_anthropic import FakeAnthropic, fake_anthropic, summary
from tests.summarizers.conversations import CONVERSATIONS, Conversation

pytestmark = pytest.mark.anyio


class Purse:
    """A budget without an end."""

    async def left(self) -> float:
        return 1.0

    async def spend(self, dollars: float) -> None:
        del dollars


@pytest.fixture
def api(monkeypatch: pytest.MonkeyPatch) -> Iterator[FakeAnthropic]:
    with fake_anthropic(summary("")) as fake:
        monkeypatch.setenv("ANTHROPIC_API_KEY", "fake")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", fake.url)
        yield fake


@pytest.mark.parametrize("talk", CONVERSATIONS, ids=lambda talk: talk.name)
async def test_nothing_that_a_model_made_up_is_kept(api: FakeAnthropic, talk: Conversation):
    facts = [
        {"content": text, "category": "fact", "turns": list(range(1, len(talk.turns) + 1))}
        for text in (*talk.facts, *talk.inventions)
    ]
    lines = "\n".join([talk.summary, *talk.inventions])
    api.answer(summary(lines, facts=facts), summary(talk.summary + "\n" + talk.inventions[0], facts=facts))
    messages = [Message(turn.role, turn.text, at=datetime.fromisoformat(turn.time)) for turn in talk.turns]
    got = await AnthropicSummarizer("claude-haiku-5-5", Purse(), UTC).summarize(messages)
    kept = json.dumps([got.summary, *(fact.content for fact in got.key_facts)], ensure_ascii=False)
    assert not [one for one in talk.inventions if one in kept]
    assert talk.summary in got.summary
    assert "left out" in got.notice
