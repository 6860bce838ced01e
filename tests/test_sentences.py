"""No assertion quotes a sentence: a sentence is compared with a snapshot, so that changing it changes no test.

A sentence is a string of five or more words in a row. The check reads the strings inside an `assert` (not its message),
in the arguments of Playwright's `expect` and text matchers, and in `match=`.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parent
EXEMPT = "test_languages.py"
"""It compares entries of a catalog that the test itself writes."""
MATCHERS = re.compile(
    "expect|(not_)?to_(have_text|contain_text|have_accessible_name|have_accessible_description|have_attribute|have_title)"
)
# "l'eau" and "don't" are one word each; `{}` is a value between the words of an f-string.
WORD = r"(?:\b[^\W\d_]['’])?(?:[^\W\d_]{2,}|\b[aàyAIÀY]\b)(?:['’][^\W\d_]\b)?"
STRETCH = re.compile(rf"{WORD}(?:(?:(?!  )[ ,'’-]|\{{[^{{}}]*\}})+{WORD}){{4,}}")


def asserted(tree: ast.AST) -> Iterator[ast.AST]:
    """Yield what is asserted: the tests of `assert`, the arguments of `expect` and of matchers, and `match=`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Assert):
            yield node.test
        elif isinstance(node, ast.Call):
            matcher = MATCHERS.fullmatch(getattr(node.func, "attr", getattr(node.func, "id", "")))
            yield from node.args if matcher else ()
            yield from (one.value for one in node.keywords if matcher or one.arg == "match")


def strings(tree: ast.AST) -> Iterator[str]:
    """Yield the text of each string in a tree, with `{}` for each value in an f-string."""
    if isinstance(tree, ast.JoinedStr):
        yield "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in tree.values)
    elif isinstance(tree, ast.Constant):
        yield from [tree.value] if isinstance(tree.value, str) else ()
    else:
        for child in ast.iter_child_nodes(tree):
            yield from strings(child)


def test_no_assertion_quotes_a_sentence() -> None:
    """Compare a sentence with the fixture `snapshot` instead; `pytest FILE --snapshot-update` writes it."""
    found = [
        f"{path.relative_to(TESTS)}: {text!r}"
        for path in sorted(TESTS.rglob("*.py"))
        if path.name != EXEMPT
        for expression in asserted(ast.parse(path.read_text(encoding="utf-8")))
        for text in strings(expression)
        if any(" " in stretch.group() for stretch in STRETCH.finditer(text))
    ]
    assert not found, "\n".join(found)
