"""The encoder: a bidirectional GRU that turns source pieces into annotations."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import embedding, linear

from attnviz.network.config import ModelConfig
from attnviz.network.recurrence import GRUSequence


class Encoder(nn.Module):
    """h_j = [forward h_j ; backward h_j] (Bahdanau, Cho & Bengio 2014, section 3.2).

    `gru` is a plain torch.nn.GRU that holds the weights; `forward` computes both directions at once, the backward one
    on sentences reversed within their own length, so that padding stands last for both and never enters a state.
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.hidden_size = config.hidden_size
        self.embedding = nn.Embedding(config.vocabulary_size, config.embedding_size, padding_idx=0)
        self.dropout = nn.Dropout(config.dropout)
        self.gru = nn.GRU(config.embedding_size, config.hidden_size, batch_first=True, bidirectional=True)

    def forward(self, source: Tensor, lengths: Tensor) -> Tensor:
        """Return the annotations (B, Tx, 2n) of `source` ids (B, Tx), of which row b has `lengths[b]` pieces.

        What stands at padded positions has no meaning; the attention masks it.
        """
        batch, size = source.shape
        n = self.hidden_size
        embedded = self.dropout(self.embedding(source)).transpose(0, 1)
        order = reversal(lengths, size).t()
        mirrored = embedded.gather(0, order[..., None].expand(-1, -1, embedded.shape[-1]))
        # Per direction: input matrix, recurrent matrix, input bias, recurrent bias.
        onward, reverse = self.gru.all_weights
        states = GRUSequence.apply(
            torch.stack([linear(embedded, onward[0], onward[2]), linear(mirrored, reverse[0], reverse[2])], dim=1),
            torch.zeros(2, batch, n, dtype=onward[1].dtype, device=source.device),
            torch.stack([onward[1], reverse[1]]),
            torch.stack([onward[3], reverse[3]]),
        )
        forward, backward = states.unbind(1)
        backward = backward.gather(0, order[..., None].expand(-1, -1, n))
        return torch.cat([forward, backward], dim=-1).transpose(0, 1)


class PreparedEncoder:
    """A network's encoder with its weights laid out for use: each direction's matrices side by side and transposed.

    It computes what `Encoder.forward` computes, keeps nothing for a backward pass, and serves many threads.
    """

    def __init__(self, encoder: Encoder) -> None:
        """Lay the weights out; the encoder's weights must not change afterwards."""
        with torch.no_grad():
            self.embedding = encoder.embedding.weight
            inputs, recurrents, biases, offsets = (
                torch.stack(pair) for pair in zip(*encoder.gru.all_weights, strict=True)
            )
            self.inputs, self.recurrents = inputs.mT.contiguous(), recurrents.mT.contiguous()
            """(2, m, 3n) and (2, n, 3n)."""
            self.biases, self.offsets = biases[:, None], offsets[:, None]
            """Those of the input and of the recurrent half, (2, 1, 3n)."""

    def __call__(self, source: Tensor, lengths: Tensor) -> Tensor:
        """Return the annotations (B, Tx, 2n), as `Encoder.forward` does."""
        batch, size = source.shape
        n = self.recurrents.shape[1]
        order = reversal(lengths, size)
        words = embedding(torch.stack([source.t(), source.gather(1, order).t()]), self.embedding)
        inputs = torch.baddbmm(self.biases, words.flatten(1, 2), self.inputs).view(2, size, batch, 3 * n)
        states = inputs.new_empty(size + 1, 2, batch, n)
        states[0] = 0
        for incoming, before, after in zip(inputs.unbind(1), states[:-1].unbind(0), states[1:].unbind(0), strict=True):
            recurrent = torch.baddbmm(self.offsets, before, self.recurrents)
            reset, update = torch.sigmoid(incoming[..., : 2 * n] + recurrent[..., : 2 * n]).split(n, dim=-1)
            candidate = torch.addcmul(incoming[..., 2 * n :], reset, recurrent[..., 2 * n :]).tanh_()
            torch.lerp(candidate, before, update, out=after)
        forward, backward = states[1:].unbind(1)
        backward = backward.gather(0, order.t()[..., None].expand(-1, -1, n))
        return torch.cat([forward.transpose(0, 1), backward.transpose(0, 1)], dim=-1)


def reversal(lengths: Tensor, size: int) -> Tensor:
    """Return indices (B, size) that reverse each row's first `lengths[b]` places and leave the rest."""
    positions = torch.arange(size, device=lengths.device).expand(len(lengths), -1)
    return torch.where(positions < lengths[:, None], lengths[:, None] - 1 - positions, positions)
