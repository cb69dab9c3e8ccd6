"""How a file given as reference is kept: chunks at their places, those of its latest version and no others."""

import json
from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from memory_mcp.models import FILE, Memory, Trust
from memory_mcp.storage.audit import REPLACE, Act, record
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.erasure import Erased, erase
from memory_mcp.storage.memories import add_tags, ids_of, insert
from memory_mcp.storage.values import GONE, Document, Draft, Shelved, Standing
from memory_mcp.storage.words import add_words, remove_words

BATCH, ERASED = 500, 200
"""Chunks that are written, or erased, in one transaction, so that others who write wait only for a moment."""

_OF_FILE = """
    select d.memory from document d join memory m on m.row = d.memory join namespace n on n.number = m.namespace
    where d.origin = :origin and n.name = :namespace
"""


@dataclass(frozen=True)
class _Plan:
    """What is to be done: rows that stay, with their places from now on; places still empty; rows that go."""

    kept: dict[int, int]
    empty: tuple[int, ...]
    gone: tuple[int, ...]

    @property
    def outcome(self) -> Literal["imported", "changed", "unchanged"]:
        """The same in a word."""
        if not self.kept and not self.gone:
            return "imported"
        return "changed" if self.empty or self.gone else "unchanged"


def standing(connection: Connection, origin: str, namespace: str) -> Standing:
    """Say how a file is kept."""
    found = connection.execute(
        f"""
        select version, min(source = 'user') own from document join memory on row = memory
        where memory in ({_OF_FILE}) and substr(version, 1, length(:gone)) <> :gone group by version
        """,
        {"origin": origin, "namespace": namespace, "gone": GONE},
    ).fetchall()
    if not found:
        return Standing()
    return Standing(found[0]["version"] if len(found) == 1 else "", all(row["own"] for row in found))


def origins(connection: Connection, folder: str, namespace: str) -> list[str]:
    """Name the files below a folder that are kept."""
    found = connection.execute(
        """
        select distinct d.origin from document d
        join memory m on m.row = d.memory join namespace n on n.number = m.namespace
        where n.name = :namespace and substr(d.version, 1, length(:gone)) <> :gone
          and substr(d.origin, 1, length(:folder) + 1) in (:folder || '/', :folder || char(92))
        order by d.origin
        """,
        {"folder": folder, "namespace": namespace, "gone": GONE},
    ).fetchall()
    return [origin for (origin,) in found]


def foresee(connection: Connection, document: Document, *, brings_back: bool) -> Shelved:
    """Say what `shelve` would do in all, and do nothing."""
    if not brings_back and _block(connection, document):
        return Shelved("forgotten")
    plan = _plan(connection, document)
    return Shelved(plan.outcome, len(plan.empty), len(plan.kept), len(plan.gone))


def shelve(connection: Connection, document: Document, act: Act, *, brings_back: bool) -> Shelved:
    """Write the next chunks that are missing; once none is, give all their places and mark what the file lost.

    What is left to do is seen anew each time, so that whoever was interrupted just goes on. A file of which a person
    had us forget something is left as it is, unless it `brings_back` all.
    """
    if block := _block(connection, document):
        if not brings_back:
            return Shelved("forgotten")
        connection.execute("delete from blocked where number = :number", {"number": block})
        record(connection, "lift", [str(block)], act)
    plan = _plan(connection, document)
    places = plan.empty[:BATCH]
    written = {_insert(connection, document, place, act): place for place in places}
    if written:
        record(connection, "import", ids_of(connection, sorted(written)), act)
    done = Shelved(plan.outcome, len(places), len(plan.kept), left=len(plan.empty) - len(places))
    if done.left:
        return done
    _settle(connection, document, plan.kept | written, plan.gone)
    _tag(connection, document, plan.kept, act)
    return replace(done, removed=len(plan.gone))


def any_replaced(connection: Connection) -> bool:
    """Whether there are chunks that their files no longer hold."""
    return connection.execute(
        "select exists (select 1 from document where substr(version, 1, length(:gone)) = :gone)", {"gone": GONE}
    ).fetchone()[0]


def drop_replaced(connection: Connection, act: Act) -> Erased | None:
    """Erase chunks that their files no longer hold; None when there is none. Nobody asked: they may come again."""
    found = connection.execute(
        """
        select id from memory where row in (
            select memory from document where substr(version, 1, length(:gone)) = :gone order by memory limit :limit)
        """,
        {"gone": GONE, "limit": ERASED},
    ).fetchall()
    if not found:
        return None
    return erase(connection, [memory_id for (memory_id,) in found], act, cascade=False, verb=REPLACE)


def _block(connection: Connection, document: Document) -> int:
    """Give the number of the block on a file; 0 where there is none."""
    found = connection.execute(
        """
        select number from blocked
        where (what, host, namespace, session_id, message_id, memory_id)
            = ('message', :file, :namespace, :origin, '', '')
        """,
        {"file": FILE, "namespace": document.namespace, "origin": document.origin},
    ).fetchone()
    return found[0] if found else 0


def _plan(connection: Connection, document: Document) -> _Plan:
    """Find for every chunk one that stands already with the same title and text, by the same source, in order."""
    found = connection.execute(
        f"""
        select row, digest, title, source from memory join document on memory = row
        where row in ({_OF_FILE}) order by position, row
        """,
        {"origin": document.origin, "namespace": document.namespace},
    ).fetchall()
    standing: defaultdict[tuple[bytes, str, str], deque[int]] = defaultdict(deque)
    for row in found:
        standing[row["digest"], row["title"], row["source"]].append(row["row"])
    kept: dict[int, int] = {}
    empty: list[int] = []
    for place, (chunk, text) in enumerate(zip(document.chunks, document.digests, strict=True), 1):
        same = standing[text, chunk.title, chunk.source]
        if same:
            kept[same.popleft()] = place
        else:
            empty.append(place)
    return _Plan(kept, tuple(empty), tuple(row for left in standing.values() for row in left))


def _insert(connection: Connection, document: Document, place: int, act: Act) -> int:
    """Write a chunk, as of no version yet: its file is not wholly there."""
    chunk = _as_told(connection, document, place)
    row = insert(connection, Draft(chunk), act.now)
    connection.execute(
        "insert into document values (:row, :origin, hex(randomblob(16)), :place)",
        {"row": row, "origin": document.origin, "place": place},
    )
    return row


def _as_told(connection: Connection, document: Document, place: int) -> Memory:
    """Trust no chunk that an untrusted memory says word for word, as `twins.as_told` does; earlier versions apart."""
    chunk = document.chunks[place - 1]
    if chunk.trust is Trust.UNTRUSTED:
        return chunk
    untrusted = connection.execute(
        f"""
        select exists (
            select 1 from memory where namespace in (select number from namespace) and digest = :digest
            and trust = 'untrusted' and row not in ({_OF_FILE}))
        """,
        {"digest": document.digests[place - 1], "origin": document.origin, "namespace": document.namespace},
    ).fetchone()[0]
    return replace(chunk, trust=Trust.UNTRUSTED) if untrusted else chunk


def _settle(connection: Connection, document: Document, places: Mapping[int, int], gone: Sequence[int]) -> None:
    """Give the chunks of a version their places, and mark those that are of none."""
    rows = json.dumps([*places, *gone])
    connection.execute(  # so that no two are at one place while they move
        """
        update document set version = :gone || hex(randomblob(16))
        where memory in (select value from json_each(:rows))
        """,
        {"rows": rows, "gone": GONE},
    )
    connection.executemany(
        "update document set version = :version, position = :place where memory = :row",
        [{"version": document.version, "place": place, "row": row} for row, place in places.items()],
    )


def _tag(connection: Connection, document: Document, places: Mapping[int, int], act: Act) -> None:
    """Add the tags that chunks of earlier do not have."""
    for row, place in places.items():
        chunk = document.chunks[place - 1]
        held = {name for (name,) in connection.execute("select name from tag where memory = :row", {"row": row})}
        if {tag.casefold() for tag in chunk.tags} <= held:
            continue
        remove_words(connection, row)
        add_tags(connection, row, chunk.tags)
        add_words(connection, row)
        connection.execute(
            "update memory set flagged = max(flagged, :flagged), updated_at = :now where row = :row",
            {"flagged": int(chunk.flagged), "now": act.now, "row": row},
        )
