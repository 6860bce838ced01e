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
from collections.abc import Iterable
from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent
COMPONENTS = _PACKAGE / "ui" / "components"
"""Folder with a folder for each component."""
ISOLATED = frozenset(
    {"file_link", "gallery", "lesson_frame", "picture_files", "player", "side_by_side", "timeline", "tour", "what_ifs"}
)
"""Components in a shadow root, apart from the elements and styles of the page."""
_IMPORT = re.compile(r'^import (?:[^;"]* from )?"(\.[^"]+)";\n', re.MULTILINE)
_LATER_IMPORT = re.compile(r'\bimport\("(\.[^"]+)"\)')
_EXPORT = re.compile(r"^export (?=async |function |const |let |class )", re.MULTILINE)


def static_imports(module: Path) -> list[Path]:
    """Return the modules that `module` imports by relative path, in order."""
    text = module.read_text(encoding="utf-8")
    return [(module.parent / match[1]).resolve() for match in _IMPORT.finditer(text)]


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


def bundle(module: Path) -> str:
    """Return `module` and everything that it imports as one script, for a page that is a single file.

    The modules share one scope, so no two of them may define the same name.
    """
    texts = (path.read_text(encoding="utf-8") for path in with_imports([module]))
    return "\n".join(_EXPORT.sub("", _IMPORT.sub("", text)) for text in texts)


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
