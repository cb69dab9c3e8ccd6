"""Which process holds something: a name that says on which machine it is, and whether it still lives."""

import os
import platform
import re
import sys

_NAME = re.compile(r"process (\d{1,9}) on (.+)")


def this_process() -> str:
    """Name this process, as `process 4711 on shelf`."""
    return f"process {os.getpid()} on {platform.node() or 'this machine'}"


def has_ended(name: str) -> bool:
    """Whether a process of that name is known to have ended: one of this machine that does not live.

    False where that cannot be told: on another machine, under another form of name, and on Windows, where asking by a
    signal would end it. Containers that share a host's name do not see each other's processes.
    """
    number = _number_here(name)
    if sys.platform == "win32" or not number:
        return False
    try:
        os.kill(number, 0)  # no signal is sent, it only asks (POSIX)
    except ProcessLookupError:
        return True
    except OSError:  # somebody else's, and alive
        return False
    return False


def told(name: str) -> str:
    """Name a process as whoever sits at this machine would."""
    number = _number_here(name)
    return f"process {number} on this machine" if number else name


def _number_here(name: str) -> int:
    """Give the number of a process of this machine; 0 for any other."""
    found = _NAME.fullmatch(name)
    return int(found[1]) if found and found[2] == platform.node() else 0
