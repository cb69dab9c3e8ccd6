"""What a summary names must have been said: inventions are caught, and true sentences in other words survive."""

import pytest

from memory_mcp.summarizers.grounding import Source, grounded, unsupported
from tests.summarizers.conversations import CONVERSATIONS, Conversation

EACH = pytest.mark.parametrize("talk", CONVERSATIONS, ids=lambda talk: talk.name)


@EACH
def test_a_true_summary_survives_whole(talk: Conversation) -> None:
    source = Source.of(talk.texts())
    assert unsupported(talk.summary, source) == ()
    assert grounded(talk.summary, source) == (talk.summary, ())


@EACH
def test_true_facts_survive(talk: Conversation) -> None:
    source = Source.of(talk.texts())
    assert {fact: unsupported(fact, source) for fact in talk.facts} == dict.fromkeys(talk.facts, ())


@EACH
def test_every_invention_is_caught(talk: Conversation) -> None:
    source = Source.of(talk.texts())
    assert [one for one in talk.inventions if not unsupported(one, source)] == []
