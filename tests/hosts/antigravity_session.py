"""One conversation with Antigravity's engine, by its library alone: antigravity_session.py URL PROJECT PROMPT."""

import asyncio
import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from google.antigravity import Agent, LocalAgentConfig, types
from google.antigravity.connections.local import local_connection
from google.antigravity.hooks import policy

FOUND = ("hooks", "plugins", "mcp", "skills", "rules")
LIKE_THE_PRODUCTS: dict[str, Any] = {
    "rulesConfig": {"filenames": ["GEMINI.md", "AGENTS.md"]},
    "[jetski_prod.localharness.cascade_config_hillclimbing_override]": {
        "cascadeConfig": {
            "plannerConfig": {
                "customizationConfig": {"enableJsonHooks": True},
                "customizationDiscoveryConfig": {kind: {"inheritUser": True} for kind in FOUND},
            }
        }
    },
}
"""Makes the engine look for plugins, servers, hooks and skills in the person's files, as it does in the products.

The library has no option for that. The second member is an extension of the engine's start message that nobody
documents: another version may not know it, which is why tests/hosts/versions.json pins this one.
"""


def finding_files(encode: Any) -> Any:
    """Add the switches to the one message that starts a conversation."""

    def encoded(message: Any, **options: Any) -> str:
        text = encode(message, **options)
        if message.DESCRIPTOR.name != "InitializeConversationEvent":
            return text
        start = json.loads(text)
        return json.dumps({**start, "config": {**start["config"], **LIKE_THE_PRODUCTS}})

    return encoded


def config(url: str, project: str) -> LocalAgentConfig:
    # One model for texts and images: for images the engine would add one that asks for a real key.
    kinds = [types.ModelType.TEXT, types.ModelType.IMAGE]
    endpoint = types.GeminiAPIEndpoint(api_key="none", base_url=url)
    data = Path.home() / ".gemini/antigravity"
    (data / "sessions").mkdir(parents=True, exist_ok=True)
    return LocalAgentConfig(
        models=[types.ModelTarget(name="gemini-3.8-flash", types=kinds, endpoint=endpoint)],
        workspaces=[project],
        app_data_dir=str(data),
        save_dir=str(data / "sessions"),
        policies=[policy.allow_all()],
    )


async def main(url: str, project: str, prompt: str) -> None:
    coder = local_connection.json_format
    local_connection.json_format = SimpleNamespace(
        MessageToJson=finding_files(coder.MessageToJson), Parse=coder.Parse, ParseError=coder.ParseError
    )
    async with Agent(config(url, project)) as agent:
        answer = await agent.chat(prompt)
        try:
            async for chunk in answer.chunks:
                print(chunk.model_dump_json(), flush=True)
        except Exception as error:  # noqa: BLE001 - the outermost edge of a program of its own
            print(f"The engine gave up: {error}", file=sys.stderr, flush=True)
            os._exit(1)  # the library would wait for the engine for minutes


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
