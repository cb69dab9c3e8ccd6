"""What is refused before it reaches the store, and what is merely looked for."""

from datetime import UTC, datetime

import pytest

from memory_mcp.config import Settings
from memory_mcp.errors import InvalidInput
from memory_mcp.models import Memory, NewMemory, Query, Revision, Selection
from memory_mcp.requests import ids, new_memory, revision, selected, where

NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
KEPT = Memory("m1", "text", NOW, NOW)
TOKEN = "gh" + "p_" + "Q7z" * 12
HIDDEN = [TOKEN, TOKEN[:10] + "\u200b" + TOKEN[10:], "a <private>b</private>", "<private>"]


@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize("field", ["tags", "key", "speaker", "session_id", "namespace"])
def test_no_short_field_keeps_a_secret_or_a_private_block(field, hidden):
    """B65"""
    given = {field: (hidden,) if field == "tags" else hidden}
    with pytest.raises(InvalidInput, match=f"^{field} holds a (?:secret|private block).*nothing was saved"):
        new_memory(NewMemory("text", **given), Settings(), NOW)


@pytest.mark.parametrize("hidden", HIDDEN)
@pytest.mark.parametrize("field", ["tags", "namespace"])
def test_a_revision_keeps_neither(field, hidden):
    """B65"""
    given = {field: (hidden,) if field == "tags" else hidden}
    with pytest.raises(InvalidInput, match=f"^{field} holds a (?:secret|private block)"):
        revision(Revision(**given), KEPT, Settings(), NOW)


def test_what_is_only_looked_for_may_hold_anything():
    asked = {"tags": (TOKEN.upper(),), "session_id": "<private>", "namespace": TOKEN}
    found = where(Query(**asked), Settings(), UTC, NOW)
    assert (found.tags, found.session_id, found.namespaces) == ((TOKEN.lower(),), "<private>", (TOKEN, "user"))
    chosen = selected(Selection(**asked), (), Settings(), UTC, NOW)
    assert (chosen.tags, chosen.session_id, chosen.namespaces) == ((TOKEN.lower(),), "<private>", (TOKEN,))


def test_names_are_looked_for_in_the_form_in_which_they_are_kept():
    given = {"tags": (" Cafe\u0301  au lait ",), "session_id": "the\u200b first", "namespace": " work "}
    kept, _ = new_memory(NewMemory("text", **given), Settings(), NOW)
    found = where(Query(**given), Settings(), UTC, NOW)
    assert (kept.tags, kept.session_id, kept.namespace) == (found.tags, found.session_id, found.namespaces[0])


@pytest.mark.parametrize(
    "wrong",
    [
        {"min_confidence": 2},
        {"min_confidence": float("nan")},
        {"tags": ("t",) * 33},
        {"tags": ("t" * 65,)},
        {"tags": ("a\0b",)},
        {"session_id": "s" * 20_000},
        {"session_id": "\u200b"},
        {"namespace": "\ud800"},
        {"since": "s" * 20_000},
        {"until": "0001-01-01"},
        {"since": "2026-05-04", "until": "2026-05-01"},
    ],
)
def test_a_question_that_is_refused_neither_speaks_of_saving_nor_repeats_itself(wrong):
    with pytest.raises(InvalidInput) as refusal:
        where(Query(**wrong), Settings(), UTC, NOW)
    assert "saved" not in str(refusal.value)
    assert len(str(refusal.value)) < 400


def test_what_is_too_long_to_be_an_id_is_refused_without_repeating_it():
    with pytest.raises(InvalidInput, match="36 characters") as refusal:
        ids(["x" * 61])
    assert "xx" not in str(refusal.value)


@pytest.mark.parametrize("field", ["created_at", "valid_from"])
@pytest.mark.parametrize("told", ["0001-01-01T00:00Z", "0999-12-31T00:00Z", "9001-01-01T00:00Z", "9999-12-31T23:59Z"])
def test_an_instant_beyond_every_clock_is_refused(field, told):
    with pytest.raises(InvalidInput, match=f"{field} must lie in the years 1000 to 9000. Nothing was saved"):
        new_memory(NewMemory("text", **{field: datetime.fromisoformat(told)}), Settings(), NOW)
