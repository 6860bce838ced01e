"""The encoder: a bidirectional GRU that turns source pieces into annotations."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

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
        order = self._reversal(lengths, size).t()
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

    @staticmethod
    def _reversal(lengths: Tensor, size: int) -> Tensor:
        """Return indices (B, size) that reverse each row's first `lengths[b]` places and leave the rest."""
        positions = torch.arange(size, device=lengths.device).expand(len(lengths), -1)
        return torch.where(positions < lengths[:, None], lengths[:, None] - 1 - positions, positions)
