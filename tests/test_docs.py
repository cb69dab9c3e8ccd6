"""What the documents tell people to type, open and call is there."""

import re
import shlex
from pathlib import Path

import pytest

from memory_mcp.cli.parser import build_parser

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
