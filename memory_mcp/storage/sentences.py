"""What memories say, sentence by sentence as vectors, for whoever compares all with all."""

import json
from itertools import groupby

import numpy as np

from memory_mcp.models import Filter, Kind
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.filters import clause
from memory_mcp.storage.values import Sentences


def sentences(connection: Connection, where: Filter, memories: int, most: int) -> Sentences:
    """Read the vectors of the newest memories that the filter lets through, at most so many memories and sentences."""
    condition, values = clause(where)
    found = connection.execute(
        f"""
        with newest as (
            select m.row, m.id, m.created_at, m.embedded_by from memory m where {condition} and m.embedded_by = (
                select cast(value as integer) from setting where name = 'active_model')
            order by m.created_at desc, m.row desc limit :memories)
        select n.id, f.vector
        from newest n join vec_bits v on v.memory = n.row and v.model = n.embedded_by join vec_full f using (sentence)
        order by n.created_at desc, n.row desc, v.sentence limit :most
        """,
        values | {"memories": memories, "most": most},
    ).fetchall()
    if not found:
        return Sentences((), np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros((0, 1), np.float32))
    counts = [(memory_id, len(list(own))) for memory_id, own in groupby(found, lambda row: row["id"])]
    vectors = np.stack([np.frombuffer(row["vector"], np.int8) for row in found]).astype(np.float32)
    return Sentences(
        ids=tuple(memory_id for memory_id, _ in counts),
        owners=np.repeat(np.arange(len(counts)), [count for _, count in counts]),
        places=np.concatenate([np.arange(count) for _, count in counts]),
        vectors=vectors / np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-9),
    )


def consolidated(connection: Connection) -> dict[str, str]:
    """Name for each memory that went into a pattern or a lesson which one that was, the latest if several did.

    The turns that a lesson was heard in do not count: that is where it was said, not what it was drawn from.
    """
    found = connection.execute(
        """
        select older.id, newer.id from link l
        join memory newer on newer.row = l.newer
        join memory older on older.row = l.older
        where l.relation = 'derived_from' and older.kind <> 'turn'
          and newer.kind in (select value from json_each(:kinds))
        order by newer.row
        """,
        {"kinds": json.dumps([Kind.PATTERN, Kind.LESSON])},
    ).fetchall()
    return dict(found)
