"""What each host's plugin is made of: the server, the hooks and the skill, in that host's own files."""

import json
import shlex
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import memory_mcp
from memory_mcp.cli.hosts import SERVER, Launch
from memory_mcp.config import PREFIX
from memory_mcp.release import installed_version

NAME = "memory"
MARKETPLACE = "memory-mcp"
ABOUT = (
    "Long-term memory on your own machine (memory-mcp): what was said, decided and preferred is there in the next"
    " conversation."
)
PROJECT: dict[str, Any] = {"author": {"name": "memory-mcp contributors"}, "license": "MIT"}
KEYWORDS = ["memory", "mcp", "recall", "sqlite", "local-first"]

FAILS_OPEN = " || exit 0"
"""Where the command is gone, the shell's 127 would make Gemini CLI 0.61 refuse every prompt."""

FLAGGED = ("db", "namespace", "model")
"""Settings that have a flag of their own."""


@dataclass(frozen=True)
class Hooks:
    """How hooks start us. `keeps`: the person has agreed that conversations are captured."""

    launch: Launch
    keeps: bool = False
    platform: str = "linux"

    def line(self, *words: str) -> str:
        """Write a command for the shell that hosts hand it to, with every setting of the server."""
        line = shell_line([self.launch.command, *self.launch.args, *words, *self._settings()], self.platform)
        return line if self.platform == "win32" else line + FAILS_OPEN

    def tells(self, host: str) -> str:
        """Write the command that tells the model something."""
        return self.line("context", "--hook", host, *["--on"] * self.keeps)

    def captures(self, host: str) -> str:
        """Write the command that keeps what is new."""
        return self.line("capture", host, *["--on"] * self.keeps)

    def _settings(self) -> list[str]:
        """A hook inherits the host's environment and not the server's: what was set for one is told to the other."""
        made = {name.removeprefix(PREFIX).lower(): value for name, value in self.launch.env.items()}
        flags = [word for name in FLAGGED if name in made for word in (f"--{name}", made[name])]
        others = [word for name in made if name not in FLAGGED for word in ("--set", f"{name}={made[name]}")]
        return flags + others


def shell_line(words: list[str], platform: str) -> str:
    """Write a command line. On Windows hosts use Git's shell or cmd: both take slashes, and double quotes."""
    if platform != "win32":
        return shlex.join(words)
    return subprocess.list2cmdline([words[0].replace("\\", "/"), *words[1:]])


def skill_folder() -> Path:
    """Find the skill: inside an installed package, or beside the package in a checkout."""
    package = Path(memory_mcp.__file__).parent
    packed = package / "skills" / NAME
    return packed if packed.is_dir() else package.parent / "skills" / NAME


def skill() -> dict[str, str]:
    """Read the skill's files by their path within its folder."""
    folder = skill_folder()
    files = sorted(path for path in folder.rglob("*.md") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_text(encoding="utf-8") for path in files}


def claude_code(hooks: Hooks) -> dict[str, str]:
    """Make the plugin for Claude Code, which Codex takes as it is."""
    manifest = {"name": NAME, "version": installed_version(), "description": ABOUT, **PROJECT, "keywords": KEYWORDS}
    return {
        ".claude-plugin/plugin.json": written(manifest),
        ".mcp.json": written(_servers(hooks.launch)),
        "hooks/hooks.json": written({"description": ABOUT, "hooks": claude_code_hooks(hooks)}),
        "README.md": README,
        **_with_skill(),
    }


def claude_code_hooks(hooks: Hooks, host: str = "claude-code") -> dict[str, Any]:
    """Say what runs at which event of Claude Code, or of Codex; time-outs are in seconds."""
    tells, captures = hooks.tells(host), hooks.captures(host)
    return {
        "SessionStart": [_group(tells, 10)],
        "UserPromptSubmit": [_group(tells, 5)],
        "PreCompact": [_group(captures, 10)],
        "Stop": [_group(captures, 10)],
        "SessionEnd": [_group(captures, 5)],
    }


def gemini(hooks: Hooks) -> dict[str, str]:
    """Make the extension for Gemini CLI; its hooks count milliseconds.

    PreCompress is left out: it comes before every call of the model, and its record keeps what is compressed.
    """
    manifest = {"name": NAME, "version": installed_version(), "description": ABOUT, **_servers(hooks.launch)}
    tells, captures = hooks.tells("gemini"), hooks.captures("gemini")
    events = {
        "SessionStart": [_group(tells, 10_000)],
        "BeforeAgent": [_group(tells, 5_000)],
        "AfterAgent": [_group(captures, 10_000)],
        "SessionEnd": [_group(captures, 5_000)],
    }
    return {
        "gemini-extension.json": written(manifest),
        "hooks/hooks.json": written({"hooks": events}),
        **_with_skill(),
    }


def antigravity(hooks: Hooks) -> dict[str, str]:
    """Make the plugin for Antigravity. It has no hook for a prompt, for compaction or for the end."""
    events = {
        "SessionStart": [{"command": hooks.tells("antigravity"), "timeout": 10}],
        "Stop": [{"command": hooks.captures("antigravity"), "timeout": 10}],
    }
    return {
        "plugin.json": written({"name": NAME, "description": ABOUT}),
        "mcp_config.json": written(_servers(hooks.launch)),
        "hooks.json": written({NAME: events}),
        **_with_skill(),
    }


def marketplace() -> str:
    """Make the list by which Claude Code and Codex find the plugin in this repository."""
    plugin = {"name": NAME, "source": "./plugins/claude-code", "description": ABOUT}
    return written(
        {
            "name": MARKETPLACE,
            "description": "memory-mcp, long-term memory for assistants",
            "owner": PROJECT["author"],
            "plugins": [plugin],
        }
    )


def written(data: Mapping[str, Any]) -> str:
    """Write strict JSON, as every host reads it."""
    return json.dumps(data, indent=2, ensure_ascii=False) + "\n"


def _servers(launch: Launch) -> dict[str, Any]:
    entry: dict[str, Any] = {"command": launch.command, "args": list(launch.args)}
    return {"mcpServers": {SERVER: {**entry, **({"env": dict(launch.env)} if launch.env else {})}}}


def _group(command: str, timeout: int) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": command, "timeout": timeout}]}


def _with_skill() -> dict[str, str]:
    return {f"skills/{NAME}/{path}": text for path, text in skill().items()}


README = """\
# memory: long-term memory for Claude Code and Codex

This plugin brings the server of memory-mcp, the skill that says when to use it, and hooks that make it happen by
itself: a conversation begins with a briefing of what earlier ones learned, also after compaction, and a prompt that
names something known brings the few memories that matter.

It needs the command `memory-mcp` on the `PATH`; the repository's README says how to install it. Everything is kept in
one file on this machine.

Conversations themselves are kept only if you say so: set `MEMORY_MCP_CAPTURE=on` where the host is started.
`memory-mcp pause` stops that at any time, `MEMORY_MCP_EXCLUDE` names folders that are never captured, and what stands
in `<private>...</private>` is left out.
"""
