"""The whole network: encoder and decoder."""

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
        """W_o and b_o, which make readouts (..., l) into the logits of all pieces (..., K)."""
        return self.decoder.output

    @property
    def attends(self) -> bool:
        """Whether the decoder chooses where to look at each step."""
        return self.decoder.attention.attends

    @property
    def attends_once(self) -> bool:
        """Whether a step has one look at the source, which can be changed and has a posterior after the word."""
        return self.attends

    def forward(self, source: Tensor, lengths: Tensor, previous: Tensor) -> tuple[Tensor, Tensor]:
        """Return readouts t_i (B, Ty, l) and alignment (B, Ty, Tx), given source ids (B, Tx) with their lengths (B,)
        and the ids of the previous target words (B, Ty)."""
        readouts: tuple[Tensor, Tensor] = self.decoder(self.encoder(source, lengths), lengths, previous)
        return readouts

    def logits(self, source: Tensor, lengths: Tensor, previous: Tensor) -> Tensor:
        """Return W_o t_i + b_o, (B, Ty, K)."""
        logits: Tensor = self.output(self(source, lengths, previous)[0])
        return logits

    @torch.no_grad()
    def initialise(self, generator: torch.Generator | None = None) -> None:
        """Set all weights afresh: recurrent matrices orthogonal, other matrices Glorot-uniform, embeddings
        N(0, 1/sqrt(m)) and biases 0 (the paper's B.1 in spirit; Glorot's scale suits these smaller sizes)."""
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
