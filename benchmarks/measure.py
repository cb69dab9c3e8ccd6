"""What the benchmarks share: intervals, percentiles, tables, and where results are written."""

import json
import math
import os
import platform
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results"


def interval(values: Sequence[float], *, draws: int = 2_000, seed: int = 0) -> tuple[float, float]:
    """Bootstrap the 95 % interval of the mean of `values`."""
    if not values:
        return float("nan"), float("nan")
    sample = np.asarray(values)
    picks = np.random.default_rng(seed).integers(0, len(sample), (draws, len(sample)))
    low, high = np.quantile(sample[picks].mean(axis=1), (0.025, 0.975))
    return float(low), float(high)


def wilson(count: int, of: int) -> tuple[float, float]:
    """Give Wilson's 95 % interval of a share, which also serves where all or none of few were counted."""
    share, spread = count / of, 1.96**2 / of
    middle = (share + spread / 2) / (1 + spread)
    reach = 1.96 * math.sqrt(share * (1 - share) / of + spread / (4 * of)) / (1 + spread)
    return max(0.0, middle - reach), min(1.0, middle + reach)


def percentiles(seconds: Sequence[float]) -> dict[str, float]:
    """Median and 95th percentile in milliseconds, with the number of runs."""
    ordered = np.asarray(seconds) * 1000
    return {
        "p50_ms": round(float(np.median(ordered)), 2),
        "p95_ms": round(float(np.quantile(ordered, 0.95)), 2),
        "n": len(ordered),
    }


def table(rows: Sequence[Mapping[str, Any]]) -> str:
    """Write rows as a Markdown table."""
    names = list(dict.fromkeys(name for row in rows for name in row))
    lines = ["| " + " | ".join(names) + " |", "|" + "---|" * len(names)]
    lines += ["| " + " | ".join(_cell(row.get(name, "")) for name in names) + " |" for row in rows]
    return "\n".join(lines)


def report(name: str, rows: Sequence[Mapping[str, Any]]) -> None:
    """Print the table and write its rows, with the date and the machine's kind, to results/NAME.json."""
    print(table(rows))
    RESULTS.mkdir(exist_ok=True)
    day = f"{datetime.now(UTC):%Y-%m-%d}"
    machine = f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}"
    content = {"measured": day, "machine": machine, "rows": list(rows)}
    (RESULTS / f"{name}.json").write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n")


def _cell(value: object) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)
