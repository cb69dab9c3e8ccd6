import sys
from pathlib import Path

import pytest

from memory_mcp.storage import place


@pytest.mark.parametrize(
    "path",
    [
        "/Users/a/Library/Mobile Documents/com~apple~CloudDocs/memory.db",
        "/Users/a/Library/CloudStorage/GoogleDrive-a@example.org/memory.db",
        "/home/a/Dropbox/memory.db",
        "C:\\Users\\a\\OneDrive - Firm\\memory.db",
        "/home/a/Google Drive/memory.db",
    ],
)
def test_a_synchronised_folder_is_warned_about(path: str):
    [warning] = place.warnings(Path(path))
    assert "synchronised with a cloud" in warning


@pytest.mark.parametrize(
    ("path", "mounts"),
    [
        ("//server/share/memory.db", ""),
        ("\\\\server\\share\\memory.db", ""),
        ("/mnt/c/Users/a/memory.db", "/dev/sdc / ext4 rw 0 0\nC:\\134 /mnt/c 9p rw 0 0\n"),
        ("/home/a/memory.db", "/dev/sdc / ext4 rw 0 0\nnas:/homes /home nfs4 rw 0 0\n"),
    ],
)
def test_a_network_file_system_is_warned_about(path: str, mounts: str):
    """B11: several programs cannot share an SQLite file there."""
    [warning] = place.warnings(Path(path), mounts)
    assert "network file system" in warning


@pytest.mark.skipif(sys.platform == "win32", reason="a file with a hole in it would take 2 GB there")
@pytest.mark.parametrize(("beyond", "warned"), [(0, False), (1, True)])
def test_a_file_over_two_gigabytes_is_warned_about(tmp_path: Path, beyond: int, warned: bool):
    path = tmp_path / "memory.db"
    with path.open("wb") as file:
        file.truncate(2 * 2**30 + beyond)
    assert any("larger than 2 GB; at 8 GB nothing more" in one for one in place.warnings(path)) == warned


def test_an_ordinary_place_is_not_warned_about():
    mounts = "nas:/x / nfs rw 0 0\n/dev/sda /home ext4 rw 0 0\nbroken\n"
    assert place.warnings(Path("/home/dropboxer/onedrives/memory.db"), mounts) == []
