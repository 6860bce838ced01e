"""Glossary: each term is defined once, in both languages, and each page defines the terms that it uses."""

from __future__ import annotations

import re
from pathlib import Path
from typing import get_args

import pytest

from attnviz.checkpoint import save_model
from attnviz.languages import set_language
from attnviz.network import TransformerConfig
from attnviz.text import Tokenizer
from attnviz.trace.drawing import DetailLevel
from attnviz.translator import Translator
from attnviz.ui.glossary import Topic, glossary
from attnviz.ui.step.step_view import glossary_topics
from attnviz.ui.view import MAIN, View
from tests.conftest import REPOSITORY, SENTENCES
from tests.figures.synthetic import trace as make_trace
from tests.transformers import random_transformer

CALL = re.compile(r"(?:glossary_box\(\"glossary\"|key_help\(view),([^)]*)\)")
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


def test_glossary_of_a_translation_has_only_the_terms_that_its_level_and_model_show(
    tmp_path: Path, tokenizer: Tokenizer
) -> None:
    save_model(tmp_path, random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 3), tokenizer)
    transformer = Translator.load(tmp_path, "cpu").translate(SENTENCES[0], beam=1)
    found = {
        (kind, level): set(terms(*glossary_topics(View(MAIN, trace, detail_level=level))))
        for kind, trace in (("recurrent", make_trace()), ("transformer", transformer))
        for level in get_args(DetailLevel)
    }
    assert {"Energy", "Attention weight", "Context vector"} <= set.intersection(*found.values())
    assert found["recurrent", "idea"].isdisjoint({"Head", "Maxout", "GRU", "Prior", "Greedy search"})
    assert {"Maxout", "GRU", "Prior", "Greedy search"} <= found["recurrent", "everything"]
    assert "Head" in found["transformer", "idea"]
