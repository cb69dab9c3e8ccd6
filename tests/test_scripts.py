"""The scripts around the package: environments, the README's table, the wheel."""

import shutil
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "memory_mcp"


def run(*command: object, cwd: Path = ROOT) -> subprocess.CompletedProcess[str]:
    words = [str(word) for word in command]
    return subprocess.run(words, cwd=cwd, check=False, capture_output=True, encoding="utf-8")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project with the scripts, and an environment whose Python only writes down what it is asked to do."""
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    (tmp_path / "env" / "bin").mkdir(parents=True)
    (tmp_path / "env" / "ready").touch()
    python = tmp_path / "env" / "bin" / "python"
    python.write_text('#!/bin/sh\necho "$@" >>asked\n')
    python.chmod(0o755)
    return tmp_path


def installed(project: Path, *wishes: str) -> list[str]:
    lines = "\n".join(f"install {wish}" for wish in wishes)
    script = f"set -euo pipefail; source scripts/env.sh; use_env env\n{lines}"
    assert run("bash", "-c", script, cwd=project).returncode == 0
    return (project / "asked").read_text().splitlines()


def test_an_environment_is_filled_once_for_each_wish(project):
    asked = installed(project, "torch", "-e .", "torch", "-e .")
    assert asked == ["-m pip install -qq torch", "-m pip install -qq -e ."]


def test_an_environment_is_filled_again_when_the_dependencies_change(project):
    assert len(installed(project, "-e .")) == 1
    (project / "pyproject.toml").write_text("[project]\ndependencies = []\n")
    assert len(installed(project, "-e .")) == 2


def test_a_missing_python_is_named_with_the_version_that_is_needed():
    found = run("bash", "-c", f"source '{ROOT.as_posix()}/scripts/env.sh'; PATH=/nowhere; find_python")
    assert found.returncode == 1
    assert "No Python 3.11 or newer" in found.stderr


def test_the_documents_repeat_the_code_as_it_is():
    checked = run(sys.executable, ROOT / "scripts" / "readme.py", ROOT, "--check")
    assert checked.returncode == 0, checked.stderr


def test_a_document_that_has_fallen_behind_is_named_and_can_be_brought_up_to_date(tmp_path):
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text("Above.\n<!-- settings:begin -->\nold\n<!-- settings:end -->\nBelow.\n")
    (tmp_path / "docs" / "architecture.md").write_text("<!-- modules:begin -->\nold\n<!-- modules:end -->\n")
    script = ROOT / "scripts" / "readme.py"
    assert "README.md, docs/architecture.md" in run(sys.executable, script, tmp_path, "--check").stderr
    assert run(sys.executable, script, tmp_path).returncode == 0
    assert run(sys.executable, script, tmp_path, "--check").returncode == 0
    lines = (tmp_path / "README.md").read_text(encoding="utf-8").splitlines()
    assert (lines[0], lines[-1]) == ("Above.", "Below.")
    assert any("`MEMORY_MCP_NAMESPACE`" in line for line in lines)


def test_the_wheel_holds_the_whole_package_and_nothing_else(tmp_path):
    built = run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT)
    assert built.returncode == 0, built.stderr
    with ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    files = (path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix != ".pyc")
    assert packed == {path.relative_to(ROOT).as_posix() for path in files}
    assert "memory_mcp/storage/migrations/0001_initial.sql" in packed
