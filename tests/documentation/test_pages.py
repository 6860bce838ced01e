"""README and documentation pages: code prints the shown output, commands exist, and links are valid."""

import re
import shlex
from pathlib import Path

import pytest

from attnviz.commands.main import attnviz_app
from tests.conftest import REPOSITORY
from tests.documentation.pages import DOCUMENTATION, GUIDES, PAGES, RECIPES, blocks, outputs_match, prepare, run_blocks

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
BLOCKS = [(guide, block) for guide in GUIDES for block in blocks(guide.read_text(encoding="utf-8"))]
COMMANDS = list(dict.fromkeys(line for _, block in BLOCKS for line in block.commands))
OTHERS = sorted({*REPOSITORY.glob("**/README.md")} - {*GUIDES} - {*REPOSITORY.glob(".venv*/**/README.md")})


def _name(page: Path) -> str:
    return page.relative_to(REPOSITORY).as_posix()


@pytest.mark.nightly
@pytest.mark.parametrize("page", sorted({page for page, one in BLOCKS if one.reason is None} - {*RECIPES}), ids=_name)
def test_page_code_runs_and_prints_the_shown_output(tmp_path, shipped_model, page: Path) -> None:
    """`test_recipes.py` runs the other pages, with the installed package."""
    runnable = [block for block in blocks(page.read_text(encoding="utf-8")) if block.reason is None]
    for block, found in zip(runnable, run_blocks(prepare(tmp_path), runnable), strict=True):
        if block.output is not None:
            assert outputs_match(block.output, found), f"{block.code}\nprints\n{found}\nand not\n{block.output}"


@pytest.mark.parametrize("command", [line for line in COMMANDS if "-m attnviz" in line])
def test_command_line_options_exist(command: str) -> None:
    given = re.split(r" [<>|]", command.partition("-m attnviz ")[2])[0]
    arguments = shlex.split(given, comments=True)
    attnviz_app().parse_args(
        ["models" if word == "-" else word for word in arguments], exit_on_error=False, print_error=False
    )


@pytest.mark.parametrize("page", [*GUIDES, *OTHERS, REPOSITORY / ".github" / "CONTRIBUTING.md"], ids=_name)
def test_links_within_the_repository_are_valid(page: Path) -> None:
    broken = []
    # The building of the site tests links to what it makes of docstrings.
    for name, anchor in re.findall(
        r"\]\((?![a-z]+:)([^)#\s]*)(?:#(?!attnviz\.)([^)\s]*))?[^)\s]*\)", page.read_text(encoding="utf-8")
    ):
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in _anchors(target)):
            broken.append(f"{name}#{anchor}")
    assert broken == []


def _anchors(page: Path) -> set[str]:
    """Return what a link may name in a page: its headings, as GitHub and MkDocs write them."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def test_readme_is_short_and_links_every_documentation_page() -> None:
    assert len(README.splitlines()) <= 120
    linked = {(REPOSITORY / name).resolve() for name in re.findall(r"\]\(([^)#]+)", README)}
    assert {page for page in PAGES if page.parent == DOCUMENTATION / "pages"} <= linked
