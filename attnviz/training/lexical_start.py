"""Initialise a detector's embeddings so that a target piece starts close to the source pieces it is linked to.

Parikh et al. (2016) start from GloVe vectors; here links learnt from the sentence pairs replace them.
"""

from __future__ import annotations

import torch

from attnviz.network import Decomposable
from attnviz.training.guidance import Lexicon


@torch.no_grad()
def initialise_embeddings(network: Decomposable, lexicon: Lexicon) -> None:
    """Set the first embeddings of `network`, which has random weights, by the links of `lexicon` over the same pieces.

    The first half of a piece's embedding, its vector as a source piece, stays random and so is nearly orthogonal to all
    others. The second half, its vector as a target piece, becomes the mean vector of the source pieces it is linked to,
    weighted by counts and scaled to the mean length; without links it is its own source vector. Each projection starts
    by reading only the half of its language, and both use the same weights. An odd unit stays unchanged.
    """
    half = network.config.embedding_size // 2
    if not half:
        return
    rows = network.embedding.weight
    source, counts = rows[:, :half].clone(), lexicon.counts
    mean = counts @ source
    lengths = source.norm(dim=1, keepdim=True)
    scaled = mean * (lengths.mean() / mean.norm(dim=1, keepdim=True).clamp_min(1e-30))
    rows[:, half : 2 * half] = torch.where(counts.sum(1, keepdim=True) > 0, scaled, source)
    source_weight, target_weight = network.source_projection.weight, network.target_projection.weight
    reading = source_weight[:, :half].clone()
    for weights in (source_weight, target_weight):
        weights[:, : 2 * half] = 0
    source_weight[:, :half], target_weight[:, half : 2 * half] = reading, reading
