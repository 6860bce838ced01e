"""Pages, recipes, docstrings, the site of the documentation, and the guide of contributors."""

import importlib
import inspect
import json
import re
import shlex
import subprocess
import sys
import sysconfig
from collections.abc import Iterator
from pathlib import Path

import nbformat
import pytest

import attnviz
import attnviz.analysis
import attnviz.corpora
import attnviz.export
import attnviz.figures
from attnviz import environment
from attnviz.commands.main import attnviz_app
from tests.conftest import REPOSITORY
from tests.documentation.links import web_links
from tests.documentation.notebook import NOTEBOOK, build_notebook, printed_text
from tests.documentation.pages import (
    DOCUMENTATION,
    GUIDES,
    PAGES,
    PYTHON,
    RECIPES,
    blocks,
    outputs_match,
    prepare,
    run_blocks,
)
from tests.processes import run_python

README = (REPOSITORY / "README.md").read_text(encoding="utf-8")
BLOCKS = [(guide, block) for guide in GUIDES for block in blocks(guide.read_text(encoding="utf-8"))]
COMMANDS = list(dict.fromkeys(line for _, block in BLOCKS for line in block.commands))
OTHERS = sorted({*REPOSITORY.glob("**/README.md")} - {*GUIDES} - {*REPOSITORY.glob(".venv*/**/README.md")})


def _name(page: Path) -> str:
    return page.relative_to(REPOSITORY).as_posix()


@pytest.mark.nightly
@pytest.mark.parametrize("page", sorted({page for page, one in BLOCKS if one.reason is None} - {*RECIPES}), ids=_name)
def test_page_code_runs_and_prints_the_shown_output(tmp_path, shipped_model, page) -> None:
    """`test_recipe_runs_and_prints_the_shown_output` runs the other pages, with the installed package."""
    assert_printed(prepare(tmp_path), page)


@pytest.mark.parametrize("command", [line for line in COMMANDS if "-m attnviz" in line])
def test_command_line_options_exist(command) -> None:
    given = re.split(r" [<>|]", command.partition("-m attnviz ")[2])[0]
    arguments = shlex.split(given, comments=True)
    attnviz_app().parse_args(
        ["models" if word == "-" else word for word in arguments], exit_on_error=False, print_error=False
    )


@pytest.mark.parametrize("page", [*GUIDES, *OTHERS, REPOSITORY / ".github" / "CONTRIBUTING.md"], ids=_name)
def test_links_within_the_repository_are_valid(page) -> None:
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


def test_readme_environment_variables_and_notebook_are_complete() -> None:
    assert len(README.splitlines()) <= 120
    linked = {(REPOSITORY / name).resolve() for name in re.findall(r"\]\(([^)#]+)", README)}
    assert {page for page in PAGES if page.parent == DOCUMENTATION / "pages"} <= linked
    code = "".join(path.read_text(encoding="utf-8") for path in (REPOSITORY / "attnviz").rglob("*.py"))
    assert sorted(set(re.findall(r"\bATTNVIZ_[A-Z_]+", code)) - vars(environment).keys()) == []
    assert "ATTNVIZ_MODELS" in vars(environment)
    stored = nbformat.read(NOTEBOOK, as_version=4)
    assert [cell.source for cell in stored.cells] == [cell.source for cell in build_notebook().cells]


DIRECTIVE = re.compile(r"^::: (attnviz[\w.]*)$", re.MULTILINE)
FILTERS = re.findall(r"^ +filters: (.*)$", (DOCUMENTATION / "mkdocs.yml").read_text(encoding="utf-8"), re.MULTILINE)
HIDDEN = re.compile("|".join(pattern.removeprefix("!") for pattern in json.loads(FILTERS[0])))
"""Names that the reference leaves out."""
REFERENCE = {
    name: path.name
    for path in (DOCUMENTATION / "pages" / "reference").glob("*.md")
    for name in DIRECTIVE.findall(path.read_text(encoding="utf-8"))
}


def _object(path: str) -> object:
    """Return what a dotted path names: a module, or something in it."""
    try:
        found = importlib.import_module(path)
    except ModuleNotFoundError:
        parent, _, name = path.rpartition(".")
        return getattr(_object(parent), name)
    return found


def _functions(one: object) -> Iterator[object]:
    if inspect.ismodule(one):
        for name in getattr(one, "__all__", ()):
            yield from _functions(getattr(one, name))
    elif inspect.isclass(one):
        methods = {name: getattr(one, name) for name in dir(one) if not HIDDEN.search(name)}
        yield from filter(inspect.isroutine, methods.values())
        if one.__init__.__doc__:  # a dataclass's has none
            yield one.__init__
    elif inspect.isroutine(one):
        yield one


@pytest.mark.parametrize("path", sorted(REFERENCE))
def test_every_parameter_in_the_reference_is_documented(path) -> None:
    missing = [
        f"{function.__qualname__}: {name}"
        for function in _functions(_object(path))
        if (getattr(function, "__module__", None) or "").startswith("attnviz")
        for name in inspect.signature(function).parameters
        if name not in ("self", "cls") and not re.search(rf"^ +\*{{0,2}}{name}: ", function.__doc__ or "", re.MULTILINE)
    ]
    assert missing == []


RUN_NOTEBOOK = """
import sys
from pathlib import Path
import nbformat
from tests.documentation.notebook import build_notebook, run
notebook = build_notebook()
run(notebook, Path(sys.argv[1]), Path(sys.executable))
nbformat.write(notebook, sys.argv[2])
"""
"""Run in a process of its own: Jupyter's packages emit deprecation warnings."""


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Path:
    """Return the Python of an environment, beside this environment's packages, with the installed wheel."""
    folder, pip = tmp_path_factory.mktemp("installed"), (sys.executable, "-m", "pip")

    def run_program(*command: str | Path) -> None:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    run_program(*pip, "wheel", "--quiet", "--no-deps", "--wheel-dir", folder, REPOSITORY)
    run_program(sys.executable, "-m", "venv", "--without-pip", folder / "venv")
    (packages,) = folder.glob("venv/lib/*/site-packages")
    (packages / "shared.pth").write_text(sysconfig.get_path("purelib"), encoding="utf-8")
    python = folder / "venv" / "bin" / "python"
    run_program(*pip, "--python", python, "install", "--quiet", "--no-deps", *folder.glob("*.whl"))
    return python


def assert_printed(folder: Path, page: Path, python: Path = PYTHON) -> None:
    runnable = [block for block in blocks(page.read_text(encoding="utf-8")) if block.reason is None]
    for block, found in zip(runnable, run_blocks(folder, runnable, python), strict=True):
        if block.output is not None:
            assert outputs_match(block.output, found), f"{block.code}\nprints\n{found}\nand not\n{block.output}"


@pytest.mark.nightly
@pytest.mark.parametrize("page", RECIPES, ids=lambda page: page.stem)
def test_recipe_runs_and_prints_the_shown_output(tmp_path, installed, page) -> None:
    assert_printed(tmp_path, page, installed)


@pytest.mark.nightly
def test_notebook_runs_and_reproduces_its_stored_output(tmp_path, installed) -> None:
    empty, path = tmp_path / "empty", tmp_path / "run.ipynb"
    empty.mkdir()
    how = {"cwd": REPOSITORY, "capture_output": True, "text": True, "timeout": 590}
    done = subprocess.run([installed, "-c", RUN_NOTEBOOK, empty, path], **how, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    stored, found = (nbformat.read(one, as_version=4) for one in (NOTEBOOK, path))
    for before, after in zip(stored.cells, found.cells, strict=True):
        assert outputs_match(printed_text(before), printed_text(after)), before.source
    shown = found.cells[1].outputs[0].data
    assert "<table" in shown["text/html"]
    assert "maison" in shown["text/html"]


BUILD = ["-m", "mkdocs", "build", "--strict", "--quiet", "--config-file", DOCUMENTATION / "mkdocs.yml"]

LOADED = re.compile(r'<(?:script|img|iframe)[^>]*\ssrc="([^"]+)"')


def test_screenshots_can_be_taken_again() -> None:
    """Its script starts: nothing that it imports has moved."""
    done = subprocess.run(
        [sys.executable, DOCUMENTATION / "screenshots.py", "--help"], capture_output=True, check=False
    )
    assert done.returncode == 0, done.stderr.decode()


@pytest.mark.nightly
def test_documentation_builds_without_warnings(tmp_path) -> None:
    run_python(*BUILD, "--site-dir", tmp_path)
    assert "https://arxiv.org/abs/1409.0473" in web_links(tmp_path)
    reference = "".join(page.read_text(encoding="utf-8") for page in (tmp_path / "reference").glob("*.html"))
    found = set(re.findall(r'id="(attnviz[\w.]+)"', reference))
    for module in (attnviz, attnviz.analysis, attnviz.corpora, attnviz.export, attnviz.figures):
        names = {name for name in module.__all__ if not inspect.ismodule(getattr(module, name))}
        assert sorted(names - {name.rpartition(".")[2] for name in found}) == []
    index = json.loads((tmp_path / "search" / "search_index.json").read_text(encoding="utf-8"))
    assert not [page["location"] for page in index["docs"] if "changelog" in page["location"]]
    loaded = {link for page in tmp_path.rglob("*.html") for link in LOADED.findall(page.read_text(encoding="utf-8"))}
    assert [link for link in loaded if "//" in link] == [], "nothing is loaded from other machines"
    assert "<math" in (tmp_path / "how-it-works.html").read_text(encoding="utf-8")


GITHUB = REPOSITORY / ".github"
GUIDE = (GITHUB / "CONTRIBUTING.md").read_text(encoding="utf-8")
TO_WRITE = ("NAME", "THE/FILE", "locales/de.po", "<module>")
"""Parts of paths that the reader fills in."""


def test_guide_names_what_exists_and_changelog_the_version() -> None:
    named = {text.removeprefix("./") for text in re.findall(r"`([\w./-]+(?:/|\.(?:py|md|js|toml|txt|yml)))`", GUIDE)}
    named |= {f".github/{link}" for link in re.findall(r"\]\(([^)#:]+)\)", GUIDE)}
    paths = {path for path in named if not any(part in path for part in TO_WRITE)}
    assert len(paths) > 20
    roots = (REPOSITORY, REPOSITORY / "attnviz", REPOSITORY / "attnviz" / "ui", REPOSITORY / "attnviz" / "importing")
    assert sorted(path for path in paths if not any((root / path).exists() for root in roots)) == []
    names = {name for name in re.findall(r"`(\w*[a-z]_\w*|[A-Z_]{3,})`", GUIDE) if "NAME" not in name}
    assert len(names) > 20
    files = [path for folder in ("attnviz", "tests", ".docs") for path in (REPOSITORY / folder).rglob("*.py")]
    words = set(re.findall(r"\w+", " ".join(path.read_text(encoding="utf-8") for path in files)))
    assert sorted(names - words) == []
    modules = re.findall(r"python -m ((?:tests|attnviz)[\w.]*)", GUIDE)
    assert {"tests", "tests.catalogs", "attnviz"} <= {*modules}
    for module in modules:
        path = REPOSITORY.joinpath(*module.split("."))
        assert path.with_suffix(".py").is_file() or (path / "__main__.py").is_file(), module
    changes = (GITHUB / "CHANGELOG.md").read_text(encoding="utf-8")
    versions = re.findall(r"^## (\d+\.\d+\.\d+) \((?:\d{4}-\d\d-\d\d|unreleased)\)$", changes, re.MULTILINE)
    assert versions[0] == attnviz.__version__
    assert versions == sorted(versions, reverse=True)
