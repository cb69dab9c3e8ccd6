"""How the evidence for a question is gathered: vectors, words, and the turns around what they find."""

import json
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_mcp.models import Filter, Kind
from memory_mcp.storage.driver import Connection, plain
from memory_mcp.storage.filters import clause, needs_rows, sought, time_is_up, to_ms
from memory_mcp.storage.signs import Order, Places, Signs
from memory_mcp.storage.values import Evidence, Probe, Vectors
from memory_mcp.text import asks

Rows = NDArray[np.int64]
Similarities = dict[int, float]

EXACT_UP_TO = 5_000
"""Sentences that pass the filter: up to here all are scored exactly (docs/decisions.md, Vectors)."""

COMPARED_AT_ONCE = 1_024
"""Vectors: as many as take two megabytes while they are compared."""

LAST_CHARACTER = "\U0010ffff"

WINDOW = 2
"""How far a turn's surroundings reach (docs/decisions.md, Retrieval forms and weights)."""

TOKENIZER = "porter unicode61 remove_diacritics 2 categories 'L* N* Co Mn Mc'"
"""That of the table `fulltext` in the schema (a test holds them together)."""

ATTRIBUTES = """
    select m.row, coalesce(m.session, 0), coalesce(m.sequence, 0), m.kind, m.tokens, m.importance, m.created_at,
           m.speaker, substr(m.content, -8), coalesce(u.access_count, 0), coalesce(u.useful - u.useless, 0),
           ({condition})
    from {chosen} left join usage u on u.memory = m.row
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


def gather(connection: Connection, signs: Signs, stemmer: Stemmer, probe: Probe) -> Evidence:
    """Collect the candidates of a probe with all that ranking needs to know about them."""
    where = _with_expiry(connection, probe.where)
    cosines = _nearest(connection, signs, probe, where)
    words = _Postings(connection, stemmer.stems(probe.terms))
    chosen = _best(cosines, probe.kept_by_meaning) | set(words.best(connection, where, probe.kept_by_words))
    attributes = _attributes(connection, chosen, where)
    attributes |= _surroundings(connection, attributes.values(), where)
    rows = np.fromiter(sorted(attributes), np.int64, len(attributes))
    _complete(connection, signs, probe, rows, cosines)
    return _evidence(rows, attributes, cosines, words)


def similar(
    connection: Connection, signs: Signs, vectors: Vectors, where: Filter, at_least: float, limit: int
) -> list[tuple[str, float]]:
    """Name the memories whose best sentence is nearest to any of the vectors, best first, with the cosine."""
    where = _with_expiry(connection, where)
    cosines = _nearest(connection, signs, Probe(vectors, (), where, dense_limit=8 * limit), where)
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


def _nearest(connection: Connection, signs: Signs, probe: Probe, where: Filter) -> Similarities:
    """Compare sign bits, rescore the best exactly; where few pass the filter, score all of them exactly."""
    if probe.vectors is None:
        return {}
    signs.refresh(connection)
    places = signs.passing(connection, where)
    for statement, values in sought(where):
        places = _of(signs, places, [row for (row,) in plain(connection).execute(statement, values).fetchall()])
    checked = not needs_rows(where)
    if not checked and len(places) <= EXACT_UP_TO:
        places, checked = _let_through(connection, signs, places, where), True
    if not len(places):
        return {}
    if len(places) <= EXACT_UP_TO:
        return _scored(connection, signs, [(vector, places) for vector in probe.vectors])
    orders = [(vector, signs.by_distance(sign_bits(vector), places)) for vector in probe.vectors]
    if checked:
        nearest = [(vector, order.first(probe.dense_limit)) for vector, order in orders]
    else:
        nearest = [(vector, _first(connection, signs, order, where, probe.dense_limit)) for vector, order in orders]
    return _scored(connection, signs, nearest)


def _let_through(connection: Connection, signs: Signs, places: Places, where: Filter) -> Places:
    """Keep the sentences whose memories the whole filter lets through, by their rows."""
    return _of(signs, places, _passing(connection, np.unique(signs.facets["memory"][places]), where))


def _of(signs: Signs, places: Places, rows: Sequence[int]) -> Places:
    return places[np.isin(signs.facets["memory"][places], np.array(rows, np.int64))]


def _first(connection: Connection, signs: Signs, order: Order, where: Filter, wanted: int) -> Places:
    """Find the nearest sentences that the whole filter lets through: looking on until enough pass."""
    size = 2 * wanted
    while True:
        nearest = order.first(size)
        passing = _let_through(connection, signs, nearest, where)
        if len(passing) >= wanted or len(nearest) == len(order):
            return passing[:wanted]
        size *= 4


def _scored(connection: Connection, signs: Signs, asked: Sequence[tuple[NDArray[np.float32], Places]]) -> Similarities:
    """Give for each memory the best cosine of a vector with one of the sentences that it is to be compared with."""
    places = np.unique(np.concatenate([own for _, own in asked]))
    questions = np.stack([np.frombuffer(quantise(vector), np.int8) for vector, _ in asked])
    known = signs.vectors(connection, places)
    parts = [known[start : start + COMPARED_AT_ONCE] for start in range(0, len(known), COMPARED_AT_ONCE)]
    cosines = np.concatenate([_cosines(part.astype(np.float32), questions.astype(np.float32)) for part in parts])
    best = np.full(len(places), np.nan)
    for column, (_, own) in enumerate(asked):
        at = slice(None) if len(own) == len(places) else np.searchsorted(places, own)
        best[at] = np.fmax(best[at], cosines[at, column])
    return _by_memory(signs.facets["memory"][places], best)


def _cosines(known: NDArray[np.float32], questions: NDArray[np.float32]) -> NDArray[np.float64]:
    """Compare each with each, nan where one is a vector of nothing; whole numbers this small are exact in 32 bits."""
    with np.errstate(invalid="ignore"):
        lengths = [np.sqrt(np.einsum("ij,ij->i", one, one).astype(np.float64)) for one in (known, questions)]
        return (known @ questions.T) / np.outer(*lengths)


def _by_memory(memories: NDArray[np.int64], cosines: NDArray[np.float64]) -> Similarities:
    known = ~np.isnan(cosines)
    order = np.flatnonzero(known)[np.argsort(memories[known], kind="stable")]
    rows, starts = np.unique(memories[order], return_index=True)
    best = np.maximum.reduceat(cosines[order], starts) if len(rows) else cosines[:0]
    return dict(zip(rows.tolist(), best.tolist(), strict=True))


def _complete(connection: Connection, signs: Signs, probe: Probe, rows: Rows, cosines: Similarities) -> None:
    """Score what came in by its words or its place exactly too; without that a point of recall is lost."""
    missing = [int(row) for row in rows if int(row) not in cosines]
    if probe.vectors is None or not missing or not cosines:
        return
    if len(places := signs.of_memories(missing)):
        cosines.update(_scored(connection, signs, [(vector, places) for vector in probe.vectors]))


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
    rows, values = np.array([*cosines], np.int64), np.array([*cosines.values()])
    return set(rows[np.argsort(-values, kind="stable")[:limit]].tolist())


def _attributes(connection: Connection, rows: Iterable[int], where: Filter) -> dict[int, _Candidate]:
    return _candidates(connection, "json_each(:chosen) c join memory m on m.row = c.value", list(rows), where)


def _surroundings(connection: Connection, candidates: Iterable[_Candidate], where: Filter) -> dict[int, _Candidate]:
    """Read the turns up to WINDOW places before and after each turn."""
    held = {(one.session, one.sequence) for one in candidates if one.sequence}
    around = {(session, place + step) for session, place in held for step in range(-WINDOW, WINDOW + 1)} - held
    if not around:
        return {}
    numbers = [session << 32 | place for session, place in sorted(around) if place > 0]  # read faster than pairs
    places = "json_each(:chosen) p join memory m on m.session = p.value >> 32 and m.sequence = p.value & 0xffffffff"
    return _candidates(connection, places, numbers, where)


def _candidates(connection: Connection, chosen: str, numbers: list[int], where: Filter) -> dict[int, _Candidate]:
    condition, values = clause(where)
    sql = ATTRIBUTES.format(chosen=chosen, condition=condition)
    found = plain(connection).execute(sql, values | {"chosen": json.dumps(numbers)}).fetchall()
    return {record[0]: _Candidate._make(record) for record in found}


def _evidence(rows: Rows, attributes: dict[int, _Candidate], cosines: Similarities, words: _Postings) -> Evidence:
    found = [attributes[row] for row in rows.tolist()]
    each = _Candidate._make(zip(*found, strict=True)) if found else _Candidate._make(() for _ in _Candidate._fields)
    return Evidence(
        rows=rows,
        eligible=np.array(each.eligible, np.bool_),
        cosine=np.array([cosines.get(row, np.nan) for row in rows.tolist()], np.float64),
        counts=words.counts(rows),
        tokens=np.array(each.tokens, np.float64),
        sessions=np.array(each.session, np.int64),
        sequences=np.array(each.sequence, np.int64),
        is_turn=np.array([kind == Kind.TURN for kind in each.kind], np.bool_),
        asks=np.array([asks(ending) for ending in each.ending], np.bool_),
        importance=np.array(each.importance, np.float64),
        created_at=np.array(each.created_at, np.int64),
        used=np.array(each.used, np.int64),
        ratings=np.array(each.ratings, np.int64),
        kinds=list(each.kind),
        speakers=list(each.speaker),
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
