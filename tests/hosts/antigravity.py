"""How Antigravity's engine is driven."""

import re
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from tests.hosts.fakes.google import Google
from tests.hosts.fakes.server import Body, Call
from tests.hosts.host import PLUGINS, Place

SPOKEN_OF = {"toolAction": "Using memory", "toolSummary": "Memory"}
"""What the engine wants with every call, to show it to the person."""


class Antigravity:
    """Tools are named in the system instruction; before the first call the model reads the files that it names."""

    name = "antigravity"
    dialect = Google()

    def settle(self, place: Place) -> None:
        """Nothing: whoever starts the engine hands it the account."""

    def add_plugin(self, place: Place) -> Sequence[str]:
        shutil.copytree(PLUGINS / "antigravity", place.home / ".gemini/config/plugins/memory")
        return []

    def command(self, place: Place, prompt: str) -> list[str]:
        session = Path(__file__).with_name("antigravity_session.py")
        return [str(place.hosts / "env/bin/python"), "-B", str(session), place.url, str(place.project), prompt]

    def environment(self, _place: Place) -> dict[str, str]:
        return {}

    def find(self, body: Body, tool: str) -> str | None:
        """Give the path of the tool's schema, which holds all that is needed: .../mcp/SERVER/TOOL.json."""
        instruction = "\n".join(self.dialect.told({**body, "contents": []}))
        folder = re.search(r"directory `(\S+)/<serverName>`", instruction)
        server = re.search(rf"^# (\S*memory)\nLazy:\n(?:\w+\n)*?{tool}$", instruction, re.MULTILINE)
        return f"{folder[1]}/{server[1]}/{tool}.json" if folder and server else None

    def first(self, body: Body, tool: str) -> list[Call]:
        name, seen = self.find(body, tool), self.dialect.told(body)
        wanted = [str(Path(name).with_name("instructions.md")), name] if name else []
        return [Call("view_file", {"AbsolutePath": path, **SPOKEN_OF}) for path in wanted if path not in seen]

    def call(self, name: str, arguments: Mapping[str, Any]) -> Call:
        path = Path(name)
        words = {"ServerName": path.parent.name, "ToolName": path.stem, "Arguments": arguments}
        return Call("call_mcp_tool", {**words, **SPOKEN_OF})

    def shell(self, command: str) -> Call:
        return Call("run_command", {"CommandLine": command, "Cwd": ".", "WaitMsBeforeAsync": 5_000, **SPOKEN_OF})
