"""Which secrets are found in our list of 100 texts with one and 200 without: python benchmarks/redaction.py.

Both lists were written before the rules were changed; every second text is held out: the rules were not fitted to it.
Found is a secret of which no telling piece is left. Precision is that of these lists, in which a third of the texts
holds a secret; among people's own texts far fewer do. Keys are made up: the rows about draws say what other ones bring.
"""

from collections.abc import Callable, Sequence
from time import process_time
from typing import Any

from measure import report, wilson
from secret_samples import POSITIVES, Sample, halves, missed, mistaken, negatives, positives

from memory_mcp.redaction import redact

TEXTS = {
    "English prose": "Ken moved the deploy window to Friday at 15:00, because Ada is away; nothing else changed. ",
    "Japanese prose": "デプロイは毎週金曜の15時で、担当は佐藤さん。コーヒーはブラックで、牛乳は入れない。",
    "prose about passwords": "The password policy is unchanged, and the token bucket refills 100 per second. ",
    "prose with ids": "Commit 3f2a9c1b77de0011223344556677889900aabbcc fixed toolu_01A09q90qw90lq917835lq9. ",
}
DRAWS = 20
LENGTH = 16_000
"""Characters of a content at most."""


def judged(name: str, texts: Sequence[Sample], without: Sequence[Sample]) -> dict[str, Any]:
    """Count what was found of texts with a secret, and what was taken out of texts without one."""
    lost, wrong = missed(texts, redact), mistaken(without, redact)
    found = len(texts) - len(lost)
    row: dict[str, Any] = {"texts": name, "secrets": len(texts)} | _share("recall", found, len(texts))
    if without:
        row |= {"others": len(without)} | _share("precision", found, found + len(wrong))
    row["missed"] = "; ".join(one.label for one in lost)
    row["mistaken"] = "; ".join(one.label for one in wrong)
    return row


def _share(name: str, count: int, of: int) -> dict[str, Any]:
    low, high = wilson(count, of)
    return {name: count / of, f"{name} 95 %": f"{low:.3f}-{high:.3f}"}


def drawn(name: str, half: int) -> dict[str, Any]:
    """Count what is found when the keys are drawn again and again; no interval, for the texts around them repeat."""
    texts = [one for draw in range(1, DRAWS + 1) for one in halves(positives(draw))[half]]
    return {"texts": name, "secrets": len(texts), "recall": 1 - len(missed(texts, redact)) / len(texts)}


def timed(name: str, text: str) -> dict[str, Any]:
    """Measure the best of a few redactions of a long text, in milliseconds of a processor for 1,000 characters."""
    long = (text * LENGTH)[:LENGTH]
    redact(long)
    best = min(_seconds(lambda: redact(long)) for _ in range(9))
    return {"texts": name, "ms for 1,000 characters": round(best * 1_000 * 1_000 / LENGTH, 3)}


def _seconds(work: Callable[[], object]) -> float:
    begun = process_time()
    work()
    return process_time() - begun


def main() -> None:
    """Measure and report."""
    fitted, held_out = zip(halves(positives()), halves(negatives()), strict=True)
    by_family = {family: [one for one in positives() if one.label.startswith(f"{family}: ")] for family in POSITIVES}
    report(
        "redaction",
        [
            judged("held out", *held_out),
            judged("fitted to", *fitted),
            judged("all", positives(), negatives()),
            drawn(f"{DRAWS} draws, held out", 1),
            drawn(f"{DRAWS} draws, fitted to", 0),
            *(judged(family, texts, ()) for family, texts in by_family.items()),
            *(timed(name, text) for name, text in TEXTS.items()),
        ],
    )


if __name__ == "__main__":
    main()
