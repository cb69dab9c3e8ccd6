"""Counts byte patterns in files: a program of its own, for the process that has a database open must not open it.

Arguments: paths. Standard input: patterns as lines of hexadecimal digits. Standard output: JSON, the number of
occurrences by path; files that do not exist are left out. Needs nothing but the standard library.
"""

import json
import sys
from pathlib import Path

WINDOW = 8 * 1024 * 1024


def count(path: Path, patterns: list[bytes]) -> int:
    """Count how often any pattern stands in a file, reading it in windows that overlap."""
    overlap = max(map(len, patterns), default=1) - 1
    found, kept = 0, b""
    with path.open("rb") as file:
        while block := file.read(WINDOW):
            window = kept + block
            # What ends within the kept part was counted with the window before.
            found += sum(window.count(p) - kept.count(p) for p in patterns)
            kept = window[-overlap:] if overlap else b""
    return found


def main() -> None:
    """Scan as the arguments say."""
    patterns = [bytes.fromhex(line) for line in sys.stdin.read().split()]
    paths = [Path(argument) for argument in sys.argv[1:]]
    json.dump({str(path): count(path, patterns) for path in paths if path.exists()}, sys.stdout)


if __name__ == "__main__":
    main()
