"""How a file comes to another embedding model: vectors made beside those that answer, then put in their place at once.

In `setting`: `next_model` and `next_name` say to which model the file is to come, `stray_vectors` that some are left of
models that it neither has nor is to come to.
"""

import json
from collections.abc import Mapping, Sequence

from memory_mcp.errors import Conflict
from memory_mcp.models import Memory, ModelIdentity
from memory_mcp.storage import vectors
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.records import select_memories
from memory_mcp.storage.values import MODEL_LEASE, NO_MODEL, Change, Holder, ModelState, Vectors

SWEPT = 5_000
"""Stray vectors that are deleted in one transaction: others who write wait a tenth of a second at most."""

ACTIVE = "(select cast(value as integer) from setting where name = 'active_model')"
NEXT = "(select cast(value as integer) from setting where name = 'next_model')"

LACKS_NEXT = f"not exists (select 1 from vec_bits v where v.memory = m.row and v.model = {NEXT})"

EMBEDDED = "select count(distinct memory), count(*) from vec_bits where model = {model}"


def begin(connection: Connection, identity: ModelIdentity, now: int) -> bool:
    """Note that the file is to come to this model, or goes on to; False if it has it.

    What was made for a change to another model is given up.
    """
    model = vectors.enter(connection, identity, now)
    if model == _to(connection):
        return True
    _give_up(connection)
    if model == vectors.of_file(connection).number:
        vectors.activate(connection, model, identity.loads_by)
        return False
    _set(connection, {"next_model": str(model), "next_name": identity.loads_by})
    return True


def left(connection: Connection, after: int, limit: int) -> tuple[list[Memory], int]:
    """Read the next memories that the new model did not embed yet, and the last row read, `after` at the end.

    Those that are damaged count as read.
    """
    rows = connection.execute(
        f"select m.row from memory m where m.row > :after and {LACKS_NEXT} order by m.row limit :limit",
        {"after": after, "limit": limit},
    ).fetchall()
    found = {"rows": json.dumps([row for (row,) in rows])}
    memories = select_memories(connection, " where m.row in (select value from json_each(:rows)) order by m.row", found)
    return memories, rows[-1][0] if rows else after


def put(connection: Connection, made: Sequence[tuple[Memory, Vectors]], identity: ModelIdentity) -> int:
    """Keep vectors of the new model beside the old ones; returns for how many memories.

    One that was forgotten or rewritten since it was read gets none. Raises `Conflict` if the change was given up.
    """
    model = _require(connection, identity)
    kept = [(row, own) for row, own in vectors.unchanged(connection, made) if own.shape[1:] == (identity.dimension,)]
    for row, own in kept:
        vectors.write(connection, row, own, model)
    return len(kept)


def switch(connection: Connection, identity: ModelIdentity, through: int) -> bool:
    """Search by the new model's vectors from now on; False if a memory after that row is still without them.

    An older one without them is embedded later, as any. Raises `Conflict` if the change was given up.
    """
    model = _require(connection, identity)
    late = f"select exists (select 1 from memory m where m.row > :through and {LACKS_NEXT})"
    if connection.execute(late, {"through": through}).fetchone()[0]:
        return False
    connection.execute(
        f"""
        update memory as m set embedded_by = case when {LACKS_NEXT} then null else :model end
        """,
        {"model": model},
    )
    vectors.activate(connection, model, identity.loads_by)
    _set(connection, {"stray_vectors": "1"})
    _unset(connection, "next_model", "next_name")
    return True


def drop(connection: Connection) -> bool:
    """Keep the file without vectors from now on; False if it is kept so already."""
    if vectors.of_file(connection).name == NO_MODEL:
        return False
    _give_up(connection)
    connection.execute("update memory set embedded_by = null where embedded_by is not null")
    _set(connection, {"model": NO_MODEL, "stray_vectors": "1"})
    _unset(connection, "active_model")
    return True


def are_strays(connection: Connection) -> bool:
    """Whether vectors may be left of models that the file neither has nor is to come to."""
    return connection.execute("select exists (select 1 from setting where name = 'stray_vectors')").fetchone()[0]


def sweep(connection: Connection) -> bool:
    """Delete some of the stray vectors; says whether there may be more."""
    gone = connection.execute(
        f"""
        delete from vec_bits where sentence in (
            select sentence from vec_bits where model is not {ACTIVE} and model is not {NEXT} limit :limit)
        """,
        {"limit": SWEPT},
    )
    if gone.rowcount < SWEPT:
        _unset(connection, "stray_vectors")
    return gone.rowcount == SWEPT


def state(connection: Connection, now: int) -> ModelState:
    """Read which model the file has, how much of it that model embedded, and to which it is to come."""
    own = vectors.of_file(connection)
    under_way = change(connection, now)
    memories = connection.execute("select count(*) from memory").fetchone()[0]
    embedded, sentences = connection.execute(EMBEDDED.format(model=ACTIVE)).fetchone()
    return ModelState(
        name=own.name,
        dimension=_dimension(connection, ACTIVE),
        memories=memories,
        embedded=embedded,
        sentences=sentences,
        change=under_way,
        preparing=None if under_way else holder(connection, now),
    )


def holder(connection: Connection, now: int) -> Holder | None:
    """Read who changes the model just now."""
    found = connection.execute(
        "select owner, expires_at from lease where name = :name and expires_at > :now",
        {"name": MODEL_LEASE, "now": now},
    ).fetchone()
    return Holder(*found) if found else None


def change(connection: Connection, now: int) -> Change | None:
    """Read to which model the file is to come, how far that is, and who is at it."""
    names = connection.execute("select value from setting where name = 'next_name'").fetchone()
    if names is None:
        return None
    memories = connection.execute("select count(*) from memory").fetchone()[0]
    done = connection.execute(EMBEDDED.format(model=NEXT)).fetchone()[0]
    return Change(names[0], _dimension(connection, NEXT), done, memories, holder(connection, now))


def _dimension(connection: Connection, model: str) -> int:
    found = connection.execute(f"select dimension from embedding_model where number = {model}").fetchone()
    return found[0] if found else 0


def _to(connection: Connection) -> int | None:
    return connection.execute(f"select {NEXT}").fetchone()[0]


def _require(connection: Connection, identity: ModelIdentity) -> int:
    model = _to(connection)
    if model is None or model != vectors.number(connection, identity):
        raise Conflict("The change of the model was given up, or everything was wiped, by another process meanwhile.")
    return model


def _give_up(connection: Connection) -> None:
    if _to(connection) is not None:
        _set(connection, {"stray_vectors": "1"})
        _unset(connection, "next_model", "next_name")


def _set(connection: Connection, values: Mapping[str, str]) -> None:
    connection.executemany("insert or replace into setting (name, value) values (?, ?)", list(values.items()))


def _unset(connection: Connection, *names: str) -> None:
    connection.executemany("delete from setting where name = ?", [(name,) for name in names])
