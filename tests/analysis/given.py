"""Random networks and their forced translations, for tests that analyse single steps."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from attnviz import Translator
from attnviz.analysis.numpy_scorers import scorer_of
from attnviz.analysis.recomputation import decode_step, encode, submodule_weights
from attnviz.network.model_config import READOUT_STATES
from attnviz.text import Tokenizer
from attnviz.trace import Trace
from attnviz.trace.interventions import ReplaceWeights
from tests.conftest import SENTENCES, ModelFactory

Array = NDArray[np.float64]
Weights = dict[str, NDArray[Any]]

KINDS = list(product(("additive", "general"), READOUT_STATES))
SIZES = {
    "kind": st.sampled_from(KINDS),
    "hidden_size": st.integers(1, 16),
    "maxout_size": st.integers(1, 12),
    "alignment_size": st.integers(1, 12),
}


def forced_trace(
    make_network: ModelFactory, tokenizer: Tokenizer, kind: tuple[str, str], interventions: Any = (), **sizes: int
) -> tuple[Trace, Weights]:
    """Return a forced translation and the weights of its network."""
    network = make_network(*kind, **sizes)
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    trace = Translator(network, tokenizer).translate(
        SENTENCES[2], target=SENTENCES[3], interventions=tuple(interventions)
    )
    return trace, weights


def step_probabilities(trace: Trace, weights: Weights, step: int, row: Array) -> Array:
    """Return p(w), (K,), of one step of the recomputation's decoder under the attention weights `row`, (Tx,)."""
    exact = {name: np.asarray(value, np.float64) for name, value in weights.items()}
    decoder, annotations = (
        submodule_weights(exact, "decoder."),
        encode(submodule_weights(exact, "encoder."), trace.source_ids),
    )
    keys = scorer_of(trace.config).keys(decoder, annotations)
    word = decoder["embedding.weight"][trace.previous_ids[step]]
    state = trace.previous_states[step].astype(np.float64)
    before = trace.previous_alignment[step].astype(np.float64)
    given = [ReplaceWeights(tuple(row.tolist()), step=step)]
    return decode_step(decoder, trace.config, annotations, keys, state, word, before, given)["probabilities"]


def deviation(values: NDArray[Any], expected: Array) -> float:
    """Return the largest difference of two arrays, of any shape, divided by the largest expected number.

    Infinite where their shapes differ or the positions of infinities do.
    """
    if values.shape != expected.shape or not np.array_equal(np.isfinite(values), np.isfinite(expected)):
        return float("inf")
    finite = np.isfinite(expected)
    if not finite.any():
        return 0.0
    scale = max(float(np.abs(expected[finite]).max()), float(np.finfo(np.float32).tiny))
    return float(np.abs(values[finite] - expected[finite]).max()) / scale
