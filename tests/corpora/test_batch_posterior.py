"""Forced decoding in batches: same words, attention and posterior attention as for each pair alone."""

import numpy as np
import pytest
import torch

from attnviz import Translator
from attnviz.analysis.likelihood import Readouts
from attnviz.analysis.posterior import POSTERIOR_KINDS, PosteriorKind, posterior, posterior_of
from attnviz.corpora import batch_posterior
from attnviz.corpora.batch_posterior import BatchPosterior
from attnviz.evaluation.forced import EncodedPair, force_decode, force_encoded
from attnviz.network import TransformerConfig
from tests.conftest import SENTENCES
from tests.transformers import random_transformer


@pytest.mark.parametrize("readout_state", ["previous", "current"])
@pytest.mark.parametrize("kind", POSTERIOR_KINDS)
def test_batch_posterior_matches_that_of_single_sentences(
    make_network, tokenizer, readout_state: str, kind: PosteriorKind, monkeypatch
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


def test_heads_have_no_posterior(translator, tokenizer) -> None:
    heads = Translator(random_transformer(TransformerConfig(len(tokenizer), 16, 4, 2, 12), 2), tokenizer)
    with pytest.raises(ValueError, match="more than one"):
        force_encoded(heads, [EncodedPair.of(tokenizer, *SENTENCES[:2])], BatchPosterior(translator, "posterior"))


def estimated(readouts: Readouts, likely: np.ndarray, kind: PosteriorKind) -> tuple[np.ndarray, np.ndarray]:
    """Return the log likelihoods that the module's docstring describes, in float64, and where they are exact."""
    logits = readouts.rough_logits(slice(None)).astype(np.float64)  # (Ty, Tx, K)
    targets = np.array(readouts.trace.target_ids)
    of_target = logits[np.arange(len(targets)), :, targets]
    bounds, exact = (
        of_target - np.logaddexp.reduce(part, axis=2) for part in (logits[..., np.union1d(targets, likely)], logits)
    )
    factor, of_fit = (0.75, 0.25) if kind == "balanced" else (1, 0)
    scores = factor * (np.log(readouts.alignment) + bounds) + of_fit * readouts.fit()
    decisive = scores >= scores.max(axis=1, keepdims=True) + np.log(0.01)
    gaps = (bounds - exact)[decisive & (exact < np.log(0.5))]
    return np.minimum(np.where(decisive, exact, bounds - (gaps.mean() if gaps.size else 0)), 0), decisive


@pytest.mark.parametrize("scale", [0.5, 4, 60], ids=["flat", "peaked", "beyond float32"])
@pytest.mark.parametrize("readout_state", ["previous", "current"])
@pytest.mark.parametrize("kind", POSTERIOR_KINDS)
def test_slight_shares_are_estimated_by_the_mean_gap_of_the_others(
    make_network, tokenizer, kind: PosteriorKind, readout_state: str, scale: float
) -> None:
    network = make_network(readout_state=readout_state)
    with torch.no_grad():
        network.output.weight.mul_(scale)
        network.decoder.readout_context.weight.mul_(3)  # one context differs much from another
    translator = Translator(network, tokenizer)
    translator.prepared.decoder.output.set_precision("fp32")
    weights = {name: tensor.double().numpy() for name, tensor in network.state_dict().items()}
    own = [(text, translator.translate(text, beam=1).translation) for text in SENTENCES[:2]]  # whose words are sure
    texts = [*zip(SENTENCES[::2], SENTENCES[1::2], strict=True), *(pair for pair in own if pair[1].strip())]
    pairs, shares = [EncodedPair.of(tokenizer, *pair) for pair in texts], []
    decoded = force_decode(translator, pairs, likeliest=3)
    found = BatchPosterior(translator, kind)(decoded, pairs)
    for row, (source, target) in enumerate(texts):
        readouts = Readouts(translator.translate(source, target=target), weights)
        likely = decoded.likeliest[row, : len(readouts.trace.target_ids)]
        alone, decisive = estimated(readouts, likely, kind)
        readouts.__dict__["alone"] = alone
        np.testing.assert_allclose(found[row], posterior_of(readouts, kind), atol=1e-4)
        shares.append(decisive.mean())
    assert 0 < np.mean(shares) < 1
