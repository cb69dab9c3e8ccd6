"""How Gemini CLI is driven."""

import json
import shutil
from collections.abc import Mapping, Sequence
from typing import Any

from tests.hosts.fakes.google import Google
from tests.hosts.fakes.server import Body, Call
from tests.hosts.host import PLUGINS, Place

SETTLED = {
    "security": {"auth": {"selectedType": "gemini-api-key"}, "folderTrust": {"enabled": False}},
    "telemetry": {"enabled": False},
    "privacy": {"usageStatisticsEnabled": False},
    "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False},
}


class Gemini:
    """Tools are declared one by one, whole, from the first request on."""

    name = "gemini"
    dialect = Google()

    def settle(self, place: Place) -> None:
        settings = place.home / ".gemini/settings.json"
        settings.parent.mkdir(exist_ok=True)
        settings.write_text(json.dumps(SETTLED), encoding="utf-8")

    def add_plugin(self, place: Place) -> Sequence[str]:
        shutil.copytree(PLUGINS / "gemini", place.home / ".gemini/extensions/memory")
        return []

    def command(self, place: Place, prompt: str) -> list[str]:
        # -y: the server of an extension cannot be marked as trusted, and there is nobody to ask.
        return [
            str(place.commands / "gemini"),
            "-p",
            prompt,
            "-m",
            "gemini-2.5-flash",
            "--skip-trust",
            "-y",
            "-o",
            "json",
        ]

    def environment(self, place: Place) -> dict[str, str]:
        return {"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": place.url, "GEMINI_CLI_NO_RELAUNCH": "1"}

    def find(self, body: Body, tool: str) -> str | None:
        declared = {one["name"] for group in body["tools"] for one in group.get("functionDeclarations", [])}
        return f"mcp_memory_{tool}" if f"mcp_memory_{tool}" in declared else None

    def first(self, _body: Body, _tool: str) -> list[Call]:
        return []

    def call(self, name: str, arguments: Mapping[str, Any]) -> Call:
        return Call(name, arguments)

    def shell(self, command: str) -> Call:
        return Call("run_shell_command", {"command": command})
