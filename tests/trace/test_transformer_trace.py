"""`TransformerTrace`: attention by layer and head."""

from __future__ import annotations

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import AttnvizError
from attnviz.network import TransformerConfig
from attnviz.text import Tokenizer
from attnviz.trace import TransformerTrace
from attnviz.translator import Translator
from tests.transformers import random_transformer


@pytest.fixture(scope="module")
def trace(tokenizer: Tokenizer) -> TransformerTrace:
    network = random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2)
    return Translator(network, tokenizer, "small").translate("A girl is riding a red \U0001f6b2 bicycle.", beam=3)


def test_cross_attention_by_layer_and_head(trace: TransformerTrace, snapshot: SnapshotAssertion) -> None:
    np.testing.assert_allclose(trace.alignment, trace.cross_alignment.mean(axis=(0, 1)), atol=1e-6)
    np.testing.assert_array_equal(trace.cross_attention(-1), trace.cross_alignment[-1].mean(axis=0))
    np.testing.assert_array_equal(trace.cross_attention(0), trace.cross_alignment[0].mean(axis=0))
    np.testing.assert_array_equal(trace.cross_attention(1, 3), trace.cross_alignment[1, 3])
    np.testing.assert_allclose(trace.cross_attention(0).sum(axis=1), 1, atol=1e-5)
    np.testing.assert_allclose(trace.cross_attention(None), trace.cross_alignment.mean(axis=(0, 1)), atol=1e-6)
    for layer, head in ((2, None), (-2, None), (0, 4), (0, -1), (None, 1)):
        for chosen in (trace.cross_attention, trace.select_heads, trace.heatmap):
            with pytest.raises(AttnvizError) as error:
                chosen(layer, head)
            assert str(error.value) == snapshot(name=f"layer {layer}, head {head}")
    for found in (trace.alignment, trace.cross_attention(0), trace.cross_attention(0, 1), trace.words().alignment):
        with pytest.raises(ValueError, match="read-only"):
            found[...] = 0


def test_seen_by_selects_alignment_of_heads(trace: TransformerTrace) -> None:
    seen = trace.select_heads(0, 2)
    np.testing.assert_array_equal(seen.alignment, trace.cross_alignment[0, 2])
    np.testing.assert_allclose(seen.words().alignment, trace.words().merged(trace.cross_alignment[0, 2]), atol=1e-6)
    assert seen.cross_energies is trace.cross_energies
    assert seen.fingerprint != trace.fingerprint
    assert seen is trace.select_heads(0, 2) is trace.select_heads(1, 1).select_heads(0, 2)
    assert trace.select_heads() is trace.select_heads(None) is seen.select_heads() is trace
    assert trace.select_heads(-1) is trace.select_heads(1)
    assert seen.nearest_head == (0, 2)
    assert trace.select_heads(1).nearest_head[0] == 1
    loaded = TransformerTrace.from_json(seen.to_json())
    assert loaded.heads == seen.heads
    assert loaded.fingerprint == seen.fingerprint
