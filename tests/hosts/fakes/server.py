"""A model API on loopback: answers every request of a host in the words of one vendor, and keeps what it heard."""

import json
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Protocol

Body = Mapping[str, Any]


@dataclass(frozen=True)
class Call:
    """One tool call, named as the host wants it. Only Codex has a `namespace`."""

    name: str
    arguments: Mapping[str, Any]
    namespace: str = ""


Turn = str | Sequence[Call]
"""What the model does at one request: it says something, or it calls tools."""


@dataclass(frozen=True)
class Result:
    """What a tool gave, as the model got it. `tool` is the host's name of it."""

    tool: str
    text: str


class Dialect(Protocol):
    """How one vendor's API speaks."""

    def asks(self, path: str, body: Body) -> bool:
        """Say whether a request is a turn of the conversation. Titles and the like are asked for without tools."""
        ...

    def answer(self, path: str, body: Body, turn: Turn) -> tuple[str, str] | None:
        """Give content type and text of the reply; None for an address that the API does not have."""
        ...

    def told(self, body: Body) -> list[str]:
        """List every text before the model's eyes, but for the descriptions of tools."""
        ...

    def results(self, body: Body) -> list[Result]:
        """List what tools gave in the conversation so far."""
        ...


class FakeApi:
    """Asks `model` for a turn whenever the conversation goes on, and writes it in the dialect.

    The pages of a folder can be had at the same address.
    """

    def __init__(self, dialect: Dialect, model: Callable[[Body], Turn], pages: Path) -> None:
        self.heard: list[Body] = []
        self._dialect, self._model, self._pages = dialect, model, pages
        self._one_at_a_time = threading.Lock()

    def reply(self, path: str, raw: bytes) -> tuple[int, str, str]:
        """Give status, content type and text."""
        page = self._pages / path.rpartition("/")[2]
        if page.suffix == ".html" and page.is_file():
            return 200, "text/html", page.read_text(encoding="utf-8")
        body: Body = json.loads(raw) if raw else {}
        turn: Turn = "Yes."
        if self._dialect.asks(path, body):
            with self._one_at_a_time:
                self.heard.append(body)
                turn = self._model(body)
        written = self._dialect.answer(path, body, turn)
        return (404, "application/json", "{}") if written is None else (200, *written)

    @contextmanager
    def served(self) -> Iterator[str]:
        """Serve at the address that this gives, until the block ends."""
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (_Handler,), {"api": self}))
        server.daemon_threads = True
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


class _Handler(BaseHTTPRequestHandler):
    api: FakeApi
    protocol_version = "HTTP/1.1"
    timeout = 60

    def _answer(self) -> None:
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        status, kind, text = self.api.reply(self.path, raw)
        data = text.encode()
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(b"" if self.command == "HEAD" else data)

    do_GET = do_HEAD = do_POST = _answer  # noqa: N815 - the parent's names

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the parent's name for it
        """Be silent: standard error belongs to the trial."""


STREAM = "text/event-stream"


def stream(events: Sequence[Mapping[str, Any]]) -> str:
    """Write server-sent events, each under its type where it has one."""
    heads = [f"event: {event['type']}\n" if "type" in event else "" for event in events]
    return "".join(f"{head}data: {json.dumps(event)}\n\n" for head, event in zip(heads, events, strict=True))
