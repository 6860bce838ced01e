"""The ES modules of the browser code: their imports, bundles, and the URL folder from which they are served.

All modules share a URL folder named by the digest of their contents: a changed module changes the name, so that
browsers may cache the files for ever. The server (`ui.server`) answers requests for them.
"""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType

_PACKAGE = Path(__file__).resolve().parent
COMPONENTS = _PACKAGE / "ui" / "components"
"""Folder with a folder for each component."""
ISOLATED = frozenset(
    {"file_link", "gallery", "picture_files", "player", "side_by_side", "timeline", "tour", "what_ifs"}
)
"""Components in a shadow root, apart from the elements and styles of the page."""
_IMPORT = re.compile(r'^import (?:(?P<names>\{[^}]*\}) from )?"(?P<path>\.[^"]+)";\n', re.MULTILINE)
_LATER_IMPORT = re.compile(r'\bimport\("(\.[^"]+)"\)')
_EXPORT = re.compile(r"^export (?=async |function |const |class )", re.MULTILINE)
_EXPORTED = re.compile(r"^export (?:async )?(?:function|const|class) (\w+)", re.MULTILINE)
_EXPORT_LIST = re.compile(r"^export \{([^}]*)\};\n", re.MULTILINE)


def static_imports(module: Path) -> list[Path]:
    """Return the modules that `module` imports by relative path, in order."""
    text = module.read_text(encoding="utf-8")
    return [(module.parent / match["path"]).resolve() for match in _IMPORT.finditer(text)]


def dynamic_imports(module: Path) -> list[Path]:
    """Return the modules that `module` imports by relative path only once it needs them."""
    text = module.read_text(encoding="utf-8")
    return [(module.parent / match[1]).resolve() for match in _LATER_IMPORT.finditer(text)]


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


def bundle(entries: Iterable[Path], generated: Mapping[str, str] = MappingProxyType({})) -> str:
    """Return `entries` and all modules that they import, also later, as one script for a page without a server.

    Its function `attnvizModule` returns the exports of a module by its path in the package, and runs it at first.
    `generated` are texts of further modules, by path.
    """
    modules: dict[Path, None] = {}
    waiting = list(entries)
    while waiting:
        new = [module for module in with_imports(waiting) if module not in modules]
        modules |= dict.fromkeys(new)
        waiting = [later for module in new for later in dynamic_imports(module)]
    texts = {_module_name(path): _as_function(path.read_text(encoding="utf-8"), path.parent) for path in modules}
    texts |= {name: _as_function(text, _PACKAGE) for name, text in generated.items()}
    functions = ",\n".join(f"{json.dumps(name)}: (exports) => {{\n{text}\n}}" for name, text in texts.items())
    return _BUNDLE.replace("FUNCTIONS", functions)


_BUNDLE = """const attnvizModule = (() => {
const functions = {
FUNCTIONS
};
const made = {};
function attnvizModule(path) {
  if (!(path in made)) functions[path](made[path] = {});
  return made[path];
}
return attnvizModule;
})();
"""


def _module_name(path: Path) -> str:
    """Return the name of a module in a bundle: its path in the package, or its file name elsewhere."""
    return path.relative_to(_PACKAGE).as_posix() if path.is_relative_to(_PACKAGE) else path.name


def _as_function(text: str, folder: Path) -> str:
    """Return the text of a module as the body of a function that fills its `exports`."""

    def needed(path: str) -> str:
        return f"attnvizModule({json.dumps(_module_name((folder / path).resolve()))})"

    def imported(match: re.Match[str]) -> str:
        names = re.sub(r"\bas\b", ":", match["names"] or "")
        return f"const {names} = {needed(match['path'])};\n" if names else f"{needed(match['path'])};\n"

    text = _IMPORT.sub(imported, text)
    text = _LATER_IMPORT.sub(lambda match: f"Promise.resolve().then(() => {needed(match[1])})", text)
    names = _EXPORTED.findall(text)
    listed = [name.strip() for match in _EXPORT_LIST.findall(text) for name in match.split(",") if name.strip()]
    text = _EXPORT_LIST.sub("", _EXPORT.sub("", text.replace("\nexport default ", "\nexports.default = ")))
    if text.startswith("export default "):
        text = text.replace("export default ", "exports.default = ", 1)
    return f"{text}\nObject.assign(exports, {{ {', '.join([*names, *listed])} }});"


@functools.cache
def _files() -> dict[str, bytes]:
    """Return the contents of all modules by their path in the package, which is also their path in the URL folder."""
    files = sorted([*_PACKAGE.glob("figures/*.js"), *COMPONENTS.rglob("*.js")])
    written = {path.relative_to(_PACKAGE).as_posix(): path.read_bytes() for path in files}
    return written | {"ui/components/files.js": f"export default {json.dumps(component_files())};\n".encode()}


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


@functools.cache
def digest() -> str:
    """Return the digest of all modules and their paths."""
    return hashlib.sha256(repr(_files()).encode()).hexdigest()[:12]


def url_folder() -> str:
    """Return the name of the URL folder of the modules."""
    return f"attnviz-modules-{digest()}"


@functools.cache
def packed_module(path: str) -> bytes | None:
    """Return the module at `path` in the URL folder, compressed by gzip, or None where there is none."""
    content = _files().get(path)
    return None if content is None else gzip.compress(content, mtime=0)


def module_path(component: str) -> Path:
    """Return the path of a component's module, whose default export mounts the component."""
    return COMPONENTS / component / f"{component}.js"


def needed_modules(components: Iterable[str]) -> list[str]:
    """Return the URL paths of the modules of `components` and of all that these import."""
    modules = with_imports([COMPONENTS / "blocks.js", *map(module_path, components)])
    return ["ui/components/files.js", *(path.relative_to(_PACKAGE).as_posix() for path in modules)]
