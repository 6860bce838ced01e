"""`RNNsearch`: the whole recurrent translator of Bahdanau, Cho & Bengio (2014), encoder and decoder together."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from attnviz.network.config import ModelConfig
from attnviz.network.decoder import Decoder
from attnviz.network.encoder import Encoder


class RNNsearch(nn.Module):
    """A BiGRU encoder and an attentive GRU decoder (Bahdanau, Cho & Bengio 2014)."""

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
