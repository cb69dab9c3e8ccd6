"""How Codex is driven."""

import json
import subprocess
from collections.abc import Mapping, Sequence
from typing import Any

from tests.hosts.fakes.openai import OpenAI
from tests.hosts.fakes.server import Body, Call
from tests.hosts.host import PLUGINS, Place

SETTINGS: Mapping[str, Any] = {
    "model": "gpt-5",
    "model_provider": "fake",
    "check_for_update_on_startup": False,
    "analytics.enabled": False,
    "features.plugins": False,
}
ENTRY = "[mcp_servers.memory]"
APPROVED: Mapping[str, Any] = {"mcp_servers.memory.default_tools_approval_mode": "approve"}
"""The person has said yes to our tools. Only an entry of the file can say so, one of a plugin cannot."""


class Codex:
    """Tools stand in a namespace, whole, from the first request on."""

    name = "codex"
    dialect = OpenAI()

    def settle(self, place: Place) -> None:
        (place.home / ".codex").mkdir(exist_ok=True)

    def add_plugin(self, place: Place) -> Sequence[str]:
        for words in (["marketplace", "add", str(PLUGINS.parent)], ["add", "memory@memory-mcp"]):
            command = [str(place.commands / "codex"), "plugin", *words]
            environment = place.environment(self.environment(place))
            subprocess.run(
                command, env=environment, stdin=subprocess.DEVNULL, check=True, capture_output=True, timeout=60
            )
        return ["-c", "features.plugins=true"]

    def command(self, place: Place, prompt: str) -> list[str]:
        provider = {"name": "fake", "base_url": f"{place.url}/v1", "wire_api": "responses"}
        file = place.home / ".codex/config.toml"
        consent = APPROVED if file.exists() and ENTRY in file.read_text(encoding="utf-8") else {}
        api = {f"model_providers.fake.{name}": value for name, value in provider.items()}
        settings = {**SETTINGS, **consent, **api}
        words = [word for name, value in settings.items() for word in ("-c", f"{name}={json.dumps(value)}")]
        trusted = ["--dangerously-bypass-hook-trust", "--skip-git-repo-check", "-s", "read-only"]
        return [str(place.commands / "codex"), "exec", "--json", *trusted, *words, prompt]

    def environment(self, place: Place) -> dict[str, str]:
        return {"CODEX_HOME": str(place.home / ".codex")}

    def find(self, body: Body, tool: str) -> str | None:
        groups = (group for group in body["tools"] if group["type"] == "namespace")
        ours = (group for group in groups if group["name"].endswith("memory"))
        return next((f"{group['name']}/{tool}" for group in ours if tool in map(_name, group["tools"])), None)

    def first(self, body: Body, tool: str) -> list[Call]:
        """Do something else meanwhile: Codex does not wait for the server of a plugin."""
        return [] if self.find(body, tool) else [Call("exec_command", {"cmd": "sleep 1"})]

    def call(self, name: str, arguments: Mapping[str, Any]) -> Call:
        namespace, _, tool = name.partition("/")
        return Call(tool, arguments, namespace)

    def shell(self, command: str) -> Call:
        return Call("exec_command", {"cmd": command})


def _name(tool: Body) -> str:
    return tool["name"]
