"""Gradient × input and erasure attributions, compared with finite differences and reruns of the network."""

import dataclasses
import functools
from itertools import product

import numpy as np
import pytest
import torch
from torch import Tensor

from attnviz import ExcludePosition, ReplaceWeights, Temperature, Translator
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.decoding.attribution import erased_embeddings, gradient_times_input, gradients_by_route, log_likelihoods
from attnviz.network import RNNsearch
from attnviz.network.model_config import READOUT_STATES
from attnviz.network.rnnsearch import StepDecoder
from attnviz.text import BOS, EOS
from tests.conftest import SENTENCES, ModelFactory
from tests.snapshots import refusal

KINDS = list(product(ATTENTION_KINDS, READOUT_STATES))
SOURCE, TARGET = (7, 12, 5, 9, EOS), (8, 30, 6, EOS)
CHANGES = (ExcludePosition(1, step=2), Temperature(2.0, step=1))


def double_network(make_network: ModelFactory, kind: tuple[str, str]) -> tuple[RNNsearch, StepDecoder]:
    network = make_network(*kind).double()
    return network, StepDecoder(network)


def target_log_likelihoods(network: RNNsearch, decoder: StepDecoder, embedded: Tensor) -> Tensor:
    """Return log p(y_i), (Ty,), with these embeddings (Tx, m) of the source."""
    annotations = network.encoder.annotate(embedded[None], torch.tensor([len(SOURCE)]))[0]
    return log_likelihoods_through(decoder, annotations, annotations)


def log_likelihoods_through(decoder: StepDecoder, start: Tensor, contexts: Tensor, interventions=()) -> Tensor:
    """Return log p(y_i), (Ty,), of a decoder that starts from `start` (Tx, 2n) and attends to `contexts`."""
    lengths = torch.tensor([len(SOURCE)])
    memory = dataclasses.replace(decoder.memory(contexts[None], lengths), annotations=start[None])
    return log_likelihoods(decoder, memory, TARGET, interventions)[0]


@pytest.mark.parametrize("interventions", [(), CHANGES], ids=["as it was", "changed"])
@pytest.mark.parametrize("kind", KINDS)
def test_gradients_equal_finite_differences_by_both_routes(make_network, kind, interventions) -> None:
    interventions = () if kind[0] == "none" else interventions
    network, decoder = double_network(make_network, kind)
    embedded = network.encoder.embedding(torch.tensor(SOURCE))
    start, contexts = gradients_by_route(network, decoder, SOURCE, TARGET, interventions)
    assert start.shape == contexts.shape == (len(TARGET), *embedded.shape)
    lengths, step = torch.tensor([len(SOURCE)]), 1e-6

    def annotations(place: tuple[int, int], moved: float) -> Tensor:
        other = embedded.clone()
        other[place] += moved
        return network.encoder.annotate(other[None], lengths)[0]

    here = annotations((0, 0), 0)
    for place in [*product(*map(range, embedded.shape))][::7]:
        ahead, behind = annotations(place, step), annotations(place, -step)
        for found, ends in ((start, ((ahead, here), (behind, here))), (contexts, ((here, ahead), (here, behind)))):
            more, less = (log_likelihoods_through(decoder, *end, interventions) for end in ends)
            np.testing.assert_allclose(found[:, *place], (more - less) / (2 * step), rtol=1e-5, atol=1e-8)
    times_input = gradient_times_input(network, decoder, SOURCE, TARGET, interventions)
    assert times_input.dtype == torch.float64
    np.testing.assert_allclose(times_input, ((start + contexts) * embedded).sum(-1), rtol=1e-10, atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
def test_erasure_replaces_embedding_by_vocabulary_mean(make_network, kind) -> None:
    network, decoder = double_network(make_network, kind)
    embedded = network.encoder.embedding(torch.tensor(SOURCE))
    mean = network.encoder.embedding.weight[1:].mean(0)
    found = erased_embeddings(network, decoder, SOURCE, TARGET)
    assert found.shape == (len(TARGET), len(SOURCE))
    real = target_log_likelihoods(network, decoder, embedded)
    for j in range(len(SOURCE)):
        other = embedded.clone()
        other[j] = mean
        np.testing.assert_allclose(found[:, j], real - target_log_likelihoods(network, decoder, other), atol=1e-12)


def test_log_likelihoods_equal_those_of_training(make_network) -> None:
    network, decoder = double_network(make_network, ("additive", "previous"))
    embedded = network.encoder.embedding(torch.tensor(SOURCE))
    previous = torch.tensor([[BOS, *TARGET[:-1]]])
    logits = network.output(network(torch.tensor([SOURCE]), torch.tensor([len(SOURCE)]), previous)[0])
    expected = torch.log_softmax(logits[0], -1)[range(len(TARGET)), list(TARGET)]
    np.testing.assert_allclose(target_log_likelihoods(network, decoder, embedded), expected, atol=1e-12)


def test_translator_computes_attributions_of_its_traces(make_network, tokenizer, snapshot) -> None:
    translator = Translator(make_network(), tokenizer)
    length = len(tokenizer.encode(SENTENCES[2])) + 1
    only = ReplaceWeights(tuple(float(j == 2) for j in range(length)))
    trace = translator.translate(SENTENCES[2], target=SENTENCES[3], interventions=[only])
    found = translator.attributions(trace)
    gradient_norms = translator.gradient_norms(trace)
    whole, start, contexts = gradient_norms.whole, gradient_norms.start, gradient_norms.contexts
    assert np.all(whole <= start + contexts + 1e-6)
    assert np.all(whole >= np.abs(start - contexts) - 1e-6)
    for numbers in (found.gradient, found.erased, whole, start, contexts):
        assert numbers.dtype == np.float64
        assert numbers.shape == trace.alignment.shape
        assert np.all(np.isfinite(numbers))
    assert not np.allclose(found.gradient, 0)
    other = Translator(make_network(hidden_size=3), tokenizer)
    for asked in (other.attributions, other.gradient_norms):
        assert refusal(functools.partial(asked, trace)) == snapshot
