"""One conversation in a process of its own, without a network: a `Talk` comes in on standard input, a `Run` out."""

import os
import pickle
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

from tests.hosts import network
from tests.hosts.antigravity import Antigravity
from tests.hosts.claude_code import ClaudeCode
from tests.hosts.codex import Codex
from tests.hosts.fakes.server import Body, FakeApi, Turn
from tests.hosts.gemini import Gemini
from tests.hosts.host import Host, Place
from tests.hosts.script import TOOLS, Shell, Step, filled
from tests.hosts.talk import GRACE, PATIENCE, Run, Talk

HOSTS: dict[str, Host] = {host.name: host for host in (ClaudeCode(), Codex(), Gemini(), Antigravity())}


class Model:
    """Follows a script, one step at a time, with whatever a host wants done before a tool is used."""

    def __init__(self, host: Host, script: Sequence[Step]) -> None:
        self._host, self._left = host, list(script)

    def __call__(self, body: Body) -> Turn:
        if not self._left:
            return "Done."
        step = self._left[0]
        if isinstance(step, str):
            return self._left.pop(0)
        if isinstance(step, Shell):
            self._left.pop(0)
            return [self._host.shell(step.command)]
        if first := self._host.first(body, step.tool):
            return first
        name = self._host.find(body, step.tool)
        if name is None:
            return f"There is no tool {step.tool}."
        self._left.pop(0)
        sight = "\n".join(self._host.dialect.told(body))
        return [self._host.call(name, filled(step.arguments, sight))]


def converse(talk: Talk) -> Run:
    sealed = network.cut_off()
    network.adopt_orphans()
    host = HOSTS[talk.host]
    project = talk.home / "project"
    api = FakeApi(host.dialect, Model(host, talk.script), project)
    with api.served() as url:
        place = Place(talk.home, project, talk.hosts, url)
        status, seconds, output = _started(host, place, talk)
        left = list(_ended())
    seen = [host.dialect.told(body) for body in api.heard]
    results = host.dialect.results(api.heard[-1]) if api.heard else []
    return Run(
        status,
        seconds,
        sealed,
        offered=[tool for tool in TOOLS if api.heard and host.find(api.heard[-1], tool)],
        told=["\n".join(texts) for texts in seen],
        results=[result.text for result in results if _is_ours(result.tool)],
        left=left,
        output=output,
    )


def _is_ours(tool: str) -> bool:
    return tool in {*TOOLS, "call_mcp_tool"} or tool.startswith("mcp_")


def _started(host: Host, place: Place, talk: Talk) -> tuple[int | None, float, str]:
    place.project.mkdir(exist_ok=True)
    (place.home / "tmp").mkdir(exist_ok=True)
    host.settle(place)
    more = host.add_plugin(place) if talk.plugin else ()
    environment = {**place.environment(host.environment(place)), **talk.settings}
    log = place.home / "output.txt"
    began = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [*host.command(place, talk.prompt), *more],
            cwd=place.project,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            status = None
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
    return status, time.monotonic() - began, log.read_text(encoding="utf-8", errors="replace")


def _ended() -> Iterator[str]:
    """Wait for what the host left behind, then end it. Gives the command lines of what had to be ended."""
    end = time.monotonic() + GRACE
    while children := _children():
        late = time.monotonic() > end
        for child in children:
            if late:
                yield Path(f"/proc/{child}/cmdline").read_text(encoding="utf-8", errors="replace").replace("\0", " ")
                os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0 if late else os.WNOHANG)
        time.sleep(0.05)


def _children() -> list[int]:
    """List the processes that this one started or adopted; none where the system cannot say."""
    return [int(child) for task in Path("/proc/self/task").glob("*/children") for child in task.read_text().split()]


if __name__ == "__main__":
    pickle.dump(converse(pickle.load(sys.stdin.buffer)), sys.stdout.buffer)
