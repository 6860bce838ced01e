"""The translator of the tutorial on pytorch.org before 2023, to write checkpoints for the tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

SOURCE = ("SOS", "EOS", "il", "est", "perdu", "fatigue", ".")
TARGET = ("SOS", "EOS", "he", "is", "lost", "tired", "so", ".")


@dataclass(frozen=True)
class Kind:
    """What a reader of the tutorial may choose."""

    positions: int = 10
    size: int = 8


class Encoder(nn.Module):
    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self.embedding, self.gru = nn.Embedding(len(SOURCE), kind.size), nn.GRU(kind.size, kind.size)


class AttnDecoder(nn.Module):
    def __init__(self, kind: Kind) -> None:
        super().__init__()
        self.embedding = nn.Embedding(len(TARGET), kind.size)
        self.attn, self.attn_combine = nn.Linear(2 * kind.size, kind.positions), nn.Linear(2 * kind.size, kind.size)
        self.gru, self.out = nn.GRU(kind.size, kind.size), nn.Linear(kind.size, len(TARGET))


class Model(nn.Module):
    """One sentence at a time."""

    def __init__(self, kind: Kind, seed: int = 0) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.kind, self.encoder, self.decoder = kind, Encoder(kind), AttnDecoder(kind)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.5)

    @torch.no_grad()
    def force_decode(self, source: Sequence[int], target: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Return logits and attention weights of each step of forced decoding of `target`, which includes EOS."""
        read, state = self.encoder.gru(self.encoder.embedding(torch.tensor(source)))
        annotations, decoder, rows = torch.zeros(self.kind.positions, self.kind.size), self.decoder, []
        annotations[: len(read)] = read
        for word in (0, *target[:-1]):
            embedded = decoder.embedding(torch.tensor(word))
            weights = torch.softmax(decoder.attn(torch.cat([embedded, state[0]])), dim=0)
            given = torch.relu(decoder.attn_combine(torch.cat([embedded, weights @ annotations])))
            _, state = decoder.gru(given[None], state)
            rows.append((decoder.out(state[0]), weights))
        return torch.stack([logits for logits, _ in rows]), torch.stack([weights for _, weights in rows])


def write_model(folder: Path, kind: Kind, seed: int = 0) -> Model:
    """Write encoder, decoder and vocabularies to `folder`, and return the model."""
    model = Model(kind, seed)
    for half in ("encoder", "decoder"):
        torch.save(getattr(model, half).state_dict(), folder / f"{half}.pt")
    for name, tokens in (("source.txt", SOURCE), ("target.txt", TARGET)):
        (folder / name).write_text("\n".join(tokens), encoding="utf-8")
    return model
