"""How Claude Code is driven."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tests.hosts.fakes.anthropic import Anthropic
from tests.hosts.fakes.server import Body, Call
from tests.hosts.host import PLUGINS, Place

ALLOWED = ("mcp__memory", "mcp__plugin_memory_memory", "Bash")
"""The person has said yes to our tools and to commands; an entry of a plugin has the plugin's name before its own."""


class ClaudeCode:
    """Tools are named in a message only, and are loaded by a tool of the host's own before their first call."""

    name = "claude-code"
    dialect = Anthropic()

    def settle(self, place: Place) -> None:
        """Nothing: without a terminal it asks no questions."""

    def add_plugin(self, _place: Place) -> Sequence[str]:
        return ["--plugin-dir", str(PLUGINS / "claude-code")]

    def command(self, place: Place, prompt: str) -> list[str]:
        # The native program: the package's own command is put in place by a script, and none was run.
        program = next(place.hosts.glob("node_modules/@anthropic-ai/claude-code-*/claude"))
        words = ["-p", prompt, "--model", "claude-haiku-5-5", "--output-format", "stream-json", "--verbose"]
        return [str(program), *words, "--allowedTools", ",".join(ALLOWED)]

    def environment(self, place: Place) -> dict[str, str]:
        switched_off = ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "DISABLE_AUTOUPDATER", "DISABLE_TELEMETRY")
        return {
            "ANTHROPIC_BASE_URL": place.url,
            "ANTHROPIC_API_KEY": "none",
            "MCP_CONNECTION_NONBLOCKING": "0",  # on a busy machine its first request would come before our server
            **dict.fromkeys(switched_off, "1"),
        }

    def find(self, body: Body, tool: str) -> str | None:
        named = "\n".join([*self.dialect.told(body), *(tool["name"] for tool in body["tools"])])
        found = re.search(rf"^mcp__(?:\w+_)?memory__{tool}$", named, re.MULTILINE)
        return found[0] if found else None

    def first(self, body: Body, tool: str) -> list[Call]:
        query = f"select:{self.find(body, tool)}"
        return [] if query in self.dialect.told(body) else [Call("ToolSearch", {"query": query})]

    def call(self, name: str, arguments: Mapping[str, Any]) -> Call:
        return Call(name, arguments)

    def shell(self, command: str) -> Call:
        return Call("Bash", {"command": command, "description": "Look it up"})
