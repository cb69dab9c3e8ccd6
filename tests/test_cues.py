"""Which clues a question gives, and which texts answer them."""

import pytest

from memory_mcp.answers import Reasons
from memory_mcp.config import Settings
from memory_mcp.cues import answered, asked, first_person
from memory_mcp.models import Kind
from memory_mcp.retrieval import Ranked, sharpened
from tests.conftest import Clock
from tests.memories import ask, keep, memory_with

NOBODY: frozenset[str] = frozenset()


def clue(question: str, text: str, speakers: frozenset[str] = NOBODY) -> float:
    return answered(asked(question), text, speakers)


@pytest.mark.parametrize(
    ("question", "answer", "other"),
    [
        ("When did Ann move?", "We moved last week.", "We moved into a bigger flat."),
        ("What year did it begin?", "It began in 2019.", "It began slowly."),
        ("How long has she been there?", "She has been there for three years.", "She is there with her sister."),
        ("Where did they meet?", "They met in Lisbon.", "They met over coffee."),
        ("Where did they meet?", "They met at the lake.", "They met over coffee."),
        ("Which city does he like?", "He keeps talking about a trip to Porto.", "He keeps talking about trips."),
        ("Who came along?", "On that day I saw Theo.", "On that day I saw rain."),
        ("Who came along?", "My brother came along.", "The rain came along."),
        ("What are her plans for next summer?", "I'm going to learn to sail.", "I learned to sail."),
        ("Which book did he read?", 'He read "The Left Hand" twice.', "He read it twice."),
        ("How did she feel about it?", "I was so nervous!", "I was there at nine."),
    ],
)
def test_a_question_is_answered_by_a_text_of_the_kind_it_asks_for(question: str, answer: str, other: str):
    assert clue(question, answer) > clue(question, other)


@pytest.mark.parametrize("question", ["", "coffee", "Does Ann like tea?", "花子さんはいつ帰る？", "¿Dónde vive?"])
def test_a_question_without_a_clue_is_asked_without(question: str):
    assert asked(question) == ()


def test_names_count_in_the_middle_of_a_sentence_and_no_speaker_month_or_weekday_is_one():
    who = "Who was there?"
    assert clue(who, "I met Theo. Nina came too. Ines left.") == pytest.approx(clue(who, "I met Theo."))
    assert clue(who, "I met Theo, and Nina, and Ines.") > clue(who, "I met Theo, and Nina.") > clue(who, "I met Theo.")
    assert clue(who, "I met Ann.", frozenset({"ann"})) == 0
    assert clue(who, "It was the first of May, on a Monday.") == 0


def test_the_case_of_a_question_s_letters_does_not_matter():
    assert asked("WHERE IS IT?") == asked("where is it?") != ()


@pytest.mark.parametrize(
    ("text", "share"),
    [("The train left.", 0), ("I left.", 1 / 3), ("I'm glad we left.", 2 / 3), ("I lost my bag and our keys.", 1)],
)
def test_a_text_speaks_of_its_speaker_by_its_first_person_words(text: str, share: float):
    assert first_person(text) == pytest.approx(share)


def test_a_long_text_without_an_end_is_looked_through_in_a_moment():
    for text in ("a " * 50_000, "'A" * 50_000, "in " * 50_000, '"A' * 50_000, "“A" * 50_000, "‘A" * 50_000):
        assert clue("Which book did he read, and where, and who will?", text) >= 0


# ---- in a ranking --------------------------------------------------------------------------------------------------


@pytest.mark.anyio
async def test_of_texts_that_share_the_question_s_words_the_one_of_the_kind_asked_for_comes_first(
    words_only: Settings, clock: Clock
):
    """Without the clue the newer one would."""
    place, other = "Ann met the sailors in Lisbon", "Ann met the sailors over coffee"
    async with memory_with(words_only, None, clock) as memory:
        await keep(memory, place)
        clock.turn(days=1)
        await keep(memory, other)
        assert await ask(memory, "Where did Ann meet the sailors?") == [place, other]
        assert await ask(memory, "Did Ann meet the sailors?") == [other, place]


@pytest.mark.anyio
async def test_of_what_the_named_speaker_said_that_about_himself_comes_first(words_only: Settings, clock: Clock):
    own, other = "My kayak is red and I love it", "The kayak is red and it is fast"
    async with memory_with(words_only, None, clock) as memory:
        await keep(memory, own, kind=Kind.TURN, session_id="a", speaker="Bob")
        clock.turn(days=1)
        await keep(memory, other, kind=Kind.TURN, session_id="b", speaker="Bob")
        assert await ask(memory, "Does Bob have a kayak?") == [own, other]
        assert await ask(memory, "Is there a kayak?") == [other, own]


def test_a_clue_lifts_what_fits_well_and_not_what_hardly_fits():
    near, far = Ranked(1, 0.5, "fair", Reasons(), gate=1.0), Ranked(2, 0.4, "weak", Reasons(), gate=0.01)
    texts = {1: "They met over coffee.", 2: "They met in Lisbon."}
    best, last = sharpened([near, far], texts, asked("Where did they meet?"), NOBODY)
    assert (best.row, best.reasons.cues) == (1, 0)
    assert 0 < last.reasons.cues < 0.01
