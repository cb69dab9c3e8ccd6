"""Sentences lose nothing, excerpts fit and show what was asked for."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memory_mcp.text import LONG, SHORT, asks, excerpt, is_cjk, sentences

TEXTS = st.text() | st.text("ab .!?。、「」\n　猫ก👩\u200d\u0301é,5", max_size=600)


def visible(text: str) -> str:
    return "".join(text.split())


@given(TEXTS)
def test_sentences_lose_no_visible_character(text):
    assert visible("".join(sentences(text))) == visible(text)


@given(TEXTS)
def test_a_text_that_is_not_blank_has_a_sentence_and_a_blank_one_has_none(text):
    assert bool(sentences(text)) == bool(text.strip())


@given(TEXTS)
def test_sentences_are_neither_blank_nor_much_too_long(text):
    assert all(sentence.strip() == sentence != "" for sentence in sentences(text))
    assert all(len(sentence) <= LONG + 2 * SHORT for sentence in sentences(text))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "The meeting is on Friday at ten. Anna will bring the slides with her.",
            ["The meeting is on Friday at ten.", "Anna will bring the slides with her."],
        ),
        (
            "i moved to osaka last spring. my sister still lives in tokyo.",
            ["i moved to osaka last spring.", "my sister still lives in tokyo."],
        ),
        (
            "Did the deployment really fail? It did, and twice! We rolled it back at once.",
            ["Did the deployment really fail?", "It did, and twice! We rolled it back at once."],
        ),
        (
            "「次の会議は来週の金曜日の午後三時からです。」と田中さんが昨日の夜に電話で言っていました。そうですか。",
            [
                "「次の会議は来週の金曜日の午後三時からです。」",
                "と田中さんが昨日の夜に電話で言っていました。そうですか。",
            ],
        ),
        (
            "会議室の予約システムは総務部が管理しています！新しいPythonの版は3.13で、来月から使えるようになる？",
            ["会議室の予約システムは総務部が管理しています！", "新しいPythonの版は3.13で、来月から使えるようになる？"],
        ),
        (
            "- renew the passport before June\n- book the flight to Sapporo\n- pay",
            ["- renew the passport before June", "- book the flight to Sapporo - pay"],
        ),
        (
            'He said "the build is green again." Then everybody went home.',
            ['He said "the build is green again."', "Then everybody went home."],
        ),
    ],
)
def test_sentences_end_where_a_reader_would_end_them(text, expected):
    assert sentences(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Mr. Smith and Dr. Jones, e.g. the two from Mt. Fuji, met Prof. J. R. Tanaka of the U.S. Army",
        "Python 3.11.7 needs config.yaml, app.py and https://example.com/a.b?c=d!e at version v2.0.1 or later",
        "It costs $1,234.56 and weighs 3.5 kg (approx. 7.7 lb), see fig. 3, vol. 2, pp. 10 and No. 5 of the list",
        "1. Install the package from the internal index of the company",
        "Yahoo!ジャパンとNode.jsとGo言語の比較表を作成して共有フォルダに保存しておく",
    ],
)
def test_a_full_stop_inside_a_name_number_or_abbreviation_ends_nothing(text):
    assert sentences(text) == [text]


def test_a_long_sentence_is_cut_at_a_clause_and_an_unbroken_one_hard():
    clauses = ", ".join(["and then we walked along the river for an hour"] * 12) + "."
    assert all(sentence.endswith((",", ".")) for sentence in sentences(clauses))
    assert [len(sentence) for sentence in sentences("x" * 600)] == [240, 240, 120]


def test_a_hard_cut_does_not_part_a_letter_from_its_marks():
    assert not any(sentence.startswith("\u0301") for sentence in sentences("xy\u0301" * 200))


@given(TEXTS, st.lists(st.text(min_size=1, max_size=4), max_size=4), st.integers(0, 200))
def test_an_excerpt_never_exceeds_its_limit_and_shows_only_what_the_text_says(text, terms, limit):
    shown = excerpt(text, terms, limit)
    assert len(shown.encode()) <= limit
    assert shown.strip("…").strip() in text


@given(TEXTS)
def test_a_text_that_fits_is_shown_whole(text):
    assert excerpt(text, ("a",), len(text.encode())) == text


STORY = "Nothing happened for a long while, and the hours went by. " * 5
NEEDLE = "Kenji keeps the spare key under the blue pot in the garden. "


@pytest.mark.parametrize(
    ("text", "terms", "expected"),
    [
        (STORY + NEEDLE + STORY, ("spare", "key", "pot"), "spare key under the blue pot"),
        ("key. " + STORY + NEEDLE + STORY, ("kenji", "key"), "Kenji keeps the spare key"),
        (
            "何も起こらない日が続いた。" * 20 + "猫の名前はミケです。" + "雨が降った。" * 40,
            ("猫*", "ミケ"),
            "猫の名前はミケ",
        ),
        (STORY + "Die STRASSE ist gesperrt. " + STORY, ("strasse",), "Die STRASSE ist"),
    ],
)
def test_an_excerpt_is_taken_where_most_terms_stand_together(text, terms, expected):
    shown = excerpt(text, terms, 100)
    assert expected in shown
    assert shown.startswith("…")
    assert shown.endswith("…")


def test_an_excerpt_cuts_between_words():
    shown = excerpt(STORY + NEEDLE + STORY, ("spare",), 80).strip("…")
    assert set(shown.replace(",", "").replace(".", "").split()) <= set(
        (STORY + NEEDLE).replace(",", "").replace(".", "").split()
    )


def test_an_excerpt_keeps_emoji_and_letters_with_marks_whole():
    family = "👩\u200d👩\u200d👧"
    shown = excerpt(family * 30, (), 100).strip("…")
    assert shown
    assert shown.replace(family, "") == ""
    assert not excerpt("e\u0301" * 90, (), 50).strip("…").startswith("\u0301")


@pytest.mark.parametrize("text", ["really?", "本当ですか？", 'did he say "why?"', "「本当？」 \n", "(is it?)"])
def test_a_text_ending_with_a_question_mark_asks(text):
    assert asks(text)


@pytest.mark.parametrize("text", ["", "why? because.", "本当ですか", "it is on"])
def test_any_other_text_does_not_ask(text):
    assert not asks(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("PythonとRustを使ってデプロイする", True),
        ("猫が好き", True),
        ("สวัสดีครับ", True),
        ("The word 猫 means cat", False),
        ("안녕하세요 반갑습니다", False),
        ("", False),
    ],
)
def test_japanese_is_counted_in_characters_and_spaced_scripts_in_words(text, expected):
    assert is_cjk(text) is expected
