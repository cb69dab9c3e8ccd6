"""Whether this installation works: every part tried for real, on the person's own file where there is one."""

import platform
import stat
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

from memory_mcp.app import open_memory
from memory_mcp.cli import hosts
from memory_mcp.cli.terminal import counted
from memory_mcp.config import Settings
from memory_mcp.errors import MemoryMcpError
from memory_mcp.models import Filter
from memory_mcp.release import DISTRIBUTION, installed_version
from memory_mcp.service import MemoryService
from memory_mcp.storage.values import Probe

QUESTION = "Is anybody there?"

OTHERS = stat.S_IRWXG | stat.S_IRWXO


@dataclass(frozen=True)
class Finding:
    """What was found of one part. ok: as it should be; note: worth knowing; problem: quality is lost."""

    part: str
    status: Literal["ok", "note", "problem"]
    detail: str


async def examine(settings: Settings, environ: Mapping[str, str]) -> list[Finding]:
    """Try every part and say what was found. A file that is there is opened as by any command; none is made."""
    findings = [_installation(), *_place(settings), _capture(settings)]
    try:
        async with _opened(settings) as memory:
            findings += [*await _meaning(memory), *await _file(memory, settings)]
            known = {finding.detail for finding in findings}
            findings += [Finding("state", "problem", text) for text in await memory.problems() if text not in known]
    except MemoryMcpError as error:
        findings.append(Finding("file", "problem", str(error)))
    return [*findings, *(_host(entry, settings) for entry in hosts.entries(sys.platform, environ))]


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncGenerator[MemoryService]:
    """Open the person's file, or, where there is none yet, one in a folder that is deleted again."""
    with TemporaryDirectory(prefix="memory-mcp-doctor-", ignore_cleanup_errors=True) as folder:
        db = settings.db if settings.db.exists() else Path(folder) / "memory.db"
        async with open_memory(settings.model_copy(update={"db": db}), door="cli") as memory:
            yield memory


def _installation() -> Finding:
    parts = [f"{name} {installed_version(name)}" for name in (DISTRIBUTION, "mcp", "sqlcipher3")]
    system = f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"
    return Finding("installation", "ok", f"{', '.join(parts)}, {system}")


# ---- the file ----------------------------------------------------------------------------------------------------


def _place(settings: Settings) -> list[Finding]:
    db, key = settings.db, settings.key_file
    missing = [] if db.exists() else [Finding("file", "note", f"{db} is not there yet; the first start makes it.")]
    return missing + _access([*([] if missing else [db.parent, db]), *([key] if key and key.exists() else [])])


def _access(paths: Sequence[Path]) -> list[Finding]:
    open_to_others = [path for path in paths if path.stat().st_mode & OTHERS]
    if sys.platform == "win32" or not open_to_others:
        return []
    named = ", ".join(f"{path} ({stat.filemode(path.stat().st_mode)})" for path in open_to_others)
    return [Finding("access", "note", f"Other users of this machine may read {named}.")]


async def _file(memory: MemoryService, settings: Settings) -> list[Finding]:
    check = await memory.check()
    if check.integrity != "ok" or check.problems:
        problems = [*([check.integrity] if check.integrity != "ok" else []), *check.problems]
        return [Finding("indexes", "problem", text) for text in problems]
    numbers = ", ".join(f"{name} {count}" for name, count in check.counts.items())
    stats = await memory.stats()
    kept = counted(stats.memories, "memory", "memories")
    size = f"{settings.db}, {stats.bytes_on_disk / 1e6:.1f} MB, {kept}, schema {stats.schema_version}"
    found = [Finding("file", "ok", size)] if settings.db.exists() else []
    return [*found, Finding("indexes", "ok", f"agree with the rows: {numbers}")]


# ---- meaning -----------------------------------------------------------------------------------------------------


async def _meaning(memory: MemoryService) -> list[Finding]:
    """Embed one text and ask the vectors one question, as recall does."""
    trouble = memory.db.vector_problem
    found = [Finding("vectors", "problem", trouble)] if trouble else []
    try:
        question = await memory.meaning.of_question([QUESTION])
    except MemoryMcpError as error:
        return [*found, Finding("model", "problem", str(error))]
    model = f"{question.model.name}, {question.model.dimension} numbers a sentence"
    found.append(Finding("model", "ok", f"embedded one text: {model}"))
    if not trouble:
        probe = Probe(question.vectors, (), Filter(now=memory.now()), model=question.model)
        evidence = await memory.db.search(probe)
        near = counted(len(evidence.rows), "memory", "memories")
        found.append(Finding("vectors", "ok", f"answered one question: {near} near"))
    return found


# ---- around it ---------------------------------------------------------------------------------------------------


def _capture(settings: Settings) -> Finding:
    if settings.pause_marker.exists():
        return Finding("capture", "note", "paused; memory-mcp resume ends that")
    return Finding("capture", "ok", settings.capture)


def _host(entry: hosts.Entry, settings: Settings) -> Finding:
    at = f"{entry.host}: {entry.path}"
    if entry.problem:
        return Finding("host", "problem", f"{at} {entry.problem}")
    if not entry.named:
        return Finding("host", "note", f"{at} does not name this server; see memory-mcp install --print")
    if entry.database and Path(entry.database).expanduser().resolve() != settings.db:
        return Finding("host", "note", f"{at} starts this server, but on another file: {entry.database}")
    return Finding("host", "ok", f"{at} starts this server")
