"""Small honest models with a file of weights each, for tests of how a memory file comes from one to another."""

import hashlib
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from memory_mcp.embedding import Embedder
from memory_mcp.models import ModelIdentity
from memory_mcp.storage import driver
from tests.memories import WordsEmbedder


def model_in(folder: Path, dimension: int) -> Path:
    """Make a model of so many dimensions; another dimension in the same folder is other weights."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.safetensors").write_text(f"{dimension} numbers")
    return folder


def find(name: str) -> Callable[[], Embedder] | None:
    """Say how the model of a folder is loaded, as `load_embedder` does."""
    return None if name == "none" else lambda: load(name)


def load(name: str) -> WordsEmbedder:
    """Load the model of a folder."""
    folder = Path(name)
    weights = (folder / "model.safetensors").read_bytes()
    checksum = hashlib.sha256(weights).hexdigest()
    return WordsEmbedder(ModelIdentity(folder.name, checksum, int(weights.split()[0]), folder=str(folder)))


def rows(path: Path, sql: str) -> list[tuple]:
    """Read from a memory file that nobody has open."""
    with closing(driver.connect(path)) as connection:
        return [tuple(row) for row in connection.execute(sql).fetchall()]


def vectors_of(path: Path) -> dict[str, list[tuple[bytes, bytes]]]:
    """Read the vectors of the file's model by the texts of their memories, sentence by sentence."""
    found: dict[str, list[tuple[bytes, bytes]]] = {}
    for content, bits, vector in rows(
        path,
        """
        select m.content, v.bits, f.vector from memory m join vec_bits v on v.memory = m.row join vec_full f
         using (sentence)
        where v.model = (select cast(value as integer) from setting where name = 'active_model') order by sentence
        """,
    ):
        found.setdefault(content, []).append((bits, vector))
    return found
