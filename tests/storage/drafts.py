"""Texts, vectors and other raw material for tests of the storage."""

from datetime import UTC, datetime

import numpy as np

from memory_mcp.models import Episode, Filter, Kind, Memory, ModelIdentity, new_id
from memory_mcp.storage import SqliteStore
from memory_mcp.storage.values import Coordinates, Draft, Probe, Vectors

NOW = datetime(2026, 5, 4, 9, 30, tzinfo=UTC)
DIMENSION = 64
MODEL = ModelIdentity("test", "0" * 64, DIMENSION)


def vectors(*seeds: int) -> Vectors:
    """One unit vector a seed; the same seed gives the same vector."""
    raw = np.stack([np.random.default_rng(seed).standard_normal(DIMENSION) for seed in seeds])
    return (raw / np.linalg.norm(raw, axis=1, keepdims=True)).astype(np.float32)


def memory(content: str, **fields) -> Memory:
    return Memory(**({"id": new_id(), "content": content, "created_at": NOW, "updated_at": NOW} | fields))


def draft(content: str, *, seed: int = 0, supersedes: tuple[str, ...] = (), at: Coordinates | None = None, **fields):
    """A draft with one vector (`seed`), to be stored at NOW."""
    return Draft(memory(content, **fields), vectors(seed), supersedes, at)


def turn(content: str, *, session_id: str = "s1", speaker: str = "user", **fields) -> Draft:
    return draft(content, kind=Kind.TURN, session_id=session_id, speaker=speaker, **fields)


def episode(
    content: str, *, session_id: str = "s1", covered_through: int = 0, lessons: tuple[str, ...] = ()
) -> Episode:
    return Episode(
        memory(content, kind=Kind.EPISODE, session_id=session_id),
        started_at=NOW,
        ended_at=NOW,
        lessons=lessons,
        covered_through=covered_through,
    )


async def write(store: SqliteStore, *drafts: Draft) -> list[str]:
    return [one.id for one in await store.write(drafts, door="cli")]


async def found_by(store: SqliteStore, *words: str) -> list[str]:
    evidence = await store.search(Probe(None, words, Filter(states=())))
    hits = evidence.rows[evidence.counts.all(axis=0)] if len(evidence.rows) else evidence.rows
    return [one.id for one in (await store.rows(hits.tolist())).values()]


async def healthy(store: SqliteStore) -> bool:
    check = await store.check()
    return check.integrity == "ok" and not check.problems
