"""A recurrent translator in PyTorch with Joey NMT's structure and names, to write checkpoints for the tests."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from torch import Tensor, nn

SPECIAL = ("<unk>", "<pad>", "<s>", "</s>")
SOURCE = (*SPECIAL, "der", "hund", "schläft", "im", "park", ".")
TARGET = (*SPECIAL, "the", "dog", "sleeps", "in", "park", ".", "is")


@dataclass(frozen=True)
class Kind:
    """What a configuration may choose."""

    rnn: str = "gru"
    attention: str = "bahdanau"
    start: str = "bridge"
    layers: tuple[int, int] = (1, 1)
    feeding: bool = True
    scale: bool = False


class Attention(nn.Module):
    def __init__(self, kind: Kind, size: int) -> None:
        super().__init__()
        self.key_layer = nn.Linear(2 * size, size, bias=False)
        if kind.attention == "bahdanau":
            self.query_layer, self.energy_layer = nn.Linear(size, size, bias=False), nn.Linear(size, 1, bias=False)

    def forward(self, state: Tensor, seen: Tensor) -> Tensor:
        keys = self.key_layer(seen)
        if hasattr(self, "query_layer"):
            return self.energy_layer(torch.tanh(self.query_layer(state) + keys))[:, 0]
        return keys @ state


class Decoder(nn.Module):
    def __init__(self, kind: Kind, embedding: int, size: int) -> None:
        super().__init__()
        cell = nn.GRU if kind.rnn == "gru" else nn.LSTM
        self.rnn = cell(embedding + kind.feeding * size, size, kind.layers[1])
        self.att_vector_layer = nn.Linear(3 * size, size)
        self.output_layer = nn.Linear(size, len(TARGET), bias=False)
        self.attention = Attention(kind, size)
        if kind.start == "bridge":
            self.bridge_layer = nn.Linear(2 * size, size)


class Embedded(nn.Module):
    def __init__(self, words: int, size: int) -> None:
        super().__init__()
        self.lut = nn.Embedding(words, size, padding_idx=1)


class Encoder(nn.Module):
    def __init__(self, kind: Kind, embedding: int, size: int) -> None:
        super().__init__()
        cell = nn.GRU if kind.rnn == "gru" else nn.LSTM
        self.rnn = cell(embedding, size, kind.layers[0], bidirectional=True)


class Model(nn.Module):
    """One sentence at a time."""

    def __init__(self, kind: Kind, seed: int = 0, size: int = 8) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.kind, self.size = kind, size
        self.src_embed, self.trg_embed = Embedded(len(SOURCE), 6), Embedded(len(TARGET), 5)
        self.encoder, self.decoder = Encoder(kind, 6, size), Decoder(kind, 5, size)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.5)

    @torch.no_grad()
    def force_decode(self, source: Sequence[int], target: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Return logits and attention weights of each step of forced decoding of `target`, which includes `</s>`."""
        factors = [6**0.5, 5**0.5] if self.kind.scale else [1, 1]
        seen, last = self.encoder.rnn(self.src_embed.lut(torch.tensor(source)) * factors[0])
        ends = (last[0] if self.kind.rnn == "lstm" else last)[-2:].flatten()
        first = {"last": ends[: self.size], "zero": torch.zeros(self.size)}.get(self.kind.start)
        if first is None:
            first = torch.tanh(self.decoder.bridge_layer(ends))
        first = first.repeat(self.kind.layers[1], 1)
        state, fed, rows = ((first, first) if self.kind.rnn == "lstm" else first), torch.zeros(self.size), []
        for word in (2, *target[:-1]):
            given = self.trg_embed.lut(torch.tensor(word)) * factors[1]
            out, state = self.decoder.rnn(torch.cat([given, fed])[None] if self.kind.feeding else given[None], state)
            weights = torch.softmax(self.decoder.attention(out[0], seen), dim=0)
            fed = torch.tanh(self.decoder.att_vector_layer(torch.cat([out[0], weights @ seen])))
            rows.append((self.decoder.output_layer(fed), weights))
        return torch.stack([logits for logits, _ in rows]), torch.stack([weights for _, weights in rows])


def write_model(folder: Path, kind: Kind, seed: int = 0) -> Model:
    """Write a folder as Joey NMT's trainer leaves it, and return the model."""
    model = Model(kind, seed)
    state = {
        "model_state": model.state_dict(),
        "optimizer_state": {},
        "stats_state": {"steps": 3, "is_max_update": False},
    }
    for name in ("best.ckpt", "3.ckpt"):
        torch.save(state, folder / name)
    for name, tokens in (("src_vocab.txt", SOURCE), ("trg_vocab.txt", TARGET)):
        (folder / name).write_text("\n".join(tokens) + "\n", encoding="utf-8")
    side = f"        embeddings:\n            scale: {kind.scale}\n"
    (folder / "config.yaml").write_text(
        f"name: test\nmodel:\n    encoder:\n        rnn_type: {kind.rnn}\n{side}    decoder:\n{side}"
        f"        init_hidden: {kind.start}\n        attention: {kind.attention}\n",
        encoding="utf-8",
    )
    return model
