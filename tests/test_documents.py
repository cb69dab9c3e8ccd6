"""Texts become chunks: under their headings, of bounded size, with nothing lost and nothing made up."""

import re
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memory_mcp.documents import HEADING, LIMIT, OVERLAP, Chunk, chunks, decoded
from memory_mcp.errors import InvalidInput
from memory_mcp.front_matter import split

ENGLISH = "The kettle stands on the shelf. Nobody has moved it since the spring, when Ann painted the wall behind it. "
JAPANESE = "設定を変えるときは、必ず記録を残してください。古い設定は、三か月のあいだ保管します。"


def markdown(text: str, name: str = "handbook") -> list[Chunk]:
    return chunks(text, name, markdown=True)


def titles(text: str) -> list[str]:
    return [chunk.title for chunk in markdown(text)]


# ---- headings ------------------------------------------------------------------------------------------------------


def test_a_chunk_is_called_by_the_document_and_the_headings_above_it():
    text = "Hello.\n\n# Guide\n\nRead it.\n\n## Install\n\n### Linux\n\nUnpack it.\n\n## Use\n\nStart it.\n"
    assert markdown(text) == [
        Chunk("handbook", "Hello."),
        Chunk("handbook > Guide", "Read it."),
        Chunk("handbook > Guide > Install > Linux", "Unpack it."),
        Chunk("handbook > Guide > Use", "Start it."),
    ]


@pytest.mark.parametrize("text", ["# 手引き\n\n本文。", "手引き\n===\n\n本文。", "# **手引き** #\n\n本文。"])
def test_headings_are_known_in_each_form_of_markdown(text):
    assert markdown(text, "メモ") == [Chunk("メモ > 手引き", "本文。")]


@pytest.mark.parametrize(
    "text",
    [
        "```sh\n# not one\n```",
        "~~~\n# not one\n```\n# nor this\n~~~",
        "````\n```\n# not one\n```\n````",
        "- item\n\n  ```\n  # not one\n  ```",
        "    # not one",
        "text #not one",
        "> # of a quotation",
        "- # of a list",
        "<!--\n# not one\n-->",
        "- item\n---",
        "a | b\n--- | ---\n1 | 2",
        "```\n# never closed",
    ],
)
def test_what_only_looks_like_a_heading_is_text(text):
    assert titles(f"# Real\n\n{text}\n") == ["handbook > Real"]


def test_a_heading_loses_its_marks_and_keeps_its_words():
    assert titles("# Run `my_var` on [Linux](https://a.b/c) **now** f(*args)\n\nx") == [
        "handbook > Run my_var on Linux now f(*args)"
    ]


def test_the_name_of_the_document_is_not_said_twice():
    assert titles("# Handbook\n\nx\n\n## Part\n\ny") == ["Handbook", "Handbook > Part"]


def test_a_heading_with_nothing_under_it_is_kept_as_text():
    assert markdown("# A\n\n## Buy milk\n\n## Call Ken\n") == [
        Chunk("handbook > A > Buy milk", "## Buy milk"),
        Chunk("handbook > A > Call Ken", "## Call Ken"),
    ]


def test_a_heading_too_long_for_a_title_stands_in_the_text_whole():
    heading = " ".join(f"word{number}" for number in range(1_500))
    found = markdown(f"# {heading}\n\nThe end.")
    assert all(len(chunk.title) <= len("handbook > ") + HEADING for chunk in found)
    assert all(f"word{number}" in " ".join(chunk.text for chunk in found) for number in range(1_500))
    assert found[-1].text.endswith("The end.")


# ---- size ----------------------------------------------------------------------------------------------------------


NUMBERED = [
    " ".join(f"Sentence {number} says that the kettle stands on the shelf." for number in range(200)),
    "".join(f"第{number}条の設定を変えるときは、必ず記録を残してください。" for number in range(200)),
    "".join(f"第{number}条の設定を変えるときは、必ず記録を残して、" for number in range(200)),
    " ".join(f"word{number}" for number in range(2_000)),
    "\n".join(f"- item {number}" for number in range(1_000)),
]


@pytest.mark.parametrize("text", NUMBERED)
def test_neighbours_overlap_by_a_sentence_or_the_end_of_a_long_one(text):
    found = [chunk.text for chunk in markdown(text)]
    assert len(found) > 2
    for before, after in pairwise(found):
        shared = max(size for size in range(LIMIT) if before.endswith(after[:size]))
        assert 5 < shared <= OVERLAP // share(text)


@pytest.mark.parametrize("text", [*NUMBERED, "x" * 20_000, "あ" * 20_000])
def test_no_chunk_is_over_the_limit_nor_a_small_rest(text):
    """A character of a script without spaces says as much as two letters, in a reply, too."""
    sizes = [len(chunk.text) for chunk in markdown(text)]
    assert max(sizes) <= LIMIT // share(text)
    assert min(sizes) > LIMIT // share(text) // 3


def share(text: str) -> int:
    return 1 if text.isascii() else 2


@pytest.mark.parametrize(("text", "end"), [(ENGLISH * 60, "."), (JAPANESE * 90, "。")])
def test_prose_is_cut_where_a_sentence_ends(text, end):
    found = [chunk.text for chunk in markdown(text)]
    assert all(text.endswith(end) for text in found)
    assert all(text.startswith(("The kettle", "Nobody", "設定", "古い")) for text in found)


def test_paragraphs_list_items_and_lines_of_code_are_kept_whole():
    paragraphs = [f"Paragraph {number}. {ENGLISH * 3}".strip() for number in range(20)]
    for chunk in markdown("\n\n".join(paragraphs)):
        assert all(part in paragraphs or part in paragraphs[0][-OVERLAP:] for part in chunk.text.split("\n\n")[1:])
    items = "\n".join(f"- item {number} of the list. It has two sentences" for number in range(200))
    assert all(re.search(r"two sentences\Z", chunk.text) for chunk in markdown(items))
    code = (
        "```python\n" + "\n".join(f"value_{number} = call. of(thing)  # Done. Yes" for number in range(200)) + "\n```"
    )
    assert all(chunk.text.endswith(("# Done. Yes", "```")) for chunk in markdown(code))


def test_a_text_file_has_no_headings_and_is_cut_between_paragraphs():
    text = "\n\n".join(f"# {number} {ENGLISH * 4}".strip() for number in range(10))
    found = chunks(text, "log", markdown=False)
    assert {chunk.title for chunk in found} == {"log"}
    assert all(chunk.text.endswith("behind it.") for chunk in found)


@pytest.mark.parametrize(
    "text", [">" * 5_000 + " a", "".join("  " * depth + "- a\n" for depth in range(300)), "[" * 50_000, "|" * 30_000]
)
def test_deep_nesting_and_odd_marks_are_text_like_any_other(text):
    assert "".join("".join(chunk.text.split()) for chunk in markdown(text)).startswith("".join(text.split())[:100])


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.sampled_from(["# a\n", "## b c\n", "\n", "```\n", "- x\n", "x" * 400, ENGLISH, JAPANESE, "\n\n"])),
    st.booleans(),
)
def test_nothing_that_is_visible_is_lost(pieces, is_markdown):
    text = "".join(pieces)
    found = chunks(text, "name", markdown=is_markdown)
    kept = [*(" ".join(chunk.text.split()) for chunk in found), *(chunk.title for chunk in found)]
    assert all(len(chunk.text) <= LIMIT and chunk.text == chunk.text.strip() != "" for chunk in found)
    for line in filter(None, (line.strip("# ") for line in text.splitlines())):
        words = " ".join(line.split())
        assert all(any(words[at : at + 15] in one for one in kept) for at in range(len(words)))


# ---- bytes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["utf-8", "utf-8-sig", "utf-16"])
def test_text_is_read_in_the_usual_forms_of_unicode(form):
    assert decoded("設定\r\nを\rする".encode(form)) == "設定\nを\nする"


@pytest.mark.parametrize(
    ("data", "said"),
    [
        ("設定".encode("cp932"), "not UTF-8 text (byte 0x90 at offset 0). Save it as UTF-8"),
        (b"caf\xe9 au lait", "byte 0xE9 at offset 3"),
        ("Hello there".encode("utf-16-le"), "UTF-16 without a byte order mark"),
        (b"\xff\xfea", "not UTF-16, as its first bytes say"),
        ("Hello".encode("utf-32"), "NUL"),
        (b"\x7fELF\x02\x01" + bytes(3) + b"some text and more of it that is not zero at all", "NUL byte at offset 6"),
    ],
)
def test_other_bytes_are_refused_with_what_to_do(data, said):
    with pytest.raises(InvalidInput) as refused:
        decoded(data)
    assert said in str(refused.value)
    assert str(refused.value).endswith("saved.")


@pytest.mark.parametrize(
    "block", ["---\ntitle: x\ntags: [a]\n---\n", "---\n# yaml\ntitle: x\n...\n", '+++\na = "b"\n+++\n']
)
def test_front_matter_is_not_content(block):
    assert split(block + "# Guide\n").text == "# Guide\n"


@pytest.mark.parametrize("text", ["---\n\nText\n\n---\n", "---\ntitle: never closed\n", "Text\n---\na: b\n---\n"])
def test_a_line_of_dashes_is_no_front_matter(text):
    assert split(text) == ("", (), text)


@pytest.mark.parametrize(
    ("fields", "title", "tags"),
    [
        ("title: Baking bread\ntags: [bread, 'slow food']", "Baking bread", ("bread", "slow food")),
        (
            'tags:\n  - bread\n  - "#oven"\nauthors:\n  - Ann\ntitle: "Bread: a start"',
            "Bread: a start",
            ("bread", "oven"),
        ),
        ("Title: パン # a note\nTAGS: bread, oven", "パン", ("bread", "oven")),
        ("title: |\n  Bread\ntags: [bread,\n  oven]", "", ()),
        ("book:\n  title: Bread\nsubtitle: x", "", ()),
        ("title:\ntags:", "", ()),
    ],
)
def test_front_matter_gives_title_and_tags_where_they_are_simple(fields, title, tags):
    assert split(f"---\n{fields}\n---\nText.\n") == (title, tags, "Text.\n")


def test_front_matter_of_toml_gives_title_and_tags():
    assert split('+++\ntitle = "Bread"\ntags = ["a", "b"]\n+++\nText.\n') == ("Bread", ("a", "b"), "Text.\n")
