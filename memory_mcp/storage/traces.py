"""The bytes by which a forgotten memory would betray itself in a file."""

import json
import unicodedata
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from memory_mcp.storage.driver import Connection
from memory_mcp.storage.words import words_of

T = TypeVar("T")

SLICE_CHARACTERS = 32
SHORTEST_BYTES = 8
"""Shorter patterns stand in any file by chance."""

VECTOR_BYTES = 32
BATCH = 5_000


@dataclass(frozen=True)
class Traces:
    """Texts as they stand in the file, and of each sentence its sign bits with a piece of its vector."""

    texts: tuple[str, ...] = ()
    vectors: tuple[tuple[bytes, bytes], ...] = ()

    @classmethod
    def of(cls, texts: Sequence[str], vectors: Sequence[tuple[bytes, bytes]]) -> "Traces":
        """Collect what is long enough to be told from chance."""
        telling = [text for text in dict.fromkeys(texts) if len(text.encode()) >= SHORTEST_BYTES]
        return cls(tuple(telling), tuple(vectors))

    def sample(self, limit: int) -> "Traces":
        """Keep about so many, spread evenly: a scan takes time for each."""
        return Traces(_spread(self.texts, limit), _spread(self.vectors, limit // 4 + 1))

    def patterns(self) -> list[bytes]:
        """Give all that a scan looks for."""
        return [text.encode() for text in self.texts] + [part for pair in self.vectors for part in pair]


def traces_of(connection: Connection, gone: Collection[int]) -> Traces:
    """Collect the traces of memories that are about to be erased."""
    rows = {"gone": json.dumps(sorted(gone))}
    stored = connection.execute(
        """
        select content from memory where row in (select value from json_each(:gone)) union all
        select title from memory where row in (select value from json_each(:gone)) union all
        select key from memory where row in (select value from json_each(:gone)) union all
        select n.name from memory m join namespace n on n.number = m.namespace
         where m.row in (select value from json_each(:gone)) union all
        select s.id from memory m join session s on s.number = m.session
         where m.row in (select value from json_each(:gone)) union all
        select lessons from episode where memory in (select value from json_each(:gone)) union all
        select trigger from episode where memory in (select value from json_each(:gone)) union all
        select origin from document where memory in (select value from json_each(:gone)) union all
        select tool from action where episode in (select value from json_each(:gone)) union all
        select input_digest from action where episode in (select value from json_each(:gone))
        """,
        rows,
    ).fetchall()
    texts = [piece for (text,) in stored for piece in pieces(text)]
    texts += [token for row in sorted(gone) for token in words_of(connection, row).split()]
    return Traces.of(texts, vectors_of(connection, gone))


def vectors_of(connection: Connection, rows: Collection[int]) -> list[tuple[bytes, bytes]]:
    """Collect the traces of the vectors of memories."""
    found = connection.execute(
        """
        select bits, vector from vec_bits join vec_full using (sentence)
        where memory in (select value from json_each(:rows))
        """,
        {"rows": json.dumps(sorted(rows))},
    ).fetchall()
    return list({bits: _middle(vector) for bits, vector in found}.items())


def without_living_texts(connection: Connection, traces: Traces, after: int) -> tuple[Traces, int]:
    """Drop texts that still stand, whatever their case, in the next memories; returns the last row, 0 at the end."""
    found = connection.execute(
        """
        select row, content || char(10) || key || char(10) || title || char(10) || speaker as text
        from memory where row > :after order by row limit :limit
        """,
        {"after": after, "limit": BATCH},
    ).fetchall()
    living = _fold("\n".join(row["text"] for row in found))
    return _without(traces, living), found[-1]["row"] if found else 0


def without_other_living(connection: Connection, traces: Traces) -> Traces:
    """Drop texts that still stand in the smaller tables or the schema, and sentences that another memory holds too."""
    found = connection.execute(
        """
        select name from tag union all select name from namespace union all select id || ' ' || host from session
        union all select trigger || ' ' || lessons || ' ' || engine from episode
        union all select tool || ' ' || input_digest from action
        union all select host || ' ' || session_id || ' ' || message_id || ' ' || role from turn
        union all select origin || ' ' || version from document
        union all
        select host || ' ' || namespace || ' ' || session_id || ' ' || message_id || ' ' || memory_id from blocked
        union all select name || ' ' || checksum from embedding_model union all select name || ' ' || value from setting
        union all select name || ' ' || owner from lease union all select verb || ' ' || door || ' ' || ids from audit
        union all select sql from sqlite_master where sql is not null
        """
    ).fetchall()
    left = _without(traces, _fold("\n".join(text for (text,) in found)))
    shared = _still_held(connection, [bits for bits, _ in left.vectors])
    return Traces(left.texts, tuple(pair for pair in left.vectors if pair[0] not in shared))


def _still_held(connection: Connection, bits: Sequence[bytes]) -> set[bytes]:
    """Find which sign bits a sentence that stands has, too, in one go through all of them."""
    found = connection.execute(
        "select bits from vec_bits where bits in (select unhex(value) from json_each(:bits))",
        {"bits": json.dumps([one.hex() for one in bits])},
    ).fetchall()
    return {one for (one,) in found}


def _without(traces: Traces, living: str) -> Traces:
    return Traces(tuple(text for text in traces.texts if _fold(text) not in living), traces.vectors)


def _fold(text: str) -> str:
    """Bring text to the form in which the words' index keeps it too: its tokens are folded like this."""
    return unicodedata.normalize("NFKC", text).casefold()


def pieces(text: str) -> Iterator[str]:
    """Cut the beginning, the middle and the end out of a text."""
    last = max(len(text) - SLICE_CHARACTERS, 0)
    for start in sorted({0, last // 2, last}):
        yield text[start : start + SLICE_CHARACTERS]


def _middle(vector: bytes) -> bytes:
    start = max(len(vector) - VECTOR_BYTES, 0) // 2
    return vector[start : start + VECTOR_BYTES]


def _spread(items: Sequence[T], limit: int) -> tuple[T, ...]:
    if len(items) <= limit:
        return tuple(items)
    return tuple(items[place * len(items) // limit] for place in range(limit))
