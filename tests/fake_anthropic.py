"""A stand-in for Anthropic's API on this machine: it answers what a test tells it to, and keeps what it was asked."""

import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True)
class Answer:
    """One answer of the service: a message, or an error status. `raw` replaces the whole body."""

    text: str | None = ""
    stop: str = "end_turn"
    status: int = 200
    wait: float = 0
    raw: bytes | None = None
    content: tuple[Body, ...] | None = None
    tokens: tuple[int, int] = (1_000, 200)

    def body(self) -> bytes:
        if self.raw is not None:
            return self.raw
        if self.status != 200:
            kinds = {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}
            error = {"type": kinds.get(self.status, "invalid_request_error"), "message": self.text or "no"}
            return json.dumps({"type": "error", "error": error}).encode()
        content = list(self.content) if self.content is not None else [{"type": "text", "text": self.text}]
        return json.dumps(
            {
                "id": "msg_1", "type": "message", "role": "assistant", "model": "claude-haiku-5-5",
                "content": content, "stop_reason": self.stop, "stop_sequence": None,
                "usage": {"input_tokens": self.tokens[0], "output_tokens": self.tokens[1]},
            }
        ).encode()  # fmt: skip


def summary(text: str, **more: Any) -> Answer:
    """An answer in the form that the summarizer asks for."""
    return Answer(json.dumps({"summary": text, "outcome": "unclear", "lessons": [], "facts": [], **more}))


Reply = Answer | Callable[[Body], Answer]


@dataclass
class FakeAnthropic:
    """Answers in the order of `replies`, the last one again and again; `requests` are the bodies as they came."""

    replies: list[Reply] = field(default_factory=list)
    requests: list[Body] = field(default_factory=list)
    url: str = ""

    def answer(self, *replies: Reply) -> None:
        """Say what comes next."""
        self.replies[:] = replies

    @property
    def prompts(self) -> list[str]:
        """What was asked, as text."""
        return [request["messages"][-1]["content"] for request in self.requests]

    def next(self, body: Body) -> Answer:
        self.requests.append(body)
        reply = self.replies.pop(0) if len(self.replies) > 1 else self.replies[0]
        return reply(body) if callable(reply) else reply


@contextmanager
def fake_anthropic(*replies: Reply) -> Iterator[FakeAnthropic]:
    """Serve on loopback until the end of the block."""
    fake = FakeAnthropic(list(replies))
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            with lock:
                answer = fake.next(body)
            time.sleep(answer.wait)
            data = answer.body()
            try:
                self.send_response(answer.status)
                for name, value in (
                    ("content-type", "application/json"),
                    ("retry-after", "0"),
                    ("retry-after-ms", "1"),
                ):
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)
            except (BrokenPipeError, ConnectionResetError):
                pass  # the client did not wait

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    fake.url = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
