"""No language lacks a sentence, keeps one that nobody says, or loses a number on the way."""

from __future__ import annotations

import ast
import re
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

import attnviz
from attnviz.languages import LANGUAGES, catalogue, gettext, language, speak

PACKAGE = Path(attnviz.__file__).parent
OTHERS = [code for code in LANGUAGES if code != "en"]


def said() -> Iterator[tuple[str, str]]:
    """Yield the place and the sentence of every call of `gettext` in the package."""
    for path in sorted(PACKAGE.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "gettext":
                place = f"{path.relative_to(PACKAGE)}:{node.lineno}"
                assert isinstance(node.args[0], ast.Constant), f"{place}: say needs a literal sentence"
                yield place, node.args[0].value


def fields(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


@pytest.mark.parametrize("code", OTHERS)
def test_every_sentence_is_in_every_catalogue(code: str) -> None:
    missing = [f"{place}: {sentence}" for place, sentence in said() if sentence not in catalogue(code)]
    assert not missing, "\n".join(missing)


@pytest.mark.parametrize("code", OTHERS)
def test_no_catalogue_has_sentences_that_nobody_says(code: str) -> None:
    assert not set(catalogue(code)) - {sentence for _, sentence in said()}


@pytest.mark.parametrize("code", OTHERS)
def test_a_sentence_keeps_its_numbers_in_every_language(code: str) -> None:
    for english, other in catalogue(code).items():
        assert other.strip(), english
        try:
            expected = fields(english)
        except ValueError:  # braces of LaTeX or CSS, kept as they are
            continue
        assert fields(other) == expected, english


def test_french_sets_its_signs_apart_without_a_line_break() -> None:
    for english, french in catalogue("fr").items():
        assert not re.search(r" [;:!?%»]|« |«(?=\S)(?!\u00a0)", french), f"{english}: {french!r}"


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.html")), ids=lambda path: path.name)
def test_no_words_stand_in_the_markup(path: Path) -> None:
    html = re.sub(r"\{\{\w+\}\}", "", path.read_text(encoding="utf-8"))
    read = re.sub(r"<[^>]*>", " ", html) + " ".join(re.findall(r'(?:aria-label|title|placeholder|alt)="([^"]*)"', html))
    assert not re.search(r"[^\W\d_]{2,}", read), read


def test_a_language_that_is_unknown_is_english() -> None:
    speak("xx")
    assert language() == "en"
    assert gettext("Nothing {here} is replaced") == "Nothing {here} is replaced"
    assert gettext("{count} words", count=3) == "3 words"
