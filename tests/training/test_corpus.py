"""Reading weighted training pairs and making batches of them."""

from __future__ import annotations

import numpy as np
import torch
from hypothesis import given
from hypothesis import strategies as st

from attnviz.text import BOS, EOS, PAD
from attnviz.training.encoded_pairs import Corpus, epoch_batches, make_batch


def make_corpus(lengths: list[tuple[int, int]], weights: list[float] | None = None) -> Corpus:
    """Return a corpus whose pieces are counted up from 4, so that each is known by its number."""
    starts = [np.concatenate([[0], np.cumsum([pair[side] for pair in lengths])]) for side in (0, 1)]
    flat = [np.arange(4, 4 + start[-1], dtype=np.int32) for start in starts]
    chosen = np.asarray(weights or [1.0] * len(lengths), dtype=np.float32)
    return Corpus(flat[0], starts[0], flat[1], starts[1], chosen)


sizes = st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40)), min_size=1, max_size=60)


@given(sizes, st.integers(1, 200), st.integers(0, 3), st.integers(0, 3))
def test_epoch_contains_every_pair_once_in_batches_that_fit(
    lengths: list[tuple[int, int]], batch_tokens: int, seed: int, epoch: int
) -> None:
    corpus = make_corpus(lengths)
    batches = epoch_batches(corpus, batch_tokens, seed, epoch)
    assert sorted(np.concatenate(batches)) == list(range(len(lengths)))
    for batch in batches:
        longest = max(max(lengths[i]) for i in batch)
        assert len(batch) == 1 or len(batch) * longest <= batch_tokens
    again = epoch_batches(corpus, batch_tokens, seed, epoch)
    assert all(np.array_equal(a, b) for a, b in zip(batches, again, strict=True))


def test_weight_sets_how_often_a_pair_is_shown() -> None:
    corpus = make_corpus([(3, 3)] * 3000, [0.25] * 1000 + [1.0] * 1000 + [2.5] * 1000)
    counts = np.bincount(np.concatenate(epoch_batches(corpus, 300, 1, 0)), minlength=3000).reshape(3, 1000)
    assert set(counts[1]) == {1}
    assert set(counts[2]) == {2, 3}
    assert abs(counts[0].mean() - 0.25) < 0.06
    assert abs(counts[2].mean() - 2.5) < 0.06


def test_batch_is_shifted_and_padded() -> None:
    corpus = make_corpus([(2, 3), (4, 1)])
    batch = make_batch(corpus, np.array([0, 1]))
    assert torch.equal(batch.source, torch.tensor([[4, 5, PAD, PAD], [6, 7, 8, 9]]))
    assert torch.equal(batch.source_lengths, torch.tensor([2, 4]))
    assert torch.equal(batch.target, torch.tensor([[4, 5, 6], [7, PAD, PAD]]))
    assert torch.equal(batch.previous[:, 0], torch.tensor([BOS, BOS]))
    assert torch.equal(batch.previous[:, 1:], batch.target[:, :-1])
    assert batch.target_tokens == 4
    assert EOS not in batch.source
