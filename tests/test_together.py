"""Sentences translated in one batch: each gets the trace that it gets alone."""

from itertools import product
from typing import Any
from unittest.mock import patch

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from attnviz import ReplaceWeights, Trace, Translator
from attnviz import translator as translator_module
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.network.model_config import READOUT_STATES
from attnviz.trace.trace import RECORDED
from tests.conftest import SENTENCES
from tests.strategies import FEW

KINDS = list(product(ATTENTION_KINDS, READOUT_STATES))
WORDS = sorted({word for sentence in SENTENCES for word in sentence.split()})
sentences = st.lists(st.sampled_from(WORDS), min_size=1, max_size=25).map(" ".join)


@pytest.fixture(scope="module")
def translators(make_network, tokenizer) -> dict[tuple[str, str], Translator]:
    return {kind: Translator(make_network(*kind), tokenizer, "tiny", "digest") for kind in KINDS}


SAME = (
    *("source_text", "translation", "source_pieces", "target_pieces", "source_ids", "target_ids", "source_surfaces"),
    *("unknown_characters", "search", "config", "model", "weights_digest", "device", "interventions"),
)


def assert_alike(one: Trace, other: Trace) -> None:
    """Assert that two traces tell of the same translation, to the accuracy of float32."""
    for name in SAME:
        assert getattr(one, name) == getattr(other, name), name
    for quantity in RECORDED:
        if quantity.name != "top_ids":  # the order of equally likely pieces may differ
            ours, theirs = getattr(one, quantity.name), getattr(other, quantity.name)
            assert ours.dtype == theirs.dtype
            np.testing.assert_allclose(ours, theirs, rtol=1e-4, atol=1e-5, err_msg=quantity.name)
    assert one.score == pytest.approx(other.score, abs=1e-4)
    assert [h.translation for h in one.hypotheses] == [h.translation for h in other.hypotheses]


@settings(max_examples=FEW)
@given(
    pairs=st.lists(st.tuples(sentences, sentences), max_size=6),
    beam=st.sampled_from([0, 1, 2, 5]),
    kind=st.sampled_from(KINDS),
)
def test_traces_of_a_batch_equal_single_ones(translators, pairs, beam, kind) -> None:
    """Forced to the second sentence of each pair where `beam` is 0."""
    translator, texts = translators[kind], [text for text, _ in pairs]
    how: dict[str, Any] = {"beam": beam, "length_penalty": 0.7} if beam else {}
    forced = {} if beam else {"targets": [target for _, target in pairs]}
    together = translator.translate_together(texts, **how, **forced)
    assert len(together) == len(pairs)
    for (text, target), trace in zip(pairs, together, strict=True):
        assert_alike(trace, translator.translate(text, target=None if beam else target, **how))


def test_traces_equal_single_ones_beyond_one_batch(translators, monkeypatch) -> None:
    """The bound is made so small that short sentences share a batch, and long ones keep no history at all."""
    translator, texts = translators[KINDS[0]], [*SENTENCES, *(word[:3] for word in WORDS[:8])]
    alone = [translator.translate(text, beam=2) for text in texts]
    monkeypatch.setattr(translator_module, "_LONGEST_HISTORY", 150)
    batches, search = [], translator_module.search
    noted = lambda *given, **more: batches.append(given[2:6:3]) or search(*given, **more)  # noqa: E731
    monkeypatch.setattr(translator_module, "search", noted)
    for one, other in zip(translator.translate_together(texts, beam=2), alone, strict=True):
        assert_alike(one, other)
    assert any(len(limits) > 1 and history is not None for limits, history in batches)
    assert any(len(limits) == 1 and history is None for limits, history in batches)


def test_a_what_if_does_not_encode_its_sentence_again(make_network, tokenizer) -> None:
    translator = Translator(make_network(*KINDS[0]), tokenizer)
    with patch.object(translator.prepared, "memory", wraps=translator.prepared.memory) as encoded:
        trace = translator.translate(SENTENCES[0], beam=1)
        weights = tuple(1 / len(trace.source_ids) for _ in trace.source_ids)
        translator.translate(SENTENCES[0], interventions=[ReplaceWeights(step=0, weights=weights)], beam=1)
        assert encoded.call_count == 1
        translator.translate(SENTENCES[1], beam=1)
        assert encoded.call_count == 2
