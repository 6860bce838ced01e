"""First embeddings that know a little: a target piece begins where the source pieces are that it is linked to.

The paper begins with vectors learnt elsewhere (GloVe); here the pairs themselves, by way of word links, give the first.
"""

from __future__ import annotations

import torch

from attnviz.network import Decomposable
from attnviz.training.guidance import Lexicon


@torch.no_grad()
def begin_with_links(network: Decomposable, lexicon: Lexicon) -> None:
    """Give a `network` of random weights first embeddings by the links of `lexicon`, which has as many pieces.

    The first half of a piece's embedding, its vector as a source piece, stays random: nearly orthogonal to every other.
    The second half, its vector as a target piece, becomes the mean of the vectors of the source pieces it is linked to,
    by their shares, as long as any other; where there are none, its own. Each language's projection begins by reading
    its half alone, and both read alike. An odd unit is left as it is.
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
    one, other = network.source_projection.weight, network.target_projection.weight
    reading = one[:, :half].clone()
    for weights in (one, other):
        weights[:, : 2 * half] = 0
    one[:, :half], other[:, half : 2 * half] = reading, reading
