"""The decoder in training: attention, GRU and maxout readout, over a whole target at once.

`StepDecoder` in `stepping` computes the same equations step by step for decoding.
"""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from attnviz.network.config import ModelConfig
from attnviz.network.scorers import scorer_class


class Decoder(nn.Module):
    """The decoder of Bahdanau, Cho & Bengio (2014), A.2.2, with torch's GRU.

    s_0 = tanh(W_s backward h_1 + b_s);  s_i = GRU(s_{i-1}; [E y_{i-1} ; c_i])
    t_i = maxout(U_o s + V_o E y_{i-1} + C_o c_i + b), where s is s_{i-1} or, by config, s_i
    p(y_i) = softmax(W_o t_i + b_o)
    """

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        m, n, wide = config.embedding_size, config.hidden_size, 2 * config.maxout_size
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary_size, m, padding_idx=0)
        self.dropout = nn.Dropout(config.dropout)
        self.attention = scorer_class(config.attention)(config)
        context_size = self.attention.context_size
        self.initial = nn.Linear(config.encoder_size, n)
        self.gru = nn.GRUCell(m + context_size, n)
        self.readout_state = nn.Linear(n, wide)
        self.readout_word = nn.Linear(m, wide, bias=False)
        self.readout_context = nn.Linear(context_size, wide, bias=False)
        self.output = nn.Linear(config.maxout_size, config.vocabulary_size)

    def initial_state(self, annotations: Tensor) -> Tensor:
        """Return s_0 = tanh(W_s backward h_1 + b_s): (B, Tx, 2n) to (B, n)."""
        return torch.tanh(self.initial(annotations[:, 0, self.config.encoder_size :]))

    def forward(self, annotations: Tensor, lengths: Tensor, previous: Tensor) -> tuple[Tensor, Tensor]:
        """Return the readouts t_i (B, Ty, l) and the alignment (B, Ty, Tx) under teacher forcing.

        `annotations` (B, Tx, 2n), `lengths` (B,): source pieces of each row, `previous` (B, Ty): ids of y_{i-1}.
        """
        m = self.config.embedding_size
        annotations = self.dropout(annotations)
        words = self.dropout(self.embedding(previous)).transpose(0, 1)
        initial = self.initial_state(annotations).to(self.gru.weight_hh.dtype)
        word_matrix, context_matrix = self.gru.weight_ih.split([m, self.attention.context_size], dim=1)
        inputs = linear(words, word_matrix, self.gru.bias_ih)
        states, alignment, contexts = self.attention.unroll(
            inputs, initial, annotations, lengths, context_matrix, self.gru
        )
        readout_states = states if self.config.readout_state == "current" else torch.cat([initial[None], states[:-1]])
        wide = self.readout_state(readout_states) + self.readout_word(words) + self.readout_context(contexts)
        readouts = wide.unflatten(-1, (-1, 2)).amax(-1)
        return self.dropout(readouts).transpose(0, 1), alignment.transpose(0, 1)
