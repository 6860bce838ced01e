"""OpenNMT-py's recurrent translator in PyTorch, with its structure and names, to write checkpoints for the tests."""

from __future__ import annotations

from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import Tensor, nn

SPECIAL = ("<unk>", "<blank>", "<s>", "</s>")
SOURCE = (*SPECIAL, "der", "hund", "schläft", "im", "park", ".")
TARGET = (*SPECIAL, "the", "dog", "sleeps", "in", "park", ".", "is")
OLDER_SOURCE = tuple(token for token in SOURCE if token not in ("<s>", "</s>"))
"""Source vocabulary of versions before 3."""


@dataclass(frozen=True)
class Kind:
    """What the options of a training may choose."""

    rnn: str = "LSTM"
    bidirectional: bool = True
    layers: int = 1
    attention: str = "general"
    feeding: bool = True
    bridge: bool = False
    """Whether a layer with ReLU transforms the last states of the encoder."""
    coverage: bool = False
    """Whether the loss of training has a term for coverage, whose matrix the decoder does not read."""
    older: bool = False
    """Whether the output layer is the first of a sequence, and the vocabularies are files, as before version 3."""
    start: str = "<s>"
    safe: bool = False
    """Whether the tensors are in a file of safetensors (`save_format`)."""


class Stacked(nn.Module):
    """Cells one above the other, which take a step at a time."""

    def __init__(self, kind: Kind, given: int, size: int) -> None:
        super().__init__()
        cell = nn.LSTMCell if kind.rnn == "LSTM" else nn.GRUCell
        self.layers = nn.ModuleList(cell(size if layer else given, size) for layer in range(kind.layers))

    def forward(self, given: Tensor, states: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        after = [one.clone() for one in states]
        for layer, cell in enumerate(self.layers):
            before = [one[layer] for one in states]
            found = cell(given, tuple(before)) if len(before) == 2 else (cell(given, before[0]),)
            given = found[0]
            for one, new in zip(after, found, strict=True):
                one[layer] = new
        return given, after


class Embeddings(nn.Module):
    def __init__(self, words: int, size: int) -> None:
        super().__init__()
        self.make_embedding = nn.Sequential()
        self.make_embedding.add_module("emb_luts", nn.ModuleList([nn.Embedding(words, size, padding_idx=1)]))

    def forward(self, ids: Tensor) -> Tensor:
        return self.make_embedding.emb_luts[0](ids)


class Encoder(nn.Module):
    def __init__(self, kind: Kind, words: int, embedding: int, size: int) -> None:
        super().__init__()
        self.embeddings, directions = Embeddings(words, embedding), 1 + kind.bidirectional
        self.rnn = getattr(nn, kind.rnn)(embedding, size // directions, kind.layers, bidirectional=kind.bidirectional)
        if kind.bridge:
            states, width = 1 + (kind.rnn == "LSTM"), size // directions * kind.layers
            self.bridge = nn.ModuleList(nn.Linear(width, width) for _ in range(states))

    def forward(self, ids: Tensor) -> tuple[Tensor, list[Tensor]]:
        """Return the annotations, and the last states (and cell states) of each layer and direction."""
        annotations, ends = self.rnn(self.embeddings(ids))
        states = [*ends] if isinstance(ends, tuple) else [ends]
        if hasattr(self, "bridge"):
            flat = [one.reshape(-1, layer.in_features) for one, layer in zip(states, self.bridge, strict=True)]
            found = [torch.relu(layer(one)) for one, layer in zip(flat, self.bridge, strict=True)]
            states = [new.reshape(one.shape) for new, one in zip(found, states, strict=True)]
        return annotations, states


class GlobalAttention(nn.Module):
    def __init__(self, kind: Kind, size: int) -> None:
        super().__init__()
        self.kind = kind.attention
        if self.kind == "general":
            self.linear_in = nn.Linear(size, size, bias=False)
        elif self.kind == "mlp":
            self.linear_context, self.linear_query = nn.Linear(size, size, bias=False), nn.Linear(size, size)
            self.v = nn.Linear(size, 1, bias=False)
        self.linear_out = nn.Linear(2 * size, size, bias=self.kind == "mlp")
        if kind.coverage:
            self.linear_cover = nn.Linear(1, size, bias=False)

    def forward(self, state: Tensor, annotations: Tensor) -> tuple[Tensor, Tensor]:
        if self.kind == "mlp":
            energies = self.v(torch.tanh(self.linear_query(state) + self.linear_context(annotations)))[:, 0]
        else:
            energies = annotations @ (self.linear_in(state) if self.kind == "general" else state)
        weights = torch.softmax(energies, dim=0)
        read = self.linear_out(torch.cat([weights @ annotations, state]))
        return read if self.kind == "mlp" else torch.tanh(read), weights


class Decoder(nn.Module):
    def __init__(self, kind: Kind, embedding: int, size: int) -> None:
        super().__init__()
        self.embeddings = Embeddings(len(TARGET), embedding)
        if kind.feeding:
            self.rnn = Stacked(kind, embedding + size, size)
        else:
            self.rnn = getattr(nn, kind.rnn)(embedding, size, kind.layers)
        self.attn = GlobalAttention(kind, size)


class Model(nn.Module):
    """One sentence at a time."""

    def __init__(self, kind: Kind, seed: int = 0, size: int = 8) -> None:
        super().__init__()
        torch.manual_seed(seed)
        self.kind, self.size = kind, size
        words = len(OLDER_SOURCE if kind.older else SOURCE)
        self.encoder, self.decoder = Encoder(kind, words, 6, size), Decoder(kind, 5, size)
        layer = nn.Linear(size, len(TARGET))
        self.generator = nn.Sequential(layer, nn.LogSoftmax(dim=-1)) if kind.older else layer
        for parameter in self.parameters():
            nn.init.normal_(parameter, std=0.5)

    @torch.no_grad()
    def force_decode(self, source: Sequence[int], target: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Return logits and attention weights of each step of forced decoding of `target`, which includes `</s>`."""
        known = [(OLDER_SOURCE if self.kind.older else SOURCE).index(SOURCE[place]) for place in source]
        annotations, ends = self.encoder(torch.tensor(known))
        states, fed, rows = [one.view(self.kind.layers, -1) for one in ends], torch.zeros(self.size), []
        for word in (TARGET.index(self.kind.start), *target[:-1]):
            given = self.decoder.embeddings(torch.tensor(word))
            if self.kind.feeding:
                out, states = self.decoder.rnn(torch.cat([given, fed]), states)
            else:
                outputs, after = self.decoder.rnn(given[None], tuple(states) if len(states) == 2 else states[0])
                out, states = outputs[0], list(after) if len(states) == 2 else [after]
            fed, weights = self.decoder.attn(out, annotations)
            rows.append(((self.generator[0] if self.kind.older else self.generator)(fed), weights))
        return torch.stack([logits for logits, _ in rows]), torch.stack([weights for _, weights in rows])


def write_model(folder: Path, kind: Kind, seed: int = 0) -> Model:
    """Write a checkpoint as OpenNMT-py's trainer does, and return the model."""
    model = Model(kind, seed)
    tensors = {name: tensor for name, tensor in model.state_dict().items() if "generator" not in name}
    vocabularies = {"src": list(SOURCE), "tgt": list(TARGET), "data_task": "seq2seq", "decoder_start_token": kind.start}
    content = {
        "model": tensors,
        "generator": model.generator.state_dict(),
        "opt": Namespace(rnn_type=kind.rnn, global_attention=kind.attention, global_attention_function="softmax"),
        "optim": {"training_step": 3},
    }
    if kind.older:
        for name, tokens in (("source.txt", OLDER_SOURCE), ("target.txt", TARGET)):
            (folder / name).write_text("\n".join(tokens) + "\n", encoding="utf-8")
    else:
        content["vocab"] = vocabularies
    if kind.safe:
        layers = {f"generator.{name}": tensor for name, tensor in content.pop("generator").items()}
        save_file(content.pop("model") | layers, folder / "model_step_3.safetensors")
    torch.save(content, folder / "model_step_3.pt")
    return model
