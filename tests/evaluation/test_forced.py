"""Forced decoding in batches, compared with single sentences in NumPy and with hand-computed perplexities."""

import math

import numpy as np
import pytest

from attnviz import Translator
from attnviz.evaluation.forced import force_pairs, likelihoods, total_likelihood
from attnviz.network import TransformerConfig
from attnviz.text import EOS
from tests.conftest import SENTENCES
from tests.transformers import random_transformer
from tests.whole_recomputation import recompute

PAIRS = list(zip(SENTENCES[::2], SENTENCES[1::2], strict=True))


@pytest.mark.parametrize("kind", ["additive", "transformer"])
def test_batched_forced_decoding_equals_single(make_network, tokenizer, kind) -> None:
    transformer = random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2)
    translator = Translator(make_network() if kind == "additive" else transformer, tokenizer)
    counted: list[int] = []
    forced = force_pairs(translator, PAIRS * 9, counted.append)
    assert sum(counted) == len(forced) == 9 * len(PAIRS)
    for place in (0, 1, 2, 3, 4, 5, 52):
        source, target = PAIRS[place % len(PAIRS)]
        trace = translator.translate(source, target=target)
        assert forced[place].log_likelihood == pytest.approx(float(trace.log_probabilities.sum()), rel=1e-4)
        np.testing.assert_allclose(forced[place].alignment, trace.alignment, atol=1e-5)
        assert forced[place].target_pieces == trace.target_pieces


def test_perplexity_equals_numpy_recomputation(make_network, tokenizer) -> None:
    network, surprises = make_network(), []
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    for source, target in PAIRS:
        source_ids, target_ids = ([*tokenizer.encode(text), EOS] for text in (source, target))
        found = recompute(weights, network.config.to_dict(), source_ids, target_ids)
        surprises += [-math.log(row[piece]) for row, piece in zip(found["distributions"], target_ids, strict=True)]
    forced = force_pairs(Translator(network, tokenizer), PAIRS)
    measured = total_likelihood(likelihoods(forced, [target for _, target in PAIRS]))
    assert measured.pieces == len(surprises)
    assert measured.perplexity == pytest.approx(math.exp(np.mean(surprises)), rel=1e-4)


def test_characters_count_normalised_text_and_sentence_end(translator) -> None:
    """The blank is one however wide, an apostrophe one however curly; the end of each sentence counts."""
    targets = ["C’est  ici !", "Non."]
    forced = force_pairs(translator, [("It's here!", targets[0]), ("No.", targets[1])])
    found = total_likelihood(likelihoods(forced, targets))
    assert found.characters == len("C'est ici !") + 1 + len("Non.") + 1
    assert found.pieces == sum(len(translator.tokenizer.encode(target)) + 1 for target in targets)
    assert found.nats == pytest.approx(-sum(pair.log_likelihood for pair in forced))
