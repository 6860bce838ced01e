"""Initialisation of a detector's embeddings from lexicon links."""

from __future__ import annotations

import pytest
import torch

from attnviz.network import Decomposable, DecomposableConfig
from attnviz.training.objective import Lexicon
from attnviz.training.tasks import initialise_embeddings


def _initialised_network(size: int) -> Decomposable:
    counts = torch.zeros(40, 40)
    counts[11, 10] = 5.0  # target piece 11 is linked to source piece 10 alone
    counts[13, 10], counts[13, 12] = 3.0, 1.0
    network = Decomposable(DecomposableConfig(40, size, 32))
    network.initialise(torch.Generator().manual_seed(2))
    initialise_embeddings(network, Lexicon(counts))
    return network.requires_grad_(False)


@pytest.mark.parametrize("size", [128, 129])
def test_linked_pieces_start_with_similar_embeddings(size: int) -> None:
    network = _initialised_network(size)
    source, target = network.embedding.weight[:, :64], network.embedding.weight[:, 64:128]
    alike = torch.nn.functional.cosine_similarity
    assert alike(target[11], source[10], dim=0) > 0.999
    assert alike(target[13], source[10], dim=0) > alike(target[13], source[12], dim=0) > 0.1
    assert abs(alike(target[11], source[12], dim=0)) < 0.5
    assert torch.equal(target[20], source[20])
    assert target[11].norm() == pytest.approx(float(source.norm(dim=1).mean()))
