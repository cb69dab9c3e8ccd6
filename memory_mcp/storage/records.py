"""How a row of the file becomes a memory."""

import json
import logging
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any

from memory_mcp.models import Kind, Memory, Source, State, Trust
from memory_mcp.storage.driver import Connection, Row
from memory_mcp.storage.filters import EPOCH

LOG = logging.getLogger(__name__)

MEMORIES = """
    select m.row, m.id, m.content, m.kind, m.state, m.key, m.title, m.speaker, m.sequence, m.pinned, m.importance,
           m.confidence, m.source, m.trust, m.created_at, m.updated_at, m.valid_from, m.valid_to, m.expires_at,
           m.superseded_at, m.flagged, n.name as namespace, coalesce(s.id, '') as session_id,
           coalesce(u.access_count, 0) as access_count, u.last_accessed_at,
           coalesce(u.useful, 0) as useful, coalesce(u.useless, 0) as useless,
           (select json_group_array(t.name) from tag t where t.memory = m.row) as tags,
           (select json_group_array(older.id) from link l join memory older on older.row = l.older
             where l.newer = m.row and l.relation = 'derived_from') as derived_from,
           coalesce((select newer.id from link l join memory newer on newer.row = l.newer
             where l.older = m.row and l.relation = 'supersedes' order by l.newer desc limit 1), '') as superseded_by,
           coalesce((select d.origin || ', part ' || d.position from document d where d.memory = m.row), '') as place
    from memory m
    join namespace n on n.number = m.namespace
    left join session s on s.number = m.session
    left join usage u on u.memory = m.row
"""
"""Everything a `Memory` holds; a condition over `m` may follow."""


def select_memories(connection: Connection, rest: str, values: dict[str, Any]) -> list[Memory]:
    """Read the memories that the rest of the statement lets through, without those that are damaged."""
    return decode(connection.execute(MEMORIES + rest, values).fetchall())


def decode(records: Iterable[Row]) -> list[Memory]:
    """Turn rows into memories. One that makes no sense is left out and logged by its id, never by its text."""
    memories: list[Memory] = []
    for record in records:
        try:
            memories.append(_memory(record))
        except (ValueError, TypeError, OverflowError):
            LOG.warning("memory %s is damaged and was left out", record["id"])
    return memories


def from_ms(instant: int) -> datetime:
    """Turn the file's milliseconds since 1970 into an aware instant."""
    return EPOCH + timedelta(milliseconds=instant)


def from_ms_or_none(instant: int | None) -> datetime | None:
    """Turn an instant that may be absent."""
    return None if instant is None else from_ms(instant)


def _memory(record: Row) -> Memory:
    return Memory(
        id=record["id"],
        content=record["content"],
        created_at=from_ms(record["created_at"]),
        updated_at=from_ms(record["updated_at"]),
        kind=Kind(record["kind"]),
        namespace=record["namespace"],
        tags=tuple(json.loads(record["tags"])),
        key=record["key"],
        pinned=bool(record["pinned"]),
        session_id=record["session_id"],
        sequence=record["sequence"],
        speaker=record["speaker"],
        title=record["title"],
        place=record["place"],
        importance=record["importance"],
        confidence=record["confidence"],
        source=Source(record["source"]),
        trust=Trust(record["trust"]),
        state=State(record["state"]),
        valid_from=from_ms_or_none(record["valid_from"]),
        valid_to=from_ms_or_none(record["valid_to"]),
        expires_at=from_ms_or_none(record["expires_at"]),
        superseded_at=from_ms_or_none(record["superseded_at"]),
        superseded_by=record["superseded_by"],
        derived_from=tuple(json.loads(record["derived_from"])),
        access_count=record["access_count"],
        last_accessed_at=from_ms_or_none(record["last_accessed_at"]),
        useful=record["useful"],
        useless=record["useless"],
        flagged=record["flagged"] == 1,
    )
