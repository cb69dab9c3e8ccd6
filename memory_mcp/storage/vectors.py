"""The vectors of memories: written with their model, kept in step with the rows, filled in later."""

import json
from collections.abc import Sequence
from dataclasses import asdict

from memory_mcp.models import Memory, ModelIdentity
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.filters import KINDS, STATES, TRUSTS, to_ms
from memory_mcp.storage.records import select_memories
from memory_mcp.storage.values import NO_MODEL, FileModel, Vectors

SAME = "(name, checksum, dimension, prefix) = (:name, :checksum, :dimension, :prefix)"
"""The condition that a row is of a model."""


def put(connection: Connection, row: int, vectors: Vectors | None, made_by: ModelIdentity | None) -> bool:
    """Replace a memory's vectors by these.

    None, and vectors of another model or dimension than the active one's, leave the memory as it was: still to be
    embedded. Returns whether it was written.
    """
    model = _active(connection)
    if vectors is None or model is None or vectors.shape[1:] != (model[1],):
        return False
    if made_by is not None and number(connection, made_by) != model[0]:
        return False
    write(connection, row, vectors, model[0])
    connection.execute("update memory set embedded_by = :model where row = :row", {"model": model[0], "row": row})
    return True


def write(connection: Connection, row: int, vectors: Vectors, model: int) -> None:
    """Replace what one model made of a memory; what another made of it stays."""
    from memory_mcp.storage.search import quantise, sign_bits  # noqa: PLC0415 - it imports numpy: not for a hook

    facets = _facets(connection, row) | {"memory": row, "model": model}
    connection.execute("delete from vec_bits where memory = :memory and model = :model", facets)
    for vector in vectors:
        sentence = connection.execute(
            """
            insert into vec_bits (memory, model, namespace, kind, state, trust, created_at, bits)
            values (:memory, :model, :namespace, :kind, :state, :trust, :created_at, :bits)
            """,
            facets | {"bits": sign_bits(vector)},
        ).lastrowid
        connection.execute(
            "insert into vec_full (sentence, vector) values (:sentence, :vector)",
            {"sentence": sentence, "vector": quantise(vector)},
        )


def refresh(connection: Connection, row: int) -> None:
    """Bring the integers that a search filters by in step with the memory's row."""
    connection.execute(
        """
        update vec_bits set namespace = :namespace, kind = :kind, state = :state, trust = :trust,
               created_at = :created_at
        where memory = :row
        """,
        _facets(connection, row) | {"row": row},
    )


def unembedded(connection: Connection, limit: int) -> list[Memory]:
    """Read memories without vectors of the active model, oldest first."""
    return select_memories(connection, " where m.embedded_by is null order by m.row limit :limit", {"limit": limit})


def put_all(connection: Connection, made: Sequence[tuple[Memory, Vectors]], made_by: ModelIdentity | None) -> int:
    """Write vectors that were made outside of a transaction; returns for how many memories they still count."""
    return sum(put(connection, row, own, made_by) for row, own in unchanged(connection, made))


def unchanged(connection: Connection, made: Sequence[tuple[Memory, Vectors]]) -> list[tuple[int, Vectors]]:
    """Give vectors with the rows of their memories, but of none that was forgotten or rewritten since it was read.

    What a redaction took out of a text must not live on in its vectors.
    """
    standing = {
        (memory_id, updated_at): row
        for row, memory_id, updated_at in connection.execute(
            "select row, id, updated_at from memory where id in (select value from json_each(:ids))",
            {"ids": json.dumps([memory.id for memory, _ in made])},
        ).fetchall()
    }
    found = [(standing.get((memory.id, to_ms(memory.updated_at))), own) for memory, own in made]
    return [(row, own) for row, own in found if row is not None]


def is_active(connection: Connection, identity: ModelIdentity) -> bool:
    """Whether the file's vectors are of this model."""
    active = _active(connection)
    return active is not None and active[0] == number(connection, identity)


def refuses(connection: Connection, identity: ModelIdentity) -> bool:
    """Whether the file is searched by vectors that this model did not make, or by none at all."""
    return not is_active(connection, identity) and (of_file(connection).name == NO_MODEL or _any_vectors(connection))


def of_file(connection: Connection) -> FileModel:
    """Read which model the file has."""
    found = connection.execute(
        """
        select coalesce(s.value, e.name, '') as name, coalesce(e.number, 0) as number
        from (select 1)
        left join setting s on s.name = 'model'
        left join setting a on a.name = 'active_model'
        left join embedding_model e on e.number = cast(a.value as integer)
        """
    ).fetchone()
    return FileModel(*found)


def use_model(connection: Connection, identity: ModelIdentity, now: int) -> bool:
    """Make this model the active one unless the file refuses it; returns whether it is active."""
    if is_active(connection, identity):
        return True
    if refuses(connection, identity):
        return False
    connection.execute("update memory set embedded_by = null where embedded_by is not null")
    activate(connection, enter(connection, identity, now), identity.loads_by)
    return True


def enter(connection: Connection, identity: ModelIdentity, now: int) -> int:
    """Give the number under which the file knows a model, a new one if it does not."""
    connection.execute(
        """
        insert into embedding_model (name, checksum, dimension, ceiling, prefix, created_at)
        values (:name, :checksum, :dimension, :ceiling, :prefix, :now) on conflict do nothing
        """,
        asdict(identity) | {"now": now},
    )
    return connection.execute(f"select number from embedding_model where {SAME}", asdict(identity)).fetchone()[0]


def activate(connection: Connection, model: int, name: str) -> None:
    """Search by the vectors of this model from now on, and remember by which name it is loaded."""
    connection.executemany(
        "insert or replace into setting (name, value) values (?, ?)", [("active_model", str(model)), ("model", name)]
    )


def _any_vectors(connection: Connection) -> bool:
    active = {"model": of_file(connection).number}
    return bool(connection.execute("select exists (select 1 from vec_bits where model = :model)", active).fetchone()[0])


def number(connection: Connection, identity: ModelIdentity) -> int | None:
    """Give the number under which the file knows a model, if it does."""
    found = connection.execute(f"select number from embedding_model where {SAME}", asdict(identity)).fetchone()
    return found[0] if found else None


def _active(connection: Connection) -> tuple[int, int] | None:
    """Read number and dimension of the active model."""
    found = connection.execute(
        """
        select number, dimension from embedding_model
        where number = (select cast(value as integer) from setting where name = 'active_model')
        """
    ).fetchone()
    return tuple(found) if found else None


def _facets(connection: Connection, row: int) -> dict[str, int]:
    namespace, kind, state, trust, created_at = connection.execute(
        "select namespace, kind, state, trust, created_at from memory where row = :row", {"row": row}
    ).fetchone()
    return {
        "namespace": namespace,
        "kind": KINDS.index(kind),
        "state": STATES.index(state),
        "trust": TRUSTS.index(trust),
        "created_at": created_at,
    }
