"""The public interface: misuse of every function is refused with one sentence, and importing it needs no torch."""

from __future__ import annotations

import copy
import pickle
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import attnviz
from attnviz import AttnvizError, Translator, analysis
from attnviz.devices import resolve_device
from attnviz.network import RNNsearch
from attnviz.text import Tokenizer
from attnviz.trace import Trace
from tests.conftest import ModelFactory
from tests.figures import synthetic

WRONG: tuple[Any, ...] = (None, "x", 3.5, -1, 77, [], {}, object(), b"x", float("nan"), True)
ON_TRACES: dict[str, Callable[[Trace, Any], object]] = {
    "posterior": lambda trace, value: analysis.posterior(trace, value),
    "kind of posterior": lambda trace, value: analysis.posterior(trace, {}, value),
    "likelihood of": lambda _, value: analysis.likelihood(value),
    "posterior of": lambda _, value: analysis.posterior(value),
    "posterior attention of": lambda _, value: analysis.posterior_attention(value),
    "compare with": lambda trace, value: analysis.compare(trace, value),
    "compare by": lambda trace, value: analysis.compare(trace, trace, by=value),
    "step of a test": lambda trace, value: analysis.perturbation_tests(trace, step=value),
    "best attention of": lambda _, value: analysis.best_attention(value, 0),
    "top step": lambda trace, value: trace.top(value),
    "top k": lambda trace, value: trace.top(0, k=value),
    "step figure": lambda trace, value: trace.step_figure(value),
    "alignment error": lambda _, value: attnviz.alignment_error(value, value),
    "symmetrise": lambda _, value: attnviz.symmetrise(value, value),
    "evaluate": lambda _, value: attnviz.evaluate(value, value),
    "train": lambda _, value: attnviz.train(value),
    "exclude": lambda _, value: attnviz.ExcludePosition(value),
    "temperature": lambda _, value: attnviz.Temperature(value),
    "weights": lambda _, value: attnviz.ReplaceWeights(value),
    "force": lambda _, value: attnviz.ForceWords(value, value),
}


@pytest.fixture(scope="module")
def trace() -> Trace:
    return synthetic.trace()


@pytest.mark.parametrize("name", ON_TRACES)
def test_wrong_arguments_are_refused_or_valid(trace: Trace, name: str) -> None:
    raw = []
    for value in WRONG:
        try:
            ON_TRACES[name](trace, value)
        except AttnvizError as error:
            assert str(error)  # noqa: PT017
        except Exception as error:  # noqa: BLE001  any other exception is what is looked for
            raw.append(f"{value!r}: {error!r}")
    assert not raw


def test_translator_says_why_it_cannot_be_copied(make_network: ModelFactory, tokenizer: Tokenizer) -> None:
    network = make_network("additive", "previous")
    assert isinstance(network, RNNsearch)
    translator: Translator = Translator(network, tokenizer, "tiny")
    assert repr(translator) == "<Translator: tiny, RNNsearch, cpu>"
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(AttnvizError):
            attempt(translator)
    assert resolve_device(torch.device("cpu")) == torch.device("cpu")


def test_posterior_finds_the_weights_of_an_installed_model(make_network: ModelFactory, tokenizer: Tokenizer) -> None:
    translator: Translator = Translator.load("models/small-additive", device="cpu")
    trace = translator.translate("A dog runs.", target="Un chien court.")
    weights = analysis.load_weights("models/small-additive")
    np.testing.assert_array_equal(analysis.posterior(trace), analysis.posterior(trace, weights))


def test_public_interface_is_complete_and_imports_no_torch() -> None:
    program = "import sys, attnviz; attnviz.ForceWords; assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], check=True)
    assert all(getattr(attnviz, name) is not None for name in attnviz.__all__)
