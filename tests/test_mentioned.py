"""Which days a question names."""

from datetime import date

import pytest

from memory_mcp.mentioned import Mentioned, mentioned


def named(years=(), months=(), days=()) -> Mentioned:
    return Mentioned(frozenset(years), frozenset(months), frozenset(days))


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        ("What happened in May 2023?", named([2023], [5])),
        ("Where was Ann on 3 July?", named([], [7], [3])),
        ("Where was Ann on July 3rd, 2023?", named([2023], [7], [3])),
        ("What did we do on the 21st of December?", named([], [12], [21])),
        ("What did he plan in sept and OCT?", named([], [9, 10])),
        ("What was said on 2023-05-08?", named([2023], [5], [8])),
        ("What was said in 2023/05?", named([2023], [5])),
        ("What did he do in 2022?", named([2022])),
        ("2023年5月3日に何をした？", named([2023], [5], [3])),
        ("5月に行った店は？", named([], [5])),
        ("２０２３年の旅行", named([2023])),
        ("May I ask who may come?", named()),
        ("What may 3 people do?", named([], [5], [3])),
        ("Which 1999.5 or 20233 parts?", named()),
        ("Does he march in the parade at 7?", named([], [3])),
        ("What happened on 45 May or 99月?", named([], [5])),
        ("", named()),
    ],
)
def test_a_question_names_years_months_and_days(question: str, expected: Mentioned):
    assert mentioned(question) == expected


@pytest.mark.parametrize(
    ("question", "fit"),
    [
        ("on 8 May 2023", 1.0),
        ("on 9 May 2023", 0.5),
        ("in May 2023", 0.6),
        ("in 2023", 0.6),
        ("in June 2023", 0.0),
        ("in May 2022", 0.0),
    ],
)
def test_a_day_agrees_with_what_is_named(question: str, fit: float):
    assert mentioned(question).fits(date(2023, 5, 8)) == fit


def test_a_question_without_a_date_asks_for_none():
    assert not mentioned("What does Ann like?")


def test_only_what_stands_beside_a_month_is_looked_at_however_often_it_is_named():
    assert mentioned("may " * 100_000 + "12   of\n\tMay") == named(months=[5], days=[12])
