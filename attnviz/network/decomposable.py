"""Decomposable attention (Parikh et al. 2016) between an English and a French sentence: attend, compare, aggregate.

Pieces carry no positions: both sentences are bags of vectors, and reordering a sentence changes nothing. Every
intermediate number is returned, so that it can be recorded.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn

from attnviz.network.model_config import DecomposableConfig

PADDING = 0
"""Padding id, equal to `text.PAD`, which this layer may not import."""


class DecomposableOutput(NamedTuple):
    """Every intermediate number for B sentence pairs; padded positions are undefined and have weight 0."""

    source_embeddings: Tensor
    """Embeddings E x_i, (B, Tx, m)."""
    target_embeddings: Tensor
    """Embeddings E y_j, (B, Ty, m)."""
    source_projected: Tensor
    """Projected embeddings a_i = P_a E x_i, (B, Tx, d)."""
    target_projected: Tensor
    """Projected embeddings b_j = P_b E y_j, (B, Ty, d)."""
    source_features: Tensor
    """Features F(a_i), (B, Tx, d)."""
    target_features: Tensor
    """Features F(b_j), (B, Ty, d)."""
    energies: Tensor
    """Energies e_ij = F(a_i) . F(b_j), (B, Tx, Ty)."""
    source_alignment: Tensor
    """Softmax of e_ij over j, (B, Tx, Ty); rows sum to 1."""
    target_alignment: Tensor
    """Softmax of e_ij over i, (B, Ty, Tx); rows sum to 1."""
    source_aligned: Tensor
    """Weighted sums of the target beta_i, (B, Tx, d)."""
    target_aligned: Tensor
    """Weighted sums of the source alpha_j, (B, Ty, d)."""
    source_comparisons: Tensor
    """Comparisons v_1,i = G([a_i ; beta_i]), (B, Tx, d)."""
    target_comparisons: Tensor
    """Comparisons v_2,j = G([b_j ; alpha_j]), (B, Ty, d)."""
    source_sum: Tensor
    """Sum v_1 of the source comparisons, (B, d)."""
    target_sum: Tensor
    """Sum v_2 of the target comparisons, (B, d)."""
    hidden: Tensor
    """Hidden layer max(0, W [v_1 ; v_2] + c), the first layer of H, (B, d)."""
    logits: Tensor
    """Logits H([v_1 ; v_2]) of "no translation" and "translation", (B, 2)."""


class _FeedForward(nn.Module):
    """Two layers, each max(0, W x + c): F and G of the paper, (..., `inputs`) to (..., d)."""

    def __init__(self, inputs: int, config: DecomposableConfig) -> None:
        super().__init__()
        self.dropout = nn.Dropout(config.dropout)
        self.inner = nn.Linear(inputs, config.model_size)
        self.outer = nn.Linear(config.model_size, config.model_size)

    def forward(self, vectors: Tensor) -> Tensor:
        """Apply both layers to each vector: (..., inputs) to (..., d)."""
        inner = torch.relu(self.inner(self.dropout(vectors)))
        return torch.relu(self.outer(self.dropout(inner)))


class Decomposable(nn.Module):
    """The whole network, with one projection for each language.

    In the paper both sentences are of one language and share a projection. Here P_a and P_b differ, while the
    embeddings E and the networks F, G and H serve both languages.
    """

    def __init__(self, config: DecomposableConfig) -> None:
        super().__init__()
        self.config = config
        d = config.model_size
        self.embedding = nn.Embedding(config.vocabulary_size, config.embedding_size)
        self.source_projection = nn.Linear(config.embedding_size, d, bias=False)
        self.target_projection = nn.Linear(config.embedding_size, d, bias=False)
        self.attend = _FeedForward(d, config)
        self.compare = _FeedForward(2 * d, config)
        self.aggregate = nn.Linear(2 * d, d)
        self.dropout = nn.Dropout(config.dropout)
        self.output = nn.Linear(d, 2)

    def forward(self, source: Tensor, target: Tensor) -> DecomposableOutput:
        """Compute B pairs: `source` ids (B, Tx) and `target` ids (B, Ty), padded with PADDING.

        Every row has at least one piece on each side.
        """
        source_mask, target_mask = source != PADDING, target != PADDING
        embedded = self.embedding(source), self.embedding(target)
        a, b = self.source_projection(embedded[0]), self.target_projection(embedded[1])
        features = self.attend(a), self.attend(b)
        energies = features[0] @ features[1].transpose(1, 2)
        forward = torch.softmax(energies.masked_fill(~target_mask[:, None, :], float("-inf")), -1)
        backward = torch.softmax(energies.transpose(1, 2).masked_fill(~source_mask[:, None, :], float("-inf")), -1)
        beta, alpha = forward.to(b.dtype) @ b, backward.to(a.dtype) @ a
        compared = self.compare(torch.cat([a, beta], -1)), self.compare(torch.cat([b, alpha], -1))
        # Sums of up to hundreds of vectors: bfloat16 would lose the last summands.
        sums = [(v.float() if v.dtype == torch.bfloat16 else v) for v in compared]
        v_1, v_2 = ((v * mask[..., None]).sum(1) for v, mask in zip(sums, (source_mask, target_mask), strict=True))
        hidden = torch.relu(self.aggregate(self.dropout(torch.cat([v_1, v_2], -1))))
        logits = self.output(self.dropout(hidden))
        return DecomposableOutput(
            *embedded, a, b, *features, energies, forward, backward, beta, alpha, *compared, v_1, v_2, hidden, logits
        )

    @torch.no_grad()
    def initialise(self, generator: torch.Generator | None = None) -> None:
        """Initialise all weights: E is N(0, 1/4), matrices are Glorot-uniform, biases 0.

        Both projections start equal, so that pieces which both languages share, such as names and numbers, match from
        the start. G starts as a function of the difference of the vectors that it compares.
        """
        for parameter in self.parameters():
            if parameter is self.embedding.weight:
                nn.init.normal_(parameter, std=0.5, generator=generator)
            elif parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter, generator=generator)
            else:
                parameter.zero_()
        self.target_projection.weight.copy_(self.source_projection.weight)
        first, second = self.compare.inner.weight.chunk(2, dim=1)
        second.copy_(-first)
