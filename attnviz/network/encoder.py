"""The encoder: a bidirectional GRU that turns source pieces into annotations, for training and for inference."""

from __future__ import annotations

import itertools

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, linear

from attnviz.network.model_config import ModelConfig
from attnviz.network.products import FixedProduct
from attnviz.network.recurrence import GRUSequence, gru_gates


class Encoder(nn.Module):
    """h_j = [forward h_j ; backward h_j] (Bahdanau, Cho & Bengio 2014, section 3.2).

    `gru` is a torch.nn.GRU that holds the weights; `forward` computes both directions at once. The backward direction
    reads sentences reversed within their own length, so that padding comes last for both and never enters a state.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.hidden_size = config.encoder_size
        self.embedding = nn.Embedding(config.vocabulary_size, config.embedding_size, padding_idx=0)
        self.dropout = nn.Dropout(config.dropout)
        self.gru = nn.GRU(config.embedding_size, config.encoder_size, batch_first=True, bidirectional=True)

    def forward(self, source: Tensor, lengths: Tensor) -> Tensor:
        """Return the annotations (B, Tx, 2n) of `source` ids (B, Tx), of which row b has `lengths[b]` pieces.

        Padded positions are undefined; the attention masks them.
        """
        return self.annotate(self.dropout(self.embedding(source)), lengths)

    def annotate(self, embedded: Tensor, lengths: Tensor) -> Tensor:
        """Return the annotations (B, Tx, 2n) of the embeddings E x_j, (B, Tx, m), as `forward` does of ids."""
        batch, size, _ = embedded.shape
        n, embedded = self.hidden_size, embedded.transpose(0, 1)
        order = reversal(lengths, size).t()
        mirrored = embedded.gather(0, order[..., None].expand(-1, -1, embedded.shape[-1]))
        # Per direction: input matrix, recurrent matrix, input bias, recurrent bias.
        onward, reverse = self.gru.all_weights
        states = GRUSequence.apply(
            torch.stack([linear(embedded, onward[0], onward[2]), linear(mirrored, reverse[0], reverse[2])], dim=1),
            torch.zeros(2, batch, n, dtype=onward[1].dtype, device=lengths.device),
            torch.stack([onward[1], reverse[1]]),
            torch.stack([onward[3], reverse[3]]),
        )
        forward, backward = states.unbind(1)
        backward = backward.gather(0, order[..., None].expand(-1, -1, n))
        return torch.cat([forward, backward], dim=-1).transpose(0, 1)


class PreparedEncoder:
    """An encoder with its weights laid out for inference, safe to share between threads.

    It computes what `Encoder.forward` computes, without a backward pass. The gate inputs of a repeated piece are
    computed once. At each step only rows up to the last unfinished sentence are computed, which is fastest where longer
    sentences come first.
    """

    def __init__(self, encoder: Encoder) -> None:
        """Lay out the weights, which must not change afterwards."""
        with torch.no_grad():
            self.embedding = encoder.embedding.weight
            self.size = encoder.hidden_size
            self.inputs = [FixedProduct(weight, bias) for weight, _, bias, _ in encoder.gru.all_weights]
            self.recurrents = [FixedProduct(weight, bias) for _, weight, _, bias in encoder.gru.all_weights]
            """Input and recurrent products of each direction, (R, m) and (R, n) to (R, 3n)."""

    def __call__(self, source: Tensor, lengths: Tensor) -> Tensor:
        """Return the annotations (B, Tx, 2n), as `Encoder.forward` does."""
        batch, size = source.shape
        n = self.size
        order = reversal(lengths, size)
        pieces, indices = _distinct(source)
        words = embedding(pieces, self.embedding)
        table = torch.cat([product(words) for product in self.inputs])
        index = torch.stack([indices.t(), indices.gather(1, order).t() + len(pieces)], dim=1)
        inputs = embedding(index, table)
        states = inputs.new_zeros(size + 1, 2, batch, n)
        for incoming, before, after, rows in zip(inputs, states, states[1:], _active_rows(lengths, size), strict=False):
            if rows < batch:
                incoming, before, after = incoming[:, :rows], before[:, :rows], after[:, :rows]
            recurrent = torch.stack([product(state) for product, state in zip(self.recurrents, before, strict=True)])
            _, update, candidate = gru_gates(incoming, recurrent)
            torch.lerp(candidate, before, update, out=after)
        onward, reverse = states[1:].unbind(1)
        reverse = reverse.gather(0, order.t()[..., None].expand(-1, -1, n))
        return torch.cat([onward.transpose(0, 1), reverse.transpose(0, 1)], dim=-1)


def _distinct(source: Tensor) -> tuple[Tensor, Tensor]:
    """Return the distinct ids (U,), and for each of the ids (B, Tx) its index among them.

    On a GPU, return all ids, since counting distinct ones would synchronise.
    """
    if source.device.type == "cpu":
        distinct: tuple[Tensor, Tensor] = source.unique(return_inverse=True)
        return distinct
    return source.flatten(), torch.arange(source.numel(), device=source.device).view_as(source)


def _active_rows(lengths: Tensor, size: int) -> list[int]:
    """Return, for each of `size` positions, how many rows a step computes: up to the last unfinished sentence.

    On a GPU, return all rows, since reading the lengths would synchronise.
    """
    if lengths.device.type != "cpu":
        return [len(lengths)] * size
    last = [0] * size
    for row, length in enumerate(lengths.tolist(), 1):
        last[length - 1] = row
    return list(itertools.accumulate(reversed(last), max))[::-1]


def reversal(lengths: Tensor, size: int) -> Tensor:
    """Return indices (B, size) that reverse the first `lengths[b]` positions of each row and keep the rest."""
    positions = torch.arange(size, device=lengths.device).expand(len(lengths), -1)
    return torch.where(positions < lengths[:, None], lengths[:, None] - 1 - positions, positions)
