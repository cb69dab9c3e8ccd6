"""Secrets in what is kept already: where they stand, and how they are taken out again."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import cast, get_args

from anyio import to_thread

from memory_mcp.answers import Verification
from memory_mcp.redaction import redact
from memory_mcp.storage.protocol import Store
from memory_mcp.storage.values import Rewriting, Rewritten, StoredText, TextField

BATCH = 200
"""Memories whose texts are read at a time, and that are rewritten in one transaction."""

TEXTS = frozenset(get_args(TextField))
"""What says the same without its secrets; what is left of a name without one names something else."""

GRAVEST: tuple[Verification, ...] = ("residue", "pending", "unverified", "clean")


@dataclass(frozen=True)
class Leak:
    """A text that holds secrets, of these kinds. `field` is what it is to its memory; `memory_id` is '' for none."""

    memory_id: str
    field: str
    kinds: tuple[str, ...]

    @property
    def is_name(self) -> bool:
        """Whether only its memory can go, or be named anew."""
        return self.field not in TEXTS


@dataclass(frozen=True)
class Leaks:
    """What was found, and the handle for taking the secrets out of exactly these memories."""

    found: tuple[Leak, ...]
    confirm: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        """Name the memories out of which secrets can be taken."""
        return ids_of(self.found)


def ids_of(found: Sequence[Leak]) -> tuple[str, ...]:
    """Name the memories that hold a secret in a text, once each."""
    return tuple(dict.fromkeys(one.memory_id for one in found if not one.is_name))


async def find(db: Store) -> tuple[Leak, ...]:
    """Look through every text that is kept, in every state, a batch at a time."""
    found: list[Leak] = []
    async for batch in _batches(db):
        found += await to_thread.run_sync(_leaks, batch)
    return tuple(found)


async def take_out(db: Store, ids: Sequence[str], now: datetime, door: str) -> Rewritten:
    """Replace the texts of these memories by what they are without their secrets."""
    wanted, done = frozenset(ids), Rewritten(())
    async for batch in _batches(db):
        changes = await to_thread.run_sync(_rewritings, [one for one in batch if one.memory_id in wanted])
        if changes:
            written = await db.rewrite(changes, now=now, door=door)
            done = _joined(done, written)
    return done


async def _batches(db: Store) -> AsyncIterator[list[StoredText]]:
    batch, last = await db.texts(0, BATCH)
    yield batch
    while last:
        batch, last = await db.texts(last, BATCH)
        yield batch


def _joined(some: Rewritten, more: Rewritten) -> Rewritten:
    gravest: Verification = min((some.verification, more.verification), key=GRAVEST.index)
    told = " ".join(dict.fromkeys(filter(None, (some.detail, more.detail))))
    return Rewritten((*some.ids, *more.ids), gravest, told)


def _leaks(batch: Sequence[StoredText]) -> list[Leak]:
    kinds = {
        text: tuple(dict.fromkeys(redact(text)[1])) for text in {one.text for one in batch}
    }  # tags and names repeat
    return [Leak(one.memory_id, one.field, kinds[one.text]) for one in batch if kinds[one.text]]


def _rewritings(batch: Sequence[StoredText]) -> list[Rewriting]:
    found = ((one, *redact(one.text)) for one in batch if one.field in TEXTS)
    return [
        Rewriting(one.memory_id, cast("TextField", one.field), one.text, text) for one, text, kinds in found if kinds
    ]
