"""Score functions of the kinds of attention, as torch modules with one interface, `Scorer`.

A scorer has all that depends on the kind of attention: its weights, the mask, the size of a context, and how the
decoder's recurrence runs over a whole target. It computes keys from annotations once per sentence, queries from states
once per step, and energies e_ij from a query and the keys; all kinds share the softmax. Energies may also depend on
features f_ij of the previous step's weights. `attention_kinds` lists the kinds.

Sizes: B sentences of Tx source and Ty target pieces; n numbers of a decoder state, n' of a query or key, r features of
a source piece. An annotation has 2n numbers, with *dot* attention n. Additive energies are often written as one layer
over the concatenation [s_{i-1}; h_j]: splitting that layer's matrix in two gives exactly W_a s_{i-1} + U_a h_j.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import linear, pad

from attnviz.attention_kinds import kind_of, resolve
from attnviz.errors import user_error
from attnviz.network.derivatives import taking_derivatives, tanh_
from attnviz.network.model_config import ModelConfig
from attnviz.network.recurrence import AttentiveGRUSequence, GRUSequence, gru_step
from attnviz.network.searchable import additive_mask


class DecoderRun(NamedTuple):
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
    reads_before = False
    """Whether energies also depend on alpha_{i-1}, the weights of the previous step."""

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

    @property
    def feature_weight(self) -> Tensor | None:
        """Feature matrix L, (n', r), whose product with the features is added to the keys; None without features."""
        return None

    def features(self, previous_weights: Tensor) -> Tensor:
        """Return f_ij from alpha_{i-1}, 0 before the first step: `previous_weights` (..., Tx) to (..., Tx, r).

        Called only where `reads_before` is true.
        """
        raise NotImplementedError

    def energies(self, queries: Tensor, keys: Tensor, features: Tensor | None = None) -> Tensor:
        """Return e_ij: queries (..., n') and keys (..., Tx, n') to (..., Tx).

        `features` (..., Tx, r) matter only where `reads_before` is true.
        """
        raise NotImplementedError

    def mask(self, lengths: Tensor, size: int) -> Tensor:
        """Return the mask, (B, size): 0 where attention is allowed and -inf elsewhere.

        `lengths` (B,) counts each sentence's pieces; padding is always -inf.
        """
        positions = torch.arange(size, device=lengths.device)
        return additive_mask(positions >= lengths[:, None])

    def unroll(
        self,
        inputs: Tensor,
        initial: Tensor,
        annotations: Tensor,
        lengths: Tensor,
        context_matrix: Tensor,
        gru: nn.GRUCell,
    ) -> DecoderRun:
        """Run the decoder over a whole target under teacher forcing.

        `inputs` (Ty, B, 3n): the previous words' half of the gates; `initial` (B, n): s_0; `annotations` (B, Tx, 2n) of
        `lengths` (B,) pieces; `context_matrix` (3n, context size): the context's columns of the gates' input matrix.
        """
        mask, weight = self.mask(lengths, annotations.shape[1]).to(initial.dtype), self.query_weight
        keys, attended = self.keys(annotations), annotations[..., : self.context_size]
        values, state, previous_weights = linear(attended, context_matrix), initial, torch.zeros_like(mask)
        states, alignment = [], []
        for word_inputs in inputs:
            products = state[..., :0] if weight is None else linear(state, weight)
            with taking_derivatives():
                features = self.features(previous_weights) if self.reads_before else None
                energies = self.energies(self.queries(state, products), keys, features)
            previous_weights = torch.softmax(energies.to(mask.dtype) + mask, -1)
            context_part = torch.bmm(previous_weights.to(values.dtype)[:, None], values)[:, 0]
            recurrent = linear(state, gru.weight_hh, gru.bias_hh)
            state = gru_step((word_inputs + context_part).to(state.dtype), recurrent.to(state.dtype), state)
            states.append(state)
            alignment.append(previous_weights)
        weights = torch.stack(alignment)
        contexts = torch.bmm(weights.transpose(0, 1).to(attended.dtype), attended).transpose(0, 1)
        return DecoderRun(torch.stack(states), weights, contexts)


class FusedScorer(Scorer):
    """Energies v . tanh(query + key) or query . key, with a hand-written gradient of the recurrence."""

    def unroll(
        self,
        inputs: Tensor,
        initial: Tensor,
        annotations: Tensor,
        lengths: Tensor,
        context_matrix: Tensor,
        gru: nn.GRUCell,
    ) -> DecoderRun:
        """Run the decoder as `Scorer.unroll` does, on the same shapes, with a hand-written gradient.

        `context_matrix` is (3n, context size).
        """
        mask = self.mask(lengths, annotations.shape[1]).to(initial.dtype)
        states, alignment = AttentiveGRUSequence.apply(
            inputs,
            initial,
            self.keys(annotations),
            linear(annotations, context_matrix),
            mask,
            gru.weight_hh,
            gru.bias_hh,
            self.query_weight,
            self.score_vector,
        )
        contexts = torch.bmm(alignment.transpose(0, 1).to(annotations.dtype), annotations).transpose(0, 1)
        return DecoderRun(states, alignment, contexts)


class AdditiveScorer(FusedScorer):
    """e_ij = v_a . tanh(W_a s_{i-1} + U_a h_j) (Bahdanau, Cho & Bengio 2014, A.1.2)."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(2 * config.encoder_size)
        self.query = nn.Linear(config.hidden_size, config.alignment_size, bias=False)
        self.key = nn.Linear(2 * config.encoder_size, config.alignment_size, bias=False)
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

    def energies(self, queries: Tensor, keys: Tensor, features: Tensor | None = None) -> Tensor:
        """Return e_ij: (..., n') and (..., Tx, n') to (..., Tx)."""
        return tanh_(queries.unsqueeze(-2) + keys) @ self.score


class ProductScorer(FusedScorer):
    """e_ij = s_{i-1} . key_j; n' is n. Subclasses define the keys."""

    def queries(self, states: Tensor, products: Tensor) -> Tensor:
        """Return the states unchanged, (..., n)."""
        return states

    def energies(self, queries: Tensor, keys: Tensor, features: Tensor | None = None) -> Tensor:
        """Return e_ij: (..., n) and (..., Tx, n) to (..., Tx)."""
        return (keys @ queries.unsqueeze(-1)).squeeze(-1)


class GeneralScorer(ProductScorer):
    """e_ij = s_{i-1} . P h_j (Luong, Pham & Manning 2015, *general*); here n' is n."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(2 * config.encoder_size)
        self.key = nn.Linear(2 * config.encoder_size, config.hidden_size, bias=False)

    def keys(self, annotations: Tensor) -> Tensor:
        """Return P h_j: (B, Tx, 2n) to (B, Tx, n)."""
        keys: Tensor = self.key(annotations)
        return keys


class DotScorer(ProductScorer):
    """e_ij = s_{i-1} . h_j (Luong, Pham & Manning 2015, *dot*).

    It has no weights: each direction of the encoder has n / 2 units, so that an annotation has the length of a state.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(2 * config.encoder_size)

    def keys(self, annotations: Tensor) -> Tensor:
        """Return the annotations unchanged, (B, Tx, n)."""
        return annotations


class LocationScorer(ProductScorer):
    """e_ij = s_{i-1} . w_j, with a learned w_j for each position j (Luong, Pham & Manning 2015, *location*).

    Energies do not depend on the source words. There are `alignment_size` positions; pieces beyond them get no
    attention.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(2 * config.encoder_size)
        self.place = nn.Linear(config.hidden_size, config.alignment_size, bias=False)

    def keys(self, annotations: Tensor) -> Tensor:
        """Return w_j, and 0 at positions without a w_j: (..., Tx, 2n) to (..., Tx, n)."""
        *batch, size, _ = annotations.shape
        position_keys = self.place.weight[:size]
        return pad(position_keys, (0, 0, 0, size - len(position_keys))).expand(*batch, -1, -1)

    def mask(self, lengths: Tensor, size: int) -> Tensor:
        """Return the mask, (B, size): 0 at pieces whose position has a w_j and -inf elsewhere; `lengths` (B,)."""
        return super().mask(lengths.clamp(max=len(self.place.weight)), size)


class LocationAwareScorer(AdditiveScorer):
    """e_ij = v_a . tanh(W_a s_{i-1} + U_a h_j + L f_ij), f_i = F * alpha_{i-1} (Chorowski et al. 2015, without a bias).

    F are r filters of width 7, convolved with the weights of the previous step.
    """

    reads_before = True
    FILTERS, WIDTH = 10, 7

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config)
        self.filters = nn.Linear(self.WIDTH, self.FILTERS, bias=False)
        self.feature = nn.Linear(self.FILTERS, config.alignment_size, bias=False)

    @property
    def feature_weight(self) -> Tensor:
        """Feature matrix L, (n', r)."""
        return self.feature.weight

    def features(self, previous_weights: Tensor) -> Tensor:
        """Return f_ij = sum_k F_k alpha_{i-1, j+k}, k from -3 to 3: (..., Tx) to (..., Tx, r)."""
        size, padded = previous_weights.shape[-1], pad(previous_weights, (self.WIDTH // 2, self.WIDTH // 2))
        # Not Tensor.unfold, whose gradient vmap computes row by row.
        windows = torch.stack([padded[..., shift : shift + size] for shift in range(self.WIDTH)], -1)
        features: Tensor = self.filters(windows)
        return features

    def energies(self, queries: Tensor, keys: Tensor, features: Tensor | None = None) -> Tensor:
        """Return e_ij: (..., n'), (..., Tx, n') and features (..., Tx, r) to (..., Tx)."""
        return super().energies(queries, keys + self.feature(features))

    unroll = Scorer.unroll


class FixedContextScorer(Scorer):
    """No attention: every context is the last forward annotation, as in the paper's RNNencdec baseline.

    Implemented as an alignment that is 1 at the last source piece: keys and queries are empty, energies are 0, and the
    mask allows the last piece only.
    """

    attends = False

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(config.encoder_size)

    def keys(self, annotations: Tensor) -> Tensor:
        """Return an empty key per piece: (B, Tx, 2n) to (B, Tx, 0)."""
        return annotations[..., :0]

    def queries(self, states: Tensor, products: Tensor) -> Tensor:
        """Return an empty query: (..., n) to (..., 0)."""
        return states[..., :0]

    def energies(self, queries: Tensor, keys: Tensor, features: Tensor | None = None) -> Tensor:
        """Return zeros (..., Tx), the product of an empty query and empty keys."""
        # torch.broadcast_shapes of PyTorch 2.13 imports SymPy at its first call: 0.3 s and 46 MB.
        return (queries[..., None, :] * keys).sum(-1)

    def mask(self, lengths: Tensor, size: int) -> Tensor:
        """Return the mask, (B, size): 0 at each sentence's last piece and -inf elsewhere; `lengths` (B,)."""
        return additive_mask(torch.arange(size, device=lengths.device) != lengths[:, None] - 1)

    def unroll(
        self,
        inputs: Tensor,
        initial: Tensor,
        annotations: Tensor,
        lengths: Tensor,
        context_matrix: Tensor,
        gru: nn.GRUCell,
    ) -> DecoderRun:
        """Run the decoder over a whole target, as `Scorer.unroll` does, with `context_matrix` (3n, n).

        The context is the same at every step, so that its product with the gates is computed once.
        """
        last = (lengths - 1)[:, None, None].expand(-1, 1, self.context_size)
        context = annotations[..., : self.context_size].gather(1, last).transpose(0, 1)
        states = GRUSequence.apply(
            (inputs + linear(context, context_matrix))[:, None], initial[None], gru.weight_hh[None], gru.bias_hh[None]
        )[:, 0]
        mask = self.mask(lengths, annotations.shape[1]).to(initial.dtype)
        return DecoderRun(states, mask.exp().expand(len(inputs), -1, -1), context.expand(len(inputs), -1, -1))


def scorer_class(attention: str) -> Callable[[ModelConfig], Scorer]:
    """Return the torch class of the kind of attention `attention`, as in `ModelConfig.attention`.

    Raise AttnvizError where it cannot be imported or is no Scorer.
    """
    class_name = kind_of(attention).network
    scorer = resolve(class_name)
    if not isinstance(scorer, type) or not issubclass(scorer, Scorer):
        raise user_error("{place} is not a subclass of attnviz.network.scorers.Scorer.", place=class_name)
    return scorer
