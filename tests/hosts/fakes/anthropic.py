"""How Anthropic's messages API speaks."""

import json
from collections.abc import Iterator
from typing import Any

from tests.hosts.fakes.server import STREAM, Body, Call, Result, Turn, stream
from tests.hosts.script import texts

USAGE = {"input_tokens": 1, "output_tokens": 1}


class Anthropic:
    """Messages, streamed or whole."""

    def asks(self, path: str, body: Body) -> bool:
        return path.partition("?")[0] == "/v1/messages" and bool(body.get("tools"))

    def told(self, body: Body) -> list[str]:
        return list(texts([body.get("system", []), body["messages"]]))

    def results(self, body: Body) -> list[Result]:
        blocks = [block for message in body["messages"] for block in _blocks(message["content"])]
        names = {block["id"]: block["name"] for block in blocks if block["type"] == "tool_use"}
        return [
            Result(names[block["tool_use_id"]], "\n".join(texts(block.get("content"))))
            for block in blocks
            if block["type"] == "tool_result"
        ]

    def answer(self, path: str, body: Body, turn: Turn) -> tuple[str, str] | None:
        if "/v1/messages" not in path:
            return None
        if "count_tokens" in path:
            return "application/json", json.dumps({"input_tokens": 1})
        turns = len(body["messages"])
        blocks = [{"type": "text", "text": turn}] if isinstance(turn, str) else _tool_uses(turn, turns)
        message = {
            "id": f"msg_{turns}",
            "type": "message",
            "role": "assistant",
            "model": body["model"],
            "content": blocks,
            "stop_reason": "end_turn" if isinstance(turn, str) else "tool_use",
            "stop_sequence": None,
            "usage": USAGE,
        }
        if not body.get("stream"):
            return "application/json", json.dumps(message)
        return STREAM, stream(list(_events(message)))


def _blocks(content: str | list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _tool_uses(calls: Turn, turns: int) -> list[dict[str, Any]]:
    return [
        {"type": "tool_use", "id": f"toolu_{turns}_{place}", "name": call.name, "input": call.arguments}
        for place, call in enumerate(calls)
        if isinstance(call, Call)
    ]


def _events(message: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            empty = {**block, "input": {}}
        yield {"type": "content_block_start", "index": index, "content_block": empty}
        yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {"stop_reason": message["stop_reason"]}, "usage": USAGE}
    yield {"type": "message_stop"}
