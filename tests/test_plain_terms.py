"""Terminology: messages and guides use the terms of the field, and none of the former private words."""

import re

import pytest

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
