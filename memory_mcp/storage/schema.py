"""Which schema a file has, and how it comes to the newest one."""

import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from glob import escape
from importlib.resources import files
from pathlib import Path

from memory_mcp.errors import StoreForeign, StoreUnavailable
from memory_mcp.injection import ORDERS_VERSION
from memory_mcp.storage.driver import BUSY_TIMEOUT_MS, Connection, Error, is_complete
from memory_mcp.tokens import TOKENS_VERSION

APPLICATION_ID = 0x6D_65_6D_31
"""'mem1', in the file's header: SQLite's place to say whose file it is."""


@dataclass(frozen=True)
class Migration:
    """One numbered script; `pragma user_version` of a file is the number of the last one it went through."""

    number: int
    script: str


def packaged_migrations() -> tuple[Migration, ...]:
    """Read the scripts that came with this version, in order."""
    found = (entry for entry in files("memory_mcp.storage").joinpath("migrations").iterdir())
    numbered = ((re.match(r"(\d{4})_.*\.sql", entry.name), entry) for entry in found)
    scripts = (Migration(int(match[1]), entry.read_text("utf-8")) for match, entry in numbered if match)
    return tuple(sorted(scripts, key=lambda migration: migration.number))


def bring_up_to_date(
    connection: Connection, path: Path, another: Callable[[], Connection], migrations: Sequence[Migration]
) -> None:
    """Create or migrate the schema, once, however many processes open the file at the same instant.

    Writes nothing when the schema is current, and nothing to a file that is not ours or is newer
    (`StoreForeign`). `another` opens a second connection, through which the backup is made while this one holds
    the write lock.
    """
    current = _is_current(connection, path, migrations)
    _keep_a_log(connection)
    if current:
        return
    connection.execute("begin immediate")
    try:
        if not _is_current(connection, path, migrations):
            _migrate(connection, path, another, migrations)
        connection.execute("commit")
    except BaseException:
        connection.rollback()
        raise


def require_current(connection: Connection, path: Path, migrations: Sequence[Migration]) -> None:
    """Raise `StoreUnavailable` unless the file is ours and of this version."""
    if not _is_current(connection, path, migrations):
        raise StoreUnavailable(
            f"Nothing could be read: {path} is not yet of this version of memory-mcp. The next start of a server, or"
            " `memory-mcp stats`, brings it up to date."
        )


def version(connection: Connection) -> int:
    """Read the number of the last migration the file went through."""
    return int(connection.execute("pragma user_version").fetchone()[0])


def backups(path: Path) -> list[Path]:
    """Find the copies made before migrations, unfinished ones too; they hold what the file held."""
    ours = re.compile(rf"{re.escape(path.name)}\.v\d+\.backup(\.part)?")
    return sorted(one for one in path.parent.glob(f"{escape(path.name)}.v*") if ours.fullmatch(one.name))


def _is_current(connection: Connection, path: Path, migrations: Sequence[Migration]) -> bool:
    objects = int(connection.execute("select count(*) from sqlite_master").fetchone()[0])
    owner = int(connection.execute("pragma application_id").fetchone()[0])
    held, newest = version(connection), migrations[-1].number
    if not objects and not held and not owner:
        return False
    if owner != APPLICATION_ID:
        raise StoreForeign(
            f"Nothing was saved: {path} belongs to another program and was not touched."
            " Set MEMORY_MCP_DB to another place."
        )
    if held > newest:
        raise StoreForeign(
            f"Nothing was saved: {path} was written by a newer version of memory-mcp (schema {held}, this one"
            f" knows {newest}) and was not touched. Upgrade memory-mcp here, as README says under Install."
        )
    return held == newest


def _keep_a_log(connection: Connection) -> None:
    """Switch to the write-ahead log. SQLite does not wait for other openers here, so we do."""
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute("pragma journal_mode = wal").fetchone()
            return
        except Error as error:
            if getattr(error, "sqlite_errorname", "") != "SQLITE_BUSY" or time.monotonic() > deadline:
                raise
            time.sleep(0.02)


def _migrate(
    connection: Connection, path: Path, another: Callable[[], Connection], migrations: Sequence[Migration]
) -> None:
    held = version(connection)
    if held:
        _back_up(path, held, another)
    build(connection, migrations, held)
    # A pragma takes no parameters; both numbers are ours.
    connection.execute(f"pragma application_id = {APPLICATION_ID}")
    connection.execute(f"pragma user_version = {migrations[-1].number}")
    set_up(connection, is_new=not held)


def build(connection: Connection, migrations: Sequence[Migration], held: int = 0) -> None:
    """Run the scripts after the one of number `held`."""
    for migration in migrations:
        if migration.number > held:
            for statement in _statements(migration.script):
                connection.execute(statement)


def set_up(connection: Connection, *, is_new: bool = True) -> None:
    """Give a file what it knows of itself, where that is missing: a secret, by which rules it is indexed and judged.

    One that is not new is still to be judged.
    """
    connection.executemany(
        "insert or ignore into setting (name, value) values (:name, :value)",
        [
            {"name": "secret", "value": secrets.token_hex(32)},
            {"name": "tokens_version", "value": str(TOKENS_VERSION)},
            *([{"name": "orders_version", "value": str(ORDERS_VERSION)}] if is_new else []),
        ],
    )


def _back_up(path: Path, held: int, another: Callable[[], Connection]) -> None:
    """Copy the file as it stands, by SQLite itself: a plain copy would miss the log."""
    target = path.with_name(f"{path.name}.v{held}.backup")
    unfinished = target.with_name(f"{target.name}.part")
    unfinished.unlink(missing_ok=True)
    unfinished.touch(0o600)
    unfinished.chmod(0o600)
    connection = another()
    try:
        connection.execute("vacuum into :target", {"target": str(unfinished)})
    finally:
        connection.close()
    unfinished.replace(target)


def _statements(script: str) -> Iterator[str]:
    """Split a script; `executescript` would commit first."""
    statement = ""
    for piece in script.split(";"):
        statement += f"{piece};"
        if is_complete(statement):
            yield statement
            statement = ""
