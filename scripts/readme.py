"""Fills in what the documents repeat from the code: readme.py FOLDER [--check], FOLDER being the project's root."""

import ast
import json
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from memory_mcp.config import DEFAULT_LIFETIMES, Settings, variable

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "memory_mcp"
sys.path.append(str(ROOT / "benchmarks"))  # scripts as well, and no package

from measure import table  # noqa: E402 - found only now

COMPUTED = {
    "db": "`memory.db` in the platform's data folder",
    "model": "the file's own",
    "ttl": "`" + ",".join(f"{kind}={days}" for kind, days in DEFAULT_LIFETIMES.items()) + "`",
}
"""Defaults that are made when they are needed, for people."""


def settings() -> str:
    """Render one row for each setting, from config.py."""
    rows = ["| variable | default | |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = COMPUTED.get(name) or _shown(field.default)
        rows.append(f"| `{variable(name)}` | {default} | {field.description} |")
    return "\n".join(rows)


def modules() -> str:
    """Render one row for each module, layer by layer from the edges down, from pyproject.toml and the docstrings."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    rows = ["| | module | what it knows |", "|---|---|---|"]
    for number, layer in enumerate(contracts[0]["layers"], 1):
        for name in layer.replace(":", "|").split("|"):
            rows += [f"| {number} | `{path}` | {knows} |" for path, knows in _contents(name.strip())]
    return "\n".join(rows)


def results(folder: Path) -> str:
    """Render what each benchmark wrote last, with its day and machine."""
    found = [(file.stem, _read(file)) for file in sorted(folder.glob("*.json"))]
    return "\n\n".join(
        f"## {name}\n\n{one['measured']}, {one['machine']}\n\n{table(one['rows'])}" for name, one in found
    )


def filled(document: str, name: str, text: str) -> str:
    """Replace what stands between the markers of that name."""
    begin, end = f"<!-- {name}:begin -->\n", f"<!-- {name}:end -->"
    before, rest = document.split(begin)
    return f"{before}{begin}{text}\n{end}" + rest.split(end)[1]


def _read(file: Path) -> dict[str, Any]:
    return json.loads(file.read_text(encoding="utf-8"))


def _shown(default: object) -> str:
    if default in (None, ""):
        return "none"
    if isinstance(default, bool):
        return "`on`" if default else "`off`"
    return f"`{default}`"


def _contents(name: str) -> Iterator[tuple[str, str]]:
    files = sorted((PACKAGE / name).glob("*.py")) or [PACKAGE / f"{name}.py"]
    for file in filter(Path.exists, files):
        docstring = ast.get_docstring(ast.parse(file.read_text(encoding="utf-8")))
        if docstring:
            yield file.relative_to(PACKAGE).as_posix(), docstring.splitlines()[0]


FIGURES = {
    "locomo": ("questions", "categories 1-4", "recall@10", "LoCoMo dialogues, evidence turn among the first ten"),
    "facts": ("facts", "en, recall", "recall@5", "reworded questions, English facts, among the first five"),
    "facts ja": ("facts", "ja, recall", "recall@5", "reworded questions, Japanese facts, among the first five"),
    "speed ratio": ("what", "handshake ratio, median of pairs", "value", "handshake, times a bare SDK server"),
    "speed first": ("what", "first recall by meaning after the handshake", "p50_ms", "first recall by meaning, ms"),
    "speed 1": ("what", "recall, 1,000 memories", "p50_ms", "recall at 1,000 memories, ms, median"),
    "speed 10": ("what", "recall, 10,000 memories", "p50_ms", "recall at 10,000 memories, ms, median"),
    "speed store": ("what", "store, 10,000 memories", "p50_ms", "store at 10,000 memories, ms, median"),
    "speed disk": ("what", "bytes on disk a memory, 10,000", "value", "bytes on disk, a memory of 120 characters"),
    "hooks": ("what", "capture, 10 new turns of 5 MB", "p95_ms", "capture by a hook at 50,000 memories, ms, 95 of 100"),
    "hooks start": ("what", "context, session start", "p95_ms", "briefing by a hook at 50,000 memories, ms, 95 of 100"),
    "redaction": ("texts", "held out", "recall", "secrets that are redacted, of 50 that the rules were not fitted to"),
    "redaction all": (
        "texts",
        "all",
        "precision",
        "of what is redacted, secrets; on 100 texts with one and 200 without",
    ),
    "limits": ("what", "the slowest refusal", "p50_ms", "refusal of a request that is too much, ms, the slowest kind"),
    "limits memory": ("what", "the slowest refusal", "MB more", "memory for such a request, MB, the largest kind"),
    "faults": ("trial", "two write, one recalls", "lost", "lost of what two servers stored together"),
    "faults kill": ("trial", "kill -9", "lost", "lost of what killed servers had acknowledged"),
}
"""Which results the README shows: the benchmark, the row, the column, and what it is for people."""


def figures(folder: Path) -> str:
    """Render the chosen results, each with the benchmark that measures it again."""
    lines = ["| measured | | by |", "|---|---|---|"]
    for key, (column, row, value, meaning) in FIGURES.items():
        name = key.split()[0]
        rows = _read(folder / f"{name}.json")["rows"]
        [found] = (one for one in rows if str(one.get(column, "")).startswith(row))
        shown = f"{found[value]:.3f}".rstrip("0").rstrip(".") if isinstance(found[value], float) else found[value]
        lines.append(f"| {meaning} | {shown} | `benchmarks/{name}.py` |")
    return "\n".join(lines)


def tables(folder: Path) -> tuple[tuple[str, str, str], ...]:
    """Render every table of a project, with its document and marker; `folder` is where the results are read."""
    measured = folder / "benchmarks" / "results"
    return (
        ("README.md", "settings", settings()),
        ("README.md", "figures", figures(measured)),
        ("docs/architecture.md", "modules", modules()),
        ("benchmarks/README.md", "results", results(measured)),
    )


def main(folder: Path, *, check: bool) -> str:
    """Fill in the documents, or with `check` name those that are not up to date ('': all are)."""
    stale: dict[str, None] = {}
    for name, marker, text in tables(folder):
        old = (folder / name).read_text(encoding="utf-8")
        new = filled(old, marker, text)
        if new != old and check:
            stale[name] = None
        elif new != old:
            (folder / name).write_text(new, encoding="utf-8", newline="\n")
    return f"Not up to date: {', '.join(stale)}. Run scripts/readme." if stale else ""


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), check="--check" in sys.argv) or 0)
