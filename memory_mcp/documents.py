"""How a file of text becomes chunks: decoded, cut by headings and by size."""

import codecs
import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, NamedTuple

from memory_mcp.errors import InvalidInput
from memory_mcp.text import cut, ends, is_cjk

if TYPE_CHECKING:
    from markdown_it import MarkdownIt
    from markdown_it.token import Token

LIMIT = 800
"""Characters of a chunk at most, and half of that in a script without spaces (docs/decisions.md, Documents)."""

OVERLAP = 150
"""Characters, at most, that a chunk repeats of the one before it: its last sentence, or the end of a long one. Halved
with the limit."""

HEADING = 80
"""Characters of a heading within a title; a longer one stands in the text, too, so that nothing of it is lost."""

BETWEEN = " > "
"""Between the headings of a title."""

MARKDOWN = frozenset({".md", ".markdown"})
DOCUMENTS = MARKDOWN | {".txt"}
"""Endings of the files that are taken in of a folder; of these, `MARKDOWN` have headings."""


class Chunk(NamedTuple):
    """A part of a document: the document's name with the headings that it stands under, and its text."""

    title: str
    text: str


# ---- from bytes to text --------------------------------------------------------------------------------------------


def decoded(data: bytes) -> str:
    """Read bytes as UTF-8, or as UTF-16 where they begin with its mark; line ends become LF.

    Raises `InvalidInput` that says what else they are.
    """
    wide = data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    if not wide and b"\0" in data:
        raise InvalidInput(_not_text(data))
    try:
        text = data.decode("utf-16" if wide else "utf-8-sig")
    except UnicodeDecodeError as error:
        form = "UTF-16, as its first bytes say" if wide else "UTF-8 text"
        raise InvalidInput(
            f"It is not {form} (byte 0x{data[error.start]:02X} at offset {error.start:,}). Save it as UTF-8 and import"
            " it again. Nothing of it was saved."
        ) from error
    if "\0" in text:
        raise InvalidInput("It is no text: it holds NUL characters. Nothing of it was saved.")
    return re.sub(r"\r\n?|[\v\f\x85]", "\n", text)  # page breaks of old text files are line ends


def _not_text(data: bytes) -> str:
    head = data[:1_000]
    if max(head[::2].count(0), head[1::2].count(0)) > len(head) // 5:
        what = "It seems to be UTF-16 without a byte order mark: save it as UTF-8 and import it again."
    else:
        what = f"It is no text: there is a NUL byte at offset {data.index(0):,}."
    return f"{what} Nothing of it was saved."


# ---- from text to chunks -------------------------------------------------------------------------------------------


def chunks(text: str, name: str, *, markdown: bool) -> list[Chunk]:
    """Cut a text with LF line ends under its headings, and where a part is over `LIMIT` characters, by its form.

    Cuts come between blocks, else between list items and lines of code, else between sentences, words, characters.
    Each part but the first of a section repeats the end of the one before, at most `OVERLAP` characters. Nothing that
    is visible is lost: a heading stands in the titles, or in the text where that is cut short or has none under it.
    """
    found = _markdown(text) if markdown else [_Section((), 0, len(text), _paragraphs(text), ())]
    return [
        Chunk(_title(name, section.path), part)
        for section in found
        for begin, end in _parts(text, section)
        if (part := text[begin:end].strip())
    ]


@dataclass(frozen=True)
class _Section:
    """The part of a text under one heading, from `start` to `end`, and the places where its blocks and lines begin."""

    path: tuple[str, ...]
    start: int
    end: int
    blocks: Sequence[int]
    lines: Sequence[int]


def _title(name: str, path: Sequence[str]) -> str:
    names = [name, *path]
    if path and path[0].casefold() == name.casefold():
        names = names[1:]
    return BETWEEN.join(map(_short, names))


def _short(heading: str) -> str:
    return heading if len(heading) <= HEADING else heading[: HEADING - 1].rstrip() + "…"


# ---- the form of a text --------------------------------------------------------------------------------------------

_BLANK_LINES = re.compile(r"\n[ \t\u3000]*\n\s*")


def _paragraphs(text: str) -> list[int]:
    return [match.end() for match in _BLANK_LINES.finditer(text)]


class _Heading(NamedTuple):
    level: int
    text: str
    start: int
    end: int


LINEWISE = frozenset({"fence", "code_block", "html_block", "table_open"})
"""Blocks in which a line says more than a sentence."""


def _markdown(text: str) -> list[_Section]:
    from markdown_it import MarkdownIt  # noqa: PLC0415 - most commands read no Markdown

    parser = MarkdownIt("commonmark").enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    tokens = parser.parse(text)
    offsets = [0, *accumulate(len(line) + 1 for line in text.split("\n"))]
    offsets[-1] = len(text)
    headings = [_Heading(0, "", 0, 0), *_headings(tokens, offsets, MarkdownIt("commonmark"))]
    blocks = [offsets[token.map[0]] for token in tokens if token.map and token.level == 0]
    return list(_sections(text, headings, blocks, sorted(_inner(tokens, offsets))))


def _headings(tokens: "Sequence[Token]", offsets: Sequence[int], inline: "MarkdownIt") -> Iterator[_Heading]:
    """Find the headings that stand in no list and no quotation."""
    for token, words in pairwise(tokens):
        if token.type == "heading_open" and token.level == 0 and token.map:
            start, end = token.map
            yield _Heading(int(token.tag[1:]), _plain(inline, words.content), offsets[start], offsets[end])


def _inner(tokens: "Sequence[Token]", offsets: Sequence[int]) -> Iterator[int]:
    """Find where list items, blocks within blocks, and lines of code and tables begin."""
    for token in tokens:
        if token.map and (token.level or token.type in LINEWISE):
            first, end = token.map
            yield from offsets[first : end if token.type in LINEWISE else first + 1]


LONGEST_PLAIN = 500
"""Characters of a heading that is read for its emphasis and links; beyond that no heading is one."""


def _plain(parser: "MarkdownIt", heading: str) -> str:
    """Write a heading in one line, without its emphasis and the targets of its links."""
    if len(heading) <= LONGEST_PLAIN:
        [inline] = parser.parseInline(heading)
        spoken = "".join(" " if one.type.endswith("break") else one.content for one in inline.children or ())
        heading = spoken if spoken.strip() else heading
    return " ".join(heading.split())


def _sections(
    text: str, headings: Sequence[_Heading], blocks: Sequence[int], lines: Sequence[int]
) -> Iterator[_Section]:
    above: list[_Heading] = []
    last = _Heading(0, "", len(text), len(text))
    for heading, following in pairwise([*headings, last]):
        while above and above[-1].level >= heading.level:
            above.pop()
        above += [heading] if heading.level else []
        start = heading.end
        stands_alone = not text[heading.end : following.start].strip() and following.level <= heading.level
        if stands_alone or len(heading.text) > HEADING:
            start = heading.start
        path = tuple(one.text for one in above)
        yield _Section(
            path, start, following.start, _between(blocks, start, following), _between(lines, start, following)
        )


def _between(places: Sequence[int], start: int, following: _Heading) -> Sequence[int]:
    return places[bisect_right(places, start) : bisect_right(places, following.start)]


# ---- cutting by size -----------------------------------------------------------------------------------------------


def _parts(text: str, section: _Section) -> Iterator[tuple[int, int]]:
    """Cut a section into parts that are not too long; the last two are about equally long."""
    begin, end = section.start, section.end
    share = 2 if end - begin > LIMIT // 2 and is_cjk(text[begin:end]) else 1
    limit, overlap = LIMIT // share, OVERLAP // share
    while end - begin > limit:
        latest = begin + min(limit, (end - begin) // 2 + limit // 4)
        stop = _best(text, section, begin + limit // 2, latest)
        yield begin, stop
        begin = _repeated(text, begin, stop, overlap)
    yield begin, end


def _best(text: str, section: _Section, earliest: int, latest: int) -> int:
    """Choose the last good place to cut between two."""
    found = _last(section.blocks, earliest, latest) or _last(section.lines, earliest, latest)
    if found:
        return found
    begin = max(section.start, earliest - LIMIT)
    sentences = [begin + place for place in ends(text[begin:latest]) if text[begin + place - 1] != "\n"]
    found = _last(sentences, earliest, latest - 1)  # at the very end nothing says that the sentence is over
    return found or text.rfind("\n", earliest, latest) + 1 or cut(text, earliest, latest)


def _last(places: Sequence[int], earliest: int, latest: int) -> int:
    """Give the last place within bounds; 0 where there is none, for nothing is cut at the very beginning."""
    at = bisect_right(places, latest)
    return places[at - 1] if at and places[at - 1] >= earliest else 0


def _repeated(text: str, begin: int, stop: int, overlap: int) -> int:
    """Say where the next part begins: with the last sentence of this one, or with the end of it if that is long."""
    whole = text[begin:stop].rstrip()
    last = max((place for place in ends(whole) if place < len(whole)), default=0)
    if stop - begin - last <= overlap:
        return begin + last
    return cut(text, stop - overlap, stop - overlap // 2)
