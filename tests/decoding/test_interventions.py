"""Interventions on a translation: false ones are not verified, impossible ones refused; those of transformers."""

import dataclasses
from collections.abc import Sequence
from functools import partial

import numpy as np
import pytest

from attnviz import AttnvizError, ExcludePosition, ForceWords, ReplaceEnergies, ReplaceWeights, Temperature, Translator
from attnviz.analysis.transformer_verification import TransformerVerifier
from attnviz.analysis.verification import RecurrentVerifier
from attnviz.network import TransformerConfig
from attnviz.text import EOS
from attnviz.trace import TransformerTrace
from attnviz.trace.interventions import Intervention
from tests.conftest import SENTENCES
from tests.snapshots import refusal
from tests.transformers import random_transformer

TEXT, TARGET = SENTENCES[0], SENTENCES[1]


@pytest.mark.parametrize("attention", ["additive", "general"])
def test_false_interventions_are_not_verified(make_network, tokenizer, attention) -> None:
    translator = Translator(make_network(attention), tokenizer)
    done = (Temperature(0.5, 0), ExcludePosition(1, 2))
    trace = translator.translate(TEXT, target=TARGET, interventions=[*done, ForceWords((40,), 3)])
    weights = {name: tensor.numpy() for name, tensor in translator.network.state_dict().items()}
    row = np.linspace(1, 2, len(trace.source_pieces))
    claims: dict[int, list[Sequence[Intervention]]] = {
        0: [(), (Temperature(0.6, 0), done[1]), (Temperature(0.5, 1), done[1]), (ReplaceWeights(row / row.sum(), 0),)],
        2: [(done[0],), (done[0], ExcludePosition(2, 2)), (done[0], ReplaceEnergies(0 * row, 2))],
        1: [(*done, Temperature(0.5, 1)), (Temperature(0.5), done[1])],
        3: [(*done, ForceWords((41,), 3))],
    }
    for step, false in claims.items():
        assert RecurrentVerifier(trace, weights).verify(step).holds
        for claim in false:
            claimed = dataclasses.replace(trace, interventions=tuple(claim))
            wrong = {one.quantity for one in RecurrentVerifier(claimed, weights).verify(step).discrepancies}
            assert ("target_ids" if step == 3 else "alignment") in wrong, claim


def refused(n: int) -> dict[str, list[Intervention]]:
    return {
        "too few weights": [ReplaceWeights((1.0,) * (n - 1))],
        "too many energies": [ReplaceEnergies((0.0,) * (n + 1), 0)],
        "excludes what is not there": [ExcludePosition(n)],
        "excludes all": [ExcludePosition(j, 1) for j in range(n)],
        "excludes all of the weight": [ReplaceWeights((1.0, *(0.0,) * (n - 1))), ExcludePosition(0, 2)],
        "excludes all of the weight of a step": [ReplaceWeights((1.0, *(0.0,) * (n - 1)), 3), ExcludePosition(0)],
        "word outside the vocabulary": [ForceWords((10**6,), 1)],
        "two words at a step": [ForceWords((40,), 1), ForceWords((41,), 1)],
        "word after the end": [ForceWords((40,), 10**6)],
        "temperature after the end": [Temperature(0.5, 10**6)],
        "after a forced end": [ForceWords((EOS,), 1), Temperature(0.5, 2)],
    }


@pytest.mark.parametrize("how", [{"beam": 1}, {"beam": 3}, {"target": TARGET}], ids=["greedy", "beam", "forced"])
def test_interventions_that_do_not_fit_are_refused(translator, how, snapshot) -> None:
    trace = translator.translate(TEXT, **how)
    last = [ForceWords((40,), len(trace.target_ids) - 1)]
    of_given = {"end of a given translation": last} if "target" in how else {}
    acting, said = refused(len(trace.source_ids)) | of_given, partial(translator.translate, TEXT, **how)
    assert {name: refusal(partial(said, interventions=those)) for name, those in acting.items()} == snapshot


def test_all_positions_of_location_attention_cannot_be_excluded(make_network, tokenizer, snapshot) -> None:
    """It has no weights for the pieces beyond, unless they are given."""
    network = make_network("location", alignment_size=2)
    translate = partial(Translator(network, tokenizer).translate, TEXT)
    both = [ExcludePosition(0), ExcludePosition(1)]
    assert refusal(partial(translate, interventions=both)) == snapshot
    pieces = len(translate().source_ids)
    given = translate(interventions=[ReplaceEnergies((0.0,) * pieces), *both]).alignment
    np.testing.assert_allclose(given[:, 2:], 1 / (pieces - 2), atol=1e-6)


@pytest.mark.parametrize("intervention", [Temperature(1.0), ExcludePosition(0), ReplaceWeights((1.0,))])
def test_model_without_attention_refuses_attention_changes(make_network, tokenizer, intervention, snapshot) -> None:
    translator = Translator(make_network("none"), tokenizer)
    assert refusal(lambda: translator.translate(TEXT, interventions=[intervention], beam=1)) == snapshot


def test_forced_word_is_written_and_changes_of_attention_are_refused(tokenizer, snapshot) -> None:
    network = random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 6)
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    translator = Translator[TransformerTrace](network, tokenizer)
    before = translator.translate(SENTENCES[2], beam=1)
    other = next(int(piece) for piece in before.top_ids[1] if piece > EOS and piece != before.target_ids[1])
    for beam in (1, 3):
        trace = translator.translate(SENTENCES[2], beam=beam, interventions=[ForceWords((other,), 1)])
        assert trace.target_ids[1] == other
        assert trace.hypotheses[0].score == pytest.approx(trace.score, abs=1e-4)
        assert TransformerTrace.from_json(trace.to_json()).interventions == (ForceWords((other,), 1),)
        assert TransformerVerifier(trace, weights).verify(1).holds
    assert refusal(lambda: translator.translate(SENTENCES[0], interventions=[Temperature(2.0)], beam=1)) == snapshot
    with pytest.raises(AttnvizError, match=str(len(tokenizer))):
        translator.translate(SENTENCES[0], interventions=[ForceWords((len(tokenizer),), 1)], beam=1)


@pytest.mark.nightly
def test_sentence_too_long_to_record_still_translates(tokenizer, snapshot) -> None:
    network = random_transformer(TransformerConfig(len(tokenizer), 64, 64, 16, 4), 1)
    network.output.bias[EOS] += 1e4
    translator, text = Translator(network, tokenizer), " ".join(["dogs"] * 150)
    assert translator.translate_batch([text], beam=1) == [""]
    assert refusal(lambda: translator.translate(text, beam=1)) == snapshot
