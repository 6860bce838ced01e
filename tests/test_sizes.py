"""How large things may grow before a second idea lives in them, and what their docstrings must say."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from statistics import median

import pytest

from tests.conftest import REPOSITORY

PACKAGE = REPOSITORY / "attnviz"
LONGEST_FILE, MEDIAN_FILE, LONGEST_FUNCTION = 300, 120, 50
PROGRAMS = [*sorted(PACKAGE.rglob("*.py")), *sorted(PACKAGE.rglob("*.js"))]
ARRAYS = re.compile(r"\b(Tensor|NDArray|FloatArray|IntArray|Array|ArrayLike|ndarray)\b")
SHAPE = re.compile(
    r"\(\)|any shape|as `\w+\.\w+`|\([^()]*(\b[A-Z][a-z]?\b|\b[nlmk]\b|n'|\.\.\.|\bpieces\b|\bwords\b|\bN\b|\d)[^()]*\)"
)
"""A shape as the docstrings write them: (B, Tx, 2n), (n,), (Ty,), (..., n)."""


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


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.py")), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_what_takes_arrays_says_their_shapes(path: Path) -> None:
    for node in _functions(path):
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        kinds = {a.arg: ast.unparse(a.annotation) for a in arguments if a.annotation}
        takes = [name for name, kind in kinds.items() if ARRAYS.search(kind) and not re.match("dict|Mapping", kind)]
        if takes and not node.name.startswith("_"):
            assert SHAPE.search(ast.get_docstring(node) or ""), f"{node.name}: {', '.join(takes)}"
