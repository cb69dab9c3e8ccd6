"""What is left of a text in a file, seen from outside."""

import subprocess
import sys
from pathlib import Path

from drafts import vectors

from memory_mcp.storage.search import quantise, sign_bits

ENGLISH = "The quixotic zanzibarian password is Xylotomous-7712 and nobody else may know it"
JAPANESE = "秘密の合言葉は紫陽花と向日葵で、誰にも教えてはいけません"

CLEAN = "The file was searched: nothing of it is left."
SEARCHED = (
    f"{CLEAN} Out of reach: snapshots and backups that others made, and the host's own record of the conversation."
)

LOOK = """
import sys
from pathlib import Path
patterns = [bytes.fromhex(line).lower() for line in sys.stdin.read().split()]
found = 0
for path in Path(sys.argv[1]).parent.glob(Path(sys.argv[1]).name + "*"):
    held = path.read_bytes().lower()
    found += sum(map(held.count, patterns))
print(found)
"""


def remains(path: Path, *patterns: str | bytes) -> int:
    """Count patterns, whatever their case, in the file and all beside it; in another process, as plain readers must."""
    raw = [pattern.encode() if isinstance(pattern, str) else pattern for pattern in patterns]
    lines = "\n".join(pattern.hex() for pattern in raw)
    done = subprocess.run(
        [sys.executable, "-c", LOOK, str(path)], input=lines, capture_output=True, text=True, check=True
    )
    return int(done.stdout)


def traces(*seeds: int) -> list[bytes]:
    """What vectors leave: sign bits, and pieces of the full length."""
    found: list[bytes] = []
    for vector in vectors(*seeds):
        whole = quantise(vector)
        found += [sign_bits(vector), whole[:24], whole[24:48], whole[-24:]]
    return found
