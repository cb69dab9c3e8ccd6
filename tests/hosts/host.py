"""What a driver knows about its host: how it is set up and started, and how its model finds our tools."""

import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from tests.hosts.fakes.server import Body, Call, Dialect

PLUGINS = Path(__file__).parents[2] / "plugins"
NOWHERE = "http://127.0.0.1:9"
"""A proxy that is not there: the second wall, where the network cannot be cut off."""


@dataclass(frozen=True)
class Place:
    """Where one conversation is held. `hosts` is what scripts/install_hosts filled, `url` the model API."""

    home: Path
    project: Path
    hosts: Path
    url: str

    @property
    def commands(self) -> Path:
        return self.hosts / "node_modules/.bin"

    def environment(self, more: Mapping[str, str]) -> dict[str, str]:
        """Make an environment out of nothing, so that no key and no setting of anybody gets in.

        The commands of the environment under test are on the PATH, as they are for who installed the package.
        """
        path = [str(self.commands), str(Path(sys.executable).parent), os.defpath]
        return {
            "PATH": os.pathsep.join(path),
            "HOME": str(self.home),
            "TMPDIR": str(self.home / "tmp"),
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "NO_COLOR": "1",
            "HTTP_PROXY": NOWHERE,
            "HTTPS_PROXY": NOWHERE,
            "NO_PROXY": "127.0.0.1,localhost",
            "PAGES": self.url,
            **more,
        }


class Host(Protocol):
    """One assistant. `name` is what `memory-mcp install` calls it."""

    name: str
    dialect: Dialect

    def settle(self, place: Place) -> None:
        """Write what a person who uses the host has already settled: an account, consent to its terms."""
        ...

    def add_plugin(self, place: Place) -> Sequence[str]:
        """Place our plugin as its folder stands in the repository. Gives more words for the command."""
        ...

    def command(self, place: Place, prompt: str) -> list[str]:
        """Make the command line for a conversation of one prompt."""
        ...

    def environment(self, place: Place) -> dict[str, str]:
        """Say what the host needs in its environment, the address of the model API among it."""
        ...

    def find(self, body: Body, tool: str) -> str | None:
        """Find the host's name for one of our tools in a request; None where the model does not know it."""
        ...

    def first(self, body: Body, tool: str) -> list[Call]:
        """List what its model has to do before it can call that tool of ours, unless it has done so."""
        ...

    def call(self, name: str, arguments: Mapping[str, Any]) -> Call:
        """Call a tool by the host's name for it."""
        ...

    def shell(self, command: str) -> Call:
        """Call the host's own shell."""
        ...
