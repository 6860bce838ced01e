"""Payload keys: each that a component's JavaScript reads from its data is made in Python."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from tests.conftest import REPOSITORY

PACKAGE = REPOSITORY / "attnviz"
READ = re.compile(r"\b(?:data|payload|record|words)\.([A-Za-z_]\w*)")
"""A key that JavaScript reads from a payload or from its labels."""
METHODS = {"map", "flatMap", "findLastIndex"}
"""Methods of arrays in payloads."""


def python_keys(path: Path) -> set[str]:
    """Return what a module may make keys of: strings, keyword arguments and fields of data classes."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            found.add(node.value)
        elif isinstance(node, ast.keyword) and node.arg:
            found.add(node.arg)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.add(node.target.id)
    return found


def test_every_payload_key_that_javascript_reads_is_made_in_python() -> None:
    made = set().union(*(python_keys(path) for path in PACKAGE.rglob("*.py")))
    scripts = [*PACKAGE.glob("ui/components/**/*.js"), *PACKAGE.glob("export/assets/*.js")]
    read = {
        f"{path.name}: {key}"
        for path in scripts
        for key in READ.findall(path.read_text(encoding="utf-8"))
        if key not in made
    }
    assert {one for one in read if one.partition(": ")[2] not in METHODS} == set()
