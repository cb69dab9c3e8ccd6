"""What a summary names must have been said: inventions are caught, and true sentences in other words survive."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_mcp.summarizers.grounding import grounded, unsupported
from memory_mcp.summarizers.source import Said
from memory_mcp.text import sentences
from tests.summarizers.conversations import CONVERSATIONS, Conversation

EACH = pytest.mark.parametrize("talk", CONVERSATIONS, ids=lambda talk: talk.name)
SOURCES = {talk.name: Said.of(talk.texts()) for talk in CONVERSATIONS}

# ---- whole conversations -------------------------------------------------------------------------------------------


@EACH
def test_a_true_summary_survives_whole(talk: Conversation):
    assert unsupported(talk.summary, SOURCES[talk.name]) == ()
    assert grounded(talk.summary, SOURCES[talk.name]) == (talk.summary, ())


@EACH
def test_true_facts_survive(talk: Conversation):
    assert {fact: unsupported(fact, SOURCES[talk.name]) for fact in talk.facts} == dict.fromkeys(talk.facts, ())


@EACH
def test_every_invention_is_caught(talk: Conversation):
    assert [one for one in talk.inventions if not unsupported(one, SOURCES[talk.name])] == []


@EACH
def test_inventions_among_true_lines_are_dropped_alone(talk: Conversation):
    lines = [line for pair in zip(talk.inventions, (talk.summary, *talk.facts), strict=False) for line in pair]
    kept = [line for line in lines if line not in talk.inventions]
    assert grounded("\n".join(lines), SOURCES[talk.name])[0] == "\n".join(kept)


@settings(max_examples=60, deadline=None)
@given(st.data())
def test_what_is_made_of_the_sentences_of_the_source_is_supported(data: st.DataObject):
    talk = data.draw(st.sampled_from(CONVERSATIONS))
    said = [sentence for turn in talk.turns for sentence in sentences(turn.text)]
    chosen = data.draw(st.lists(st.sampled_from(said), min_size=1, max_size=6))
    text = "\n".join(chosen)
    assert unsupported(text, SOURCES[talk.name]) == ()
    assert grounded(text, SOURCES[talk.name]) == (text, ())


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("aAzÄ 019.,:;-_/\\@~\"'`“”「」()!?。・ーアﾊﾟ漢田さん月万百十一\n５①")))
def test_whatever_a_text_holds_only_its_own_sentences_go(text: str):
    source = Said.of(["nothing was said"])
    kept, dropped = grounded(text, source)
    assert all(sentence in text for sentence in dropped)
    assert all(line in text for line in kept.split("\n") if not dropped)
    assert bool(dropped) == bool(unsupported(text, source))


# ---- one rule at a time --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("Maria called.", "It was maria's idea."),
        ("We met José.", "They met Jose."),
        ("The API is slow.", "Several APIs are slow."),
        ("Use postgres.", "They use PostgreSQL."),
        ("it is node.js", "It runs on NodeJS."),
        ("look at UserService", "It concerns the User Service."),
        ("she likes Smith-Jones", "About Smith and Jones."),
        ("please refactor the parser", "Refactored the parser."),
        ("it runs in CI and we do CD", "It is part of CI/CD."),
        ("a disk of 16GB", "It has 16 GB."),
        ("nothing", "The user asked. However, User and Assistant agreed. It is Dr. and Mr. time."),
        ("nothing", "Deployments improved. Sadly it rains. Merged the branch. See it there."),
    ],
)
def test_a_name_said_otherwise_and_a_capital_at_the_beginning_pass(said: str, text: str):
    assert unsupported(text, Said.of([said])) == ()


@pytest.mark.parametrize(
    ("text", "item"),
    [
        ("Anna planned it.", "Anna"),
        ("Then Fred agreed.", "Fred"),
        ("Mohammed approved it.", "Mohammed"),
        ("They use useEffect now.", "useEffect"),
        ("It is in user_settings.", "user_settings"),
        ("See src/app.py there.", "src/app.py"),
        ("Saved as C:\\work\\a.txt.", "C:\\work\\a.txt"),
        ("Start it with --force.", "--force"),
        ("Read https://example.org/x.", "https://example.org/x"),
        ("Write to eva@example.org soon.", "eva@example.org"),
        ("Commit 4be91f7 did it.", "4be91f7"),
        ("Filed as ABC-42.", "ABC-42"),
        ("They need version v2.3.", "2.3"),
        ('They said "never again" twice.', '"never again"'),
        ("Run `make all` first.", "`make all`"),
    ],
)
def test_what_was_never_said_is_given_as_it_is_written(text: str, item: str):
    source = Said.of(["we planned and were twice there; a banana, an app"])
    assert unsupported(text, source) == (item,)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        ("It costs 1,000 dollars.", "It costs $1000.0."),
        ("It costs 1.000 Euro.", "It costs 1000 euros."),
        ("about 3,5 Minuten", "It takes 3.5 minutes."),
        ("by 5%", "It is 5 % more."),
        ("we are twelve", "They are 12."),
        ("there are 25", "They have twenty-five."),
        ("a dozen eggs", "It needs 12 eggs."),
        ("5k a month", "It is 5000 a month."),
        ("1.2M a year", "It is 1,200,000 a year."),
        ("2,000,000 users", "It has 2 million users."),
        ("2,000 users", "It has two thousand users."),
        ("予算は3万5千円", "予算は35,000円。"),
        ("予算は８万円", "予算は八万円。"),
        ("客は320人", "客は三百二十人。"),
        ("at 9 am", "It begins at 9:00."),
        ("at 2:30 pm", "It begins at 14:30."),
        ("午後3時に会う", "15時に会う。"),
        ("on the 3rd", "It is due on 3."),
        ("on 2026-05-03", "It was May 3, a Sunday."),
        ("5月3日です", "It is 3 May."),
        ("We meet on May 3.", "五月三日に会う。"),
        ("(2026-05-03 10:00) user: tomorrow", "They meet on Monday, 4 May."),
        ("Python 3.11.2", "They use 3.11."),
    ],
)
def test_a_number_or_date_in_another_form_passes(said: str, text: str):
    assert unsupported(text, Said.of([said])) == ()


@pytest.mark.parametrize(
    ("said", "text", "items"),
    [
        ("It costs 1,000 dollars.", "It costs 100 dollars.", ("100",)),
        ("It costs 5.5 dollars.", "It costs 55 dollars.", ("55",)),
        ("2 thousand users", "It has 2 million users.", ("2 million",)),
        ("Python 3.11.2", "They use 3.12.", ("3.12",)),
        ("予算は8万円", "予算は80万円。", ("80万",)),
        ("客は3人", "客は四人。", ("四",)),
        ("They need 4.", "They need five.", ("five",)),
        ("on 2026-05-03", "It was on a Tuesday in June.", ("Tuesday", "June")),
        ("on 2026-05-03", "There were 26 people.", ("26",)),
        ("[7] (2026-05-03 14:31) user: hi", "It takes 7 or 31 days.", ("7", "31")),
        ("5月3日", "6月3日に会う。", ("6",)),
        ("5月3日は日曜", "水曜日に会う。", ("水曜",)),
    ],
)
def test_another_number_is_caught_and_a_time_stamp_makes_no_quantity_true(said: str, text: str, items: tuple[str, ...]):
    assert unsupported(text, Said.of([said])) == items


@pytest.mark.parametrize(
    ("said", "text", "items"),
    [
        ("コーヒーマシンを買った", "コーヒーを飲む。", ()),
        ("ステージングとクラスタ", "ステージングクラスタを使う。", ()),
        ("サーバが落ちた", "サーバーが落ちた。", ()),
        ("ﾄﾞｯｶｰを使う", "ドッカーを使う。", ()),
        ("プリンタを直す", "リンさんが直す。", ("リン",)),
        ("田中さんと話した", "昨日田中氏と話した。", ()),
        ("田中さんと話した", "お客様と皆様、最寄駅。", ()),
        ("田中さんと話した", "黒沢さんと話した。", ("黒沢",)),
        ("pytestを使う", "pytestとnoxを使う。", ("nox",)),
        ("pytestを使う", "I use pytest, it is good and fast. noxも使う。", ("nox",)),
    ],
)
def test_japanese_names_are_katakana_titles_places_and_latin_words(said: str, text: str, items: tuple[str, ...]):
    assert unsupported(text, Said.of([said])) == items


@pytest.mark.parametrize(
    ("text", "items"),
    [
        ("Die Lieferung der Schrauben ist für die Werkstatt.", ()),
        ("Der Werkzeugkauf ist nicht im Plan.", ()),
        ("Frau Weber ist für den Kauf.", ("Weber",)),
        ("Die Lieferung ist nach Hamburg und nicht mehr.", ("Hamburg",)),
        ("Das Team hat es mit der Datei liste.txt.", ("liste.txt",)),
    ],
)
def test_german_nouns_are_no_names_but_people_and_places_are(text: str, items: tuple[str, ...]):
    assert unsupported(text, Said.of(["Wir haben das Werkzeug bestellt und es ist im Team."])) == items


@pytest.mark.parametrize(
    ("text", "kept", "dropped"),
    [
        ("It works. Fred said so. It is fast.", "It works. It is fast.", ("Fred said so.",)),
        ("- It works\n- Fred said so\n- It is fast", "- It works\n- It is fast", ("Fred said so",)),
        ("- Fred said so. It works.", "- It works.", ("Fred said so.",)),
        ("Decisions:\n- Fred said so\n\nIt works.", "It works.", ("Fred said so",)),
        ("Decisions:\n- Fred said so\n- It works", "Decisions:\n- It works", ("Fred said so",)),
        ("動いた。フレッドが言った。速い。", "動いた。速い。", ("フレッドが言った。",)),
        ("It cost 7.5 euros. It works.", "It works.", ("It cost 7.5 euros.",)),
        ("Dr. Fred said so. It works.", "It works.", ("Dr. Fred said so.",)),
        ("Fred. Bob.", "", ("Fred.", "Bob.")),
    ],
)
def test_lines_and_bullets_stay_in_order_when_sentences_go(text: str, kept: str, dropped: tuple[str, ...]):
    assert grounded(text, Said.of(["it works and is fast"])) == (kept, dropped)


@pytest.mark.parametrize("text", ["a" * 50_000, "/a" * 25_000, "一" * 5_000 + "月", "1" * 5_000, "「" * 9_000])
def test_monstrous_texts_are_read_without_harm(text: str):
    assert grounded("Fred said so.", Said.of([text])) == ("", ("Fred said so.",))
    assert grounded(text + "\nIt is so.", Said.of(["hi"]))[0].endswith("It is so.")
