"""Search with a transformer: greedy, beam, forced and batched, and the trace that is recorded."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError
from attnviz.analysis.transformer_verification import TransformerVerifier
from attnviz.network import TransformerConfig
from attnviz.text import EOS, Tokenizer
from attnviz.trace import TransformerTrace
from attnviz.trace.interventions import ForceWords, Temperature
from attnviz.translator import Translator
from tests.conftest import SENTENCES
from tests.strategies import FEW
from tests.transformers import random_transformer


@pytest.fixture(scope="module")
def translator(tokenizer: Tokenizer) -> Translator[TransformerTrace]:
    network = random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 6)
    network.output.bias[EOS] += 4  # so that some translations end early
    return Translator(network, tokenizer, "small")


def test_beam_of_one_is_greedy_and_hypotheses_are_sorted(translator: Translator[TransformerTrace]) -> None:
    for sentence in SENTENCES[:4]:
        found = translator.search_batch([sentence], beam=1)[0]
        trace = translator.translate(sentence, beam=1)
        assert found[0].ids == trace.target_ids
        assert found[0].score == pytest.approx(trace.score, abs=1e-4)
        wide = translator.translate(sentence, beam=4)
        assert wide.hypotheses[0].score == pytest.approx(wide.score, abs=1e-4)
        scores = [hypothesis.score for hypothesis in wide.hypotheses]
        assert scores == sorted(scores, reverse=True)


def test_given_target_is_force_decoded(translator: Translator[TransformerTrace]) -> None:
    first = translator.translate(SENTENCES[0], beam=3)
    again = translator.translate(SENTENCES[0], target=SENTENCES[1])
    assert again.search.method == "forced"
    assert again.translation == SENTENCES[1]
    assert again.target_ids == (*translator.tokenizer.encode(SENTENCES[1]), EOS)
    assert np.array_equal(first.annotations, again.annotations)


@settings(max_examples=FEW)
@given(texts=st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=5), beam=st.integers(1, 3))
def test_batched_translations_equal_single_ones(
    translator: Translator[TransformerTrace], texts: list[str], beam: int
) -> None:
    traces = translator.translate_together(texts, beam=beam)
    assert translator.translate_batch(texts, beam=beam) == [trace.translation for trace in traces]
    for text, trace in zip(texts, traces, strict=True):
        alone = translator.translate(text, beam=beam)
        assert alone.target_ids == trace.target_ids
        np.testing.assert_allclose(alone.cross_alignment, trace.cross_alignment, atol=1e-5)


def test_forced_word_is_written_and_verified(translator: Translator[TransformerTrace]) -> None:
    before = translator.translate(SENTENCES[2], beam=1)
    other = next(int(piece) for piece in before.top_ids[1] if piece > EOS and piece != before.target_ids[1])
    for beam in (1, 3):
        trace = translator.translate(SENTENCES[2], beam=beam, interventions=[ForceWords((other,), 1)])
        assert trace.target_ids[1] == other
        assert TransformerTrace.from_json(trace.to_json()).interventions == (ForceWords((other,), 1),)
        weights = {name: tensor.numpy() for name, tensor in translator.network.state_dict().items()}
        assert TransformerVerifier(trace, weights).verify(1).holds


def test_changing_attention_of_transformer_is_refused(
    translator: Translator[TransformerTrace], snapshot: SnapshotAssertion
) -> None:
    with pytest.raises(AttnvizError) as error:
        translator.translate(SENTENCES[0], interventions=[Temperature(2.0)], beam=1)
    assert str(error.value) == snapshot


@pytest.mark.nightly
def test_sentence_too_long_to_record_still_translates(tokenizer: Tokenizer, snapshot: SnapshotAssertion) -> None:
    network = random_transformer(TransformerConfig(len(tokenizer), 64, 64, 16, 4), 1)
    network.output.bias[EOS] += 1e4
    translator, text = Translator(network, tokenizer), " ".join(["dogs"] * 150)
    assert translator.translate_batch([text], beam=1) == [""]
    with pytest.raises(AttnvizError) as error:
        translator.translate(text, beam=1)
    assert str(error.value) == snapshot
