"""Docstrings of public functions state the shapes of tensors and arrays."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import REPOSITORY

PACKAGE = REPOSITORY / "attnviz"

FILES = sorted(PACKAGE.rglob("*.py"))
ARRAYS = re.compile(r"\b(Tensor|NDArray|Array|ArrayLike|FloatArray|IntArray)\b")
SHAPE = re.compile(r"any shape|\((?:[A-Za-z0-9.~']+(?: [+x] [A-Za-z0-9']+)*,|\.\.\.|\)|[A-Z],? ?\))")
"""As in `(B, Tx, 2n)`, `(n,)`, `(..., n)` and `()`; or of any shape."""


def _functions(path: Path) -> Iterator[ast.FunctionDef]:
    """Yield the public functions of a module and the public methods of its public classes."""
    for node in ast.parse(path.read_text(encoding="utf-8")).body:
        inside = node.body if isinstance(node, ast.ClassDef) and not node.name.startswith("_") else [node]
        yield from (one for one in inside if isinstance(one, ast.FunctionDef) and not one.name.startswith("_"))


def test_docstrings_state_shapes() -> None:
    faults = []
    for path in FILES:
        for function in _functions(path):
            kinds = [ast.unparse(one.annotation) for one in function.args.args if one.annotation is not None]
            # Weights by name have the shapes of the network's own.
            taken = [kind for kind in kinds if ARRAYS.search(kind) and "Mapping" not in kind and "Callable" not in kind]
            # The arguments of an autograd function's `backward` are the gradients of what `forward` returned.
            if taken and function.name != "backward" and not SHAPE.search(ast.get_docstring(function) or ""):
                faults.append(f"{path.relative_to(PACKAGE)}: {function.name}")
    assert faults == []
