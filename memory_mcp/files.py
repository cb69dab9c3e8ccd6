"""How a file is written so that nobody ever meets half of it, and nobody else can read it."""

import os
import tempfile
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO


@contextmanager
def put_in_place(target: Path, mode: int = 0o600) -> Generator[IO[bytes]]:
    """Give a file to write to, which takes the place of `target` in one step once it is written and on the disk.

    If anything fails until then, `target` is as it was. Raises `OSError`.
    """
    handle, name = tempfile.mkstemp(dir=target.parent, prefix=f".{target.name}.")
    beside = Path(name)
    try:
        with os.fdopen(handle, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(mode)  # the umask may have taken our own permissions away
        beside.replace(target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    _settle(target.parent)


def _settle(folder: Path) -> None:
    """Put the new name on the disk, too, where folders can be asked for that."""
    with suppress(OSError):
        at = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(at)
        finally:
            os.close(at)
