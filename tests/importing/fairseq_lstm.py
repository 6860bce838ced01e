"""fairseq's `lstm` translator in PyTorch, with its structure and names, to write checkpoints for the tests."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor, nn

SPECIAL = ("<s>", "<pad>", "</s>", "<unk>")
SOURCE = (*SPECIAL, "der", "hund", "schläft", "im", "park", ".")
TARGET = (*SPECIAL, "the", "dog", "sleeps", "in", "park", ".", "is")


@dataclass(frozen=True)
class Kind:
    """What an architecture of fairseq may choose."""

    bidirectional: bool = False
    layers: int = 1
    state: int = 8
    out: int = 8
    shared: bool = False
    """Whether the output layer is the embedding matrix, of `out` numbers a word."""
    newer: bool = True
    """Whether the settings are in `cfg`, rather than in a namespace `args`."""


class Encoder(nn.Module):
    def __init__(self, kind: Kind, embedding: int, size: int) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(len(SOURCE), embedding, 1)
        self.lstm = nn.LSTM(embedding, size, kind.layers, bidirectional=kind.bidirectional)


class AttentionLayer(nn.Module):
    def __init__(self, state: int, annotation: int) -> None:
        super().__init__()
        self.input_proj = nn.Linear(state, annotation, bias=False)
        self.output_proj = nn.Linear(state + annotation, state, bias=False)

    def forward(self, state: Tensor, annotations: Tensor) -> tuple[Tensor, Tensor]:
        weights = torch.softmax(annotations @ self.input_proj(state), dim=0)
        return torch.tanh(self.output_proj(torch.cat([weights @ annotations, state]))), weights


class Decoder(nn.Module):
    def __init__(self, kind: Kind, annotation: int) -> None:
        super().__init__()
        embedding = kind.out if kind.shared else 5
        self.embed_tokens = nn.Embedding(len(TARGET), embedding, 1)
        if annotation != kind.state:
            self.encoder_hidden_proj, self.encoder_cell_proj = (nn.Linear(annotation, kind.state) for _ in range(2))
        self.layers = nn.ModuleList(
            nn.LSTMCell(kind.state if layer else kind.state + embedding, kind.state) for layer in range(kind.layers)
        )
        self.attention = AttentionLayer(kind.state, annotation)
        if kind.out != kind.state:
            self.additional_fc = nn.Linear(kind.state, kind.out)
        if not kind.shared:
            self.fc_out = nn.Linear(kind.out, len(TARGET))


class Model(nn.Module):
    """One sentence at a time."""

    def __init__(self, kind: Kind, seed: int = 0, size: int = 8) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.kind, directions = kind, 1 + kind.bidirectional
        self.encoder, self.decoder = Encoder(kind, 6, size), Decoder(kind, directions * size)
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.5)

    @torch.no_grad()
    def force_decode(self, source: Sequence[int], target: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Return logits and attention weights of each step of forced decoding of `target`, which includes `</s>`."""
        decoder, kind = self.decoder, self.kind
        annotations, ends = self.encoder.lstm(self.encoder.embed_tokens(torch.tensor(source)))
        hidden, cells = (one.view(kind.layers, -1) for one in ends)
        if hasattr(decoder, "encoder_hidden_proj"):
            hidden, cells = decoder.encoder_hidden_proj(hidden), decoder.encoder_cell_proj(cells)
        states, fed, rows = list(zip(hidden, cells, strict=True)), torch.zeros(kind.state), []
        for word in (2, *target[:-1]):
            given = torch.cat([decoder.embed_tokens(torch.tensor(word)), fed])
            for layer, cell in enumerate(decoder.layers):
                states[layer] = cell(given, states[layer])
                given = states[layer][0]
            fed, weights = decoder.attention(given, annotations)
            read = decoder.additional_fc(fed) if hasattr(decoder, "additional_fc") else fed
            rows.append((decoder.embed_tokens.weight @ read if kind.shared else decoder.fc_out(read), weights))
        return torch.stack([logits for logits, _ in rows]), torch.stack([weights for _, weights in rows])


def write_model(folder: Path, kind: Kind, seed: int = 0) -> Model:
    """Write a checkpoint as fairseq's trainer does, with the dictionaries beside it, and return the model."""
    model, languages = Model(kind, seed), Namespace(source_lang="de", target_lang="en")
    settings = {"args": None, "cfg": {"task": vars(languages)}} if kind.newer else {"args": languages}
    torch.save(
        {
            **settings,
            "model": model.state_dict(),
            "optimizer_history": [{"optimizer_name": "Adam", "lr_scheduler_state": {"best": np.float64(3.5)}}],
            "extra_state": {"train_iterator": {"epoch": 2}, "val_loss": 3.5},
            "last_optimizer_state": {},
        },
        folder / "checkpoint_best.pt",
    )
    for name, tokens in (("dict.de.txt", SOURCE), ("dict.en.txt", TARGET)):
        lines = (f"{token} {1000 - place}\n" for place, token in enumerate(tokens[len(SPECIAL) :]))
        (folder / name).write_text("".join(lines), encoding="utf-8")
    return model
