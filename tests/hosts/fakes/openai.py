"""How OpenAI's responses API speaks."""

import json
from typing import Any

from tests.hosts.fakes.server import STREAM, Body, Result, Turn, stream
from tests.hosts.script import texts

USAGE = {
    "input_tokens": 1,
    "input_tokens_details": None,
    "output_tokens": 1,
    "output_tokens_details": None,
    "total_tokens": 2,
}


class OpenAI:
    """Streamed responses; whoever asks for models is told of none."""

    def asks(self, path: str, body: Body) -> bool:
        return path.endswith("/responses") and bool(body.get("tools"))

    def told(self, body: Body) -> list[str]:
        described = [tool.get("description", "") for tool in body["tools"] if tool["type"] == "namespace"]
        return list(texts([body.get("instructions", ""), described, body["input"]]))

    def results(self, body: Body) -> list[Result]:
        names = {item["call_id"]: item["name"] for item in body["input"] if item["type"] == "function_call"}
        return [
            Result(names[item["call_id"]], "\n".join(texts(item["output"])))
            for item in body["input"]
            if item["type"] == "function_call_output"
        ]

    def answer(self, path: str, body: Body, turn: Turn) -> tuple[str, str] | None:
        if not path.endswith("/responses"):
            return "application/json", json.dumps({"object": "list", "data": [], "models": []})
        number = len(body["input"])
        items = [_said(turn, number)] if isinstance(turn, str) else _calls(turn, number)
        response = {"id": f"resp_{number}"}
        return STREAM, stream(
            [
                {"type": "response.created", "response": response},
                *[
                    {"type": "response.output_item.done", "output_index": index, "item": item}
                    for index, item in enumerate(items)
                ],
                {"type": "response.completed", "response": {**response, "output": items, "usage": USAGE}},
            ]
        )


def _said(text: str, number: int) -> dict[str, Any]:
    content = [{"type": "output_text", "text": text}]
    return {"type": "message", "id": f"msg_{number}", "role": "assistant", "content": content}


def _calls(turn: Turn, number: int) -> list[dict[str, Any]]:
    return [
        {
            "type": "function_call",
            "id": f"fc_{number}_{place}",
            "call_id": f"call_{number}_{place}",
            "name": call.name,
            "arguments": json.dumps(call.arguments),
            **({"namespace": call.namespace} if call.namespace else {}),
        }
        for place, call in enumerate(turn)
    ]
