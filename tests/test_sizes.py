"""How large things may grow before a second idea lives in them."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from tests.conftest import REPOSITORY

PACKAGE = REPOSITORY / "attnviz"
LONGEST_FILE, MEDIAN_FILE, LONGEST_FUNCTION = 300, 120, 50
PROGRAMS = [*sorted(PACKAGE.rglob("*.py")), *sorted(path for path in PACKAGE.rglob("*.js") if ".min" not in path.name)]


def _lines(path: Path) -> int:
    return len(path.read_text(encoding="utf-8").splitlines())


def _functions(path: Path) -> Iterator[ast.FunctionDef]:
    """Yield the functions and methods of a file; what is defined inside of them is part of them."""
    places: list[ast.Module | ast.ClassDef] = [ast.parse(path.read_text(encoding="utf-8"))]
    for place in places:
        yield from (node for node in place.body if isinstance(node, ast.FunctionDef))
        places += [node for node in place.body if isinstance(node, ast.ClassDef)]


@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_file_is_too_long(path: Path) -> None:
    assert _lines(path) <= LONGEST_FILE


def test_most_files_are_short() -> None:
    assert median(_lines(path) for path in PROGRAMS if _lines(path) > 1) <= MEDIAN_FILE


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_no_function_is_too_long(path: Path) -> None:
    for node in _functions(path):
        assert (node.end_lineno or 0) - node.lineno < LONGEST_FUNCTION, node.name
