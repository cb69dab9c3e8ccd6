"""Memory files of any size, filled at once: texts whose words are as frequent as words are, vectors near real ones.

Words are drawn by Zipf's law from a vocabulary of made-up words behind the commonest English ones. Some texts are
embedded by the real model; each other memory has the vectors of one of them, turned a little.
"""

import random
from bisect import bisect
from collections.abc import Iterable, Iterator
from datetime import timedelta
from itertools import accumulate, count, islice, product
from pathlib import Path

import numpy as np

from memory_mcp.embedding.passages import passages
from memory_mcp.embedding.protocol import Embedder
from memory_mcp.models import Kind, Memory, new_id, utc_now
from memory_mcp.storage import open_store
from memory_mcp.storage.values import Draft, Vectors

COMMON = (
    "the of and to a in is that it for was on with as he be at by this had not are but from or have they which one"
    " you were her all she there would their we him been has when who will more no if out so said what up its about"
    " into than them can only other new some could time these two may then do first any my now such like our over man"
    " me even most made after also did many before must through back years where much your way well down should"
    " because each just those people how too little state good very make world still own see men work long get here"
    " between both life being under never day same another know while last might us great old year off come since"
    " against go came right used take three"
)
VOCABULARY = 20_000
STEEPNESS = 1.05
"""Of Zipf's law: the share of a word is its rank to the power of minus this."""

TURN = 0.03
"""How far a vector is turned, as the standard deviation of each of its components: to a cosine of about .8."""

EMBEDDED, BATCH, SESSION = 1_000, 1_000, 40
DAY = timedelta(days=1)

SELECTIVITIES = {1: Kind.LESSON, 10: Kind.DECISION}
"""The share of memories, in percent, that are of a kind; the same share has the tag `NpercentN`."""


def words() -> list[str]:
    """Give the vocabulary, commonest first."""
    first = ("b", "br", "d", "f", "g", "k", "l", "m", "n", "p", "pl", "r", "s", "st", "t", "v")
    syllables = [a + b for a, b in product(first, "aeiou")]
    made = (a + b + c for a, b, c in product(syllables, syllables, ("n", "r", "l", "mo", "ta", "s")))
    rare = list(made)
    random.Random(5).shuffle(rare)
    return [*COMMON.split(), *rare][:VOCABULARY]


class Writer:
    """Writes sentences; the same seed writes the same ones."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self._words = words()
        self._shares = list(accumulate(rank**-STEEPNESS for rank in range(1, len(self._words) + 1)))

    def sentence(self, length: int) -> str:
        """Write one of so many words."""
        drawn = (bisect(self._shares, self._chance.random() * self._shares[-1]) for _ in range(length))
        return " ".join(self._words[place] for place in drawn).capitalize() + "."

    def text(self) -> str:
        """Write one to three sentences: about 130 characters."""
        lengths = [self._chance.randint(8, 14) for _ in range(self._chance.choice((1, 2, 2, 3)))]
        return " ".join(map(self.sentence, lengths))

    def question(self, text: str) -> str:
        """Ask for a text by some of its words."""
        held = text.replace(".", "").split()
        return " ".join(self._chance.sample(held, min(7, len(held)))) + "?"


def memories(seed: int = 7) -> Iterator[Memory]:
    """Make memories without end: half turns of sessions of forty, half of other kinds (`SELECTIVITIES`)."""
    writer, chance, now = Writer(seed), random.Random(seed), utc_now()
    for number in count():
        at = now - chance.random() * 60 * DAY
        text, share = writer.text(), chance.random()
        rare = next((percent for percent in sorted(SELECTIVITIES) if share * 100 < percent), 0)
        tags = (f"percent{rare}",) if rare else ()
        if rare or number % 2:
            kind = SELECTIVITIES.get(rare, Kind.FACT)
            yield Memory(new_id(at), text, at, at, kind=kind, tags=tags)
        else:
            session = f"session {number // (2 * SESSION)}"
            speaker = chance.choice(("Mara", "Jonas"))
            yield Memory(new_id(at), text, at, at, kind=Kind.TURN, session_id=session, speaker=speaker)


class Turned:
    """Makes vectors for any memory by turning those of some sentences that were really embedded."""

    def __init__(self, model: Embedder, seed: int = 3) -> None:
        self.identity = model.identity
        self._random = np.random.default_rng(seed)
        texts = [passage for memory in islice(memories(seed), EMBEDDED) for passage in passages(memory)]
        self._known = model.embed(texts)

    def vectors(self, memory: Memory) -> Vectors:
        """Give a vector a sentence."""
        near = self._known[self._random.integers(0, len(self._known), len(passages(memory)))]
        turned = near + self._random.standard_normal(near.shape, np.float32) * TURN
        return turned / np.linalg.norm(turned, axis=1, keepdims=True)


async def fill(path: Path, new: Iterable[Memory], turned: Turned) -> int:
    """Write memories with their words and vectors; gives how many sentences they have."""
    store, sentences = await open_store(path, now=utc_now), 0
    await store.use_model(turned.identity, now=utc_now())
    drafts = (Draft(memory, turned.vectors(memory)) for memory in new)
    while batch := list(islice(drafts, BATCH)):
        await store.write(batch, door="cli")
        sentences += sum(len(draft.vectors) for draft in batch)
    await store.close()
    return sentences
