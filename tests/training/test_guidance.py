"""Guided alignment: links found by a lexicon, and their term in the objective."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from attnviz.network import ModelConfig, RNNsearch
from attnviz.text import EOS, PAD
from attnviz.training.encoded_pairs import Batch, Corpus, make_batch
from attnviz.training.objective import Lexicon, Objective

WORDS = 20
FIRST = 4
"""Source word w is translated by w + WORDS; the four special pieces come before."""


def made_up_corpus(pairs: int) -> tuple[Corpus, list[list[int]]]:
    """Return sentences of an invented language pair that swaps words two by two, and the source of each target word."""
    random = np.random.default_rng(3)
    sources, targets, origins = [], [], []
    for _ in range(pairs):
        words = random.permutation(WORDS)[: 2 * random.integers(1, 5)] + FIRST
        order = np.arange(len(words)).reshape(-1, 2)[:, ::-1].ravel()
        sources.append([*words, EOS])
        targets.append([*(words[order] + WORDS), EOS])
        origins.append([*order.tolist(), len(words)])
    flat = [np.concatenate(side).astype(np.int32) for side in (sources, targets)]
    starts = [np.concatenate([[0], np.cumsum([len(ids) for ids in side])]) for side in (sources, targets)]
    return Corpus(flat[0], starts[0], flat[1], starts[1], np.ones(pairs, dtype=np.float32)), origins


def test_lexicon_links_reordered_words(tmp_path: Path) -> None:
    corpus, origins = made_up_corpus(300)
    Lexicon.learn(corpus, FIRST + 2 * WORDS, seed=1).save(tmp_path / "lexicon.npy")
    lexicon = Lexicon.load(tmp_path / "lexicon.npy", FIRST + 2 * WORDS)
    batch = make_batch(corpus, np.arange(40))
    links = lexicon.links(batch)
    assert links.shape == (40, batch.target.shape[1], batch.source.shape[1])
    assert links.min() >= 0
    assert links.sum(1).max() <= 1 + 1e-5
    assert links.sum(2).max() <= 1 + 1e-5
    assert not links[batch.target == PAD].any()
    assert not links.transpose(1, 2)[batch.source == PAD].any()
    for row, origin in zip(links, origins, strict=False):
        assert row[: len(origin)].argmax(1).tolist() == origin
        assert row[range(len(origin)), origin].min() > 0.8


@pytest.fixture
def small_network() -> tuple[RNNsearch, Batch]:
    torch.manual_seed(0)
    config = ModelConfig(FIRST + 2 * WORDS, embedding_size=8, hidden_size=6, alignment_size=5, maxout_size=4, dropout=0)
    return RNNsearch(config).double(), make_batch(made_up_corpus(6)[0], np.arange(6))


def test_guidance_adds_the_cross_entropy_of_links_and_attention(small_network: tuple[RNNsearch, Batch]) -> None:
    network, batch = small_network
    links = torch.rand(*batch.target.shape, batch.source.shape[1], dtype=torch.float64)
    links *= (batch.target != PAD)[:, :, None] * (batch.source != PAD)[:, None, :]
    plain, likelihood = Objective(network, 0.1)(batch)
    guided, same = Objective(network, 0.1, guidance=0.7)(batch, links)
    alignment = network(batch.source, batch.source_lengths, batch.previous)[1].detach()
    expected = -sum(
        float(links[b, i, j]) * float(alignment[b, i, j].log()) for b, i, j in np.argwhere(links.numpy() > 0).tolist()
    )
    assert (guided - plain).item() == pytest.approx(0.7 * expected, rel=1e-9)
    assert same.item() == pytest.approx(likelihood.item(), rel=1e-12)


def test_guided_attention_learns_given_links(small_network: tuple[RNNsearch, Batch]) -> None:
    network, batch = small_network
    links = torch.zeros(*batch.target.shape, batch.source.shape[1], dtype=torch.float64)
    links[:, 0, 1] = 1  # the first target word's counterpart is the second source word
    objective = Objective(network, 0.0, guidance=5.0)
    optimizer = torch.optim.Adam(network.parameters(), lr=0.02)
    for _ in range(60):
        optimizer.zero_grad()
        (objective(batch, links)[0] / len(links)).backward()
        optimizer.step()
    alignment = network(batch.source, batch.source_lengths, batch.previous)[1]
    assert alignment[:, 0, 1].min() > 0.9
