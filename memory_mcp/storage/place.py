"""Where the file lies: its folder, its permissions, and places where SQLite files come to harm."""

import errno
import re
from collections.abc import Sequence
from pathlib import Path

from memory_mcp.errors import StoreFull, StoreReadOnly, StoreUnavailable

Identity = tuple[int, int]
"""Device and number of a file: another file in its place has another."""

_SYNCED = re.compile(
    r"[/\\](Mobile Documents|CloudStorage|iCloud ?Drive|Dropbox|OneDrive|Google ?Drive)(\b|[ (_-])",
    re.IGNORECASE,
)
_NETWORK_TYPES = frozenset({"nfs", "nfs4", "cifs", "smb3", "smbfs", "9p", "drvfs", "fuse.sshfs", "afpfs", "webdav"})
LARGE_FILE_BYTES = 2 * 1024**3


def prepare(path: Path) -> None:
    """Make missing folders (0700) and the file (0600) under any umask; what exists is left as it is."""
    try:
        make_folder(path.parent)
        if path.exists() and not path.is_file():
            what = "a folder" if path.is_dir() else "a device or a pipe"
            raise StoreUnavailable(f"Nothing was saved: {path} is {what}. Set MEMORY_MCP_DB to the path of a file.")
        path.touch(0o600, exist_ok=False)
        path.chmod(0o600)
    except FileExistsError:
        return
    except OSError as error:
        kind = StoreFull if error.errno in (errno.ENOSPC, errno.EDQUOT) else StoreReadOnly
        raise kind(
            f"Nothing was saved: {path} cannot be made ({error.strerror})."
            " Set MEMORY_MCP_DB to a place where you can write."
        ) from error


def parts(path: Path) -> list[Path]:
    """Name the files that together are the memory file: itself, its log, the log's index."""
    return [path, path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")]


def has_log(path: Path) -> bool:
    """Whether anything was written that is not yet in the file itself."""
    log = parts(path)[1]
    return log.exists() and log.stat().st_size > 0


def identities(path: Path) -> list[Identity | None]:
    """Say which files are at these places now; None where that cannot be told."""
    found: list[Identity | None] = []
    for part in parts(path):
        try:
            found.append(_identity(part))
        except OSError:
            found.append(None)
    return found


def are_there(path: Path, known: Sequence[Identity | None]) -> bool:
    """Whether the known ones, in the order of `parts`, are still where they were; so taken where it cannot be told.

    While anybody has a database open, SQLite neither removes nor replaces any of its files: the last one to close does.
    """
    return all(one is None or _is_there(part, one) for part, one in zip(parts(path), known, strict=False))


def _is_there(part: Path, known: Identity) -> bool:
    try:
        return _identity(part) == known
    except (FileNotFoundError, NotADirectoryError):
        return False
    except OSError:
        return True


def _identity(part: Path) -> Identity:
    found = part.stat()
    return found.st_dev, found.st_ino


def make_folder(folder: Path) -> None:
    """Make a folder and those above it that are missing, for their owner alone under any umask."""
    if folder.exists():
        return
    make_folder(folder.parent)
    try:
        folder.mkdir(0o700)
        folder.chmod(0o700)
    except FileExistsError:  # another process was quicker
        return


def warnings(path: Path, table: str = "") -> list[str]:
    """Say what is risky about the file's place and size. `table` has the form of `mounts`."""
    found: list[str] = []
    if _SYNCED.search(str(path)):
        found.append(
            f"{path} lies in a folder that is synchronised with a cloud; such programs copy a file and its"
            " log separately and can damage it. Set MEMORY_MCP_DB to a local folder."
        )
    if str(path).startswith(("\\\\", "//")) or _file_system(path, table) in _NETWORK_TYPES:
        found.append(
            f"{path} lies on a network file system, where programs cannot share an SQLite file safely."
            " Set MEMORY_MCP_DB to a local folder."
        )
    if path.exists() and path.stat().st_size > LARGE_FILE_BYTES:
        found.append(f"{path} is larger than 2 GB; at 8 GB nothing more can be saved. Forget or shorten what is kept.")
    return found


def mounts() -> str:
    """Read what is mounted where; '' on systems that keep no such list."""
    listed = Path("/proc/self/mounts")
    return listed.read_text("utf-8", "replace") if listed.exists() else ""


def _file_system(path: Path, table: str) -> str:
    """Name the type of the innermost mount that holds the path."""
    best, kind = -1, ""
    for line in table.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        point = Path(fields[1].replace("\\040", " "))
        if path.is_relative_to(point) and len(point.parts) > best:
            best, kind = len(point.parts), fields[2]
    return kind
