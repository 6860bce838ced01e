"""The attention translator of d2l.ai in PyTorch, with its structure and names, to write checkpoints for the tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

SPECIAL = ("<bos>", "<eos>", "<pad>", "<unk>")
SOURCE = (".", *SPECIAL, "go", "he", "is", "home", "late", "lost")
TARGET = ("!", ".", *SPECIAL, "est", "il", "perdu", "rentre", "tard", "va")
PAD, BOS, EOS = SOURCE.index("<pad>"), TARGET.index("<bos>"), TARGET.index("<eos>")


@dataclass(frozen=True)
class Kind:
    """What a reader of the book may choose."""

    layers: int = 2
    newer: bool = True
    """Whether the edition is 1.0, which wraps the encoder's GRU once more."""
    length: int = 9
    biased: bool = False
    """Whether the layers of the attention have biases, as in no edition of the book."""


class Wrapped(nn.Module):
    def __init__(self, *sizes: int) -> None:
        super().__init__()
        self.rnn = nn.GRU(*sizes)

    def forward(self, words: Tensor) -> tuple[Tensor, Tensor]:
        outputs, state = self.rnn(words)
        return outputs, state


class Encoder(nn.Module):
    def __init__(self, kind: Kind, embedding: int, size: int) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(SOURCE), embedding)
        self.rnn = (Wrapped if kind.newer else nn.GRU)(embedding, size, kind.layers)


class Attention(nn.Module):
    def __init__(self, size: int, *, biased: bool) -> None:
        super().__init__()
        self.W_k, self.W_q = (nn.Linear(size, size, bias=biased) for _ in range(2))
        self.w_v = nn.Linear(size, 1, bias=biased)

    def forward(self, query: Tensor, keys: Tensor, length: int) -> Tensor:
        scores = self.w_v(torch.tanh(self.W_q(query) + self.W_k(keys)))[:, 0]
        scores[length:] = -1e6
        return torch.softmax(scores, dim=0)


class Decoder(nn.Module):
    def __init__(self, kind: Kind, embedding: int, size: int) -> None:
        super().__init__()
        self.attention, self.embedding = Attention(size, biased=kind.biased), nn.Embedding(len(TARGET), embedding)
        self.rnn = nn.GRU(embedding + size, size, kind.layers)
        self.dense = nn.Linear(size, len(TARGET))


class Model(nn.Module):
    """One sentence at a time, padded as in the book's data."""

    def __init__(self, kind: Kind, seed: int = 0, size: int = 8) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.kind = kind
        self.encoder, self.decoder = Encoder(kind, 6, size), Decoder(kind, 5, size)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.5)

    @torch.no_grad()
    def force_decode(self, source: Sequence[int], target: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Return logits and attention weights of each step of forced decoding of `target`, which includes `<eos>`."""
        padded = [*source, *[PAD] * (self.kind.length - len(source))]
        outputs, state = self.encoder.rnn(self.encoder.embedding(torch.tensor(padded)))
        rows = []
        for word in (BOS, *target[:-1]):
            weights = self.decoder.attention(state[-1], outputs, len(source))
            given = torch.cat([weights @ outputs, self.decoder.embedding(torch.tensor(word))])
            out, state = self.decoder.rnn(given[None], state)
            rows.append((self.decoder.dense(out[0]), weights[: len(source)]))
        return torch.stack([logits for logits, _ in rows]), torch.stack([weights for _, weights in rows])


def write_model(folder: Path, kind: Kind, seed: int = 0) -> Model:
    """Write a checkpoint with its vocabularies to `folder`, and return the model."""
    model = Model(kind, seed)
    torch.save(model.state_dict(), folder / "model.pt")
    for name, tokens in (("source.txt", SOURCE), ("target.txt", TARGET)):
        (folder / name).write_text("\n".join(tokens), encoding="utf-8")
    return model
