"""What a person can set, read once from the environment."""

import re
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any, Literal

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from memory_mcp.errors import InvalidInput
from memory_mcp.models import Kind

PREFIX = "MEMORY_MCP_"

# DESIGN section 3: chatter fades, what was learned stays.
DEFAULT_LIFETIMES: dict[Kind, int] = {Kind.TURN: 90, Kind.EPISODE: 180, Kind.METRIC: 90}
LEAN_LIFETIMES: dict[Kind, int] = {**DEFAULT_LIFETIMES, Kind.EPISODE: 30}

MAX_CONTENT = 16_000
MAX_QUERY = 4_000
MAX_TAGS = 32
MAX_TAG = 64
MAX_IDS = 200
MAX_FORGET_AT_ONCE = 50
MAX_NAME = 200


def default_database() -> Path:
    """Name the file in the platform's folder for user data."""
    return Path(platformdirs.user_data_dir("memory-mcp", appauthor=False)) / "memory.db"


class Settings(BaseModel):
    """Everything that can be set. Each field is the variable MEMORY_MCP_<FIELD>; the descriptions make the README's table."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    db: Path = Field(default_factory=default_database, description="The memory file. `~` and relative paths are resolved.")
    namespace: str = Field("user", min_length=1, max_length=MAX_NAME, description="Where `store` without a namespace goes.")
    model: str = Field("universal", description="`universal`, `none` (keyword search only), or a sentence-transformers name or folder.")
    context_tokens: int = Field(
        200_000, ge=1_000, description="The host's context window; a reply or briefing stays within 10 % of it."
    )
    tz: str = Field("", description="Time zone in which dates are read and shown, such as `Asia/Tokyo`; default: the system's.")
    capture: bool = Field(False, description="`on`: hooks may keep the turns of conversations.")
    ttl: dict[Kind, int | None] = Field(
        default_factory=lambda: dict[Kind, int | None](DEFAULT_LIFETIMES),
        description="Days to live by kind, such as `turn=30,episode=365`, or `lean`; `never` for no end.",
    )
    summarizer: Literal["host", "extractive", "anthropic"] = Field(
        "host", description="Who summarizes messages when the host did not: `host` and `extractive` stay on this machine."
    )
    key_file: Path | None = Field(None, description="File with the 64 hex digits that encrypt the memory file.")
    key: SecretStr | None = Field(None, description="The same 64 hex digits, inline.")
    log: Literal["debug", "info", "warning", "error"] = Field("warning", description="What is logged to stderr; never content.")

    @field_validator("db", "key_file")
    @classmethod
    def _absolute(cls, path: Path | None) -> Path | None:
        return path.expanduser().absolute() if path else path

    @field_validator("capture", mode="before")
    @classmethod
    def _on_or_off(cls, value: object) -> object:
        return {"on": True, "off": False}.get(value.strip().lower(), value) if isinstance(value, str) else value

    @field_validator("log", "summarizer", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        return value.strip().lower() if isinstance(value, str) else value

    @field_validator("ttl", mode="before")
    @classmethod
    def _lifetimes(cls, value: object) -> object:
        return _parse_lifetimes(value) if isinstance(value, str) else value

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> "Settings":
        """Read the settings. Empty values and unexpanded `${...}` count as unset; unusable ones raise `InvalidInput`."""
        values: dict[str, Any] = {}
        for name in cls.model_fields:
            value = environ.get(PREFIX + name.upper(), "").strip()
            if value and not re.fullmatch(r"\$\{[^}]*\}", value):
                values[name] = value
        try:
            return cls(**values)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            name = PREFIX + str(first["loc"][0]).upper()
            raise InvalidInput(f"{name} is not usable: {first['msg']}.") from error

    def lifetime(self, kind: Kind) -> timedelta | None:
        """How long a memory of this kind lives; None: for good."""
        days = self.ttl.get(kind)
        return None if days is None else timedelta(days=days)


def _parse_lifetimes(text: str) -> dict[Kind, int | None]:
    lifetimes: dict[Kind, int | None] = dict(DEFAULT_LIFETIMES)
    for part in filter(None, (part.strip().lower() for part in text.split(","))):
        if part == "lean":
            lifetimes.update(LEAN_LIFETIMES)
            continue
        kind, _, days = part.partition("=")
        if kind not in set(Kind) or not (days == "never" or (days.isdecimal() and int(days) > 0)):
            raise ValueError(f"write kind=days, such as turn=30, or lean; {part!r} is neither")
        lifetimes[Kind(kind)] = None if days == "never" else int(days)
    return lifetimes
