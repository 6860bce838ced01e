"""The objective and the optimizer against torch's own, guidance of attention by a lexicon, and batches."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn
from torch.nn.functional import cross_entropy, linear

from attnviz.network import ModelConfig, RNNsearch
from attnviz.text import BOS, EOS, PAD
from attnviz.training import objective
from attnviz.training.encoded_pairs import Batch, Corpus, epoch_batches, make_batch
from attnviz.training.objective import Lexicon, Objective, SmoothedCrossEntropy
from attnviz.training.run_state import Muon, orthogonalised


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize("chunk", [4, 512])
def test_loss_and_gradients_equal_torch_cross_entropy(smoothing, chunk, monkeypatch) -> None:
    monkeypatch.setattr(objective, "_CHUNK", chunk)
    torch.manual_seed(0)
    inputs = [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in ((11, 6), (9, 6), (9,))]
    targets = torch.randint(0, 9, (11,))
    loss, likelihood = SmoothedCrossEntropy.apply(*inputs, targets, smoothing)
    logits = linear(*inputs)
    expected = cross_entropy(logits, targets, label_smoothing=smoothing, reduction="sum")
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(likelihood, cross_entropy(logits, targets, reduction="sum"))
    gradients = [torch.autograd.grad(one * 0.3, inputs) for one in (loss, expected)]
    torch.testing.assert_close(*gradients)


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


def test_lexicon_links_reordered_words(tmp_path) -> None:
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


def test_guidance_adds_the_cross_entropy_of_links_and_attention(small_network) -> None:
    network, batch = small_network
    links = torch.rand(*batch.target.shape, batch.source.shape[1], dtype=torch.float64)
    links *= (batch.target != PAD)[:, :, None] * (batch.source != PAD)[:, None, :]
    plain, likelihood = Objective(network, 0.1)(batch)
    guided, same = Objective(network, 0.1, guidance=0.7)(batch, links)
    alignment = network(batch.source, batch.source_lengths, batch.previous)[1].detach()
    linked = links > 0  # elsewhere the logarithm may be infinite
    expected = -float((links[linked] * alignment[linked].log()).sum())
    assert (guided - plain).item() == pytest.approx(0.7 * expected, rel=1e-9)
    assert same.item() == pytest.approx(likelihood.item(), rel=1e-12)


@pytest.mark.parametrize("shape", [(6, 6), (5, 12), (12, 5)])
def test_bfloat16_steps_of_muon_equal_those_of_pytorch(shape) -> None:
    generator = torch.Generator().manual_seed(0)
    begin, *gradients = (torch.randn(shape, generator=generator) for _ in range(5))
    ours, theirs = nn.Parameter(begin.clone()), nn.Parameter(begin.clone())
    optimizer = torch.optim.Muon([theirs], lr=0.1, weight_decay=0.0, adjust_lr_fn="match_rms_adamw")
    for matrix, one in ((ours, Muon([ours], lr=0.1, dtype=torch.bfloat16)), (theirs, optimizer)):
        for gradient in gradients:
            matrix.grad = gradient.clone()
            one.step()
    torch.testing.assert_close(ours.detach(), theirs.detach(), rtol=0, atol=2e-3)


@pytest.mark.parametrize("shape", [(8, 8), (8, 40), (40, 8)])
def test_orthogonalised_has_unit_singular_values_and_same_vectors(shape) -> None:
    matrix = torch.randn(shape, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    found = orthogonalised(matrix, torch.float64)
    left, _, right = torch.linalg.svd(matrix, full_matrices=False)
    rotated, values = left.mT @ found @ right.mT, torch.linalg.svdvals(found)
    assert 0.3 < values.min() <= values.max() < 1.3
    torch.testing.assert_close(rotated, torch.diag(rotated.diagonal()), rtol=0, atol=1e-9)


def make_corpus(lengths: list[tuple[int, int]], weights: list[float] | None = None) -> Corpus:
    """Return a corpus whose pieces are counted up from 4, so that each is known by its number."""
    starts = [np.concatenate([[0], np.cumsum([pair[side] for pair in lengths])]) for side in (0, 1)]
    flat = [np.arange(4, 4 + start[-1], dtype=np.int32) for start in starts]
    chosen = np.asarray(weights or [1.0] * len(lengths), dtype=np.float32)
    return Corpus(flat[0], starts[0], flat[1], starts[1], chosen)


sizes = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=60)


@given(sizes, st.integers(1, 200), st.integers(0, 3), st.integers(0, 3))
def test_epoch_contains_every_pair_once_in_batches_that_fit(lengths, batch_tokens, seed, epoch) -> None:
    corpus = make_corpus(lengths)
    batches = epoch_batches(corpus, batch_tokens, seed, epoch)
    assert sorted(np.concatenate(batches)) == list(range(len(lengths)))
    for batch in batches:
        longest = max(max(lengths[i]) for i in batch)
        assert len(batch) == 1 or len(batch) * longest <= batch_tokens
    again = epoch_batches(corpus, batch_tokens, seed, epoch)
    assert all(np.array_equal(a, b) for a, b in zip(batches, again, strict=True))


def test_weight_sets_how_often_a_pair_is_shown_and_batches_are_padded() -> None:
    corpus = make_corpus([(3, 3)] * 3000, [0.25] * 1000 + [1.0] * 1000 + [2.5] * 1000)
    counts = np.bincount(np.concatenate(epoch_batches(corpus, 300, 1, 0)), minlength=3000).reshape(3, 1000)
    assert set(counts[1]) == {1}
    assert set(counts[2]) == {2, 3}
    assert abs(counts[0].mean() - 0.25) < 0.06
    assert abs(counts[2].mean() - 2.5) < 0.06
    corpus = make_corpus([(2, 3), (4, 1)])
    batch = make_batch(corpus, np.array([0, 1]))
    assert torch.equal(batch.source, torch.tensor([[4, 5, PAD, PAD], [6, 7, 8, 9]]))
    assert torch.equal(batch.source_lengths, torch.tensor([2, 4]))
    assert torch.equal(batch.target, torch.tensor([[4, 5, 6], [7, PAD, PAD]]))
    assert torch.equal(batch.previous[:, 0], torch.tensor([BOS, BOS]))
    assert torch.equal(batch.previous[:, 1:], batch.target[:, :-1])
    assert batch.target_tokens == 4
    assert EOS not in batch.source
