"""Forty things that somebody will want forgotten, and every trace that they leave in a file."""

import json
import random
import subprocess
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from memory_mcp.storage import driver
from memory_mcp.tokens import index_tokens

_KANJI = "鰯鱸鱈鯖鮪蛸蟹鷺鷲鴉鳶雉楓椿榎樫欅桂梓柊葵菫蓬萩葛薊蕨茜藍絣"


LEAST_BYTES = 6
"""What is shorter stands in some files by chance: one in three of three bytes, in a file of five megabytes."""


@dataclass(frozen=True)
class Confidence:
    """A text, and the words in it that stand in no other text of the world."""

    text: str
    words: tuple[str, ...]


def confidences(count: int) -> list[Confidence]:
    """Make as many, every other one in Japanese; always the same."""
    chance = random.Random(4)
    return [_japanese(chance) if number % 2 else _english(chance) for number in range(count)]


def patterns(told: Iterable[Confidence]) -> list[bytes]:
    """Give all by which their texts would be found: pieces, words, beginnings of words, pairs of characters."""
    found: dict[str, None] = {}
    for one in told:
        pairs = [word[at : at + 2] for word in one.words if not word.isascii() for at in range(len(word) - 1)]
        tokens = [token for word in one.words for token in index_tokens(word).split()]
        stems = [word[:7] for word in one.words if word.isascii()]
        found |= dict.fromkeys((one.text, one.text[4:24], *one.words, *pairs, *tokens, *stems))
    return [text.encode() for text in found if len(text.encode()) >= LEAST_BYTES]


def vector_patterns(path: Path, ids: Sequence[str]) -> list[bytes]:
    """Read what the vectors of memories leave: sign bits, and pieces of the full length."""
    connection = driver.connect(path)
    found = connection.execute(
        """
        select bits, vector from vec_bits join vec_full using (sentence) join memory on memory.row = vec_bits.memory
        where memory.id in (select value from json_each(:ids))
        """,
        {"ids": json.dumps(list(ids))},
    ).fetchall()
    connection.close()
    return [part for bits, vector in found for part in (bits, vector[:32], vector[100:132], vector[-32:])]


def remains_in(folder: Path, looked_for: Sequence[bytes]) -> dict[str, list[str]]:
    """Find patterns in every file below a folder, whatever their case; by another process, as plain readers must."""
    lines = "\n".join(pattern.hex() for pattern in looked_for)
    done = subprocess.run(
        [sys.executable, "-c", _LOOK, str(folder)], input=lines, capture_output=True, text=True, check=True
    )
    return json.loads(done.stdout)


_LOOK = """
import json, sys
from pathlib import Path
patterns = [bytes.fromhex(line).lower() for line in sys.stdin.read().split()]
found = {}
for path in Path(sys.argv[1]).rglob("*"):
    if path.is_file():
        held = path.read_bytes().lower()
        if there := [pattern.decode("utf-8", "backslashreplace") for pattern in patterns if pattern in held]:
            found[path.name] = there
print(json.dumps(found))
"""


def _english(chance: random.Random) -> Confidence:
    words = tuple("".join(chance.choice("bdfgklmprstvz") + chance.choice("aiou") for _ in range(5)) for _ in range(3))
    text = f"The {words[0]} of {words[1].capitalize()} lies under {words[2].upper()}-{chance.randrange(1000, 9999)}."
    return Confidence(text, words)


def _japanese(chance: random.Random) -> Confidence:
    words = tuple("".join(chance.sample(_KANJI, 4)) for _ in range(2))
    return Confidence(f"{words[0]}の合鍵は{words[1]}に預けてある。", words)
