"""Interventions on a translation: neutral ones change nothing, others are verified, invalid ones are refused."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from itertools import product

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.verification import RecurrentVerifier
from attnviz.errors import AttnvizError
from attnviz.network.model_config import READOUT_STATES
from attnviz.text import EOS, Tokenizer
from attnviz.trace import Trace
from attnviz.trace.interventions import (
    ExcludePosition,
    ForceWords,
    Intervention,
    ReplaceEnergies,
    ReplaceWeights,
    Temperature,
    forced_prefix,
)
from attnviz.trace.trace import RECORDED
from attnviz.translator import Translator
from tests.conftest import SENTENCES, ModelFactory
from tests.whole_recomputation import recompute

TEXT, TARGET = SENTENCES[0], SENTENCES[1]
SEARCHES = [{"beam": 1}, {"beam": 3}, {"target": TARGET}]

every_search = pytest.mark.parametrize("how", SEARCHES, ids=["greedy", "beam", "forced"])
every_kind = pytest.mark.parametrize(
    ("attention", "readout_state"), list(product(("additive", "general", "none"), READOUT_STATES))
)
every_attention = pytest.mark.parametrize(
    ("attention", "readout_state"), list(product(("additive", "general"), READOUT_STATES))
)


@pytest.fixture
def kind(make_network: ModelFactory, tokenizer: Tokenizer, attention: str, readout_state: str) -> Translator:
    return Translator(make_network(attention, readout_state), tokenizer)


def _weights(translator: Translator) -> dict[str, np.ndarray]:
    return {name: tensor.numpy() for name, tensor in translator.network.state_dict().items()}


def _assert_same(one: Trace, other: Trace, atol: float = 1e-6) -> None:
    assert one.target_ids == other.target_ids
    for quantity in RECORDED:
        if quantity.name != "top_ids":
            np.testing.assert_allclose(
                getattr(one, quantity.name), getattr(other, quantity.name), atol=atol, err_msg=quantity.name
            )


def _assert_verified(translator: Translator, trace: Trace) -> None:
    """Assert that the trace is what NumPy computes from the weights, at every step and from end to end."""
    verifier = RecurrentVerifier(trace, _weights(translator))
    for step in range(len(trace.target_pieces)):
        assert verifier.verify(step).holds, verifier.verify(step).discrepancies
    exact = recompute(_weights(translator), trace.config, trace.source_ids, trace.target_ids, trace.interventions)
    for quantity in RECORDED:
        expected = exact.get(quantity.name)
        if expected is not None:
            np.testing.assert_allclose(
                getattr(trace, quantity.name), expected, atol=1e-5, rtol=1e-5, err_msg=quantity.name
            )
    chosen = exact["distributions"][np.arange(len(trace.target_ids)), list(trace.target_ids)]
    np.testing.assert_allclose(np.exp(trace.log_probabilities), chosen, atol=1e-5)


def _every_kind_but_words(pieces: int) -> list[Intervention]:
    """Return interventions of all kinds but words, for a source of `pieces`."""
    row = np.linspace(0, 1, pieces) ** 2
    return [
        Temperature(0.5),
        ReplaceWeights(tuple(row / row.sum()), 0),
        ExcludePosition(2, 1),
        Temperature(math.inf, 1),
        ReplaceEnergies(tuple(np.linspace(-2, 3, pieces)), 2),
        Temperature(3.0, 2),
        ExcludePosition(0, 2),
    ]


@every_attention
@every_search
def test_changed_translation_is_verified(kind: Translator, how: dict) -> None:
    before = kind.translate(TEXT, **how)
    acting = _every_kind_but_words(len(before.source_pieces))
    trace = kind.translate(TEXT, **how, interventions=acting)
    assert trace.interventions == tuple(acting)
    assert not np.allclose(trace.alignment[0], before.alignment[0], atol=1e-3)
    np.testing.assert_allclose(trace.energies[0], before.energies[0], atol=1e-6)  # the scorer's, not the changed ones
    assert trace.alignment[2, 0] == 0
    rest = np.arange(len(trace.source_pieces)) != 2
    np.testing.assert_allclose(trace.alignment[1], rest / rest.sum(), rtol=1e-6)
    np.testing.assert_allclose(trace.alignment.sum(axis=1), 1, atol=1e-5)
    _assert_verified(kind, trace)
    reopened = Trace.from_json(trace.to_json())
    assert reopened.interventions == trace.interventions
    assert reopened.fingerprint == trace.fingerprint


@every_attention
def test_false_interventions_are_not_verified(kind: Translator) -> None:
    pieces = len(kind.translate(TEXT, beam=1).source_pieces)
    done = (Temperature(0.5, 0), ExcludePosition(1, 2))
    trace = kind.translate(TEXT, target=TARGET, interventions=done)
    row = np.linspace(1, 2, pieces)
    claims: dict[int, list[Sequence[Intervention]]] = {
        0: [(), (Temperature(0.6, 0), done[1]), (Temperature(0.5, 1), done[1]), (ReplaceWeights(row / row.sum(), 0),)],
        2: [(done[0],), (done[0], ExcludePosition(2, 2)), (done[0], ReplaceEnergies((0.0,) * pieces, 2))],
        1: [(*done, Temperature(0.5, 1)), (Temperature(0.5), done[1])],
    }
    for step, false in claims.items():
        assert RecurrentVerifier(trace, _weights(kind)).verify(step).holds
        for claim in false:
            verification = RecurrentVerifier(
                dataclasses.replace(trace, interventions=tuple(claim)), _weights(kind)
            ).verify(step)
            assert "alignment" in {wrong.quantity for wrong in verification.discrepancies}, claim


@every_kind
def test_translation_continues_after_forced_word(kind: Translator) -> None:
    before = kind.translate(TEXT, beam=1)
    step, foil = 2, int(before.top_ids[2][before.top_ids[2] > EOS][-1])
    trace = kind.translate(TEXT, interventions=[ForceWords((foil,), step)], beam=1)
    assert trace.target_ids[:step] == before.target_ids[:step]
    assert trace.target_ids[step] == foil
    assert trace.log_probabilities[step] == pytest.approx(
        float(np.log(before.top_probabilities[step][before.top_ids[step] == foil][0])), abs=1e-5
    )
    for i in range(step + 1, len(trace.target_ids) - 1):
        assert trace.target_ids[i] == next(piece for piece in trace.top_ids[i] if piece >= EOS)
    _assert_verified(kind, trace)
    again = kind.translate(TEXT, interventions=trace.interventions, beam=1)
    assert again.target_ids == trace.target_ids
    claimed = dataclasses.replace(trace, interventions=(ForceWords((foil + 1,), step),))
    wrong = RecurrentVerifier(claimed, _weights(kind)).verify(step).discrepancies
    assert [(one.quantity, one.shown, one.recomputed) for one in wrong] == [("target_ids", foil, foil + 1)]


def test_forced_prefix_keeps_words_before_step(translator: Translator) -> None:
    before = translator.translate(TEXT, beam=4)
    kept = forced_prefix(before.target_ids, 3)
    trace = translator.translate(TEXT, beam=4, interventions=[*kept, ForceWords((40,), 3)])
    assert trace.target_ids[:4] == (*before.target_ids[:3], 40)


def test_forced_word_replaces_word_of_given_translation(translator: Translator) -> None:
    before = translator.translate(TEXT, target=TARGET)
    trace = translator.translate(TEXT, target=TARGET, interventions=[ForceWords((40,), 2)])
    assert trace.target_ids == (*before.target_ids[:2], 40, *before.target_ids[3:])
    assert trace.translation == translator.tokenizer.decode(trace.target_ids)
    assert trace.search.method == "forced"
    ended = translator.translate(TEXT, target=TARGET, interventions=[ForceWords((EOS,), 2)])
    assert ended.target_ids == (*before.target_ids[:2], EOS)


def test_interventions_act_alike_without_search_history(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    acting = [Temperature(0.7, 1), ForceWords((40,), 3), ExcludePosition(1)]
    wide = translator.translate(TEXT, beam=4, interventions=acting)
    monkeypatch.setattr("attnviz.translator._LONGEST_HISTORY", 1)
    _assert_same(translator.translate(TEXT, beam=4, interventions=acting), wide, atol=1e-5)


@pytest.mark.parametrize("intervention", [Temperature(1.0), ExcludePosition(0), ReplaceWeights((1.0,))])
def test_model_without_attention_refuses_attention_changes(
    make_network: ModelFactory, tokenizer: Tokenizer, intervention: Intervention, snapshot: SnapshotAssertion
) -> None:
    translator = Translator(make_network("none"), tokenizer)
    with pytest.raises(AttnvizError) as error:
        translator.translate(TEXT, interventions=[intervention], beam=1)
    assert str(error.value) == snapshot
    assert translator.translate(TEXT, interventions=[ForceWords((40,), 1)], beam=1).target_ids[1] == 40


def _spread(pieces: int) -> tuple[float, ...]:
    return (1 / pieces,) * pieces


@every_search
def test_interventions_that_do_not_fit_are_refused(
    translator: Translator, tokenizer: Tokenizer, how: dict, snapshot: SnapshotAssertion
) -> None:
    pieces = len(translator.translate(TEXT, beam=1).source_pieces)
    first = (1.0, *(0.0,) * (pieces - 1))
    refused: dict[str, list[Intervention]] = {
        "too few weights": [ReplaceWeights(_spread(pieces - 1))],
        "too many energies": [ReplaceEnergies((0.0,) * (pieces + 1), 0)],
        "excludes what is not there": [ExcludePosition(pieces)],
        "excludes all": [ExcludePosition(j, 1) for j in range(pieces)],
        "excludes all of the weight": [ReplaceWeights(first), ExcludePosition(0, 2)],
        "excludes all of the weight of a step": [ReplaceWeights(first, 3), ExcludePosition(0)],
        "word outside the vocabulary": [ForceWords((len(tokenizer),), 1)],
        "two words at a step": [ForceWords((40,), 1), ForceWords((41,), 1)],
        "word after the end": [ForceWords((40,), 10**6)],
        "temperature after the end": [Temperature(0.5, 10**6)],
        "after a forced end": [ForceWords((EOS,), 1), Temperature(0.5, 2)],
    }
    for name, acting in refused.items():
        with pytest.raises(AttnvizError) as error:
            translator.translate(TEXT, **how, interventions=acting)
        assert str(error.value) == snapshot(name=name)


def test_end_of_given_translation_cannot_be_replaced(translator: Translator, snapshot: SnapshotAssertion) -> None:
    last = len(translator.translate(TEXT, target=TARGET).target_ids) - 1
    with pytest.raises(AttnvizError) as error:
        translator.translate(TEXT, target=TARGET, interventions=[ForceWords((40,), last)])
    assert str(error.value) == snapshot
