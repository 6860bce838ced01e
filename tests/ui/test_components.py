"""Component folders: each has its JavaScript, HTML and CSS, and is mounted by one module."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from attnviz.analysis.findings import FindingKind
from attnviz.browser_modules import dynamic_imports, module_path, with_imports
from tests.conftest import REPOSITORY
from tests.deno_program import made_by

PACKAGE = REPOSITORY / "attnviz"
COMPONENTS = PACKAGE / "ui" / "components"
MOUNTED = sorted(
    name
    for path in PACKAGE.rglob("*.py")
    for name in set(re.findall(r"(?<!v2\.)\bcomponent\(\s*\"(\w+)\"", path.read_text(encoding="utf-8")))
)
"""The component of each module that mounts one."""
FOLDERS = [COMPONENTS / name for name in dict.fromkeys(MOUNTED)]

by_name = pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)


@by_name
def test_component_folder_has_its_script_and_nothing_that_is_not_loaded(folder: Path) -> None:
    assert (folder / f"{folder.name}.js").exists()
    for path in folder.iterdir():
        if path.suffix in (".py", ".html", ".css"):
            assert path.stem in (folder.name, "__init__"), path.name


def test_each_component_is_mounted_by_one_module() -> None:
    """A component that several modules need has a function for them in its folder."""
    assert [folder.name for folder in FOLDERS] == MOUNTED


@by_name
def test_css_classes_occur_in_markup_or_code(folder: Path) -> None:
    """Each class in a style sheet occurs in the HTML, the JavaScript or the Python of its component."""
    style = folder / f"{folder.name}.css"
    if not style.exists():
        return
    markup = folder / f"{folder.name}.html"
    modules = with_imports([module_path(folder.name)])
    modules += with_imports(later for module in modules for later in dynamic_imports(module))
    known = (markup.read_text(encoding="utf-8") if markup.exists() else "") + "".join(
        path.read_text(encoding="utf-8") for path in modules
    )
    known += "".join(path.read_text(encoding="utf-8") for path in (PACKAGE / "ui").rglob("*.py"))
    known += " ".join(FindingKind)
    sheet = re.sub(r"/\*.*?\*/|\{[^{}]*\}", " ", style.read_text(encoding="utf-8"), flags=re.DOTALL)
    for name in set(re.findall(r"\.([a-z][\w-]*)", sheet)):
        assert re.search(rf"\b{re.escape(name)}\b", known) or name in PLOTLY, name


PLOTLY = {"nsewdrag"}
"""Classes that Plotly sets."""


def test_every_folder_of_code_is_a_package() -> None:
    folders = {path.parent for path in PACKAGE.rglob("*.py")}
    assert [folder for folder in folders if not (folder / "__init__.py").is_file()] == []


def test_a_late_cleanup_does_not_end_a_newer_mount(tmp_path: Path) -> None:
    """On two quick changes Streamlit cleans up the first mount after the second began: the component stays mounted."""
    mounts = """(() => {
      globalThis.document = Object.assign(new EventTarget(), { adoptedStyleSheets: [] });
      const ended = [], [here, there] = ["here", "there"].map((name) => ({ name, children: [] }));
      const mount = host({}, null);
      const [first, second, other] = [here, here, there].map((parentElement) => mount({ parentElement, data: [[]] }));
      for (const { name, children } of [here, there]) {
        children.push({ querySelectorAll: () => (ended.push(name), []) });
      }
      const after = [first, other, second].map((end) => (end(), [...ended]));
      return JSON.stringify(after);
    })()"""
    program = f'import {{ host }} from "{(COMPONENTS / "blocks.js").as_uri()}";'
    assert made_by(program, mounts, None, tmp_path) == [[], ["there"], ["there", "here"]]
