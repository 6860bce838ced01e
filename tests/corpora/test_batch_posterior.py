"""Forced decoding in batches: same words, attention and posterior attention as for each pair alone."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz import Translator
from attnviz.analysis import load_weights
from attnviz.analysis.posterior import DEFAULT, POSTERIOR_KINDS, PosteriorKind, posterior, posterior_words
from attnviz.corpora import batch_posterior
from attnviz.corpora.batch_posterior import BatchPosterior
from attnviz.evaluation.forced import EncodedPair, force_encoded
from attnviz.text import Tokenizer
from tests.conftest import REPOSITORY, SENTENCES, ModelFactory

FOLDER = REPOSITORY / "models" / "small-additive"
PAIRS = [
    ("Two dogs play in the snow.", "Deux chiens jouent dans la neige."),
    ("A red bicycle.", "Un vélo rouge."),
    ("The agreement on the European Economic Area was signed.", "L'accord sur l'espace économique a été signé."),
    ("£ 5 for a 東 sign", "5 £ pour un 東 signe"),
]


@pytest.fixture(scope="module")
def translator() -> Translator:
    return Translator.load(FOLDER, "cpu", "fp32")


@pytest.mark.parametrize("readout_state", ["previous", "current"])
@pytest.mark.parametrize("kind", POSTERIOR_KINDS)
def test_batch_posterior_matches_that_of_single_sentences(
    make_network: ModelFactory,
    tokenizer: Tokenizer,
    readout_state: str,
    kind: PosteriorKind,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    network = make_network(readout_state=readout_state)
    translator = Translator(network, tokenizer)
    weights = {name: tensor.double().numpy() for name, tensor in network.state_dict().items()}
    texts = list(zip(SENTENCES[::2], SENTENCES[1::2], strict=True))
    pairs = [EncodedPair.of(tokenizer, *pair) for pair in texts]
    nearly = force_encoded(translator, pairs, BatchPosterior(translator, kind))
    monkeypatch.setattr(batch_posterior, "SLIGHT", 1e-300)  # estimates nothing
    exactly = force_encoded(translator, pairs, BatchPosterior(translator, kind))
    for (source, target), exact, near in zip(texts, exactly, nearly, strict=True):
        expected = posterior(translator.translate(source, target=target), weights, kind)
        # 8 bits, where they are used, leave three digits.
        assert np.abs(exact.posterior - expected).max() < 0.01
        assert np.abs(near.posterior - expected).max() < 0.03
        np.testing.assert_allclose(near.posterior.sum(1), 1)


def test_words_of_a_batch_match_those_of_single_pairs(translator: Translator) -> None:
    pairs = [EncodedPair.of(translator.tokenizer, *pair) for pair in PAIRS]
    forced = force_encoded(translator, pairs, BatchPosterior(translator, DEFAULT))
    for pair, (source, target) in zip(forced, PAIRS, strict=True):
        trace = translator.translate(source, target=target)
        words, expected = pair.words(), trace.words()
        assert (words.source, words.target) == (expected.source, expected.target)
        assert (words.source_groups, words.target_groups) == (expected.source_groups, expected.target_groups)
        np.testing.assert_allclose(words.alignment, expected.alignment, atol=1e-5)
        after = posterior_words(trace, load_weights(FOLDER))
        # Small weights of the posterior are estimated.
        np.testing.assert_allclose(words.merged(pair.posterior), after.alignment, atol=0.02)
