"""Keeps the README's table of settings equal to config.py: readme.py README.md [--check]."""

import sys
from pathlib import Path

from memory_mcp.config import DEFAULT_LIFETIMES, Settings, variable

BEGIN, END = "<!-- settings:begin -->\n", "<!-- settings:end -->"

COMPUTED = {
    "db": "`memory.db` in the platform's data folder",
    "ttl": "`" + ",".join(f"{kind}={days}" for kind, days in DEFAULT_LIFETIMES.items()) + "`",
}
"""Defaults that are made when they are needed, for people."""


def settings_table() -> str:
    """Render one row for each setting."""
    rows = ["| variable | default | |", "|---|---|---|"]
    for name, field in Settings.model_fields.items():
        default = COMPUTED.get(name) or _shown(field.default)
        rows.append(f"| `{variable(name)}` | {default} | {field.description} |")
    return "\n".join(rows) + "\n"


def with_settings(readme: str) -> str:
    """Replace what stands between the markers."""
    before, rest = readme.split(BEGIN)
    _, after = rest.split(END)
    return before + BEGIN + settings_table() + END + after


def _shown(default: object) -> str:
    if default in (None, ""):
        return "none"
    if isinstance(default, bool):
        return "`on`" if default else "`off`"
    return f"`{default}`"


if __name__ == "__main__":
    file, check = Path(sys.argv[1]), "--check" in sys.argv
    old = file.read_text(encoding="utf-8")
    new = with_settings(old)
    if check and new != old:
        sys.exit(f"{file} does not show the settings of config.py; run scripts/readme.")
    if not check:
        file.write_text(new, encoding="utf-8", newline="\n")
