"""The translators of other programs in PyTorch float64: their modules by name, equations and files of checkpoints.

Each forward pass follows the program's own code, without code of attnviz.
"""

from argparse import Namespace
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file
from torch import Tensor, cat, nn, tanh

Modules = Mapping[str, Any]
Step = tuple[Tensor, Tensor]
"""Logits (K,) and attention weights (Tx,) of a step."""


def ends_of(ends: Tensor | tuple[Tensor, Tensor]) -> Tensor:
    """Return the last states of a GRU as (1, L D, n), or those of an LSTM with its cells as (2, L D, n)."""
    return torch.stack(ends) if isinstance(ends, tuple) else ends[None]


def stepper(rnn: nn.Module) -> Callable[[Tensor, Tensor], tuple[Tensor, Tensor]]:
    """Return a function of an input (m,) and the states (1 or 2, L, n): the highest state (n,), and those after it."""

    def step(x: Tensor, states: Tensor) -> tuple[Tensor, Tensor]:
        if isinstance(rnn, nn.RNNBase):
            found = ends_of(rnn(x[None], tuple(states) if len(states) == 2 else states[0])[1])
            return found[0, -1], found
        after = []
        for cell, state in zip(rnn, states.unbind(1), strict=True):
            after.append(ends_of(cell(x, tuple(state) if len(state) == 2 else state[0])))
            x = after[-1][0]
        return x, torch.stack(after, dim=1)

    return step


def cells(given: int, size: int, layers: int, lstm: bool) -> nn.ModuleList:
    kind = nn.LSTMCell if lstm else nn.GRUCell
    return nn.ModuleList(kind(given if layer == 0 else size, size) for layer in range(layers))


class Peer:
    """A translator of a program, with random weights.

    Each program has its `modules` by their names, `force_decode`, which yields the outputs where the decoder reads
    `target`, ids that begin with the start token, and `write` for a checkpoint with its vocabularies.
    """

    SOURCE: Sequence[str]
    TARGET: Sequence[str]
    PAIR: tuple[str, str] = ("der hund schläft .", "the dog sleeps .")
    START, END = "<s>", "</s>"
    OPENED, CLOSED = False, True
    """Whether a source begins with the start token, and ends with the end token."""
    KIND: ClassVar[dict[str, Any]] = {}
    """What a user of the program may choose, with defaults."""

    def __init__(self, seed: int = 0, **kind: Any) -> None:
        self.chosen = kind
        self.kind = Namespace(**self.KIND | kind)
        self.made: Modules = {name: module.double().requires_grad_(False) for name, module in self.modules().items()}
        chance, self.state = np.random.default_rng(seed), dict[str, Tensor]()
        for name, module in self.made.items():
            for part, tensor in module.state_dict().items():
                tensor.copy_(torch.tensor(chance.normal(0, 0.5, tensor.shape), dtype=torch.float32))
                self.state[f"{name}.{part}"] = tensor.float()

    def __str__(self) -> str:
        return ", ".join([type(self).__name__, *(f"{name}={value}" for name, value in self.chosen.items())])

    def ids(self, source: str, target: str) -> tuple[list[int], list[int]]:
        """Return the ids that the program reads, and those that it writes."""
        tokens = [self.START] * self.OPENED + source.split() + [self.END] * self.CLOSED
        return [*map(self.SOURCE.index, tokens)], [*map(self.TARGET.index, [*target.split(), self.END])]

    def outputs(self, source: str, target: str) -> list[NDArray[np.float64]]:
        """Return the logits (Ty, K) and the attention weights (Ty, Tx)."""
        read, written = self.ids(source, target)
        previous = [self.TARGET.index(self.START), *written[:-1]]
        steps = self.force_decode(self.made, torch.tensor(read), torch.tensor(previous))
        return [torch.stack(side).numpy() for side in zip(*steps, strict=True)]


def write_tokens(folder: Path, **files: Sequence[str]) -> None:
    for name, tokens in files.items():
        (folder / f"{name}.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")


class Tutorial(Peer):
    """bentrevett/pytorch-seq2seq."""

    SOURCE = ("<unk>", "<pad>", "<sos>", "<eos>", "ein", "mann", "schläft", ".", "hund", "der", "im", "park")
    TARGET = ("<unk>", "<pad>", "<sos>", "<eos>", "a", "man", "sleeps", ".", "dog", "the", "in", "park", "is")
    PAIR = ("ein mann schläft im park .", "a man sleeps in the park .")
    START, END = "<sos>", "<eos>"
    OPENED = True

    def modules(self) -> Modules:
        return {
            "encoder.embedding": nn.Embedding(len(self.SOURCE), 8),
            "encoder.rnn": nn.GRU(8, 10, bidirectional=True),
            "encoder.fc": nn.Linear(20, 12),
            "decoder.attention.attn_fc": nn.Linear(20 + 12, 12),
            "decoder.attention.v_fc": nn.Linear(12, 1, bias=False),
            "decoder.embedding": nn.Embedding(len(self.TARGET), 6),
            "decoder.rnn": nn.GRU(20 + 6, 12),
            "decoder.fc_out": nn.Linear(20 + 12 + 6, len(self.TARGET)),
        }

    def force_decode(self, m: Modules, source: Tensor, target: Tensor) -> Iterator[Step]:
        annotations, ends = m["encoder.rnn"](m["encoder.embedding"](source))
        state = tanh(m["encoder.fc"](ends.flatten()))
        for word in m["decoder.embedding"](target):
            asked = cat([state.expand(len(annotations), -1), annotations], dim=1)
            weights = m["decoder.attention.v_fc"](tanh(m["decoder.attention.attn_fc"](asked)))[:, 0].softmax(0)
            context = weights @ annotations
            state = m["decoder.rnn"](cat([word, context])[None], state[None])[0][0]
            yield m["decoder.fc_out"](cat([state, context, word])), weights

    def write(self, folder: Path) -> None:
        torch.save(self.state, folder / "tut3-model.pt")
        write_tokens(folder, source=self.SOURCE, target=self.TARGET)


class Tutorial2017(Peer):
    """The tutorial on pytorch.org before 2023."""

    SOURCE = ("SOS", "EOS", "il", "est", "perdu", "fatigue", ".")
    TARGET = ("SOS", "EOS", "he", "is", "lost", "tired", "so", ".")
    PAIR = ("il est fatigue .", "he is so tired .")
    START, END = "SOS", "EOS"
    KIND: ClassVar = {"positions": 10, "size": 8}

    def modules(self) -> Modules:
        size, positions = self.kind.size, self.kind.positions
        return {
            "encoder.embedding": nn.Embedding(len(self.SOURCE), size),
            "encoder.gru": nn.GRU(size, size),
            "decoder.embedding": nn.Embedding(len(self.TARGET), size),
            "decoder.attn": nn.Linear(2 * size, positions),
            "decoder.attn_combine": nn.Linear(2 * size, size),
            "decoder.gru": nn.GRU(size, size),
            "decoder.out": nn.Linear(size, len(self.TARGET)),
        }

    def force_decode(self, m: Modules, source: Tensor, target: Tensor) -> Iterator[Step]:
        read, state = m["encoder.gru"](m["encoder.embedding"](source))
        annotations = nn.functional.pad(read, (0, 0, 0, self.kind.positions - len(read)))
        for word in m["decoder.embedding"](target):
            weights = m["decoder.attn"](cat([word, state[0]])).softmax(0)
            given = m["decoder.attn_combine"](cat([word, weights @ annotations])).relu()
            _, state = m["decoder.gru"](given[None], state)
            yield m["decoder.out"](state[0]), weights

    def write(self, folder: Path) -> None:
        for half in ("encoder", "decoder"):
            own = {name.removeprefix(f"{half}."): one for name, one in self.state.items() if name.startswith(half)}
            torch.save(own, folder / f"{half}.pt")
        write_tokens(folder, source=self.SOURCE, target=self.TARGET)


class Joey(Peer):
    """Joey NMT; `layers` are those of encoder and decoder."""

    SOURCE = ("<unk>", "<pad>", "<s>", "</s>", "der", "hund", "schläft", "im", "park", ".")
    TARGET = ("<unk>", "<pad>", "<s>", "</s>", "the", "dog", "sleeps", "in", "park", ".", "is")
    KIND: ClassVar = {"rnn": "gru", "attention": "bahdanau", "start": "bridge", "layers": (1, 1)}
    KIND |= {"feeding": True, "scale": False}

    def modules(self) -> Modules:
        kind, size = self.kind, 8
        rnn = nn.LSTM if kind.rnn == "lstm" else nn.GRU
        found = {
            "src_embed.lut": nn.Embedding(len(self.SOURCE), 6),
            "trg_embed.lut": nn.Embedding(len(self.TARGET), 5),
            "encoder.rnn": rnn(6, size, kind.layers[0], bidirectional=True),
            "decoder.rnn": rnn(5 + kind.feeding * size, size, kind.layers[1]),
            "decoder.att_vector_layer": nn.Linear(3 * size, size),
            "decoder.output_layer": nn.Linear(size, len(self.TARGET), bias=False),
            "decoder.attention.key_layer": nn.Linear(2 * size, size, bias=False),
        }
        if kind.attention == "bahdanau":
            found["decoder.attention.query_layer"] = nn.Linear(size, size, bias=False)
            found["decoder.attention.energy_layer"] = nn.Linear(size, 1, bias=False)
        return found | ({"decoder.bridge_layer": nn.Linear(2 * size, size)} if kind.start == "bridge" else {})

    def force_decode(self, m: Modules, source: Tensor, target: Tensor) -> Iterator[Step]:
        kind, factors = self.kind, (6**0.5, 5**0.5) if self.kind.scale else (1, 1)
        annotations, ends = m["encoder.rnn"](m["src_embed.lut"](source) * factors[0])
        last = ends_of(ends)[0, -2:].flatten()  # forwards and backwards, of the last layer
        first = last[:8] * (kind.start == "last")
        first = tanh(m["decoder.bridge_layer"](last)) if kind.start == "bridge" else first
        states, fed = first.expand(1 + (kind.rnn == "lstm"), kind.layers[1], -1), torch.zeros(8)
        keys, step = m["decoder.attention.key_layer"](annotations), stepper(m["decoder.rnn"])
        for word in m["trg_embed.lut"](target) * factors[1]:
            state, states = step(cat([word, fed]) if kind.feeding else word, states.contiguous())
            if kind.attention == "bahdanau":
                inner = tanh(m["decoder.attention.query_layer"](state) + keys)
                weights = m["decoder.attention.energy_layer"](inner)[:, 0].softmax(0)
            else:
                weights = (keys @ state).softmax(0)
            fed = tanh(m["decoder.att_vector_layer"](cat([state, weights @ annotations])))
            yield m["decoder.output_layer"](fed), weights

    def write(self, folder: Path) -> None:
        content = {"model_state": self.state, "optimizer_state": {}, "stats_state": {"steps": 3}}
        for name in ("best.ckpt", "3.ckpt"):
            torch.save(content, folder / name)
        write_tokens(folder, src_vocab=self.SOURCE, trg_vocab=self.TARGET)
        side = f"        embeddings:\n            scale: {self.kind.scale}\n"
        (folder / "config.yaml").write_text(
            f"name: test\nmodel:\n    encoder:\n        rnn_type: {self.kind.rnn}\n{side}    decoder:\n{side}"
            f"        init_hidden: {self.kind.start}\n        attention: {self.kind.attention}\n",
            encoding="utf-8",
        )


class D2l(Peer):
    """*Dive into Deep Learning*; edition 1.0, if `newer`, wraps the encoder's GRU once more."""

    SOURCE = (".", "<bos>", "<eos>", "<pad>", "<unk>", "go", "he", "is", "home", "late", "lost")
    TARGET = ("!", ".", "<bos>", "<eos>", "<pad>", "<unk>", "est", "il", "perdu", "rentre", "tard", "va")
    PAIR = ("he is lost .", "il est perdu .")
    START, END = "<bos>", "<eos>"
    KIND: ClassVar = {"layers": 2, "newer": True, "length": 9, "biased": False}

    @property
    def encoder(self) -> str:
        return "encoder.rnn.rnn" if self.kind.newer else "encoder.rnn"

    def modules(self) -> Modules:
        return {
            "encoder.embedding": nn.Embedding(len(self.SOURCE), 6),
            self.encoder: nn.GRU(6, 8, self.kind.layers),
            "decoder.attention.W_k": nn.Linear(8, 8, self.kind.biased),
            "decoder.attention.W_q": nn.Linear(8, 8, self.kind.biased),
            "decoder.attention.w_v": nn.Linear(8, 1, self.kind.biased),
            "decoder.embedding": nn.Embedding(len(self.TARGET), 5),
            "decoder.rnn": nn.GRU(5 + 8, 8, self.kind.layers),
            "decoder.dense": nn.Linear(8, len(self.TARGET)),
        }

    def force_decode(self, m: Modules, source: Tensor, target: Tensor) -> Iterator[Step]:
        padding = max(self.kind.length - len(source), 0)
        padded = nn.functional.pad(source, (0, padding), value=self.SOURCE.index("<pad>"))
        annotations, states = m[self.encoder](m["encoder.embedding"](padded))
        annotations = annotations[: len(source)]
        for word in m["decoder.embedding"](target):
            inner = tanh(m["decoder.attention.W_q"](states[-1]) + m["decoder.attention.W_k"](annotations))
            weights = m["decoder.attention.w_v"](inner)[:, 0].softmax(0)
            _, states = m["decoder.rnn"](cat([weights @ annotations, word])[None], states)
            yield m["decoder.dense"](states[-1]), weights

    def write(self, folder: Path) -> None:
        torch.save(self.state, folder / "model.pt")
        write_tokens(folder, source=self.SOURCE, target=self.TARGET)


class Fairseq(Peer):
    """fairseq's `lstm`; of `shared`, the output layer is the embedding matrix, of `out` numbers a word."""

    SOURCE = ("<s>", "<pad>", "</s>", "<unk>", "der", "hund", "schläft", "im", "park", ".")
    TARGET = ("<s>", "<pad>", "</s>", "<unk>", "the", "dog", "sleeps", "in", "park", ".", "is")
    START = "</s>"
    KIND: ClassVar = {"bidirectional": False, "layers": 1, "state": 8, "out": 8, "shared": False, "newer": True}

    def modules(self) -> Modules:
        kind, annotation = self.kind, 8 * (1 + self.kind.bidirectional)
        embedding = kind.out if kind.shared else 5
        found = {
            "encoder.embed_tokens": nn.Embedding(len(self.SOURCE), 6),
            "encoder.lstm": nn.LSTM(6, 8, kind.layers, bidirectional=kind.bidirectional),
            "decoder.embed_tokens": nn.Embedding(len(self.TARGET), embedding),
            "decoder.layers": cells(kind.state + embedding, kind.state, kind.layers, lstm=True),
            "decoder.attention.input_proj": nn.Linear(kind.state, annotation, bias=False),
            "decoder.attention.output_proj": nn.Linear(kind.state + annotation, kind.state, bias=False),
        }
        if annotation != kind.state:
            for name in ("decoder.encoder_hidden_proj", "decoder.encoder_cell_proj"):
                found[name] = nn.Linear(annotation, kind.state)
        found |= {"decoder.additional_fc": nn.Linear(kind.state, kind.out)} if kind.out != kind.state else {}
        return found | ({} if kind.shared else {"decoder.fc_out": nn.Linear(kind.out, len(self.TARGET))})

    def force_decode(self, m: Modules, source: Tensor, target: Tensor) -> Iterator[Step]:
        kind, same = self.kind, nn.Identity()
        annotations, ends = m["encoder.lstm"](m["encoder.embed_tokens"](source))
        hidden, memory = ends_of(ends).reshape(2, kind.layers, -1)
        hidden = m.get("decoder.encoder_hidden_proj", same)(hidden)
        memory = m.get("decoder.encoder_cell_proj", same)(memory)
        states, fed, step = torch.stack([hidden, memory]), torch.zeros(kind.state), stepper(m["decoder.layers"])
        for word in m["decoder.embed_tokens"](target):
            state, states = step(cat([word, fed]), states)
            weights = (annotations @ m["decoder.attention.input_proj"](state)).softmax(0)
            fed = tanh(m["decoder.attention.output_proj"](cat([weights @ annotations, state])))
            out = m.get("decoder.additional_fc", same)(fed)
            logits = m["decoder.embed_tokens"].weight @ out if kind.shared else m["decoder.fc_out"](out)
            yield logits, weights

    def write(self, folder: Path) -> None:
        languages = Namespace(source_lang="de", target_lang="en")
        content = {
            **({"args": None, "cfg": {"task": vars(languages)}} if self.kind.newer else {"args": languages}),
            "model": self.state,
            "optimizer_history": [{"optimizer_name": "Adam", "lr_scheduler_state": {"best": np.float64(3.5)}}],
            "extra_state": {"val_loss": 3.5},
        }
        torch.save(content, folder / "checkpoint_best.pt")
        for language, tokens in (("de", self.SOURCE), ("en", self.TARGET)):
            lines = [f"{token} {1000 - place}" for place, token in enumerate(tokens[4:])]
            write_tokens(folder, **{f"dict.{language}": lines})


EMBEDDINGS = "embeddings.make_embedding.emb_luts.0"


class Opennmt(Peer):
    """OpenNMT-py; an `older` version names the output layer otherwise, and has vocabularies as files, here of lists."""

    SOURCE = ("<unk>", "<blank>", "<s>", "</s>", "der", "hund", "schläft", "im", "park", ".")
    TARGET = ("<unk>", "<blank>", "<s>", "</s>", "the", "dog", "sleeps", "in", "park", ".", "is")
    CLOSED = False
    KIND: ClassVar = {"rnn": "LSTM", "bidirectional": True, "layers": 1, "attention": "general", "feeding": True}
    KIND |= {"bridge": False, "coverage": False, "older": False, "start": "<s>", "safe": False}

    def __init__(self, seed: int = 0, **kind: Any) -> None:
        if kind.get("older"):
            self.SOURCE = tuple(token for token in self.SOURCE if token not in ("<s>", "</s>"))
        self.START = kind.get("start", "<s>")
        super().__init__(seed, **kind)

    @property
    def generator(self) -> str:
        return "generator.0" if self.kind.older else "generator"

    def modules(self) -> Modules:
        kind, lstm, additive = self.kind, self.kind.rnn == "LSTM", self.kind.attention == "mlp"
        size, rnn = 8 // (1 + kind.bidirectional), nn.LSTM if lstm else nn.GRU
        found = {
            f"encoder.{EMBEDDINGS}": nn.Embedding(len(self.SOURCE), 6),
            "encoder.rnn": rnn(6, size, kind.layers, bidirectional=kind.bidirectional),
            f"decoder.{EMBEDDINGS}": nn.Embedding(len(self.TARGET), 5),
            **({"decoder.rnn.layers": cells(5 + 8, 8, kind.layers, lstm)} if kind.feeding else {}),
            **({} if kind.feeding else {"decoder.rnn": rnn(5, 8, kind.layers)}),
            "decoder.attn.linear_out": nn.Linear(16, 8, bias=additive),
            self.generator: nn.Linear(8, len(self.TARGET)),
        }
        for place in range((1 + lstm) * kind.bridge):
            found[f"encoder.bridge.{place}"] = nn.Linear(size * kind.layers, size * kind.layers)
        if additive:
            found["decoder.attn.linear_context"] = nn.Linear(8, 8, bias=False)
            found["decoder.attn.linear_query"] = nn.Linear(8, 8)
            found["decoder.attn.v"] = nn.Linear(8, 1, bias=False)
        if kind.attention == "general":
            found["decoder.attn.linear_in"] = nn.Linear(8, 8, bias=False)
        return found | ({"decoder.attn.linear_cover": nn.Linear(1, 8, bias=False)} if kind.coverage else {})

    def force_decode(self, m: Modules, source: Tensor, target: Tensor) -> Iterator[Step]:
        kind = self.kind
        annotations, ends = m["encoder.rnn"](m[f"encoder.{EMBEDDINGS}"](source))
        states = ends_of(ends)
        if kind.bridge:
            width = 8 // (1 + kind.bidirectional) * kind.layers
            rows = [m[f"encoder.bridge.{place}"](one.reshape(-1, width)) for place, one in enumerate(states)]
            states = torch.stack(rows).relu()
        states, fed = states.reshape(len(states), kind.layers, -1), torch.zeros(8)
        step = stepper(m["decoder.rnn.layers" if kind.feeding else "decoder.rnn"])
        for word in m[f"decoder.{EMBEDDINGS}"](target):
            state, states = step(cat([word, fed]) if kind.feeding else word, states)
            if kind.attention == "mlp":
                inner = tanh(m["decoder.attn.linear_query"](state) + m["decoder.attn.linear_context"](annotations))
                weights = m["decoder.attn.v"](inner)[:, 0].softmax(0)
            else:
                asked = m["decoder.attn.linear_in"](state) if kind.attention == "general" else state
                weights = (annotations @ asked).softmax(0)
            read = m["decoder.attn.linear_out"](cat([weights @ annotations, state]))
            fed = read if kind.attention == "mlp" else tanh(read)
            yield m[self.generator](fed), weights

    def write(self, folder: Path) -> None:
        model, generator = (
            {name: one for name, one in self.state.items() if name.startswith("generator") is chosen}
            for chosen in (False, True)
        )
        content: dict[str, Any] = {
            "model": model,
            "generator": {name.removeprefix("generator."): one for name, one in generator.items()},
            "opt": Namespace(
                rnn_type=self.kind.rnn, global_attention=self.kind.attention, global_attention_function="softmax"
            ),
            "optim": {"training_step": 3},
        }
        if self.kind.older:
            write_tokens(folder, source=self.SOURCE, target=self.TARGET)
        else:
            sides = {"src": list(self.SOURCE), "tgt": list(self.TARGET)}
            content["vocab"] = {**sides, "data_task": "seq2seq", "decoder_start_token": self.START}
        if self.kind.safe:
            del content["model"], content["generator"]
            save_file(model | generator, folder / "model_step_3.safetensors")
        torch.save(content, folder / "model_step_3.pt")


PEERS = (
    Tutorial(),
    Joey(),
    Joey(rnn="lstm"),
    Joey(attention="luong", start="last"),
    Joey(start="zero", feeding=False, scale=True, layers=(2, 3)),
    Joey(rnn="lstm", layers=(3, 2), start="last", attention="luong"),
    Tutorial2017(),
    Tutorial2017(positions=5, size=6),
    D2l(),
    D2l(layers=1, newer=False, length=10),
    D2l(layers=3, length=4),
    D2l(length=30),
    D2l(biased=True),
    Fairseq(),
    Fairseq(bidirectional=True, layers=2, state=12, out=7),
    Fairseq(bidirectional=True, state=16, out=16, shared=True, newer=False),
    Fairseq(layers=2, out=5, shared=True),
    Opennmt(),
    Opennmt(rnn="GRU", attention="mlp", layers=2),
    Opennmt(bidirectional=False, attention="dot", layers=2),
    Opennmt(rnn="GRU", bidirectional=False, feeding=False, older=True),
    Opennmt(attention="mlp", feeding=False, older=True),
    Opennmt(attention="dot", start="</s>"),
    Opennmt(safe=True),
    Opennmt(layers=2, bridge=True),
    Opennmt(rnn="GRU", attention="mlp", bridge=True, coverage=True),
    Opennmt(bidirectional=False, layers=3, attention="dot", feeding=False, bridge=True),
)
"""Every form of every program that is imported."""
