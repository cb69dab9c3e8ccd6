"""What is logged to stderr: our own lines, which hold no content, and of everybody else's only where they come from."""

import logging
import sys
import threading
import traceback
from types import TracebackType

OURS = "memory_mcp"


def begin(level: str) -> None:
    """Log from now on: ours from `level` up, what others say from warnings up."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_Discreet("%(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    logging.getLogger(OURS).setLevel(level.upper())


def watch_threads() -> None:
    """Log where a thread of this process failed, and not what it says; by itself Python prints both."""

    def failed(end: threading.ExceptHookArgs) -> None:
        logging.getLogger(__name__).error(
            "Unexpected %s in a thread:\n%s", end.exc_type.__name__, places(end.exc_traceback)
        )

    threading.excepthook = failed


def places(passed: TracebackType | None) -> str:
    """Say where an error came along. Not what it says: its text may quote a memory."""
    return "".join(traceback.format_tb(passed))


class _Discreet(logging.Formatter):
    """The texts of libraries quote messages, arguments and rows, on every level, and more so with a traceback."""

    def format(self, record: logging.LogRecord) -> str:
        if record.name.partition(".")[0] == OURS:
            return super().format(record)
        return f"{record.levelname} {record.name}: at {record.filename}:{record.lineno}"
