"""Forced decoding in batches, compared with single sentences in NumPy and with hand-computed perplexities."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest

from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.checkpoint import save_model
from attnviz.evaluation.forced import force_pairs, likelihoods, total_likelihood
from attnviz.model_folder import read_weights
from attnviz.text import EOS, Tokenizer
from attnviz.translator import Translator
from tests.conftest import SENTENCES, ModelFactory
from tests.whole_recomputation import recompute

PAIRS = list(zip(SENTENCES[::2], SENTENCES[1::2], strict=True))


def test_batched_forced_decoding_equals_single(translator: Translator) -> None:
    counted: list[int] = []
    forced = force_pairs(translator, PAIRS * 9, counted.append)
    assert sum(counted) == len(forced) == 9 * len(PAIRS)
    for place in (0, 1, 2, 3, 4, 5, 52):
        source, target = PAIRS[place % len(PAIRS)]
        trace = translator.translate(source, target=target)
        assert forced[place].log_likelihood == pytest.approx(float(trace.log_probabilities.sum()), rel=1e-5)
        np.testing.assert_allclose(forced[place].alignment, trace.alignment, atol=1e-5)
        assert forced[place].target_pieces == trace.target_pieces


@pytest.mark.parametrize("attention", ATTENTION_KINDS)
def test_perplexity_equals_numpy_recomputation(
    tmp_path: Path, make_network: ModelFactory, tokenizer: Tokenizer, attention: str
) -> None:
    """Each probability is recomputed in float64 from the saved weights."""
    network = make_network(attention)
    save_model(tmp_path, network, tokenizer)
    weights, surprises = read_weights(tmp_path), []
    for source, target in PAIRS:
        source_ids, target_ids = ([*tokenizer.encode(text), EOS] for text in (source, target))
        found = recompute(weights, network.config.to_dict(), source_ids, target_ids)
        surprises += [-math.log(row[piece]) for row, piece in zip(found["distributions"], target_ids, strict=True)]
    translator = Translator.load(tmp_path, device="cpu")
    measured = total_likelihood(likelihoods(force_pairs(translator, PAIRS), [target for _, target in PAIRS]))
    assert measured.pieces == len(surprises)
    assert measured.perplexity == pytest.approx(math.exp(np.mean(surprises)), rel=1e-4)


def test_characters_count_normalised_text_and_sentence_end(translator: Translator) -> None:
    """The blank is one however wide, an apostrophe one however curly; the end of each sentence counts."""
    targets = ["C’est  ici !", "Non."]
    forced = force_pairs(translator, [("It's here!", targets[0]), ("No.", targets[1])])
    found = total_likelihood(likelihoods(forced, targets))
    assert found.characters == len("C'est ici !") + 1 + len("Non.") + 1
    assert found.pieces == sum(len(translator.tokenizer.encode(target)) + 1 for target in targets)
    assert found.nats == pytest.approx(-sum(pair.log_likelihood for pair in forced))
