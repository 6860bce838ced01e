"""Component folders: each has its JavaScript, HTML and CSS, and is mounted by one module."""

from __future__ import annotations

import re
from pathlib import Path

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


def test_each_component_has_a_script_a_style_that_is_used_and_one_module_that_mounts_it() -> None:
    assert [folder.name for folder in FOLDERS] == MOUNTED, "what several modules need is a function in its folder"
    texts = "".join(path.read_text(encoding="utf-8") for path in (PACKAGE / "ui").rglob("*.py"))
    for folder in FOLDERS:
        assert (folder / f"{folder.name}.js").exists()
        assert {path.stem for path in folder.iterdir() if path.suffix in (".py", ".html", ".css")} <= {
            folder.name,
            "__init__",
        }, "nothing that is not loaded"
        style, markup = (folder / f"{folder.name}.{ending}" for ending in ("css", "html"))
        modules = with_imports([module_path(folder.name)])
        modules += with_imports(later for module in modules for later in dynamic_imports(module))
        known = texts + " ".join(FindingKind) + "".join(path.read_text(encoding="utf-8") for path in modules)
        known += markup.read_text(encoding="utf-8") if markup.exists() else ""
        sheet = style.read_text(encoding="utf-8") if style.exists() else ""
        for name in set(re.findall(r"\.([a-z][\w-]*)", re.sub(r"(?s)/\*.*?\*/|\{[^{}]*\}", " ", sheet))):
            assert re.search(rf"\b{re.escape(name)}\b", known) or name in PLOTLY, f"{folder.name}: {name}"


def test_no_asset_loads_from_another_server_or_parses_text_as_markup() -> None:
    for path in (path for path in (PACKAGE / "ui").rglob("*.*") if path.suffix in (".js", ".css", ".html", ".svg")):
        text = path.read_text(encoding="utf-8").replace("http://www.w3.org/2000/svg", "").replace("http-equiv", "")
        unsafe = ("http", "//fonts", "innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(")
        assert [way for way in unsafe if way in text] == [], path.name
