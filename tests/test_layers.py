"""Which room of the package may import which: read from the source, and tried with the forbidden modules absent."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conftest import REPOSITORY

PACKAGE = REPOSITORY / "attnviz"

FLOORS = {
    "errors": 0,
    "languages": 0,
    "bounds": 0,
    "browser_programs": 0,
    "kept": 0,
    "memory": 0,
    "files": 1,
    "text": 1,
    "network": 1,
    "palette": 1,
    "model_folder": 2,
    "trace": 2,
    "devices": 2,
    "vocabulary": 2,
    "checkpoint": 3,
    "decoding": 3,
    "translator": 4,
    "detector": 4,
    "analysis": 4,
    "shared_translator": 5,
    "wording": 5,
    "training": 5,
    "importing": 5,
    "figures": 6,
    "evaluation": 6,
    "export": 7,
    "corpora": 7,
    "notebook": 8,
    "ui": 8,
    "commands": 8,
    "__init__": 9,
    "__main__": 9,
}
"""A room imports from lower floors and from itself."""

UI_FLOORS = {
    "carried": 0,
    "unheard": 0,
    "whole_callbacks": 0,
    "language": 1,
    "glossary": 1,
    "passage": 1,
    "pictures": 1,
    "turns": 1,
    "admission": 1,
    "sign_in": 1,
    "shelf": 1,
    "file_box": 2,
    "resources": 2,
    "by_length": 3,
    "page_state": 3,
    "records": 3,
    "components": 4,
    "style": 5,
    "chrome": 6,
    "step": 6,
    "toolbar": 7,
    "corpus": 8,
    "lab": 8,
    "learns": 8,
    "transformer": 8,
    "why": 8,
    "pages": 9,
    "server": 10,
}
"""The same inside the page's own room."""

FORBIDDEN = {
    "browser_programs": {"torch", "streamlit", "plotly"},
    "bounds": {"torch", "streamlit", "plotly"},
    "kept": {"torch", "streamlit", "plotly"},
    "files": {"torch", "streamlit", "plotly"},
    "model_folder": {"torch", "streamlit", "plotly"},
    "text": {"torch", "streamlit", "plotly"},
    "vocabulary": {"torch", "streamlit", "plotly"},
    "palette": {"torch", "streamlit", "plotly"},
    "trace": {"torch", "streamlit", "plotly"},
    "analysis": {"torch", "streamlit", "plotly"},
    "wording": {"torch", "streamlit", "plotly", "pandas"},
    "figures": {"torch", "streamlit"},
    "export": {"torch", "streamlit"},
    "notebook": {"torch", "streamlit"},
    "network": {"streamlit", "plotly"},
    "checkpoint": {"streamlit", "plotly"},
    "decoding": {"streamlit", "plotly"},
    "translator": {"streamlit", "plotly"},
    "detector": {"streamlit", "plotly"},
    "shared_translator": {"streamlit", "plotly"},
    "training": {"streamlit", "plotly"},
    "evaluation": {"streamlit", "plotly"},
    "importing": {"streamlit", "plotly"},
    "corpora": {"streamlit", "plotly", "pandas"},
    "ui": {"torch"},
    "commands": {"torch", "streamlit"},
}
UNPICKLING = {"pickle", "cPickle", "dill", "joblib", "shelve", "marshal", "cloudpickle"}


def _modules() -> list[Path]:
    return sorted(PACKAGE.rglob("*.py"))


def _room(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def _imports(path: Path) -> set[str]:
    """Return the dotted names that a file imports anywhere, `from x import y` as `x.y`."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            found.update(f"{node.module}.{alias.name}" for alias in node.names)
    return found


@pytest.mark.parametrize("path", _modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports(path: Path) -> None:
    room = _room(path)
    assert room in FLOORS, f"the design has no room {room}"
    for name in _imports(path):
        parts = name.split(".")
        assert parts[0] not in FORBIDDEN.get(room, set()) | UNPICKLING, f"{room} must not import {parts[0]}"
        if parts[0] == "attnviz" and parts[1] in FLOORS and parts[1] != room:
            assert FLOORS[parts[1]] < FLOORS[room], f"{room} must not import {parts[1]}"


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("ui/**/*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_inside_the_page(path: Path) -> None:
    room = (*path.relative_to(PACKAGE / "ui").parts, "")[0].removesuffix(".py")
    for name in _imports(path):
        parts = name.split(".")
        if parts[:2] != ["attnviz", "ui"] or room == "__init__":
            continue
        if room in ("components", "pages") and parts[2] == room and len(parts) > 4:
            assert parts[3] in ("loader", path.parent.name), f"{room} never import one another sideways: {name}"
        elif parts[2] != room:
            assert UI_FLOORS[parts[2]] < UI_FLOORS[room], f"{room} must not import {parts[2]}"


def test_the_ui_never_touches_the_network() -> None:
    for path in (*PACKAGE.glob("ui/**/*.py"), REPOSITORY / "app.py"):
        for name in _imports(path):
            assert not name.startswith(("attnviz.network", "attnviz.decoding", "attnviz.checkpoint")), f"{path}: {name}"


def test_the_entry_point_of_the_page_is_small() -> None:
    assert len((REPOSITORY / "app.py").read_text(encoding="utf-8").splitlines()) < 80


@pytest.mark.parametrize(
    ("modules", "absent"),
    [
        ("attnviz attnviz.trace attnviz.text attnviz.model_folder", "torch streamlit plotly safetensors"),
        ("attnviz.analysis.measures attnviz.analysis.recomputation", "torch streamlit plotly"),
        ("attnviz.wording attnviz.wording.stages attnviz.wording.findings", "torch streamlit plotly pandas"),
        ("attnviz.figures attnviz.export", "torch streamlit safetensors"),
        ("attnviz.translator attnviz.training attnviz.evaluation", "streamlit plotly pandas"),
        ("attnviz.commands.program", "torch streamlit plotly sacrebleu pandas safetensors"),
    ],
)
def test_what_can_be_imported_without_what(modules: str, absent: str) -> None:
    program = (
        "import importlib, sys\n"
        f"for name in {absent.split()}: sys.modules[name] = None\n"
        f"for name in {modules.split()}: importlib.import_module(name)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=REPOSITORY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_exported_names() -> None:
    import attnviz

    assert sorted(attnviz.__all__) == [
        "Attention",
        "AttnvizError",
        "Trace",
        "Translator",
        "attention",
        "from_huggingface",
    ]
    for name in attnviz.__all__:
        assert getattr(attnviz, name).__name__ == name
    with pytest.raises(AttributeError, match="Transformer"):
        _ = attnviz.Transformer
