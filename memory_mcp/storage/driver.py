"""The SQLite library that opens every memory file; no other module names it.

SQLCipher's build serves unencrypted files too: it is the same new SQLite in every process, whatever the user's
Python was compiled with (two versions of SQLite on one file damage its full-text index). Never open the file in
the same process by another library, nor by plain `open`: its locks vanish and acknowledged writes get lost.
"""

import re
from pathlib import Path
from typing import TYPE_CHECKING

from memory_mcp.errors import InvalidInput

if TYPE_CHECKING:
    import sqlite3 as library  # sqlcipher3 has the same interface and brings no types
else:
    from sqlcipher3 import dbapi2 as library

Connection = library.Connection
Row = library.Row
Error = library.Error
is_complete = library.complete_statement

BUSY_TIMEOUT_MS = 10_000
"""Four processes on a loaded machine waited up to 4.2 s (docs/decisions.md, Driver and durability)."""

HOOK_TIMEOUT_MS = 300
"""A hook has a host waiting, and is tried again soon."""

PRAGMAS = (
    "pragma synchronous = full",
    "pragma secure_delete = on",
    "pragma temp_store = memory",
    "pragma foreign_keys = on",
    "pragma max_page_count = 2097152",  # refuse to grow beyond 8 GB at 4096 bytes a page
)
_HEX_KEY = re.compile(r"[0-9a-fA-F]{64}")


def connect(path: Path, key: str = "", *, busy_ms: int = BUSY_TIMEOUT_MS, frozen: bool = False) -> Connection:
    """Open a file for one thread, with every setting that does not change it.

    `key` is 64 hexadecimal digits, or '' for a file that is not encrypted; `busy_ms` bounds each wait for a lock. One
    that is `frozen`, as on a medium that cannot be written, is read without locks and without a log.
    """
    address = f"{path.absolute().as_uri()}?immutable=1" if frozen else str(path)
    connection = library.connect(address, isolation_level=None, cached_statements=256, uri=frozen)
    try:
        if key:
            _unlock(connection, key)
        connection.execute(f"pragma busy_timeout = {busy_ms}")
        for pragma in PRAGMAS:
            connection.execute(pragma)
    except BaseException:
        connection.close()
        raise
    connection.row_factory = Row
    connection.text_factory = _readable
    return connection


def plain(connection: Connection) -> library.Cursor:
    """Give a cursor whose rows are tuples, twice as fast to read by the thousand as rows with names."""
    cursor = connection.cursor()
    cursor.row_factory = None
    return cursor


def scratch() -> Connection:
    """Open an empty database in memory that any thread may use, one at a time."""
    return library.connect(":memory:", isolation_level=None, check_same_thread=False)


def load_vectors(connection: Connection, extension: str = "") -> str:
    """Load sqlite-vec and ask it one real question; says what went wrong, '' when nothing did.

    That its Python package can be imported proves nothing: a wheel once held another processor's binary.
    """
    path = extension or _packaged_vectors()
    if not path:
        return "sqlite-vec is not there for this platform, so recall finds words but not meaning"
    try:
        connection.enable_load_extension(True)
        connection.load_extension(path)
        connection.enable_load_extension(False)
        connection.execute("select vec_distance_hamming(vec_bit(zeroblob(8)), vec_bit(zeroblob(8)))").fetchone()
    except Error as error:
        return f"sqlite-vec cannot be loaded, so recall finds words but not meaning ({error})"
    return ""


def _packaged_vectors() -> str:
    """Find sqlite-vec's own binary; '' where it has no wheel for this platform."""
    try:
        import sqlite_vec  # noqa: PLC0415 # pyright: ignore[reportMissingTypeStubs] - it imports numpy: not for a hook
    except ImportError:
        return ""
    return sqlite_vec.loadable_path()


def _unlock(connection: Connection, key: str) -> None:
    if not _HEX_KEY.fullmatch(key):
        raise InvalidInput("The key of a memory file is 64 hexadecimal digits. Nothing was opened.")
    connection.execute("pragma cipher_log_level = none")  # a wrong key is reported by us, once
    connection.execute(f"pragma key = \"x'{key}'\"")  # no parameters in a pragma; raw, so no slow derivation
    connection.execute("pragma cache_size = -65536")  # decrypted pages are worth keeping: 25 ms a scan become 14


def _readable(raw: bytes) -> str:
    """Decode a text column; damaged bytes are replaced, so that one bad row does not stop the others."""
    return raw.decode("utf-8", "replace")
