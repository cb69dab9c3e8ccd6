"""Which memories of an export a file has, had forgotten, or need not take: their time is up."""

from memory_mcp.models import Kind, Memory, State
from memory_mcp.storage.carried import CarriedMemory
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.filters import in_time, to_ms
from memory_mcp.storage.values import Coordinates
from memory_mcp.tokens import digest


def blocks_on(connection: Connection, one: CarriedMemory) -> list[tuple[int, bool]]:
    """Find the blocks on a memory and on the message that it is; gives their numbers, and whether somebody asked."""
    said = one.message or Coordinates("", one.memory.session_id, str(one.memory.sequence or ""), "")
    values = {
        "id": one.memory.id,
        "host": said.host,
        "namespace": "" if one.message else one.memory.namespace,
        "session_id": said.session_id,
        "message_id": said.message_id,
    }
    found = connection.execute(
        """
        select number, asked from blocked
        where (what, host, namespace, session_id, message_id, memory_id) in (
            values ('memory', '', '', '', '', :id), ('message', :host, :namespace, :session_id, :message_id, ''))
        """,
        values,
    ).fetchall()
    return [(number, bool(asked)) for number, asked in found]


def is_here(connection: Connection, one: CarriedMemory) -> bool:
    """Whether the file has this memory, this message of a host or this chunk of a file."""
    said, chunk = one.message, one.document
    return connection.execute(
        """
        select exists (select 1 from memory where id = :id)
            or exists (select 1 from turn where (host, session_id, message_id) = (:host, :session_id, :message_id))
            or exists (select 1 from document where (origin, version, position) = (:origin, :version, :position))
        """,
        {
            "id": one.memory.id,
            "host": said and said.host,
            "session_id": said and said.session_id,
            "message_id": said and said.message_id,
            "origin": chunk and chunk.origin,
            "version": chunk and chunk.version,
            "position": chunk and chunk.position,
        },
    ).fetchone()[0]


def is_over(connection: Connection, memory: Memory, now: int) -> bool:
    """Whether a memory is past its time to live, in the meaning of `filters.time_is_up`."""
    if memory.pinned or memory.expires_at is None or to_ms(memory.expires_at) > now:
        return False
    if memory.kind is not Kind.TURN or not memory.session_id:
        return True
    found = connection.execute(
        """
        select s.summarized_through from session s join namespace n on n.number = s.namespace
        where n.name = :namespace and s.id = :session_id and not s.stale
        """,
        {"namespace": memory.namespace, "session_id": memory.session_id},
    ).fetchone()
    return found is not None and (memory.sequence or 0) <= found[0]


def has_twin(connection: Connection, memory: Memory, before: int, now: int) -> bool:
    """Whether the file held the same text in the same place, under another id, when the import began."""
    if memory.kind is Kind.TURN:
        held = at_place(connection, memory)
        return held == (digest(memory.content), memory.speaker)
    if memory.state is not State.ACTIVE or memory.kind is Kind.DOCUMENT:
        return False  # a chunk is known by its place: two files may say the same
    return connection.execute(
        f"""
        select exists (
            select 1 from memory m join namespace n on n.number = m.namespace
            left join session s on s.number = m.session
            where n.name = :namespace and m.digest = :digest and m.state = 'active' and m.row <= :before
              and (m.kind = 'episode') = (:kind = 'episode') and m.kind <> 'document'
              and (m.kind <> 'episode' or s.id = :session_id) and m.kind <> 'turn'
              and (m.key = :key or m.key = '' or :key = '') and {in_time(":now")})
        """,
        {
            "namespace": memory.namespace,
            "digest": digest(memory.content),
            "kind": memory.kind,
            "session_id": memory.session_id,
            "key": memory.key,
            "before": before,
            "now": now,
        },
    ).fetchone()[0]


def at_place(connection: Connection, turn: Memory) -> tuple[bytes, str] | None:
    """Read what is said at a turn's place in its session: the digest, and who spoke."""
    found = connection.execute(
        """
        select m.digest, m.speaker from memory m
        join session s on s.number = m.session join namespace n on n.number = s.namespace
        where n.name = :namespace and s.id = :session_id and m.sequence = :sequence
        """,
        {"namespace": turn.namespace, "session_id": turn.session_id, "sequence": turn.sequence},
    ).fetchone()
    return tuple(found) if found else None
