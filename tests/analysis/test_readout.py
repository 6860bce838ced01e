"""Readout: each value is the larger one of its pair before the maxout."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from attnviz.analysis.logit_attribution import pairs
from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.network.model_config import READOUT_STATES
from attnviz.text import Tokenizer
from attnviz.translator import Translator
from tests.conftest import SENTENCES, ModelFactory


@pytest.mark.parametrize("kind", list(product(ATTENTION_KINDS, READOUT_STATES)))
def test_the_larger_of_each_pair_is_the_readout(
    make_network: ModelFactory, tokenizer: Tokenizer, kind: tuple[str, str]
) -> None:
    network = make_network(*kind)
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    trace = Translator(network, tokenizer).translate(SENTENCES[2], target=SENTENCES[3])
    for step in range(len(trace.target_pieces)):
        wide = pairs(trace, weights, step)
        assert wide.shape == (2 * trace.readouts.shape[1],)
        np.testing.assert_allclose(wide.reshape(-1, 2).max(axis=1), trace.readouts[step], atol=1e-5)
