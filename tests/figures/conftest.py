"""What small random models compute, made once for the tests of all figures."""

from collections.abc import Callable

import pytest

from attnviz import Translator, analysis
from attnviz.analysis.why_attention import forced_word_probabilities
from attnviz.detector import Detector
from attnviz.network import DecomposableConfig, TransformerConfig
from attnviz.text import Tokenizer
from attnviz.trace import TransformerTrace
from tests.analysis.given import forced_trace
from tests.conftest import SENTENCES, ModelFactory
from tests.detectors import random_detector
from tests.transformers import random_transformer

ENGLISH, FRENCH = "Two dogs play in the snow.", "Deux chiens jouent dans la neige."
STEP = 2
THREE = ("none", "general", "additive")


class Lab:
    def __init__(self, make_network: ModelFactory, tokenizer: Tokenizer, kind: tuple[str, str]) -> None:
        self.trace, self.weights = forced_trace(make_network, tokenizer, kind)
        self.attribution_methods = analysis.attribution_methods(
            self.trace, self.weights, Translator(make_network(*kind), tokenizer).attributions(self.trace)
        )
        self.perturbation_tests = analysis.perturbation_tests(self.trace, STEP, self.weights, permutations=20)
        self.best = analysis.best_attention(self.trace, STEP, self.weights)
        self.shuffled = analysis.shuffled(self.trace, self.weights, permutations=20)
        self.minimal_change = analysis.minimal_change(self.trace, self.weights)
        self.spelling: Callable[[int], str] = lambda piece: tokenizer.pieces([piece])[0]


class ForcedModels:
    def __init__(self, make_network: ModelFactory, tokenizer: Tokenizer) -> None:
        translators = [Translator(make_network(kind), tokenizer, name=kind) for kind in THREE]
        self.traces = [one.translate(SENTENCES[2], target=SENTENCES[3]) for one in translators]
        self.signals = [one.gradient_norms(trace) for one, trace in zip(translators, self.traces, strict=True)]
        self.words = forced_word_probabilities(self.traces)


@pytest.fixture(scope="session")
def forced_models(make_network, tokenizer) -> ForcedModels:
    return ForcedModels(make_network, tokenizer)


@pytest.fixture(scope="session")
def heads(tokenizer) -> TransformerTrace:
    network = random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2)
    return Translator(network, tokenizer, "small").translate(SENTENCES[0], target=SENTENCES[1])


@pytest.fixture(scope="session")
def detector(tokenizer) -> Detector:
    return Detector(random_detector(DecomposableConfig(len(tokenizer), 8, 6), 1), tokenizer, "detector")
