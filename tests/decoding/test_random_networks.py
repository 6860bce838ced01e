"""Translations by random networks of every size and kind, with and without interventions.

Every number is what NumPy computes in float64 from the weights, from end to end and at each step.
"""

from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attnviz import ExcludePosition, ReplaceEnergies, ReplaceWeights, Temperature, Trace, Translator
from attnviz import translator as translator_module
from attnviz.analysis.measures import coverage, entropy
from attnviz.analysis.recomputation import softmax
from attnviz.analysis.verification import RecurrentVerifier
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.network.model_config import READOUT_STATES
from attnviz.text import EOS
from attnviz.trace.interventions import Intervention, forced_words, interventions_at
from attnviz.trace.trace import QUANTITIES, RECORDED
from tests.analysis.given import deviation, drawn_interventions
from tests.conftest import SENTENCES
from tests.strategies import FEW
from tests.whole_recomputation import recompute

TEXT, TARGET = SENTENCES[0], SENTENCES[1]
SEARCHES: tuple[dict[str, Any], ...] = ({"beam": 1}, {"beam": 3}, {"target": TARGET})
OF_SOME = {"attribution sums", "energy sums", "target_ids"}
"""Quantities that are verified only of displayed, unmasked or forced pieces."""


def changed_weights(energies: np.ndarray, acting: tuple[Intervention, ...]) -> np.ndarray:
    """Return the weights of a step, (Tx,), by the definition of each intervention."""
    found = energies.astype(np.float64)
    for one in acting:
        match one:
            case ReplaceWeights(row):
                with np.errstate(divide="ignore"):
                    found = np.log(row)
            case ReplaceEnergies(row):
                found = np.array(row)
            case Temperature(temperature):
                found[np.isfinite(found)] /= temperature
            case ExcludePosition(position):
                found[position] = -np.inf
    return softmax(found)


def assert_recomputed(trace: Trace, weights: dict[str, np.ndarray]) -> None:
    exact = recompute(weights, trace.config, trace.source_ids, trace.target_ids, trace.interventions)
    likely, ids = exact["distributions"], trace.top_ids.astype(np.int64)
    exact["top_probabilities"] = np.take_along_axis(likely, ids, axis=1)
    exact["log_probabilities"] = np.log(likely[np.arange(len(ids)), list(trace.target_ids)])
    shown = {quantity.name: getattr(trace, quantity.name) for quantity in RECORDED}
    shown |= {"entropy": entropy(trace.alignment), "coverage": coverage(trace.alignment)}
    off = {name: deviation(values, exact[name]) for name, values in shown.items() if name in exact}
    assert {*shown} - {*off} == {"top_ids", "score_vector", "feature_weight"}
    assert max(off.values()) < 1e-4, off


@pytest.mark.parametrize("attention", ATTENTION_KINDS)
@settings(max_examples=FEW // 2)
@given(
    data=st.data(),
    how=st.sampled_from(SEARCHES),
    readout_state=st.sampled_from(READOUT_STATES),
    history=st.sampled_from([1, 3000]),
    hidden_size=st.integers(1, 8).map(lambda half: 2 * half),  # even, for Luong's dot
    maxout_size=st.integers(1, 12),
    alignment_size=st.integers(1, 12),
)
def test_every_number_is_recomputed(
    make_network, tokenizer, attention, data, how, readout_state, history, **sizes
) -> None:
    network = make_network(attention, readout_state, **sizes)
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    pieces = len(tokenizer.encode(TEXT)) + 1
    acting = tuple(data.draw(drawn_interventions(pieces, len(tokenizer), attends=attention != "none")))
    if attention == "location":  # a step without a piece that has a position is refused
        assume({*range(sizes["alignment_size"])} - {one.position for one in acting if isinstance(one, ExcludePosition)})
    with patch.object(translator_module, "_LONGEST_HISTORY", history):
        trace = Translator(network, tokenizer).translate(TEXT, **how, interventions=acting)
    assert trace.interventions == acting
    assert trace.translation == tokenizer.decode(trace.target_ids)
    words = forced_words(acting)
    assert {step: trace.target_ids[step] for step in words} == words
    if "target" in how:
        given_ids = [*tokenizer.encode(TARGET), EOS]
        assert list(trace.target_ids) == [words.get(step, piece) for step, piece in enumerate(given_ids)]
        assert trace.score == pytest.approx(float(trace.log_probabilities.sum()), rel=1e-5)
    assert_recomputed(trace, weights)
    verifier, known = RecurrentVerifier(trace, weights), trace.sizes()
    for step in {0, 1, 2, len(trace.target_ids) - 1}:  # any change is made at the first three
        expected = changed_weights(trace.energies[step], interventions_at(acting, step))
        np.testing.assert_allclose(trace.alignment[step], expected, atol=1e-5)
        verification = verifier.verify(step, with_heatmap_posterior=True)
        assert verification.holds, verification.discrepancies
        counts = {check.quantity: check.numbers for check in verification.checks}
        assert ("heatmap_posterior" in counts) == trace.attends
        for name in counts.keys() - OF_SOME:
            shape = QUANTITIES[name].shape[QUANTITIES[name].per_step :]
            assert counts[name] == np.prod([known[size] for size in shape], dtype=int), name
