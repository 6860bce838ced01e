"""Glossary: each term is defined once, in both languages, and each page defines the terms that it uses."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from attnviz.languages import set_language
from attnviz.ui.glossary import Topic, glossary
from tests.conftest import REPOSITORY

CALL = re.compile(r"glossary_box\([^)]*?\"glossary\"\)?,([^)]*)\)")
WORDS = {
    "why": ("pages/why_page.py", "Fixed vector", "BLEU", "Gradient", "chrF2", "Annotation", "Context vector"),
    "learns": ("pages/learns_page.py", "Loss", "BLEU", "AER", "Update", "Attention weight"),
    "transformer": (
        "pages/transformer_page.py",
        "Head",
        "Layer",
        "Query",
        "key",
        "Value",
        "Residual stream",
        "Mask",
        "AER",
    ),
    "corpus": ("corpus/corpus_sections.py", "chrF2", "BLEU", "AER", "Entropy", "Coverage", "Pharaoh"),
    "lab": ("pages/lab_page.py", "Attention weight", "Logit", "Posterior", "AER"),
    "translate": ("step/step_view.py", "State", "Maxout", "GRU", "Head", "`<s>`, `</s>`, `<unk>`"),
}
"""By page: the module that draws its glossary, and terms that must be in it."""


def terms(*topics: Topic) -> list[str]:
    return re.findall(r"\*\*(.+?)\*\*", "\n".join(glossary(*topics)))


@pytest.mark.parametrize("code", ["en", "fr"])
def test_every_term_is_defined_once(code: str) -> None:
    set_language(code)
    found = terms(*get_args(Topic))
    assert len(found) == len(set(found)) >= 35


@pytest.mark.parametrize("page", WORDS)
def test_page_glossary_defines_the_terms_of_the_page(page: str) -> None:
    file, *words = WORDS[page]
    (called,) = CALL.findall((REPOSITORY / "attnviz" / "ui" / file).read_text(encoding="utf-8"))
    topics = [topic for topic in get_args(Topic) if f'"{topic}"' in called]
    assert set(words) <= set(terms(*topics))
