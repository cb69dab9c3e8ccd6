"""The scripts around the package: environments, the README's table, the wheel."""

import json
import shutil
import subprocess
import sys
from pathlib import Path
from runpy import run_path
from zipfile import ZipFile

import pytest

ROOT = Path(__file__).parent.parent
FIGURES = run_path(str(ROOT / "scripts" / "readme.py"))["FIGURES"]
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


def test_every_module_has_its_line_in_the_map():
    table = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    package = ROOT / "memory_mcp"
    modules = [file.relative_to(package).as_posix() for file in package.rglob("*.py") if file.parent != package]
    modules += [file.name for file in package.glob("*.py") if not file.name.startswith("__")]
    assert [name for name in modules if f"| `{name}` |" not in table] == []


def marked(*names: str) -> str:
    return "".join(f"<!-- {name}:begin -->\nold\n<!-- {name}:end -->\n" for name in names)


@pytest.fixture
def documents(tmp_path: Path) -> Path:
    """A folder with documents that have fallen behind, and small results of every benchmark."""
    measured = tmp_path / "benchmarks" / "results"
    measured.mkdir(parents=True)
    (tmp_path / "docs").mkdir()
    (tmp_path / "README.md").write_text(f"Above.\n{marked('settings', 'figures')}Below.\n")
    (tmp_path / "docs" / "architecture.md").write_text(marked("modules"))
    (tmp_path / "benchmarks" / "README.md").write_text(marked("results").replace("old\n", ""))
    found: dict[str, dict[str, dict[str, object]]] = {}
    for key, (column, row, value, _) in FIGURES.items():
        found.setdefault(key.split()[0], {}).setdefault(row, {column: row})[value] = 0.8125
    for name, rows in found.items():
        content = {"measured": "2026-11-30", "machine": "a small one", "rows": list(rows.values())}
        (measured / f"{name}.json").write_text(json.dumps(content))
    return tmp_path


def test_a_document_that_has_fallen_behind_is_named_and_can_be_brought_up_to_date(documents):
    script = ROOT / "scripts" / "readme.py"
    behind = "Not up to date: README.md, docs/architecture.md, benchmarks/README.md."
    assert behind in run(sys.executable, script, documents, "--check").stderr
    assert run(sys.executable, script, documents).returncode == 0
    assert run(sys.executable, script, documents, "--check").returncode == 0
    lines = (documents / "README.md").read_text(encoding="utf-8").splitlines()
    assert (lines[0], lines[-1]) == ("Above.", "Below.")
    assert any("`MEMORY_MCP_NAMESPACE`" in line for line in lines)


def test_results_are_shown_as_they_were_measured(documents):
    assert run(sys.executable, ROOT / "scripts" / "readme.py", documents).returncode == 0
    assert "| 0.812 | `benchmarks/faults.py` |" in (documents / "README.md").read_text(encoding="utf-8")
    shown = (documents / "benchmarks" / "README.md").read_text(encoding="utf-8")
    assert "## faults\n\n2026-11-30, a small one\n\n| trial | lost |\n|---|---|\n" in shown


def test_the_wheel_holds_the_whole_package_and_the_skill_and_nothing_else(tmp_path):
    built = run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", tmp_path, ROOT)
    assert built.returncode == 0, built.stderr
    with ZipFile(next(tmp_path.glob("*.whl"))) as wheel:
        packed = {name for name in wheel.namelist() if ".dist-info/" not in name}
    files = (path for path in PACKAGE.rglob("*") if path.is_file() and path.suffix != ".pyc")
    skill = (path for path in (ROOT / "skills").rglob("*") if path.is_file())
    assert packed == {
        *(path.relative_to(ROOT).as_posix() for path in files),
        *(f"memory_mcp/{path.relative_to(ROOT).as_posix()}" for path in skill),
    }
    assert "memory_mcp/storage/migrations/0001_initial.sql" in packed
