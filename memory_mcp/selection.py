"""Which memories a forget, archive or restore means, and the handle that confirms exactly those."""

import hashlib
import hmac
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from memory_mcp.errors import Conflict, InvalidInput, NotFound
from memory_mcp.models import Filter, Selection
from memory_mcp.storage.protocol import Store
from memory_mcp.storage.values import Probe
from memory_mcp.tokens import query_terms

Versions = list[tuple[str, int]]
"""Ids with the instant of their last change, in milliseconds: what a handle is bound to."""

AT_MOST = 100_000


@dataclass(frozen=True)
class Chosen:
    """What may be done now: to these memories; where a preview was confirmed, only if they are still `expected`."""

    ids: list[str]
    missing: tuple[str, ...] = ()
    expected: Versions | None = None


async def resolve(store: Store, selection: Selection, where: Filter) -> Versions:
    """Find the memories that a selection means, in its narrowest sense: every selector holds, every word occurs.

    `where` is the selection as it was read: a tag of blanks, which selects nothing, is not in it.
    """
    wide = (selection.query, where.tags, where.session_id, where.file, where.source, where.until)
    if selection.ids:
        if any(wide):
            raise InvalidInput("ids are exact: give them alone, without query, tags, session_id, source or before.")
        return await store.versions(selection.ids)
    if not (any(wide) or selection.namespace):
        raise InvalidInput("Say which memories: ids, or query, tags, session_id, source, before or namespace.")
    if not selection.query:
        return await store.select(where, before=None, limit=AT_MOST)
    terms = query_terms(selection.query, every=True)
    if not terms:
        raise InvalidInput("query has no word to look for.")
    evidence = await store.search(Probe(None, terms, where, kept_by_words=AT_MOST))
    whole = evidence.rows[evidence.eligible & np.all(evidence.counts > 0, axis=0)]
    return await store.versions([memory.id for memory in (await store.rows(whole.tolist())).values()])


def handle(secret: bytes, verb: str, chosen: Versions) -> str:
    """Make the handle for doing `verb` to exactly these versions; the same in every process on the file."""
    message = json.dumps([verb, sorted(chosen)]).encode()
    return hmac.new(secret, message, hashlib.sha256).hexdigest()[:16]


def require_match(given: str, expected: str) -> None:
    """Refuse a handle that stands for another set than the present one."""
    if not hmac.compare_digest(given.encode(), expected.encode()):
        raise Conflict(
            "The confirm handle does not stand for these memories: they changed, or it is of another selection or verb."
            " Nothing was changed. Ask without confirm for a new preview."
        )


def missing(asked: Sequence[str], chosen: Versions) -> tuple[str, ...]:
    """Name the asked ids that do not exist; raises `NotFound` when none does."""
    known = {memory_id for memory_id, _ in chosen}
    gone = tuple(memory_id for memory_id in asked if memory_id not in known)
    if asked and not known:
        raise NotFound(f"No memory with id {', '.join(gone[:5])}. Nothing was changed. Recall again for current ids.")
    return gone
