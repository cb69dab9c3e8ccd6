"""What the documents tell people to type, open and call is there."""

import re
import shlex
from dataclasses import fields
from pathlib import Path

import pytest

from memory_mcp.answers import Reasons
from memory_mcp.cli.parser import build_parser
from memory_mcp.server.tools import offered

ROOT = Path(__file__).parent.parent
DOCUMENTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("skills/*/*.md")])


def lines_with(pattern: str) -> list[tuple[str, str]]:
    """Every find of `pattern` as (document, what its first group holds)."""
    texts = {path: path.read_text(encoding="utf-8") for path in DOCUMENTS}
    return [
        (path.relative_to(ROOT).as_posix(), found)
        for path, text in texts.items()
        for found in sorted(set(re.findall(pattern, text)))
    ]


@pytest.mark.parametrize(("document", "command"), lines_with(r"(?:`|bin/)memory-mcp (?!--help)([^`\n#]+)"))
def test_every_command_in_a_document_is_understood(document, command):
    build_parser().parse_args(shlex.split(command))


@pytest.mark.parametrize(("document", "link"), lines_with(r"\]\((?!https?:)([^)#]+)\)"))
def test_every_link_in_a_document_leads_somewhere(document, link):
    assert (ROOT / document).parent.joinpath(link).exists()


@pytest.mark.parametrize(("document", "script"), lines_with(r"(?<!\w)(scripts/[a-z_]+(?:\.py)?)"))
def test_every_script_in_a_document_is_there(document, script):
    assert (ROOT / script).is_file()


@pytest.mark.parametrize(("document", "test"), lines_with(r"`(tests/[a-z_/]+\.py::test_[a-z_]+)`"))
def test_every_test_that_a_document_names_is_there(document, test):
    file, _, name = test.partition("::")
    assert f"def {name}(" in (ROOT / file).read_text(encoding="utf-8")


def table(name: str) -> list[list[str]]:
    """Read the words in code of each row of a table of README, between the marks of that name."""
    text = (ROOT / "README.md").read_text("utf-8").partition(f"<!-- {name}:begin -->\n")[2]
    return [re.findall(r"`([a-z_]+)`", row) for row in text.partition(f"<!-- {name}:end -->")[0].splitlines()[2:]]


def test_readme_names_the_parameters_of_each_tool_as_the_tool_does():
    tools = {tool.name: tool.parameters["properties"] for tool in offered()}
    told = {tool: names for tool, *names in table("parameters")}
    assert told.keys() == tools.keys()
    values = {"preference"}
    assert not [
        name for tool, names in told.items() for name in names if name not in tools[tool] and name not in values
    ]


def test_readme_explains_all_that_an_explained_recall_shows():
    told = {name for names in table("explain") for name in names}
    assert told == {"strong", "fair", "weak", "score", *(field.name for field in fields(Reasons))}
