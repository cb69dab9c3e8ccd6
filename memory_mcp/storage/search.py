"""How the evidence for a question is gathered: vectors, words, and the turns around what they find."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_mcp.models import Filter, Kind
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.filters import clause, is_narrow, narrow, time_is_up, to_ms
from memory_mcp.storage.values import Evidence, Probe, Vectors
from memory_mcp.text import asks

Rows = NDArray[np.int64]
Similarities = dict[int, float]

EXACT_UP_TO = 5_000
"""Sentences that pass the filter: up to here all are scored exactly (docs/decisions.md, Vectors)."""

LAST_CHARACTER = "\U0010ffff"

WINDOW = 2
"""How far a turn's surroundings reach (docs/decisions.md, Retrieval forms and weights)."""

TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
"""That of the table `fulltext` in the schema (a test holds them together)."""

ATTRIBUTES = """
    select m.row, coalesce(m.session, 0), coalesce(m.sequence, 0), m.kind, m.tokens, m.importance, m.created_at,
           m.speaker, substr(m.content, -8), coalesce(u.access_count, 0), coalesce(u.useful - u.useless, 0),
           ({condition})
    from memory m left join usage u on u.memory = m.row
"""


class _Candidate(NamedTuple):
    """One row of `ATTRIBUTES`; `ending` is enough of the text to see whether it asks."""

    row: int
    session: int
    sequence: int
    kind: str
    tokens: int
    importance: float
    created_at: int
    speaker: str
    ending: str
    used: int
    ratings: int
    eligible: bool


class Stemmer:
    """The words' index's own tokenizer, asked directly: an empty index in memory that shows what a term becomes."""

    def __init__(self, connect: Callable[[], Connection]) -> None:
        self._connection = connect()
        self._connection.execute(
            f"""create virtual table term using fts5 (t, content = '', tokenize = "{TOKENIZER}")"""
        )
        self._connection.execute("create virtual table stem using fts5vocab (term, instance)")

    def stems(self, terms: Sequence[str]) -> list[str]:
        """Give each term the form it has in the index; a term with a trailing star stays as it is."""
        self._connection.execute("begin")
        try:
            self._connection.executemany("insert into term (rowid, t) values (?, ?)", enumerate(terms, 1))
            found = dict(self._connection.execute("select doc, term from stem").fetchall())
        finally:
            self._connection.execute("rollback")
        return [term if term.endswith("*") else found.get(place, term) for place, term in enumerate(terms, 1)]

    def close(self) -> None:
        """Close the connection in memory."""
        self._connection.close()


def gather(connection: Connection, stemmer: Stemmer, probe: Probe) -> Evidence:
    """Collect the candidates of a probe with all that ranking needs to know about them."""
    where = _with_expiry(connection, probe.where)
    cosines = _nearest(connection, probe, where)
    words = _Postings(connection, stemmer.stems(probe.terms))
    chosen = _best(cosines, probe.kept_by_meaning) | set(words.best(connection, where, probe.kept_by_words))
    attributes = _attributes(connection, chosen, where)
    attributes |= _surroundings(connection, attributes.values(), where)
    rows = np.fromiter(sorted(attributes), np.int64, len(attributes))
    _complete(connection, probe, rows, cosines)
    return _evidence(rows, attributes, cosines, words)


def similar(
    connection: Connection, vectors: Vectors, where: Filter, at_least: float, limit: int
) -> list[tuple[str, float]]:
    """Name the memories whose best sentence is nearest to any of the vectors, best first, with the cosine."""
    where = _with_expiry(connection, where)
    cosines = _nearest(connection, Probe(vectors, (), where, dense_limit=8 * limit), where)
    best = sorted((row for row, cosine in cosines.items() if cosine >= at_least), key=lambda row: -cosines[row])[:limit]
    ids = dict(
        connection.execute(
            "select row, id from memory where row in (select value from json_each(?))", (json.dumps(best),)
        ).fetchall()
    )
    return [(ids[row], cosines[row]) for row in best if row in ids]


def _with_expiry(connection: Connection, where: Filter) -> Filter:
    """Drop the expiry condition while nothing has expired: then the narrow filter says it all."""
    if where.now is None:
        return where
    expired = connection.execute(
        f"select exists (select 1 from memory m where {time_is_up(':now')})", {"now": to_ms(where.now)}
    ).fetchone()[0]
    return where if expired else replace(where, now=None)


def _nearest(connection: Connection, probe: Probe, where: Filter) -> Similarities:
    """Scan the sign bits, rescore the best exactly; where few pass the filter, score all of them exactly."""
    model = connection.execute("select value from setting where name = 'active_model'").fetchone()
    if probe.vectors is None or model is None:
        return {}
    condition, values = narrow(where)
    if not is_narrow(where) or where.now is not None:
        whole, more = clause(where)
        condition += f" and v.memory in (select m.row from memory m where {whole})"
        values |= more
    values |= {"model": int(model[0])}
    passing = f"from vec_bits v where v.model = :model and {condition}"
    few = connection.execute(
        f"select count(*) from (select 1 {passing} limit {EXACT_UP_TO + 1})",
        values,
    ).fetchone()[0]
    limited = (
        "" if few <= EXACT_UP_TO else "order by vec_distance_hamming(vec_bit(v.bits), vec_bit(:bits)) limit :limit"
    )
    sql = f"""
        with near as materialized (select v.sentence, v.memory {passing} {limited})
        select near.memory, 1 - min(vec_distance_cosine(vec_int8(f.vector), vec_int8(:vector)))
        from near join vec_full f using (sentence) group by near.memory
    """
    return _scored(connection, sql, values | {"limit": probe.dense_limit}, probe.vectors)


def _scored(connection: Connection, sql: str, values: dict[str, Any], vectors: Vectors) -> Similarities:
    best: Similarities = {}
    for vector in vectors:
        asked = {"bits": sign_bits(vector), "vector": quantise(vector)}
        for row, cosine in connection.execute(sql, values | asked).fetchall():
            if cosine is not None and cosine > best.get(row, -2.0):
                best[row] = cosine
    return best


def _complete(connection: Connection, probe: Probe, rows: Rows, cosines: Similarities) -> None:
    """Score what came in by its words or its place exactly too; without that a point of recall is lost."""
    missing = [int(row) for row in rows if int(row) not in cosines]
    if probe.vectors is None or not missing or not cosines:
        return
    sql = """
        select v.memory, 1 - min(vec_distance_cosine(vec_int8(f.vector), vec_int8(:vector)))
        from json_each(:rows) r join vec_bits v on v.memory = r.value join vec_full f using (sentence)
        where v.model = (select cast(value as integer) from setting where name = 'active_model')
        group by v.memory
    """
    cosines.update(_scored(connection, sql, {"rows": json.dumps(missing)}, probe.vectors))


class _Postings:
    """Where the terms of a question stand: for each term the memories that hold it, and how often."""

    def __init__(self, connection: Connection, stems: Sequence[str]) -> None:
        self.memories, self.tokens, self.awaiting = connection.execute(
            "select memories, tokens, (select count(*) from memory where embedded_by is null) from corpus"
        ).fetchone()
        self.found = [self._of(connection, stem) for stem in stems]
        self.frequencies = np.array([len(rows) for rows, _ in self.found], np.int64)

    @staticmethod
    def _of(connection: Connection, stem: str) -> tuple[Rows, NDArray[np.float64]]:
        if stem.endswith("*"):
            condition, values = "term >= :term and term < :end", {"term": stem[:-1], "end": stem[:-1] + LAST_CHARACTER}
        else:
            condition, values = "term = :term", {"term": stem}
        # One JSON text is read three times as fast as a row an occurrence.
        found = connection.execute(f"select json_group_array(doc) from posting where {condition}", values).fetchone()[0]
        rows, counts = np.unique(np.array(json.loads(found), np.int64), return_counts=True)
        return rows, counts.astype(np.float64)

    def counts(self, rows: Rows) -> NDArray[np.float64]:
        """Count each term in each of these memories; shape (terms, rows)."""
        table = np.zeros((len(self.found), len(rows)))
        for term, (holders, counts) in enumerate(self.found):
            if len(holders) and len(rows):
                place = np.clip(np.searchsorted(holders, rows), 0, len(holders) - 1)
                table[term] = np.where(holders[place] == rows, counts[place], 0.0)
        return table

    def best(self, connection: Connection, where: Filter, wanted: int) -> list[int]:
        """Name the best holders that pass the filter: by the weight of their terms, looking on until enough pass."""
        if not self.frequencies.any():
            return []
        every = np.unique(np.concatenate([rows for rows, _ in self.found]))
        counts = self.counts(every)
        weights = np.log1p(self.memories / np.maximum(self.frequencies, 1))
        order = every[np.argsort(-(weights @ (counts / (counts + 1.2))), kind="stable")]
        passing: list[int] = []
        start, size = 0, 2 * wanted
        while start < len(order) and len(passing) < wanted:
            passing += _passing(connection, order[start : start + size], where)
            start, size = start + size, size * 4
        return passing[:wanted]


def _passing(connection: Connection, rows: Rows, where: Filter) -> list[int]:
    """Keep those rows that the filter lets through, in their order."""
    condition, values = clause(where)
    found = connection.execute(
        f"select m.row from memory m where m.row in (select value from json_each(:rows)) and {condition}",
        values | {"rows": json.dumps(rows.tolist())},
    ).fetchall()
    kept = {row for (row,) in found}
    return [row for row in rows.tolist() if row in kept]


def _best(cosines: Similarities, limit: int) -> set[int]:
    return set(sorted(cosines, key=lambda row: -cosines[row])[:limit])


def _attributes(connection: Connection, rows: Iterable[int], where: Filter) -> dict[int, _Candidate]:
    condition, values = clause(where)
    found = connection.execute(
        ATTRIBUTES.format(condition=condition) + " where m.row in (select value from json_each(:rows))",
        values | {"rows": json.dumps(list(rows))},
    ).fetchall()
    return {record[0]: _Candidate._make(record) for record in found}


def _surroundings(connection: Connection, candidates: Iterable[_Candidate], where: Filter) -> dict[int, _Candidate]:
    """Read the turns up to WINDOW places before and after each turn."""
    held = {(one.session, one.sequence) for one in candidates if one.sequence}
    around = {(session, place + step) for session, place in held for step in range(-WINDOW, WINDOW + 1)} - held
    if not around:
        return {}
    condition, values = clause(where)
    found = connection.execute(
        ATTRIBUTES.format(condition=condition)
        + """ join json_each(:places) p on m.session = p.value ->> 0 and m.sequence = p.value ->> 1""",
        values | {"places": json.dumps(sorted(around))},
    ).fetchall()
    return {record[0]: _Candidate._make(record) for record in found}


def _evidence(rows: Rows, attributes: dict[int, _Candidate], cosines: Similarities, words: _Postings) -> Evidence:
    found = [attributes[row] for row in rows.tolist()]
    return Evidence(
        rows=rows,
        eligible=np.array([one.eligible for one in found], np.bool_),
        cosine=np.array([cosines.get(one.row, np.nan) for one in found], np.float64),
        counts=words.counts(rows),
        tokens=np.array([one.tokens for one in found], np.float64),
        sessions=np.array([one.session for one in found], np.int64),
        sequences=np.array([one.sequence for one in found], np.int64),
        is_turn=np.array([one.kind == Kind.TURN for one in found], np.bool_),
        asks=np.array([asks(one.ending) for one in found], np.bool_),
        importance=np.array([one.importance for one in found], np.float64),
        created_at=np.array([one.created_at for one in found], np.int64),
        used=np.array([one.used for one in found], np.int64),
        ratings=np.array([one.ratings for one in found], np.int64),
        kinds=[one.kind for one in found],
        speakers=[one.speaker for one in found],
        frequencies=words.frequencies,
        memories=words.memories,
        tokens_in_all=words.tokens,
        awaiting=words.awaiting,
    )


def sign_bits(vector: NDArray[np.float32]) -> bytes:
    """Keep the sign of each component: dimension / 8 bytes, as sqlite-vec's vec_bit reads them."""
    return np.packbits(vector > 0, bitorder="little").tobytes()


def quantise(vector: NDArray[np.float32]) -> bytes:
    """Scale a vector by its largest component to int8 (docs/decisions.md, Vectors); cosines need no scale back."""
    largest = float(np.abs(vector).max()) or 1.0
    return np.round(vector * (127 / largest)).astype(np.int8).tobytes()
