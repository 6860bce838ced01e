"""Interventions on random networks of every size and kind.

A neutral intervention changes nothing; all weight on one piece makes its annotation the context; and every changed
translation is verified.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from attnviz import Translator
from attnviz.analysis.verification import RecurrentVerifier
from attnviz.text import Tokenizer
from attnviz.trace import Trace
from attnviz.trace.interventions import Intervention, ReplaceEnergies, ReplaceWeights, Temperature
from attnviz.trace.trace import RECORDED
from tests.analysis.given import SIZES
from tests.conftest import SENTENCES, ModelFactory
from tests.strategies import FEW

SEARCHES: tuple[dict[str, Any], ...] = ({"beam": 1}, {"beam": 2}, {"target": SENTENCES[1]})
EXACT = ("annotations", "keys", "initial_state")


def assert_same(one: Trace, other: Trace, atol: float) -> None:
    assert one.target_ids == other.target_ids
    for quantity in RECORDED:
        if quantity.name != "top_ids":
            tolerance = 0 if quantity.name in EXACT else atol
            np.testing.assert_allclose(
                getattr(one, quantity.name), getattr(other, quantity.name), atol=tolerance, err_msg=quantity.name
            )


@settings(max_examples=FEW)
@given(how=st.sampled_from(SEARCHES), **SIZES)
def test_neutral_interventions_change_nothing(
    make_network: ModelFactory, tokenizer: Tokenizer, how: dict[str, Any], kind: tuple[str, str], **sizes: int
) -> None:
    translator = Translator(make_network(*kind, **sizes), tokenizer)
    first = translator.translate(SENTENCES[0], **how)
    assert translator.translate(SENTENCES[0], **how, interventions=[]).fingerprint == first.fingerprint
    assert_same(translator.translate(SENTENCES[0], **how, interventions=[Temperature(1.0)]), first, 1e-6)
    # Other hypotheses of a beam have other weights after the first step.
    steps = range(len(first.target_ids)) if how.get("beam") != 2 else range(1)
    same: list[list[Intervention]] = [
        [ReplaceWeights(tuple(first.alignment[i].tolist()), i) for i in steps],
        [ReplaceEnergies(tuple(first.energies[i].tolist()), i) for i in steps],
    ]
    for changes in same:
        assert_same(translator.translate(SENTENCES[0], **how, interventions=changes), first, 1e-5)


@settings(max_examples=FEW)
@given(how=st.sampled_from(SEARCHES), step=st.integers(0, 3), source=st.integers(0, 3), **SIZES)
def test_all_weight_on_one_piece_makes_it_the_context(
    make_network: ModelFactory,
    tokenizer: Tokenizer,
    how: dict[str, Any],
    step: int,
    source: int,
    kind: tuple[str, str],
    **sizes: int,
) -> None:
    network = make_network(*kind, **sizes)
    translator = Translator(network, tokenizer)
    first = translator.translate(SENTENCES[0], **how)
    step = min(step, len(first.target_ids) - 1)
    only = tuple(float(j == source) for j in range(len(first.source_pieces)))
    trace = translator.translate(SENTENCES[0], **how, interventions=[ReplaceWeights(only, step)])
    assume(step < len(trace.target_ids))  # a beam may have ended before
    np.testing.assert_array_equal(trace.alignment[step], only)
    np.testing.assert_allclose(trace.contexts[step], trace.annotations[source], atol=1e-6)
    verifier = RecurrentVerifier(trace, {name: tensor.numpy() for name, tensor in network.state_dict().items()})
    for i in range(len(trace.target_ids)):
        verification = verifier.verify(i, with_heatmap_posterior=True)
        assert verification.holds, verification.discrepancies
