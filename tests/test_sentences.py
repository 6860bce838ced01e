"""Words: no assertion quotes a sentence, and messages and guides use the terms of the field.

A sentence is compared with a snapshot, so that changing it changes no test.
A sentence is a string of five or more words in a row. The check reads the strings inside an `assert` (not its message),
in the arguments of Playwright's `expect` and text matchers, and in `match=`.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from attnviz.languages import catalog_files, read_catalog
from tests.catalogs import forms
from tests.conftest import REPOSITORY

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


ENGLISH = {
    r"\b(?:an?|the|its|this|another|each|guided) look\b|\b(?:its|these|those|their|many|other) looks\b": "attention",
    r"\bledgers?\b": "logit attribution",
    r"\bmicroscopes?\b": "energy decomposition",
    r"\brivals?\b": "foil",
    r"\bfirmness\b": "minimal change",
    r"\b(?:proofs?|prove[sdr]?|unproved)\b": "verification, verified",
    r"\bthe machine\b": "architecture diagram",
    r"\bdials?\b": "level of detail",
    r"\bon show\b": "shown",
    r"\b(?:is|are|was|were|be) told\b|\breckon\w*|\blest\b|\btoured\b|\bshelf\b|\bunheard\b": "a plain word",
}
"""Regular expressions for the private words, and their replacements."""
FRENCH = {
    r"\b(?:pièces?|morceaux?)\b": "sous-mot",
    r"\btransformeurs?\b": "transformer",
    r"\bla machine\b": "schéma d’architecture",
    r"\b(?:registre|décompte) du logit\b": "attribution du logit",
    r"\b(?:preuves?|prouv\w+)\b": "vérification, vérifié",
}


def private_terms(words: dict[str, str], text: str) -> list[str]:
    """Return the private words in a text, outside placeholders, and their replacements."""
    plain = re.sub(r"\{[^}]*\}|<[^>]*>", "", text)
    return [f"“{match[0]}” → {use}" for word, use in words.items() if (match := re.search(word, plain, re.IGNORECASE))]


def test_messages_use_the_terms_of_the_field_and_french_ones_one_word_for_one_thing() -> None:
    for message in read_catalog(catalog_files()["fr"]):
        for text in message.id if isinstance(message.id, tuple) else (message.id,):
            assert private_terms(ENGLISH, text) == [], text
        for text in forms(message) if message.id else ():
            assert private_terms(FRENCH, text) == [], text


@pytest.mark.parametrize("pattern", ["README.md", ".docs/**/*.md", ".github/CONTRIBUTING.md"])
def test_guides_use_the_terms_of_the_field(pattern) -> None:
    for path in REPOSITORY.glob(pattern):
        prose = re.sub(r"(?s)```.*?```|`[^`]*`", "", path.read_text(encoding="utf-8"))
        assert private_terms(ENGLISH, prose) == [], path.name
