"""Which texts stand in the file, and how one is replaced so that nothing is left of what it was."""

from collections.abc import Collection, Sequence

from memory_mcp.storage.audit import REDACT, Act, record
from memory_mcp.storage.driver import Connection
from memory_mcp.storage.erasure import Erased, remember
from memory_mcp.storage.memories import known_rows
from memory_mcp.storage.traces import Traces, pieces, vectors_of
from memory_mcp.storage.values import Rewriting, StoredText
from memory_mcp.storage.words import add_words, remove_words, rewrite_last_words, words_of
from memory_mcp.tokens import digest

OF_MEMORIES = """
    with batch as materialized (select * from memory where row > :after order by row limit :limit)
    select row, id, 'content' as field, content as text from batch
    union all select row, id, 'title', title from batch where title <> ''
    union all select row, id, 'key', key from batch where key <> ''
    union all select row, id, 'speaker', speaker from batch where speaker <> ''
    union all select b.row, b.id, 'tags', t.name from batch b join tag t on t.memory = b.row
    union all select b.row, b.id, 'trigger', e.trigger from batch b join episode e on e.memory = b.row
    union all
    select b.row, b.id, 'lessons', l.value from batch b join episode e on e.memory = b.row,
           json_each(case when json_valid(e.lessons) then e.lessons else '[]' end) l
    union all select b.row, b.id, 'tool', a.tool from batch b join action a on a.episode = b.row
    union all select b.row, b.id, 'input_digest', a.input_digest from batch b join action a on a.episode = b.row
    union all select b.row, b.id, 'message_id', t.message_id from batch b join turn t on t.memory = b.row
    union all
    select b.row, b.id, 'session_id', s.id from batch b join session s on s.number = b.session
    where b.row = (select min(row) from memory where session = b.session)
"""
"""A session is named once, by the first memory of it."""

OF_PLACES = """
    select coalesce((select id from memory where namespace = n.number order by created_at, row limit 1), ''),
           'namespace', n.name
    from namespace n
    union
    select coalesce((select id from memory where session = u.session limit 1), ''), 'tool', u.tool from tool_use u
    union
    select '', 'session_id', id from session s where not exists (select 1 from memory where session = s.number)
"""
"""What stands beside memories; '' where no memory belongs to it."""

REPLACE = {
    "content": "update memory set content = :new, digest = :digest where row = :row and content = :old",
    "title": "update memory set title = :new where row = :row and title = :old",
    "trigger": "update episode set trigger = :new where memory = :row and trigger = :old",
    "lessons": """
        update episode
        set lessons = (select json_group_array(iif(value = :old, :new, value)) from json_each(lessons))
        where memory = :row and :old in (select value from json_each(lessons))
    """,
}
"""How a text of each field is replaced, if it still stands."""


def texts(connection: Connection, after: int, limit: int) -> tuple[list[StoredText], int]:
    """Read the texts of the next memories, whatever their state, from the first those of no memory too.

    Returns the number after which to go on, 0 at the end.
    """
    values = {"after": after, "limit": limit}
    found = connection.execute(OF_MEMORIES, values).fetchall()
    beside = [] if after else connection.execute(OF_PLACES).fetchall()
    read = [StoredText(*row) for row in beside] + [StoredText(row["id"], row["field"], row["text"]) for row in found]
    return read, max((row["row"] for row in found), default=0)


def rewrite(connection: Connection, changes: Sequence[Rewriting], act: Act) -> Erased:
    """Replace texts, with the digest and the words of their memories; the vectors are still to be made.

    What is gone, or is another text by now, is left as it is, and told by its id as missing.
    """
    rows = known_rows(connection, [one.memory_id for one in changes])
    traces = [
        _rewrite_one(connection, rows[memory_id], [one for one in changes if one.memory_id == memory_id], act.now)
        for memory_id in rows
    ]
    done = {memory_id: found for memory_id, found in zip(rows, traces, strict=True) if found}
    token = remember(connection) if done else ""
    if done:
        rewrite_last_words(connection)
        record(connection, REDACT, list(done), act)
    return Erased(
        ids=tuple(done),
        cascaded=(),
        resummarize=(),
        missing=tuple(dict.fromkeys(one.memory_id for one in changes if one.memory_id not in done)),
        token=token,
        traces=_joined(done.values()),
    )


def _rewrite_one(connection: Connection, row: int, changes: Sequence[Rewriting], now: int) -> Traces | None:
    """Replace texts of one memory; gives what to look for afterwards, None if nothing was replaced."""
    before, vectors = words_of(connection, row).split(), vectors_of(connection, [row])
    remove_words(connection, row)
    replaced = [one for one in changes if _replace(connection, row, one)]
    add_words(connection, row)
    if not replaced:
        return None
    connection.execute("delete from vec_bits where memory = :row", {"row": row})
    connection.execute(
        "update memory set embedded_by = null, updated_at = max(updated_at + 1, :now) where row = :row",
        {"row": row, "now": now},
    )
    gone = set(before) - set(words_of(connection, row).split())
    parts = (part for one in replaced for part in pieces(_changed(one.old, one.new)))
    return Traces.of([*parts, *sorted(gone)], vectors)


def _replace(connection: Connection, row: int, change: Rewriting) -> bool:
    values = {"row": row, "old": change.old, "new": change.new, "digest": digest(change.new)}
    return connection.execute(REPLACE[change.field], values).rowcount > 0


def _changed(old: str, new: str) -> str:
    """Give of a text the part from the first to the last place where it differs from what replaces it."""
    start = _alike(old, new)
    end = _alike(old[start:][::-1], new[start:][::-1])
    return old[start : len(old) - end]


def _alike(one: str, other: str) -> int:
    """Count the characters with which both begin."""
    differs = (place for place, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1])
    return next(differs, min(len(one), len(other)))


def _joined(found: Collection[Traces]) -> Traces:
    return Traces(
        tuple(text for one in found for text in one.texts), tuple(vector for one in found for vector in one.vectors)
    )
