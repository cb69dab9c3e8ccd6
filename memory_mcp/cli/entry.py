"""The process's one entry: it serves a host, or runs one verb for a person, and ends with an exit code."""

import asyncio
import contextlib
import io
import os
import platform
import signal
import sys
import traceback
from argparse import Namespace
from collections.abc import Generator, Iterator, Mapping, Sequence
from pathlib import Path
from types import FrameType
from typing import NoReturn

from memory_mcp import dates, logs
from memory_mcp.cli.parser import VERBS, build_parser
from memory_mcp.cli.telling import tell
from memory_mcp.cli.terminal import Screen, harmless, visible
from memory_mcp.config import QUOTED, Settings, variable
from memory_mcp.errors import InvalidInput, MemoryMcpError
from memory_mcp.release import installed_version
from memory_mcp.stdio.wire import Wire

DONE, FAILED, FAULT, INTERRUPTED = 0, 1, 3, 130

FLAGS = ("db", "namespace", "model")
FOR_MODELS, FOR_PEOPLE = "Recall again for current ids.", "`memory-mcp list` shows full ids."
HINT = "memory-mcp now waits for a host to speak MCP (Ctrl-C ends it). For people there is: memory-mcp --help"


def main(argv: Sequence[str] | None = None) -> int:
    """Run with these arguments, or the process's own, and return the exit code. Wrong usage raises `SystemExit` 2."""
    words = list(sys.argv[1:] if argv is None else argv)
    return _for_a_hook(words) if _is_hook(words) else _for_a_person(words)


def _is_hook(words: Sequence[str]) -> bool:
    verb = next((word for word in words if word in VERBS), "")
    return verb == "capture" or (verb == "context" and any(word.startswith("--hook") for word in words))


def _for_a_hook(words: Sequence[str]) -> int:
    """Run what a host waits for. Whatever goes wrong, the host goes on as if nothing had been asked."""
    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said):  # argparse takes several lines for wrong usage, and exit code 2 blocks
            args = build_parser().parse_args(words)
        _run(args)
        sys.stdout.flush()
    except BrokenPipeError:
        _give_up_stdout()
    except (MemoryMcpError, OSError) as error:
        print("memory-mcp:", " ".join(visible(harmless(str(error))).split()), file=sys.stderr)
    except SystemExit as ended:
        if not ended.code:  # --help
            raise
        print("memory-mcp:", harmless(said.getvalue().splitlines()[-1]), file=sys.stderr)
    except KeyboardInterrupt:
        pass
    except Exception as error:  # noqa: BLE001 - the outermost edge: a host must not be stopped by its memory
        print("memory-mcp: a fault of ours in a hook,", _place(error), file=sys.stderr)
    return DONE


def _for_a_person(words: Sequence[str]) -> int:
    try:
        code = _run(build_parser().parse_args(words))
        if sys.stdout:  # None where the shell closed it
            sys.stdout.flush()
    except MemoryMcpError as error:
        text = harmless(str(error)).replace(FOR_MODELS, FOR_PEOPLE)
        print("memory-mcp:", " ".join(visible(text).split()), file=sys.stderr)
        return FAILED
    except BrokenPipeError:
        _give_up_stdout()
        return DONE
    except OSError as error:
        print(
            "memory-mcp:",
            visible(harmless(f"{error.strerror}: {error.filename or 'input or output'}")),
            file=sys.stderr,
        )
        return FAILED
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # noqa: BLE001 - the outermost edge: a report for us, without what is remembered
        print(_report(error), file=sys.stderr)
        return FAULT
    return code


def _give_up_stdout() -> None:
    """Nobody reads it any more, and the exit would fail at the same flush."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _run(args: Namespace) -> int:
    flagged = ((name, getattr(args, name)) for name in FLAGS)
    flags = {variable(name): value for name, value in (*_others(args), *flagged) if value}
    args.environ = {**os.environ, **flags}
    args.program = sys.argv[0]
    if args.verb is None:
        return _serve(args.environ)
    settings = Settings.from_env(args.environ)
    logs.begin(settings.log)
    for stream in (sys.stdin, sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="strict" if stream is sys.stdin else "backslashreplace")
    signal.signal(signal.SIGINT, _interrupt)
    screen = Screen(sys.stdin, sys.stdout, sys.stderr, dates.zone(settings.tz), args.json)
    if args.verb == "context" and args.hook:
        return asyncio.run(tell(settings, args, screen))
    return asyncio.run(_open_and_run(settings, args, screen) if args.opens else args.run(settings, args, screen))


def _others(args: Namespace) -> Iterator[tuple[str, str]]:
    """Read the settings that have no flag of their own."""
    for one in getattr(args, "set", ()):
        name, _, value = one.partition("=")
        if name not in Settings.model_fields:
            raise InvalidInput(f"--set takes a setting, as in --set tz=UTC; {name[:QUOTED]!r} is none.")
        yield name, value


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    """End at once. asyncio's own handler would note a Ctrl-C and go on waiting for what a person types."""
    raise KeyboardInterrupt


async def _open_and_run(settings: Settings, args: Namespace, screen: Screen) -> int:
    from memory_mcp.app import open_memory  # noqa: PLC0415 - --help must not wait for the libraries behind it

    with _file_to_open(settings, args) as opened:
        async with open_memory(opened, door="cli") as memory:
            return await args.run(memory, args, screen)


@contextlib.contextmanager
def _file_to_open(settings: Settings, args: Namespace) -> Generator[Settings]:
    """Give a dry run an empty file that goes again where there is none yet: it must not make one."""
    if not getattr(args, "dry_run", False) or settings.db.exists():
        yield settings
        return
    import tempfile  # noqa: PLC0415 - only such a dry run needs it

    with tempfile.TemporaryDirectory(prefix="memory-mcp-", ignore_cleanup_errors=True) as folder:
        yield settings.model_copy(update={"db": Path(folder) / settings.db.name})


def _serve(environ: Mapping[str, str]) -> int:
    """Serve, even with a setting that cannot be used: then every call says so, and the host works without a memory."""
    if sys.stdin and sys.stdin.isatty():
        print(HINT, file=sys.stderr)
    settings, problem = Settings.from_env({}), None
    try:
        settings = Settings.from_env(environ)
    except InvalidInput as error:
        print("memory-mcp:", visible(harmless(str(error))), file=sys.stderr)
        problem = InvalidInput(f"{error} Nothing was done. Change it in the host's entry for memory-mcp and restart.")
    wire = Wire.claim()
    from memory_mcp.server.server import serve  # noqa: PLC0415 - libraries print while they are imported: after the claim

    serve(settings, wire, problem)
    return DONE


def _report(error: Exception) -> str:
    """Say where it happened, and not what: the text of an unexpected error may quote a memory."""
    places = [f"  {_named(frame)}" for frame in traceback.extract_tb(error.__traceback__)]
    system = f"memory-mcp {installed_version()}, Python {platform.python_version()}, {platform.platform()}"
    return "\n".join(
        [
            "memory-mcp: this is a fault of ours. Please report these lines; they hold nothing of what you keep.",
            system,
            f"{type(error).__name__} at",
            *places,
        ]
    )


def _place(error: Exception) -> str:
    return f"{type(error).__name__} at {_named(traceback.extract_tb(error.__traceback__)[-1])}"


def _named(frame: traceback.FrameSummary) -> str:
    return f"{Path(frame.filename).name}:{frame.lineno} in {frame.name}"
