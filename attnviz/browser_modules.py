"""Find the imports of the ES modules in the browser code, and bundle a module with its imports as one script."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path

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
