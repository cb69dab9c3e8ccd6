"""How a process leaves the network."""

import ctypes
import os
import socket
import struct
import sys
from pathlib import Path

CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000  # linux/sched.h
SIOCSIFFLAGS, IFF_UP, IFF_RUNNING = 0x8914, 0x1, 0x40  # linux/sockios.h, linux/if.h
PR_SET_CHILD_SUBREAPER = 36  # linux/prctl.h


def cut_off() -> bool:
    """Move this process, and all that it will start, to where only loopback is. False where that is not permitted."""
    return sys.platform == "linux" and _is_permitted() and _leave()


def _is_permitted() -> bool:
    """Let a child try: some systems refuse half-way, and from there is no way back."""
    child = os.fork()
    if child == 0:
        try:
            _leave()
        except OSError:
            os._exit(1)
        os._exit(0)
    return os.waitpid(child, 0)[1] == 0


def _leave() -> bool:
    """Root may do so at once; anybody else needs a user namespace in which they keep their own number."""
    user, group = os.getuid(), os.getgid()
    if ctypes.CDLL(None).unshare(CLONE_NEWNET | (CLONE_NEWUSER if user else 0)):
        raise PermissionError("a network of its own was refused")
    if user:
        Path("/proc/self/setgroups").write_text("deny", encoding="ascii")
        Path("/proc/self/uid_map").write_text(f"{user} {user} 1", encoding="ascii")
        Path("/proc/self/gid_map").write_text(f"{group} {group} 1", encoding="ascii")
    _raise_loopback()
    return True


def _raise_loopback() -> None:
    from fcntl import ioctl  # noqa: PLC0415 - not on every system

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        ioctl(any_socket, SIOCSIFFLAGS, struct.pack("16sh14x", b"lo", IFF_UP | IFF_RUNNING))


def adopt_orphans() -> None:
    """Become the parent of whatever this process's children leave behind, so that it can be found and ended."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
