"""The words of the pages: each is told once, in both languages, and a page tells those that it speaks of."""

from __future__ import annotations

import re
from typing import get_args

import pytest

from attnviz.languages import set_language
from attnviz.ui.glossary import Topic, glossary
from tests.conftest import REPOSITORY

CALL = re.compile(r"glossary_box\([^)]*?\"glossary\"\)?,([^)]*)\)")
WORDS = {
    "why": ("pages/why.py", "Fixed vector", "BLEU", "Gradient", "chrF2", "Annotation", "Context vector"),
    "learns": ("learns/learning_page.py", "Loss", "BLEU", "AER", "Update", "Attention weight"),
    "transformer": ("pages/transformer.py", "Head", "Layer", "Query", "key", "Value", "Residual stream", "Mask", "AER"),
    "lab": ("lab/lab_page.py", "Attention weight", "Logit", "Posterior", "AER"),
    "translate": ("step/step_view.py", "State", "Maxout", "Head"),
}
"""Of each page: where its box is drawn, and words that must be in it."""


def terms(*topics: Topic) -> list[str]:
    return re.findall(r"\*\*(.+?)\*\*", "\n".join(glossary(*topics)))


@pytest.mark.parametrize("code", ["en", "fr"])
def test_a_word_stands_once(code: str) -> None:
    set_language(code)
    found = terms(*get_args(Topic))
    assert len(found) == len(set(found)) >= 35


@pytest.mark.parametrize("page", WORDS)
def test_a_page_tells_the_words_it_speaks_of(page: str) -> None:
    file, *words = WORDS[page]
    (called,) = CALL.findall((REPOSITORY / "attnviz" / "ui" / file).read_text(encoding="utf-8"))
    topics = [topic for topic in get_args(Topic) if f'"{topic}"' in called]
    assert set(words) <= set(terms(*topics))
