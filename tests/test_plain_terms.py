"""Terminology: messages, guides and names use the terms of the field, and none of the former private words."""

from __future__ import annotations

import io
import re
import tokenize
from pathlib import Path

import pytest
from babel.messages.catalog import Message

from attnviz.languages import catalog_files, read_catalog
from tests.catalogs import forms
from tests.conftest import REPOSITORY

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


def messages() -> list[Message]:
    return [message for message in read_catalog(catalog_files()["fr"]) if message.id]


def test_messages_use_the_terms_of_the_field() -> None:
    english = [
        (text, private_terms(ENGLISH, text))
        for one in messages()
        for text in ([one.id] if isinstance(one.id, str) else one.id)
    ]
    assert [one for one in english if one[1]] == []


def test_french_messages_use_one_word_for_one_thing() -> None:
    french = [(text, private_terms(FRENCH, text)) for one in messages() for text in forms(one)]
    assert [one for one in french if one[1]] == []


@pytest.mark.parametrize("pattern", ["README.md", ".docs/**/*.md", ".github/CONTRIBUTING.md"])
def test_guides_use_the_terms_of_the_field(pattern: str) -> None:
    for path in REPOSITORY.glob(pattern):
        prose = re.sub(r"(?s)```.*?```|`[^`]*`", "", path.read_text(encoding="utf-8"))
        assert private_terms(ENGLISH, prose) == [], path.name


@pytest.mark.parametrize(
    "text", ["Its looks are drawn.", "The ledger of a word", "The numbers are proved.", "lest it be lost"]
)
def test_private_words_are_detected(text: str) -> None:
    assert private_terms(ENGLISH, text)


IDENTIFIERS = re.compile(
    r"(?<![a-z])(?:ledgers?|microscopes?|rivals?|firmness|proofs?|prove[sdr]?|provers?|toured|reckon\w*|shel(?:f|ves)|unheard"
    r"|lacking|passages?|telling|dial|looked|look_of|branches)(?![a-z])"
)
"""Private words, as parts of names in Python, JavaScript and style sheets."""


def names_in(path: Path) -> set[str]:
    """Return the names in a source file."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py":
        return {one.string for one in tokenize.generate_tokens(io.StringIO(text).readline) if one.type == tokenize.NAME}
    return set(re.findall(r"[A-Za-z_$][\w$-]*", re.sub(r"(?s)//[^\n]*|/\*.*?\*/", "", text)))


def test_names_in_the_code_use_the_terms_of_the_field() -> None:
    package = REPOSITORY / "attnviz"
    paths = [path for path in package.rglob("*") if path.suffix in (".py", ".js", ".ts", ".css", ".html")]
    private_names = {
        f"{path.relative_to(package)}: {name}"
        for path in paths
        if "browser_programs" not in path.parts
        for name in {path.stem, *names_in(path)}
        if IDENTIFIERS.search(re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name).lower())
    }
    assert private_names == set()
