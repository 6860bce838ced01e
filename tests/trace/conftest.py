"""Fixtures: a saved record of each class, made once."""

from typing import Any

import pytest

from attnviz import ForceWords, Temperature, Trace, Translator
from attnviz.detector import Detector
from attnviz.network import DecomposableConfig, TransformerConfig
from attnviz.text import EOS
from attnviz.trace import Judgement, TransformerTrace
from tests.conftest import SENTENCES
from tests.detectors import random_detector
from tests.transformers import random_transformer

SENTENCE = "A red \U0001f6b2 bicycle."


@pytest.fixture(scope="session")
def records(translator, tokenizer) -> dict[type, Any]:
    """Return a record of each class that a model makes; that of RNNsearch with interventions."""
    transformer = random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2)
    detector = random_detector(DecomposableConfig(len(tokenizer), 5, 7), 2)
    words = ForceWords((40, EOS), 3)  # short: damage to every field is tried
    return {
        Trace: translator.translate(SENTENCE, beam=3, interventions=[Temperature(0.5, 1), words]),
        TransformerTrace: Translator(transformer, tokenizer, "small").translate(
            SENTENCE, beam=3, interventions=[words]
        ),
        Judgement: Detector(detector, tokenizer, "small").judge(SENTENCE, SENTENCES[1]),
    }
