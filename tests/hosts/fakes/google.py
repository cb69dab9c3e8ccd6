"""How Google's Gemini API speaks, to Gemini CLI and to Antigravity's engine."""

import html
import json

from tests.hosts.fakes.server import STREAM, Body, Result, Turn, stream
from tests.hosts.script import texts


class Google:
    """Contents, streamed or whole."""

    def asks(self, path: str, body: Body) -> bool:
        return "enerateContent" in path and bool(body.get("tools"))

    def told(self, body: Body) -> list[str]:
        """Gemini CLI escapes what hooks say; here it is plain again."""
        return [html.unescape(text) for text in texts([body.get("systemInstruction", {}), body["contents"]])]

    def results(self, body: Body) -> list[Result]:
        given = [part.get("functionResponse") for content in body["contents"] for part in content["parts"]]
        return [Result(one["name"], html.unescape("\n".join(texts(one["response"])))) for one in given if one]

    def answer(self, path: str, _body: Body, turn: Turn) -> tuple[str, str] | None:
        if "countTokens" in path:
            return "application/json", json.dumps({"totalTokens": 1})
        if "enerateContent" not in path:
            return None
        if isinstance(turn, str):
            parts = [{"text": turn}]
        else:
            parts = [{"functionCall": {"name": call.name, "args": call.arguments}} for call in turn]
        reply = {
            "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
            "usageMetadata": {"promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2},
        }
        return (STREAM, stream([reply])) if "stream" in path else ("application/json", json.dumps(reply))
