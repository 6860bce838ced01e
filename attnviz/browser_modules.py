"""The ES modules of the browser code, bundled to one script: for the app, for a file, and for a page of others."""

from __future__ import annotations

import functools
import json
import re
from collections.abc import Callable, Iterable, Set
from pathlib import Path

from attnviz import __version__
from attnviz.browser_programs import BrowserProgram, font_style
from attnviz.palette import JOINT, QUIET

_PACKAGE = Path(__file__).resolve().parent
COMPONENTS = _PACKAGE / "ui" / "components"
"""Folder with a folder for each component."""
SHARES: dict[str, float] = {"quiet": QUIET, "joint": JOINT}
"""Constants of style sheets: custom properties such as `--quiet-share`, in percent."""
ISOLATED = frozenset(
    {"file_link", "gallery", "picture_files", "player", "side_by_side", "timeline", "tour", "what_ifs"}
)
"""Components in a shadow root, apart from the elements and styles of the page."""
_IMPORT = re.compile(r'^import (?P<names>\{[^}]*\}) from "(?P<path>\.[^"]+)";\n', re.MULTILINE)
_EXPORT = re.compile(r"^export (?=async |function |const |class )", re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.MULTILINE)
_COMMENT = re.compile(r"^ *(?://.*|/\*\*(?:(?!\*/)[\s\S])*\*/)\n", re.MULTILINE)
"""A comment on lines of its own: a third of the text."""


def static_imports(module: Path) -> list[Path]:
    """Return the modules that `module` imports by relative path, in order."""
    text = module.read_text(encoding="utf-8")
    return [(module.parent / match["path"]).resolve() for match in _IMPORT.finditer(text)]


def with_imports(modules: Iterable[Path]) -> list[Path]:
    """Return `modules` and everything that they import, each once and after its own imports."""
    ordered: dict[Path, None] = {}

    def add(module: Path) -> None:
        if module not in ordered:
            for dependency in static_imports(module):
                add(dependency)
            ordered[module] = None

    for module in modules:
        add(module.resolve())
    return list(ordered)


def modules_script(
    entry: str, kinds: Set[str] | None = None, page_style: str = "", change: Callable[[str], str] = str
) -> str:
    """Return the module `entry` and components, with all modules that they import, as one script.

    Its function `attnvizModule` returns the exports of a module by its path in the package, and runs it at first.

    Args:
        entry: File name of the module.
        kinds: Names of the components, by default all; other names are ignored.
        page_style: Style sheet of the page, the component "page".
        change: Changes each style sheet.

    Returns:
        The script.
    """
    files = component_files()
    needed = {name: files[name] for name in ("blocks", *sorted(files if kinds is None else kinds)) if name in files}
    modules = [COMPONENTS / entry, *(module_path(kind) for kind in needed if kind != "blocks")]
    if page_style:
        page: dict[str, str | bool] = {"html": "", "css": page_style, "isolated": False}
        needed = {"page": page} | needed
    needed = {kind: one | {"css": change(str(one["css"]))} for kind, one in needed.items()}
    texts = {
        _module_name(path): _as_function(path.read_text(encoding="utf-8"), path.parent)
        for path in with_imports(modules)
    }
    texts["files.js"] = f"exports.default = {json.dumps(needed)};"
    functions = ",\n".join(f"{json.dumps(name)}: (exports) => {{\n{text}\n}}" for name, text in texts.items())
    return _BUNDLE.replace("FUNCTIONS", functions)


_BUNDLE = """const attnvizModule = (() => {
const functions = {
FUNCTIONS
};
const made = {};
function attnvizModule(path) {
  if (!(path in made)) {
    const exports = {};
    functions[path](exports);
    made[path] = exports; // not where the module throws
  }
  return made[path];
}
return attnvizModule;
})();
"""


def _module_name(path: Path) -> str:
    """Return the name of a module in a bundle: its path in the package."""
    return path.relative_to(_PACKAGE).as_posix()


def _as_function(text: str, folder: Path) -> str:
    """Return the text of a module as the body of a function that fills its `exports`."""

    def needed(path: str) -> str:
        return f"attnvizModule({json.dumps(_module_name((folder / path).resolve()))})"

    def imported(match: re.Match[str]) -> str:
        names = re.sub(r"\bas\b", ":", match["names"])
        return f"const {names} = {needed(match['path'])};\n"

    text = _IMPORT.sub(imported, _COMMENT.sub("", text))
    names = _EXPORTED.findall(text)
    text = _EXPORT.sub("", text.replace("\nexport default ", "\nexports.default = "))
    return f"{text}\nObject.assign(exports, {{ {', '.join(names)} }});"


def component_files() -> dict[str, dict[str, str | bool]]:
    """Return markup and style sheet of each component, and whether it is isolated; "blocks" has the style of boxes."""

    def text(name: str, ending: str) -> str:
        path = COMPONENTS / name / f"{name}.{ending}"
        return path.read_text(encoding="utf-8").strip() if path.exists() else ""

    names = sorted(path.name for path in COMPONENTS.iterdir() if module_path(path.name).exists())
    files: dict[str, dict[str, str | bool]] = {
        name: {"html": text(name, "html"), "css": text(name, "css"), "isolated": name in ISOLATED} for name in names
    }
    style = (COMPONENTS / "blocks.css").read_text(encoding="utf-8")
    files["blocks"] = {"html": "", "css": style, "isolated": False}
    return files


def module_path(component: str) -> Path:
    """Return the path of a component's module, whose default export mounts the component."""
    return COMPONENTS / component / f"{component}.js"


def page_style() -> str:
    """Return the style sheet of the page, with the shares for all components, also those with a shadow root."""
    shares = " ".join(f"--{name}-share: {100 * value:g}%;" for name, value in SHARES.items())
    return f":root {{ {shares} }}\n{COMPONENTS.with_name('page.css').read_text(encoding='utf-8')}"


class _AppModules(BrowserProgram):
    """All modules, as the module that Streamlit gets: its default export draws blocks.

    It brings the style sheet of the page, which so applies before anything is drawn and measured.
    """

    @functools.cached_property
    def text(self) -> str:
        """The content of the module."""
        script = modules_script("blocks.js", page_style=font_style() + page_style())
        return f'{script}export default attnvizModule("ui/components/blocks.js").host();\n'


APP_MODULES = _AppModules("attnviz", __version__)
"""The app's own browser code."""
