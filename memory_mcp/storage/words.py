"""Each memory's own words in the full-text index, kept in step with its row."""

from memory_mcp.storage.driver import Connection
from memory_mcp.tokens import TOKENS_VERSION, index_tokens

BATCH = 500


def words_of(connection: Connection, row: int) -> str:
    """Read a memory's indexed text: key, tags, title, speaker and content, as tokens joined by blanks."""
    key, title, speaker, content = connection.execute(
        "select key, title, speaker, content from memory where row = :row", {"row": row}
    ).fetchone()
    tags = connection.execute("select name from tag where memory = :row order by name", {"row": row}).fetchall()
    return index_tokens(" ".join([key, *(tag for (tag,) in tags), title, speaker, content]))


def add_words(connection: Connection, row: int) -> None:
    """Index a memory as its row, tags included, stands now."""
    tokens = words_of(connection, row)
    connection.execute("insert into fulltext (rowid, tokens) values (:row, :tokens)", {"row": row, "tokens": tokens})
    connection.execute("update memory set tokens = :count where row = :row", {"count": len(tokens.split()), "row": row})


def remove_words(connection: Connection, row: int) -> None:
    """Take a memory out of the index; call it before its row or its tags change, for the same words must go."""
    connection.execute(
        "insert into fulltext (fulltext, rowid, tokens) values ('delete', :row, :tokens)",
        {"row": row, "tokens": words_of(connection, row)},
    )


def rewrite_last_words(connection: Connection) -> None:
    """Let FTS5 write its last segment anew, after words were removed, by one that comes and goes.

    Separators in it keep the beginnings of erased terms even after secure-delete and 'optimize' (docs/decisions.md,
    Erasure: 13 of 3,000).
    """
    values = {"row": (1 << 63) - 1, "tokens": "zz"}
    connection.execute("insert into fulltext (rowid, tokens) values (:row, :tokens)", values)
    connection.execute("insert into fulltext (fulltext) values ('optimize')")
    connection.execute("insert into fulltext (fulltext, rowid, tokens) values ('delete', :row, :tokens)", values)


def rebuild_words(connection: Connection) -> None:
    """Drop all words and index every memory again."""
    connection.execute("insert into fulltext (fulltext) values ('delete-all')")
    last = 0
    while rows := _next_rows(connection, last):
        for row in rows:
            add_words(connection, row)
        last = rows[-1]
    connection.execute(
        "update setting set value = :version where name = 'tokens_version'", {"version": str(TOKENS_VERSION)}
    )


def renew_words(connection: Connection) -> None:
    """Index everything again if the file holds the tokens of another version."""
    if not are_current(connection):
        rebuild_words(connection)


def are_current(connection: Connection) -> bool:
    """Whether the file holds the tokens of this version."""
    held = connection.execute("select value from setting where name = 'tokens_version'").fetchone()[0]
    return held == str(TOKENS_VERSION)


def _next_rows(connection: Connection, after: int) -> list[int]:
    found = connection.execute(
        "select row from memory where row > :after order by row limit :limit", {"after": after, "limit": BATCH}
    ).fetchall()
    return [row for (row,) in found]
