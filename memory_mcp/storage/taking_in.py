"""How the records of an export come into a file: under their own ids, each once, and none that was forgotten."""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass

from memory_mcp.errors import Conflict
from memory_mcp.storage.audit import Act, record
from memory_mcp.storage.carried import CarriedBlock, CarriedMemory, CarriedSession, CarriedUse, Fate, Record
from memory_mcp.storage.driver import Connection, Error
from memory_mcp.storage.filters import to_ms
from memory_mcp.storage.recognising import blocks_on, has_twin, is_here, is_over
from memory_mcp.storage.sessions import drop_unused_namespaces, namespace_number
from memory_mcp.storage.settling_in import settle

IMPORTED, KNOWN, FORGOTTEN, EXPIRED = Fate("imported"), Fate("known"), Fate("forgotten"), Fate("expired")


@dataclass(frozen=True)
class Into:
    """What an import comes to.

    `before` is the last row that stood there when it began: only with what is older than the import can it collide.
    With `brings_back` what was forgotten comes in, and its blocks are lifted.
    """

    before: int
    brings_back: bool = False


def newest_row(connection: Connection) -> int:
    """Give the number of the newest memory's row; 0 when there is none."""
    return connection.execute("select coalesce(max(row), 0) from memory").fetchone()[0]


def take_in(connection: Connection, records: Sequence[Record], into: Into, act: Act) -> list[Fate]:
    """Take records in and say what became of each; one that does not fit is skipped and holds up no other."""
    fates = [_apart(connection, one, into, act.now) for one in records]
    new = [
        one.memory.id
        for one, fate in zip(records, fates, strict=True)
        if isinstance(one, CarriedMemory) and fate.outcome == "imported"
    ]
    if any(fate.outcome == "imported" for fate in fates):
        record(connection, "import", new, act)
    back = [
        one.memory.id
        for one, fate in zip(records, fates, strict=True)
        if isinstance(one, CarriedMemory) and fate.lifted
    ]
    if back:
        record(connection, "lift", back, act)
    return fates


def drop_empty(connection: Connection, sessions: Sequence[tuple[str, str]]) -> None:
    """Drop sessions, and namespaces, to which no memory belongs: their names must not outlive what was forgotten."""
    connection.execute(
        """
        delete from session where number in (
            select s.number from session s join namespace n on n.number = s.namespace
            join json_each(:sessions) named on (named.value ->> 0, named.value ->> 1) = (n.name, s.id))
          and not exists (select 1 from memory where memory.session = session.number)
        """,
        {"sessions": json.dumps(sessions)},
    )
    drop_unused_namespaces(connection)


def _apart(connection: Connection, one: Record, into: Into, now: int) -> Fate:
    """Take one record in, wholly or not at all."""
    connection.execute("savepoint one")
    try:
        fate = _take(connection, one, into, now)
    except Conflict as conflict:
        connection.execute("rollback to one")
        fate = Fate("skipped", str(conflict))
    except Error as error:
        connection.execute("rollback to one")
        if getattr(error, "sqlite_errorname", "").startswith("SQLITE_CONSTRAINT"):
            fate = Fate("skipped", "it does not fit what stands here")
        else:
            raise
    connection.execute("release one")
    return fate


def _take(connection: Connection, one: Record, into: Into, now: int) -> Fate:
    match one:
        case CarriedMemory():
            return _memory(connection, one, into, now)
        case CarriedSession():
            return _session(connection, one)
        case CarriedUse():
            return _use(connection, one)
        case CarriedBlock():
            return _block(connection, one)


def _memory(connection: Connection, one: CarriedMemory, into: Into, now: int) -> Fate:
    if is_here(connection, one):
        return KNOWN
    blocks = blocks_on(connection, one)
    if any(asked for _, asked in blocks) and not into.brings_back:
        return FORGOTTEN
    if not all(asked for _, asked in blocks) or is_over(connection, one.memory, now):
        return EXPIRED
    if has_twin(connection, one.memory, into.before, now) or not settle(connection, one, into.before, now):
        return KNOWN
    connection.execute(
        "delete from blocked where number in (select value from json_each(:numbers))",
        {"numbers": json.dumps([number for number, _ in blocks])},
    )
    return IMPORTED._replace(lifted=len(blocks))


def _session(connection: Connection, one: CarriedSession) -> Fate:
    """Write a session unless one of its name is here; one of which no turn was kept yet takes over what this counts."""
    instants = {name: to_ms(getattr(one, name)) for name in ("started_at", "last_at")}
    written = connection.execute(
        """
        insert into session (namespace, id, host, started_at, last_at, turns, summarized_through, stale, ended_at)
        values (:namespace, :id, :host, :started_at, :last_at, :turns, :summarized_through, :stale, :ended_at)
        on conflict (namespace, id) do update set
            host = excluded.host, started_at = excluded.started_at, last_at = excluded.last_at, turns = excluded.turns,
            summarized_through = excluded.summarized_through, stale = excluded.stale, ended_at = excluded.ended_at
        where session.turns = 0 and excluded.turns > 0
        """,
        {
            **asdict(one),
            **instants,
            "namespace": namespace_number(connection, one.namespace),
            "stale": int(one.stale),
            "ended_at": one.ended_at and to_ms(one.ended_at),
        },
    )
    return IMPORTED if written.rowcount else KNOWN


def _use(connection: Connection, one: CarriedUse) -> Fate:
    action = one.use.action
    found = connection.execute(
        """
        select s.number from session s join namespace n on n.number = s.namespace
        where n.name = :namespace and s.id = :session_id
        """,
        {"namespace": one.namespace, "session_id": one.session_id},
    ).fetchone()
    if not found:
        return Fate("skipped", "its session is not here")
    written = connection.execute(
        """
        insert or ignore into tool_use (session, call_id, at, tool, input_digest, ok, duration_ms)
        values (:session, :call_id, :at, :tool, :input_digest, :ok, :duration_ms)
        """,
        {
            "session": found[0],
            "call_id": one.use.call_id,
            "at": one.use.at and to_ms(one.use.at),
            "tool": action.tool,
            "input_digest": action.input_digest,
            "ok": int(action.ok),
            "duration_ms": None if action.duration is None else round(action.duration * 1000),
        },
    )
    return IMPORTED if written.rowcount else KNOWN


def _block(connection: Connection, one: CarriedBlock) -> Fate:
    written = connection.execute(
        """
        insert into blocked (what, host, namespace, session_id, message_id, memory_id, asked, forgotten_at)
        values (:what, :host, :namespace, :session_id, :message_id, :memory_id, :asked, :forgotten_at)
        on conflict (what, host, namespace, session_id, message_id, memory_id)
        do update set asked = excluded.asked where excluded.asked > blocked.asked
        """,
        asdict(one) | {"asked": int(one.asked), "forgotten_at": to_ms(one.forgotten_at)},
    )
    return IMPORTED if written.rowcount else KNOWN
