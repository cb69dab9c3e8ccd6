"""What the tools answer, as data for programs."""

from typing import Any, Literal

from pydantic import BaseModel

from memory_mcp.answers import Mode, Verification

Facts = dict[str, Any]


class RecallResult(BaseModel):
    """Hits have id, content, created_at and whatever else is not a default: kind only where it is not fact."""

    hits: list[Facts]
    mode: Mode
    notice: str = ""
    omitted: int = 0
    next_cursor: str = ""


class StoreResult(BaseModel):
    """`similar` lists near matches: id, differs, trust, content."""

    id: str
    status: Literal["stored", "duplicate", "superseded"]
    superseded: list[str] = []
    similar: list[Facts] = []
    notice: str = ""


class SummarizeResult(BaseModel):
    """`id` is the episode's; `facts` lists id, status and near matches (similar) of each key fact."""

    id: str
    session_id: str
    status: Literal["stored", "updated", "unchanged"]
    summary: str = ""
    facts: list[Facts] = []
    turns_stored: int = 0
    notice: str = ""


class ForgetResult(BaseModel):
    """A preview has count, confirm and sample; what was done has the ids it was done to."""

    count: int = 0
    confirm: str = ""
    sample: list[Facts] = []
    erased: list[str] = []
    archived: list[str] = []
    restored: list[str] = []
    cascaded: list[str] = []
    resummarize: list[str] = []
    missing: list[str] = []
    origins: list[str] = []
    verification: Literal[Verification, ""] = ""
    detail: str = ""
    notice: str = ""
