"""No language lacks a sentence, keeps one that nobody says, or loses a number on the way."""

from __future__ import annotations

import re
import string
from pathlib import Path

import pytest
from babel.messages.catalog import Catalog

import attnviz
from attnviz.languages import gettext, language, set_language
from attnviz.languages.catalogs import catalog_files, read_catalog
from tests.catalogs import extract

PACKAGE = Path(attnviz.__file__).parent
CODES = list(catalog_files())


@pytest.fixture(scope="module", params=CODES)
def catalog(request: pytest.FixtureRequest) -> Catalog:
    return read_catalog(catalog_files()[request.param])


def fields(sentence: str) -> set[str]:
    return {name for _, name, _, _ in string.Formatter().parse(sentence) if name}


def test_a_catalog_has_every_sentence_and_no_other(catalog: Catalog) -> None:
    assert {message.id for message in catalog if message.string} == {message.id for message in extract()}


def test_a_sentence_keeps_its_numbers_in_every_language(catalog: Catalog) -> None:
    for message in catalog:
        assert message.string.strip(), message.id
        try:
            expected = fields(message.id)
        except ValueError:  # braces of LaTeX or CSS, kept as they are
            continue
        assert not message.id or fields(message.string) == expected, message.id


def test_french_sets_its_signs_apart_without_a_line_break() -> None:
    for message in read_catalog(catalog_files()["fr"]):
        assert not message.id or not re.search(r" [;:!?%»]|« |«(?=\S)(?!\u00a0)", message.string), message.id


@pytest.mark.parametrize("path", sorted(PACKAGE.rglob("*.html")), ids=lambda path: path.name)
def test_no_words_stand_in_the_markup(path: Path) -> None:
    html = re.sub(r"\{\{\w+\}\}", "", path.read_text(encoding="utf-8"))
    read = re.sub(r"<[^>]*>", " ", html) + " ".join(re.findall(r'(?:aria-label|title|placeholder|alt)="([^"]*)"', html))
    assert not re.search(r"[^\W\d_]{2,}", read), read


def test_a_language_that_is_unknown_is_english() -> None:
    set_language("xx")
    assert language() == "en"
    assert gettext("Nothing {here} is replaced") == "Nothing {here} is replaced"
    assert gettext("{count} words", count=3) == "3 words"
