"""Made-up memories of about 130 characters, each different, for measuring speed and size."""

import random
from collections.abc import Iterator

WHO = ("Mara", "Jonas", "Aiko", "Pedro", "Lena", "Tomasz", "Ines", "Ravi", "Noor", "Felix", "Yuki", "Oskar", "Dana")
DOES = (
    "prefers to review",
    "decided to rewrite",
    "moved the meeting about",
    "wrote down the numbers for",
    "asked to postpone",
    "keeps a list of",
    "wants a reminder about",
    "finished the first draft of",
    "has doubts about",
    "took over the care of",
)
WHAT = (
    "the quarterly budget",
    "the garden irrigation",
    "the payment gateway",
    "her sister's wedding",
    "the marathon training",
    "the museum archive",
    "the apartment lease",
    "the search index",
    "the violin lessons",
    "the supplier contract",
    "the winter tyres",
    "the onboarding guide",
    "the allergy tests",
    "the release checklist",
    "the train tickets",
)
WHEN = (
    "before breakfast",
    "every second Tuesday",
    "after the holidays",
    "in early spring",
    "at the end of the month",
    "at night",
)
WHY = (
    "because the old plan cost too much", "so that nobody has to wait again", "since the last attempt went wrong",
    "as the doctor advised", "because the team in Lisbon asked for it", "to leave room for the new neighbours",
)  # fmt: skip


def memories(count: int, seed: int = 7) -> Iterator[str]:
    """Yield `count` different texts."""
    chance = random.Random(seed)
    for number in range(count):
        parts = (chance.choice(WHO), chance.choice(DOES), chance.choice(WHAT), chance.choice(WHEN))
        yield f"{' '.join(parts)}, {chance.choice(WHY)}; that is entry {number} of folder {chance.randrange(1000)}."


def questions(count: int, seed: int = 11) -> Iterator[str]:
    """Yield questions that some of the texts answer."""
    chance = random.Random(seed)
    for _ in range(count):
        yield f"Who {chance.choice(DOES)} {chance.choice(WHAT)} {chance.choice(WHEN)}?"
