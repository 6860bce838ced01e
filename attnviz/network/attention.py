"""The three ways to align: additive, dot-product and none, behind one small interface.

A scorer turns annotations into keys once per sentence, states into queries once per step, and a query with the keys
into energies e_ij; the softmax over the source and the weighted sum are the same for all and live here too. Additive
energies are often written as one layer over the concatenation [s_{i-1}; h_j]: splitting that layer's matrix in two
gives exactly W_a s_{i-1} + U_a h_j.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attnviz.network.config import ModelConfig


class AdditiveAttention(nn.Module):
    """e_ij = v_a . tanh(W_a s_{i-1} + U_a h_j) (Bahdanau, Cho & Bengio 2014, A.1.2)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.query = nn.Linear(config.hidden_size, config.alignment_size, bias=False)
        self.key = nn.Linear(2 * config.hidden_size, config.alignment_size, bias=False)
        self.score = nn.Parameter(torch.zeros(config.alignment_size))

    def keys(self, annotations: Tensor) -> Tensor:
        """U_a h_j: (B, Tx, 2n) to (B, Tx, n')."""
        keys: Tensor = self.key(annotations)
        return keys

    def queries(self, states: Tensor) -> Tensor:
        """W_a s_{i-1}: (..., n) to (..., n')."""
        queries: Tensor = self.query(states)
        return queries

    def energies(self, queries: Tensor, keys: Tensor) -> Tensor:
        """e_ij: (..., n') and (..., Tx, n') to (..., Tx)."""
        return (queries.unsqueeze(-2) + keys).tanh_() @ self.score


class DotAttention(nn.Module):
    """e_ij = s_{i-1} . P h_j."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.key = nn.Linear(2 * config.hidden_size, config.hidden_size, bias=False)

    def keys(self, annotations: Tensor) -> Tensor:
        """P h_j: (B, Tx, 2n) to (B, Tx, n)."""
        keys: Tensor = self.key(annotations)
        return keys

    def queries(self, states: Tensor) -> Tensor:
        """Return the states as they are."""
        return states

    def energies(self, queries: Tensor, keys: Tensor) -> Tensor:
        """e_ij: (..., n) and (..., Tx, n) to (..., Tx)."""
        return (keys @ queries.unsqueeze(-1)).squeeze(-1)


class FixedContext(nn.Module):
    """No attention: every context is the last forward annotation, as in the paper's RNNencdec baseline.

    It is written as an alignment that is 1 at the last source piece, so that the interface holds; keys and queries
    are empty and the energies 0.
    """

    def keys(self, annotations: Tensor) -> Tensor:
        """Return an empty key per piece: (B, Tx, 2n) to (B, Tx, 0)."""
        return annotations[..., :0]

    def queries(self, states: Tensor) -> Tensor:
        """Return an empty query: (..., n) to (..., 0)."""
        return states[..., :0]

    def energies(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return zeros (..., Tx)."""
        return keys.new_zeros(torch.broadcast_shapes(queries.shape[:-1], keys.shape[:-2]) + keys.shape[-2:-1])


Attention = AdditiveAttention | DotAttention | FixedContext


def make_attention(config: ModelConfig) -> Attention:
    """Return the scorer that `config.attention` names."""
    if config.attention == "additive":
        return AdditiveAttention(config)
    return DotAttention(config) if config.attention == "dot" else FixedContext()


def source_mask(lengths: Tensor, size: int, attention: str) -> Tensor:
    """Return (B, size): 0 where attention may fall and -inf elsewhere.

    `lengths` (B,) counts each sentence's pieces; padding is always -inf. Without attention only the last piece is
    open, which makes the context that piece's annotation.
    """
    positions = torch.arange(size, device=lengths.device)
    open_ = positions < lengths[:, None]
    if attention == "none":
        open_ = positions == lengths[:, None] - 1
    return torch.zeros(open_.shape, device=lengths.device).masked_fill_(~open_, float("-inf"))
