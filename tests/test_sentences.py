"""No assertion quotes a sentence: a sentence is compared with a snapshot, so that changing it changes no test.

A sentence is a string of five or more words in a row. The check reads the strings inside an `assert` (not its message),
in the arguments of Playwright's `expect` and text matchers, in `match=`, and those of names that only comparisons use.
Inputs of the program are no assertions: a name that is also used elsewhere is not read.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parent

# Files that are about the characters of a sentence, or that hold sentences as data of the check itself.
EXEMPT = {
    "test_languages.py": "compares entries of a catalog that the test itself writes",
    "test_sentences.py": "quotes sentences to test the check itself",
}

MATCHERS = {"expect"} | {
    f"{negation}{name}"
    for negation in ("", "not_")
    for name in (
        "to_have_text",
        "to_contain_text",
        "to_have_accessible_name",
        "to_have_accessible_description",
        "to_have_attribute",
        "to_have_title",
    )
}

# "l'eau" and "don't" are one word each; `{}` is a value between the words of an f-string.
WORD = r"(?:\b[^\W\d_]['’])?(?:[^\W\d_]{2,}|\b[aàyAIÀY]\b)(?:['’][^\W\d_]\b)?"
BETWEEN = r"(?:(?!  )[ ,'’-]|\{[^{}]*\})+"
STRETCH = re.compile(f"{WORD}(?:{BETWEEN}{WORD}){{4,}}")


def is_sentence(text: str) -> bool:
    """Return whether a text has five or more words in a row, not all of them joined by hyphens."""
    return any(" " in match.group() for match in STRETCH.finditer(text))


def strings(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Yield the line and text of each string in a tree, with `{}` for each value in an f-string."""
    if isinstance(tree, ast.JoinedStr):
        yield (
            tree.lineno,
            "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in tree.values),
        )
    elif isinstance(tree, ast.Constant):
        if isinstance(tree.value, str):
            yield tree.lineno, tree.value
    else:
        for child in ast.iter_child_nodes(tree):
            yield from strings(child)


def asserted(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what is asserted: the tests of `assert`, the arguments of `expect` and of matchers, and `match=`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield node.test
        elif isinstance(node, ast.Call):
            if getattr(node.func, "attr", getattr(node.func, "id", None)) in MATCHERS:
                yield from node.args
                yield from (keyword.value for keyword in node.keywords)
            else:
                yield from (keyword.value for keyword in node.keywords if keyword.arg == "match")


def compared(expression: ast.AST) -> Iterator[ast.Name]:
    """Yield the names in an assertion that are compared, or that are the whole argument of a matcher."""
    if isinstance(expression, ast.Name):
        yield expression
    for node in ast.walk(expression):
        if isinstance(node, ast.Compare):
            yield from (side for side in (node.left, *node.comparators) if isinstance(side, ast.Name))


def bound(scope: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the names that a scope binds to values: by assignment, in a loop, or as parameters of a test."""
    if isinstance(scope, ast.FunctionDef):
        for decorator in scope.decorator_list:
            if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "pytest.mark.parametrize":
                yield from parametrized(*decorator.args[:2])
    for node in body(scope):
        if isinstance(node, ast.Assign):
            yield from ((target.id, node.value) for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Name | ast.Tuple):
            targets = [ast.unparse(target) for target in getattr(node.target, "elts", [node.target])]
            yield from rows(targets, node.iter)


def body(scope: ast.AST) -> Iterator[ast.AST]:
    """Yield the nodes of a scope, without those of the functions and classes in it."""
    for child in ast.iter_child_nodes(scope):
        if not isinstance(child, ast.FunctionDef | ast.ClassDef):
            yield child
            yield from body(child)


def parametrized(names: ast.AST, values: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the names of `pytest.mark.parametrize` with each of their values."""
    try:
        given = ast.literal_eval(names)
    except ValueError:
        return
    yield from rows(given.replace(" ", "").split(",") if isinstance(given, str) else list(given), values)


def rows(names: list[str], values: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """Yield the names with each of their values in a list of values, or of tuples of them."""
    for row in getattr(values, "elts", []):
        cells = row.args if isinstance(row, ast.Call) else getattr(row, "elts", [row]) if len(names) > 1 else [row]
        yield from zip(names, cells, strict=False)


def sentences(source: str) -> list[tuple[int, str]]:
    """Return the line and text of each sentence that a test module asserts."""
    tree = ast.parse(source)
    assertions = list(asserted(tree))
    found = {found for expression in assertions for found in strings(expression)}
    comparisons = {id(name) for expression in assertions for name in compared(expression)}
    for scope in ast.walk(tree):
        if isinstance(scope, ast.Module | ast.FunctionDef):
            uses: dict[str, list[bool]] = {}
            for node in ast.walk(scope):
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                    uses.setdefault(node.id, []).append(id(node) in comparisons)
            for name, value in bound(scope):
                if all(uses.get(name, [False])):
                    found.update(strings(value))
    return sorted((line, text) for line, text in found if is_sentence(text))


MODULES = sorted(str(path.relative_to(TESTS)) for path in TESTS.rglob("*.py"))


def test_no_assertion_quotes_a_sentence() -> None:
    """Compare a sentence with the fixture `snapshot` instead; `pytest FILE --snapshot-update` writes it."""
    found = [
        f"tests/{module}:{line}: {text!r}"
        for module in MODULES
        if module not in EXEMPT
        for line, text in sentences((TESTS / module).read_text(encoding="utf-8"))
    ]
    assert not found, "\n".join(found)


def test_exempt_files_exist() -> None:
    assert set(EXEMPT) <= set(MODULES)
