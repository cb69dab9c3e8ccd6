"""The sign bits of every sentence, and what they are filtered by, in memory: as fresh as the file."""

import json
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from memory_mcp.models import Filter
from memory_mcp.storage.driver import Connection, plain
from memory_mcp.storage.filters import KINDS, STATES, TRUSTS, to_ms

Places = NDArray[np.int64]
"""Where sentences stand among those that are held."""

Mask = NDArray[np.bool_]

FACETS = np.dtype(
    [
        ("sentence", np.int64),
        ("memory", np.int64),
        ("created_at", np.int64),
        ("namespace", np.int32),
        ("kind", np.uint8),
        ("state", np.uint8),
        ("trust", np.uint8),
    ]
)
"""The columns of `vec_bits` beside the bits, in their order."""

READ_AT_ONCE = 1_024
"""Rows: what is being read takes less than a megabyte, whatever the size of the file."""

COMPARED_AT_ONCE = 16_384
"""Sentences: what a step needs stays in a processor's second cache."""

HELD_WHOLE = 20_000
"""Sentences up to which their vectors are held, too: 10 MB of the default model, and a question takes a third less."""

WORD = np.dtype("<u8")


class _Version(NamedTuple):
    """What tells one state of a file from another: what others committed, and what this connection changed."""

    others: int
    own: int


class Signs:
    """The sentences of the active model, by rising number.

    Bound to one connection, and brought up to date within a transaction of it. A number is never given twice and the
    bits of a sentence never change, so what is new is read on, and what else became of old ones is counted in the file
    (`corpus.altered`): then all facets are read again, and the bits of what is gone are dropped.
    """

    def __init__(self) -> None:
        self._version: _Version | None = None
        self._altered = 0
        self._hold(None, 0)

    def _hold(self, model: int | None, dimension: int) -> None:
        """Begin anew with the sentences of a model, none of which is read yet."""
        self.model = model
        self._dimension = dimension
        self._count = 0
        self._facets = np.empty(0, FACETS)
        self._planes = np.empty((0, 0), WORD)  # a row each 64 components, a column a sentence
        self._vectors = np.empty((0, 0), np.int8)
        self._whole = 0  # of how many sentences, from the first on, the vectors are held

    @property
    def facets(self) -> NDArray[Any]:
        """What is known about each sentence; see `FACETS`."""
        return self._facets[: self._count]

    def refresh(self, connection: Connection) -> None:
        """Come up to date with the state of the file that the connection's transaction sees."""
        [others] = connection.execute("pragma data_version").fetchone()
        version = _Version(others, connection.total_changes)
        if version == self._version:
            return
        model, dimension, altered = connection.execute(
            """
            select m.number, m.dimension, c.altered from corpus c left join embedding_model m
            on m.number = (select cast(value as integer) from setting where name = 'active_model')
            """
        ).fetchone()
        if model != self.model:
            self._hold(model, dimension or 0)
        elif altered != self._altered:
            self._read_facets(connection)
        self._altered = altered
        self._read_on(connection)
        self._version = version

    def add(self, facets: NDArray[Any], bits: Sequence[bytes]) -> None:
        """Hold more sentences, with higher numbers, and their sign bits."""
        words = _words(bits)
        count = self._count + len(facets)
        self._make_room(len(facets))
        if not len(self._planes):
            self._planes = np.empty((len(words), len(self._facets)), WORD)
        self._facets[self._count : count] = facets
        self._planes[:, self._count : count] = words
        self._count = count

    def passing(self, connection: Connection, where: Filter) -> Places:
        """Find the sentences that the narrow part of a filter lets through."""
        facets, mask = self.facets, np.ones(self._count, np.bool_)
        if where.namespaces:
            numbers = connection.execute(
                "select number from namespace where name in (select value from json_each(:names))",
                {"names": json.dumps(where.namespaces)},
            ).fetchall()
            mask &= _among(facets["namespace"], [number for (number,) in numbers])
        if where.kinds:
            mask &= _among(facets["kind"], [KINDS.index(kind) for kind in where.kinds])
        if where.states:
            mask &= _among(facets["state"], [STATES.index(state) for state in where.states])
        if where.trust:
            mask &= facets["trust"] == TRUSTS.index(where.trust)
        if where.since:
            mask &= facets["created_at"] >= to_ms(where.since)
        if where.until:
            mask &= facets["created_at"] < to_ms(where.until)
        return np.flatnonzero(mask)

    def of_memories(self, rows: Sequence[int]) -> Places:
        """Find the sentences of memories, by their row numbers."""
        memories = self.facets["memory"]
        asked = np.zeros(int(memories.max(initial=0)) + 1, np.bool_)
        known = np.asarray(rows, np.int64)
        asked[known[known < len(asked)]] = True
        return np.flatnonzero(asked[memories])

    def by_distance(self, bits: bytes, places: Places) -> "Order":
        """Compare these sentences with the sign bits of a question: how many differ."""
        asked = _words([bits])[:, 0]
        distances = np.zeros(self._count, np.uint16)
        for start in range(0, self._count, COMPARED_AT_ONCE):
            part = slice(start, min(start + COMPARED_AT_ONCE, self._count))
            for word, plane in zip(asked, self._planes, strict=True):
                distances[part] += np.bitwise_count(plane[part] ^ word)
        return Order(distances[places], places)

    def vectors(self, connection: Connection, places: Places) -> NDArray[np.int8]:
        """Give vectors at full length; their scale is their own, and one that is not there is nothing."""
        sentences = self.facets["sentence"]
        if self._count > HELD_WHOLE:
            self._vectors, self._whole = np.empty((0, 0), np.int8), 0
            return self._read_vectors(connection, sentences[places])
        for start in range(self._whole, self._count, READ_AT_ONCE):
            more = self._read_vectors(connection, sentences[start : start + READ_AT_ONCE])
            if not self._whole:
                self._vectors = np.empty((HELD_WHOLE, self._dimension), np.int8)  # what is not written takes no memory
            self._whole = start + len(more)
            self._vectors[start : self._whole] = more
        return self._vectors[places]

    def _read_vectors(self, connection: Connection, sentences: NDArray[np.int64]) -> NDArray[np.int8]:
        cursor = plain(connection).execute(
            "select s.key, f.vector from json_each(:sentences) s cross join vec_full f on f.sentence = s.value",
            {"sentences": json.dumps(sentences.tolist())},
        )
        vectors = np.zeros((len(sentences), self._dimension), np.int8)
        while records := cursor.fetchmany(READ_AT_ONCE):
            known = np.frombuffer(b"".join(vector for _, vector in records), np.int8)
            vectors[[place for place, _ in records]] = known.reshape(len(records), -1)
        return vectors

    def _read_facets(self, connection: Connection) -> None:
        """Read the facets of the held sentences again, and keep the bits of those that are still there."""
        last = int(self.facets["sentence"][-1]) if self._count else 0
        cursor = self._select(connection, "", "sentence <= :last", {"last": last})
        parts: list[NDArray[Any]] = []
        while records := cursor.fetchmany(READ_AT_ONCE):
            parts.append(np.array(records, FACETS))
        facets = np.concatenate(parts) if parts else np.empty(0, FACETS)
        kept = np.searchsorted(self.facets["sentence"], facets["sentence"])
        if not np.array_equal(self.facets["sentence"][kept], facets["sentence"]):  # nobody does that, but it may be
            self._hold(self.model, self._dimension)
            return
        self._facets, self._planes, self._count = facets, self._planes[:, kept], len(facets)
        whole = kept[kept < self._whole]
        self._vectors[: len(whole)] = self._vectors[whole]
        self._vectors[len(whole) : self._whole] = 0  # nothing is left of what was forgotten
        self._whole = len(whole)

    def _read_on(self, connection: Connection) -> None:
        """Read the sentences with higher numbers than the last one held."""
        last = int(self.facets["sentence"][-1]) if self._count else 0
        self._make_room(connection.execute("select coalesce(max(sentence), 0) from vec_bits").fetchone()[0] - last)
        cursor = self._select(connection, ", bits", "sentence > :last", {"last": last})
        while records := cursor.fetchmany(READ_AT_ONCE):
            self.add(np.array([record[:-1] for record in records], FACETS), [record[-1] for record in records])

    def _make_room(self, more: int) -> None:
        """Make room for so many more at most; what is never written takes no memory."""
        if self._count + more > len(self._facets):
            room = (self._count + more) * 9 // 8
            self._facets = _roomier(self._facets, self._count, (room,))
            self._planes = _roomier(self._planes, self._count, (len(self._planes), room))

    def _select(self, connection: Connection, more: str, condition: str, values: dict[str, int]) -> Any:
        columns = ", ".join(FACETS.names or ()) + more
        return plain(connection).execute(
            f"select {columns} from vec_bits where model = :model and {condition} order by sentence",
            values | {"model": self.model},
        )


class Order:
    """Sentences by rising distance, those with the lower number first where it is equal; found as far as asked."""

    def __init__(self, distances: NDArray[np.uint16], places: Places) -> None:
        self._distances = distances
        self._places = places
        self._within = np.cumsum(np.bincount(distances))  # how many are no farther than so much

    def __len__(self) -> int:
        return len(self._places)

    def first(self, count: int) -> Places:
        """Give the nearest ones, nearest first."""
        reach = np.searchsorted(self._within, min(count, len(self)))
        near = np.flatnonzero(self._distances <= reach)
        return self._places[near[np.argsort(self._distances[near], kind="stable")][:count]]


def _among(values: NDArray[Any], chosen: Sequence[int]) -> Mask:
    mask = np.zeros(len(values), np.bool_)
    for one in chosen:
        mask |= values == one
    return mask


def _words(bits: Sequence[bytes]) -> NDArray[np.uint64]:
    """Put sign bits into words of 64, a row each word and a column a sentence; what is missing of a word is 0."""
    flat = np.frombuffer(b"".join(bits), np.uint8).reshape(len(bits), -1)
    padded = np.pad(flat, ((0, 0), (0, -flat.shape[1] % WORD.itemsize)))
    return np.ascontiguousarray(padded).view(WORD).T


def _roomier(old: NDArray[Any], count: int, shape: tuple[int, ...]) -> NDArray[Any]:
    new = np.empty(shape, old.dtype)
    if count:
        new[..., :count] = old[..., :count]
    return new
