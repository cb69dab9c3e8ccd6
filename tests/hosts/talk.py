"""What a person says to a host, and what becomes of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.hosts.script import Step

PATIENCE = 60.0
"""Seconds for a conversation; the slowest takes 10 on two busy cores."""
GRACE = 5.0
"""Seconds in which what a host leaves behind may end by itself. Our server promises 2."""


@dataclass(frozen=True)
class Talk:
    """What a person says to a host, and what its model will do. `settings` are in the host's environment."""

    host: str
    hosts: Path
    home: Path
    prompt: str
    script: Sequence[Step]
    plugin: bool = False
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Run:
    """What became of it.

    `status` is the host's exit code, None if it had to be ended; `sealed` says whether the network was cut off.
    `offered` are our tools that the model knew of in the end, `told` is every text before its eyes at each request,
    `results` what our tools gave as it got them. `left` names what ran on after the host and had to be ended.
    """

    status: int | None
    seconds: float
    sealed: bool
    offered: list[str]
    told: list[str] = field(repr=False)
    results: list[str]
    left: list[str]
    output: str

    @property
    def first(self) -> str:
        return self.told[0]
