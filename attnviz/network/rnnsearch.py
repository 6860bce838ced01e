"""`RNNsearch`, the recurrent translator of Bahdanau, Cho & Bengio (2014): the decoder and the whole."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.functional import linear

from attnviz.network.config import ModelConfig
from attnviz.network.encoder import Encoder
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


class RNNsearch(nn.Module):
    """A BiGRU encoder and an attentive GRU decoder (Bahdanau, Cho & Bengio 2014)."""

    writes_unk = False
    """Whether a search may write `<unk>` by default."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()
        self.config = config
        self.encoder = Encoder(config)
        self.decoder = Decoder(config)

    @property
    def output(self) -> nn.Linear:
        """W_o and b_o, which turn readouts (..., l) into the logits of all pieces (..., K)."""
        return self.decoder.output

    @property
    def attends(self) -> bool:
        """Whether the decoder has attention."""
        return self.decoder.attention.attends

    @property
    def attends_once(self) -> bool:
        """Whether each step has one attention distribution, open to interventions and with a posterior."""
        return self.attends

    def forward(self, source: Tensor, lengths: Tensor, previous: Tensor) -> tuple[Tensor, Tensor]:
        """Return readouts t_i (B, Ty, l) and alignment (B, Ty, Tx) under teacher forcing.

        `source` ids (B, Tx), `lengths` (B,), `previous` (B, Ty): ids of y_{i-1}.
        """
        readouts: tuple[Tensor, Tensor] = self.decoder(self.encoder(source, lengths), lengths, previous)
        return readouts

    def logits(self, source: Tensor, lengths: Tensor, previous: Tensor) -> Tensor:
        """Return W_o t_i + b_o, (B, Ty, K)."""
        logits: Tensor = self.output(self(source, lengths, previous)[0])
        return logits

    @torch.no_grad()
    def initialise(self, generator: torch.Generator | None = None) -> None:
        """Initialise all weights.

        Recurrent matrices are orthogonal, other matrices Glorot-uniform, embeddings N(0, 1/sqrt(m)), biases 0. This
        follows the paper's B.1, except that Glorot's scale suits smaller sizes.
        """
        for name, parameter in self.named_parameters():
            if "weight_hh" in name:
                for block in parameter.chunk(3):
                    nn.init.orthogonal_(block, generator=generator)
            elif "embedding" in name:
                nn.init.normal_(parameter, std=self.config.embedding_size**-0.5, generator=generator)
                parameter[0].zero_()
            elif parameter.dim() == 2:
                nn.init.xavier_uniform_(parameter, generator=generator)
            elif name.endswith("score"):
                nn.init.uniform_(parameter, -(len(parameter) ** -0.5), len(parameter) ** -0.5, generator=generator)
            else:
                parameter.zero_()
