"""The kinds of attention (additive, general and none) behind one interface.

A scorer owns everything that depends on the kind of attention: its weights, the mask, the size of a context, and how
the decoder's recurrence runs over a whole target. It computes keys from annotations once per sentence, queries from
states once per step, and energies e_ij from a query and the keys; all kinds share the softmax. Additive energies are
often written as one layer over the concatenation [s_{i-1}; h_j]: splitting that layer's matrix in two gives exactly W_a
s_{i-1} + U_a h_j.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from attnviz.network.activations import tanh_
from attnviz.network.config import ModelConfig
from attnviz.network.recurrence import AttentiveGRUSequence, GRUSequence


class Unrolled(NamedTuple):
    """The recurrence over a whole target of Ty pieces, for a batch of B."""

    states: Tensor
    """Decoder states s_i, (Ty, B, n)."""
    alignment: Tensor
    """Attention alpha_ij, (Ty, B, Tx)."""
    contexts: Tensor
    """Context vectors c_i, (Ty, B, context size)."""


class Scorer(nn.Module):
    """Interface of every kind of attention."""

    attends = True
    """Whether energies are computed from query and keys."""

    def __init__(self, context_size: int) -> None:
        super().__init__()
        self.context_size = context_size
        """Length of a context vector: a weighted sum of the annotations' first `context_size` units."""

    @property
    def query_weight(self) -> Tensor | None:
        """Query matrix W_a, (n', n); None where the query is not a product of the state."""
        return None

    @property
    def score_vector(self) -> Tensor | None:
        """Score vector v_a, (n',); None for kinds without one."""
        return None

    def keys(self, annotations: Tensor) -> Tensor:
        """Return the keys, once per sentence: (B, Tx, 2n) to (B, Tx, n')."""
        raise NotImplementedError

    def queries(self, states: Tensor, products: Tensor) -> Tensor:
        """Return the queries of the states s_{i-1}: (..., n) to (..., n').

        `products` (..., n') are the states times `query_weight`, which the caller computes together with other products
        of the states; (..., 0) for kinds without that matrix.
        """
        raise NotImplementedError

    def energies(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return e_ij: (..., n') and (..., Tx, n') to (..., Tx)."""
        raise NotImplementedError

    def mask(self, lengths: Tensor, size: int) -> Tensor:
        """Return the mask, (B, size): 0 where attention is allowed and -inf elsewhere.

        `lengths` (B,) counts each sentence's pieces; padding is always -inf.
        """
        positions = torch.arange(size, device=lengths.device)
        return _mask(positions < lengths[:, None])

    def unroll(
        self, inputs: Tensor, initial: Tensor, annotations: Tensor, lengths: Tensor, columns: Tensor, gru: nn.GRUCell
    ) -> Unrolled:
        """Run the decoder over a whole target under teacher forcing.

        `inputs` (Ty, B, 3n): the previous words' half of the gates; `initial` (B, n): s_0; `annotations` (B, Tx, 2n) of
        `lengths` (B,) pieces; `columns` (3n, context size): the context's columns of the gates' input matrix.
        """
        mask = self.mask(lengths, annotations.shape[1]).to(initial.dtype)
        states, alignment = AttentiveGRUSequence.apply(
            inputs,
            initial,
            self.keys(annotations),
            linear(annotations, columns),
            mask,
            gru.weight_hh,
            gru.bias_hh,
            self.query_weight,
            self.score_vector,
        )
        contexts = torch.bmm(alignment.transpose(0, 1).to(annotations.dtype), annotations).transpose(0, 1)
        return Unrolled(states, alignment, contexts)


class AdditiveScorer(Scorer):
    """e_ij = v_a . tanh(W_a s_{i-1} + U_a h_j) (Bahdanau, Cho & Bengio 2014, A.1.2)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(2 * config.hidden_size)
        self.query = nn.Linear(config.hidden_size, config.alignment_size, bias=False)
        self.key = nn.Linear(2 * config.hidden_size, config.alignment_size, bias=False)
        self.score = nn.Parameter(torch.zeros(config.alignment_size))

    @property
    def query_weight(self) -> Tensor:
        """Query matrix W_a, (n', n)."""
        return self.query.weight

    @property
    def score_vector(self) -> Tensor:
        """Score vector v_a, (n',)."""
        return self.score

    def keys(self, annotations: Tensor) -> Tensor:
        """Return U_a h_j: (B, Tx, 2n) to (B, Tx, n')."""
        keys: Tensor = self.key(annotations)
        return keys

    def queries(self, states: Tensor, products: Tensor) -> Tensor:
        """Return W_a s_{i-1}, which is `products`, (..., n')."""
        return products

    def energies(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return e_ij: (..., n') and (..., Tx, n') to (..., Tx)."""
        return tanh_(queries.unsqueeze(-2) + keys) @ self.score


class GeneralScorer(Scorer):
    """e_ij = s_{i-1} . P h_j (Luong, Pham & Manning 2015, *general*); here n' is n."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(2 * config.hidden_size)
        self.key = nn.Linear(2 * config.hidden_size, config.hidden_size, bias=False)

    def keys(self, annotations: Tensor) -> Tensor:
        """Return P h_j: (B, Tx, 2n) to (B, Tx, n)."""
        keys: Tensor = self.key(annotations)
        return keys

    def queries(self, states: Tensor, products: Tensor) -> Tensor:
        """Return the states unchanged, (..., n)."""
        return states

    def energies(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return e_ij: (..., n) and (..., Tx, n) to (..., Tx)."""
        return (keys @ queries.unsqueeze(-1)).squeeze(-1)


class FixedContext(Scorer):
    """No attention: every context is the last forward annotation, as in the paper's RNNencdec baseline.

    Implemented as an alignment that is 1 at the last source piece: keys and queries are empty, energies are 0, and the
    mask allows the last piece only.
    """

    attends = False

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config.hidden_size)

    def keys(self, annotations: Tensor) -> Tensor:
        """Return an empty key per piece: (B, Tx, 2n) to (B, Tx, 0)."""
        return annotations[..., :0]

    def queries(self, states: Tensor, products: Tensor) -> Tensor:
        """Return an empty query: (..., n) to (..., 0)."""
        return states[..., :0]

    def energies(self, queries: Tensor, keys: Tensor) -> Tensor:
        """Return zeros (..., Tx)."""
        return keys.new_zeros(torch.broadcast_shapes(queries.shape[:-1], keys.shape[:-2]) + keys.shape[-2:-1])

    def mask(self, lengths: Tensor, size: int) -> Tensor:
        """Return the mask, (B, size): 0 at each sentence's last piece and -inf elsewhere; `lengths` (B,)."""
        return _mask(torch.arange(size, device=lengths.device) == lengths[:, None] - 1)

    def unroll(
        self, inputs: Tensor, initial: Tensor, annotations: Tensor, lengths: Tensor, columns: Tensor, gru: nn.GRUCell
    ) -> Unrolled:
        """Run the decoder over a whole target, as `Scorer.unroll` does, with `columns` (3n, n).

        The context is the same at every step, so that its product with the gates is computed once.
        """
        last = (lengths - 1)[:, None, None].expand(-1, 1, self.context_size)
        context = annotations[..., : self.context_size].gather(1, last).transpose(0, 1)
        states = GRUSequence.apply(
            (inputs + linear(context, columns))[:, None], initial[None], gru.weight_hh[None], gru.bias_hh[None]
        )[:, 0]
        mask = self.mask(lengths, annotations.shape[1]).to(initial.dtype)
        return Unrolled(states, mask.exp().expand(len(inputs), -1, -1), context.expand(len(inputs), -1, -1))


SCORERS: dict[str, type[AdditiveScorer | GeneralScorer | FixedContext]] = {
    "additive": AdditiveScorer,
    "general": GeneralScorer,
    "none": FixedContext,
}
"""The scorer class of each value of `ModelConfig.attention`."""


def _mask(open_: Tensor) -> Tensor:
    """Return 0 where the boolean tensor `open_` holds and -inf elsewhere, in its shape."""
    return torch.zeros(open_.shape, device=open_.device).masked_fill_(~open_, float("-inf"))
