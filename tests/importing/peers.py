"""The translators of other programs in NumPy float64: their tensors by name, equations and files, to write checkpoints.

Each forward pass follows the program's own code, without torch and without code of attnviz.
"""

from argparse import Namespace
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file

Array = NDArray[np.float64]
Shapes = dict[str, tuple[int, ...]]
Outputs = tuple[Array, Array]
"""Logits (Ty, K) and attention weights (Ty, Tx) of each step."""
RNN = "{gate}_l{layer}{way}"


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def softmax(x: Array) -> Array:
    exponentials = np.exp(x - x.max())
    return exponentials / exponentials.sum()


def step(w: Mapping[str, Array], name: str, x: Array, state: Array, layer: int = 0, way: str = "") -> Array:
    """Return the state (1, n) of a GRU, or state and cell (2, n) of an LSTM, after one input, as torch computes it."""
    ih, hh, bias_ih, bias_hh = (
        w[name.format(gate=gate, layer=layer, way=way)] for gate in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    )
    given, kept = ih @ x + bias_ih, hh @ state[0] + bias_hh
    if len(state) == 2:
        i, f, g, o = np.split(given + kept, 4)
        cell = sigmoid(f) * state[1] + sigmoid(i) * np.tanh(g)
        return np.stack([sigmoid(o) * np.tanh(cell), cell])
    (r, z, n), (r_kept, z_kept, n_kept) = np.split(given, 3), np.split(kept, 3)
    reset, update = sigmoid(r + r_kept), sigmoid(z + z_kept)
    return ((1 - update) * np.tanh(n + reset * n_kept) + update * state[0])[None]


def stacked(w: Mapping[str, Array], name: str, x: Array, states: Sequence[Array]) -> tuple[Array, list[Array]]:
    """Return the highest layer's state (n,) and the states of all layers after one input."""
    after = []
    for layer, state in enumerate(states):
        after.append(step(w, name, x, state, layer))
        x = after[-1][0]
    return x, after


def encode(w: Mapping[str, Array], name: str, words: Array, layers: int, two: bool, lstm: bool) -> tuple[Array, Array]:
    """Return annotations (Tx, D n), and the last states (1 or 2, L D, n): of each layer forwards, then backwards."""
    ends = list[Array]()
    for layer in range(layers):
        sides = []
        for way in ("", "_reverse")[: 1 + two]:
            size = w[name.format(gate="weight_hh", layer=layer, way=way)].shape[1]
            state, outputs = np.zeros((1 + lstm, size)), []
            for word in words[::-1] if way else words:
                state = step(w, name, word, state, layer, way)
                outputs.append(state[0])
            ends.append(state)
            sides.append(outputs[::-1] if way else outputs)
        words = np.concatenate(sides, axis=1)
    return words, np.stack(ends, axis=1)


def linear(name: str, out: int, into: int, bias: bool = True) -> Shapes:
    return {f"{name}.weight": (out, into)} | ({f"{name}.bias": (out,)} if bias else {})


def apply(w: Mapping[str, Array], name: str, x: Array) -> Array:
    """Return a linear layer of `x`, (in,) or (rows, in)."""
    return x @ w[f"{name}.weight"].T + w.get(f"{name}.bias", 0)


def rnn(name: str, given: int, size: int, layers: int = 1, two: bool = False, lstm: bool = False) -> Shapes:
    gates, found = 3 + lstm, Shapes()
    for layer in range(layers):
        for way in ("", "_reverse")[: 1 + two]:
            into = given if layer == 0 else (1 + two) * size
            for gate, columns in (("weight_ih", (into,)), ("weight_hh", (size,)), ("bias_ih", ()), ("bias_hh", ())):
                found[name.format(gate=gate, layer=layer, way=way)] = (gates * size, *columns)
    return found


class Peer:
    """A translator of a program, with random weights.

    Each program has the `shapes` of its weights, `force_decode`, which returns the outputs where the decoder reads
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
        chance = np.random.default_rng(seed)
        self.state = {
            name: torch.tensor(chance.normal(0, 0.5, shape), dtype=torch.float32)
            for name, shape in self.shapes().items()
        }

    def __str__(self) -> str:
        return ", ".join([type(self).__name__, *(f"{name}={value}" for name, value in self.chosen.items())])

    def ids(self, source: str, target: str) -> tuple[list[int], list[int]]:
        """Return the ids that the program reads, and those that it writes."""
        tokens = [self.START] * self.OPENED + source.split() + [self.END] * self.CLOSED
        return [*map(self.SOURCE.index, tokens)], [*map(self.TARGET.index, [*target.split(), self.END])]

    def outputs(self, source: str, target: str) -> Outputs:
        read, written = self.ids(source, target)
        weights = {name: tensor.double().numpy() for name, tensor in self.state.items()}
        return self.force_decode(weights, read, [self.TARGET.index(self.START), *written[:-1]])


def write_tokens(folder: Path, **files: Sequence[str]) -> None:
    for name, tokens in files.items():
        (folder / f"{name}.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")


def joined(rows: Sequence[tuple[Array, Array]]) -> Outputs:
    logits, weights = (np.stack(side) for side in zip(*rows, strict=True))
    return logits, weights


class Tutorial(Peer):
    """bentrevett/pytorch-seq2seq."""

    SOURCE = ("<unk>", "<pad>", "<sos>", "<eos>", "ein", "mann", "schläft", ".", "hund", "der", "im", "park")
    TARGET = ("<unk>", "<pad>", "<sos>", "<eos>", "a", "man", "sleeps", ".", "dog", "the", "in", "park", "is")
    PAIR = ("ein mann schläft im park .", "a man sleeps in the park .")
    START, END = "<sos>", "<eos>"
    OPENED = True

    def shapes(self) -> Shapes:
        return {
            "encoder.embedding.weight": (len(self.SOURCE), 8),
            **rnn(f"encoder.rnn.{RNN}", 8, 10, two=True),
            **linear("encoder.fc", 12, 20),
            **linear("decoder.attention.attn_fc", 12, 20 + 12),
            **linear("decoder.attention.v_fc", 1, 12, bias=False),
            "decoder.embedding.weight": (len(self.TARGET), 6),
            **rnn(f"decoder.rnn.{RNN}", 20 + 6, 12),
            **linear("decoder.fc_out", len(self.TARGET), 20 + 12 + 6),
        }

    def force_decode(self, w: Mapping[str, Array], source: Sequence[int], target: Sequence[int]) -> Outputs:
        words = w["encoder.embedding.weight"][source]
        annotations, ends = encode(w, f"encoder.rnn.{RNN}", words, 1, two=True, lstm=False)
        state, rows = np.tanh(apply(w, "encoder.fc", ends[0].ravel())), []
        for word in w["decoder.embedding.weight"][target]:
            asked = np.stack([np.concatenate([state, annotation]) for annotation in annotations])
            energies = apply(w, "decoder.attention.v_fc", np.tanh(apply(w, "decoder.attention.attn_fc", asked)))
            weights = softmax(energies[:, 0])
            context = weights @ annotations
            state = step(w, f"decoder.rnn.{RNN}", np.concatenate([word, context]), state[None])[0]
            rows.append((apply(w, "decoder.fc_out", np.concatenate([state, context, word])), weights))
        return joined(rows)

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

    def shapes(self) -> Shapes:
        size, positions = self.kind.size, self.kind.positions
        return {
            "encoder.embedding.weight": (len(self.SOURCE), size),
            **rnn(f"encoder.gru.{RNN}", size, size),
            "decoder.embedding.weight": (len(self.TARGET), size),
            **linear("decoder.attn", positions, 2 * size),
            **linear("decoder.attn_combine", size, 2 * size),
            **rnn(f"decoder.gru.{RNN}", size, size),
            **linear("decoder.out", len(self.TARGET), size),
        }

    def force_decode(self, w: Mapping[str, Array], source: Sequence[int], target: Sequence[int]) -> Outputs:
        words = w["encoder.embedding.weight"][source]
        read, ends = encode(w, f"encoder.gru.{RNN}", words, 1, two=False, lstm=False)
        annotations = np.zeros((self.kind.positions, self.kind.size))
        annotations[: len(read)] = read
        state, rows = ends[:, 0], []
        for word in w["decoder.embedding.weight"][target]:
            weights = softmax(apply(w, "decoder.attn", np.concatenate([word, state[0]])))
            given = np.maximum(apply(w, "decoder.attn_combine", np.concatenate([word, weights @ annotations])), 0)
            state = step(w, f"decoder.gru.{RNN}", given, state)
            rows.append((apply(w, "decoder.out", state[0]), weights))
        return joined(rows)

    def write(self, folder: Path) -> None:
        for half in ("encoder", "decoder"):
            own = {name.removeprefix(f"{half}."): one for name, one in self.state.items() if name.startswith(half)}
            torch.save(own, folder / f"{half}.pt")
        write_tokens(folder, source=self.SOURCE, target=self.TARGET)


class Joey(Peer):
    """Joey NMT; `layers` are those of encoder and decoder."""

    SOURCE = ("<unk>", "<pad>", "<s>", "</s>", "der", "hund", "schläft", "im", "park", ".")
    TARGET = ("<unk>", "<pad>", "<s>", "</s>", "the", "dog", "sleeps", "in", "park", ".", "is")
    KIND: ClassVar = {
        "rnn": "gru",
        "attention": "bahdanau",
        "start": "bridge",
        "layers": (1, 1),
        "feeding": True,
        "scale": False,
    }

    def shapes(self) -> Shapes:
        kind, size, lstm = self.kind, 8, self.kind.rnn == "lstm"
        additive = kind.attention == "bahdanau"
        return {
            "src_embed.lut.weight": (len(self.SOURCE), 6),
            "trg_embed.lut.weight": (len(self.TARGET), 5),
            **rnn(f"encoder.rnn.{RNN}", 6, size, kind.layers[0], two=True, lstm=lstm),
            **rnn(f"decoder.rnn.{RNN}", 5 + kind.feeding * size, size, kind.layers[1], lstm=lstm),
            **linear("decoder.att_vector_layer", size, 3 * size),
            **linear("decoder.output_layer", len(self.TARGET), size, bias=False),
            **linear("decoder.attention.key_layer", size, 2 * size, bias=False),
            **(linear("decoder.attention.query_layer", size, size, bias=False) if additive else {}),
            **(linear("decoder.attention.energy_layer", 1, size, bias=False) if additive else {}),
            **(linear("decoder.bridge_layer", size, 2 * size) if kind.start == "bridge" else {}),
        }

    def force_decode(self, w: Mapping[str, Array], source: Sequence[int], target: Sequence[int]) -> Outputs:
        kind, lstm = self.kind, self.kind.rnn == "lstm"
        factors = (6**0.5, 5**0.5) if kind.scale else (1, 1)
        words = w["src_embed.lut.weight"][source] * factors[0]
        annotations, ends = encode(w, f"encoder.rnn.{RNN}", words, kind.layers[0], two=True, lstm=lstm)
        last = ends[0, -2:].ravel()  # forwards and backwards, of the last layer
        if kind.start == "bridge":
            first = np.tanh(apply(w, "decoder.bridge_layer", last))
        else:
            first = last[:8] * (kind.start == "last")
        states, fed, rows = [np.stack([first] * (1 + lstm))] * kind.layers[1], np.zeros(8), []
        keys = apply(w, "decoder.attention.key_layer", annotations)
        for word in w["trg_embed.lut.weight"][target] * factors[1]:
            given = np.concatenate([word, fed]) if kind.feeding else word
            state, states = stacked(w, f"decoder.rnn.{RNN}", given, states)
            if kind.attention == "bahdanau":
                inner = np.tanh(apply(w, "decoder.attention.query_layer", state) + keys)
                weights = softmax(apply(w, "decoder.attention.energy_layer", inner)[:, 0])
            else:
                weights = softmax(keys @ state)
            fed = np.tanh(apply(w, "decoder.att_vector_layer", np.concatenate([state, weights @ annotations])))
            rows.append((apply(w, "decoder.output_layer", fed), weights))
        return joined(rows)

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
        return f"encoder.rnn.rnn.{RNN}" if self.kind.newer else f"encoder.rnn.{RNN}"

    def shapes(self) -> Shapes:
        return {
            "encoder.embedding.weight": (len(self.SOURCE), 6),
            **rnn(self.encoder, 6, 8, self.kind.layers),
            **linear("decoder.attention.W_k", 8, 8, self.kind.biased),
            **linear("decoder.attention.W_q", 8, 8, self.kind.biased),
            **linear("decoder.attention.w_v", 1, 8, self.kind.biased),
            "decoder.embedding.weight": (len(self.TARGET), 5),
            **rnn(f"decoder.rnn.{RNN}", 5 + 8, 8, self.kind.layers),
            **linear("decoder.dense", len(self.TARGET), 8),
        }

    def force_decode(self, w: Mapping[str, Array], source: Sequence[int], target: Sequence[int]) -> Outputs:
        padded = [*source, *[self.SOURCE.index("<pad>")] * (self.kind.length - len(source))]
        words = w["encoder.embedding.weight"][padded]
        annotations, ends = encode(w, self.encoder, words, self.kind.layers, two=False, lstm=False)
        states, rows = [ends[:, layer] for layer in range(self.kind.layers)], []
        for word in w["decoder.embedding.weight"][target]:
            query = apply(w, "decoder.attention.W_q", states[-1][0])
            inner = np.tanh(query + apply(w, "decoder.attention.W_k", annotations[: len(source)]))
            weights = softmax(apply(w, "decoder.attention.w_v", inner)[:, 0])
            given = np.concatenate([weights @ annotations[: len(source)], word])
            state, states = stacked(w, f"decoder.rnn.{RNN}", given, states)
            rows.append((apply(w, "decoder.dense", state), weights))
        return joined(rows)

    def write(self, folder: Path) -> None:
        torch.save(self.state, folder / "model.pt")
        write_tokens(folder, source=self.SOURCE, target=self.TARGET)


class Fairseq(Peer):
    """fairseq's `lstm`; of `shared`, the output layer is the embedding matrix, of `out` numbers a word."""

    SOURCE = ("<s>", "<pad>", "</s>", "<unk>", "der", "hund", "schläft", "im", "park", ".")
    TARGET = ("<s>", "<pad>", "</s>", "<unk>", "the", "dog", "sleeps", "in", "park", ".", "is")
    START = "</s>"
    KIND: ClassVar = {"bidirectional": False, "layers": 1, "state": 8, "out": 8, "shared": False, "newer": True}

    def shapes(self) -> Shapes:
        kind, annotation = self.kind, 8 * (1 + self.kind.bidirectional)
        embedding, projected = kind.out if kind.shared else 5, annotation != kind.state
        found = {
            "encoder.embed_tokens.weight": (len(self.SOURCE), 6),
            **rnn(f"encoder.lstm.{RNN}", 6, 8, kind.layers, kind.bidirectional, lstm=True),
            "decoder.embed_tokens.weight": (len(self.TARGET), embedding),
            **rnn("decoder.layers.{layer}.{gate}{way}", kind.state + embedding, kind.state, kind.layers, lstm=True),
            **linear("decoder.attention.input_proj", annotation, kind.state, bias=False),
            **linear("decoder.attention.output_proj", kind.state, kind.state + annotation, bias=False),
        }
        for name in ("decoder.encoder_hidden_proj", "decoder.encoder_cell_proj"):
            found |= linear(name, kind.state, annotation) if projected else {}
        found |= linear("decoder.additional_fc", kind.out, kind.state) if kind.out != kind.state else {}
        return found | ({} if kind.shared else linear("decoder.fc_out", len(self.TARGET), kind.out))

    def force_decode(self, w: Mapping[str, Array], source: Sequence[int], target: Sequence[int]) -> Outputs:
        kind, words = self.kind, w["encoder.embed_tokens.weight"][source]
        annotations, ends = encode(w, f"encoder.lstm.{RNN}", words, kind.layers, kind.bidirectional, lstm=True)
        hidden, cells = (one.reshape(kind.layers, -1) for one in ends)
        if "decoder.encoder_hidden_proj.weight" in w:
            hidden, cells = (
                apply(w, "decoder.encoder_hidden_proj", hidden),
                apply(w, "decoder.encoder_cell_proj", cells),
            )
        states, fed, rows = [*np.stack([hidden, cells], axis=1)], np.zeros(kind.state), []
        for word in w["decoder.embed_tokens.weight"][target]:
            state, states = stacked(w, "decoder.layers.{layer}.{gate}{way}", np.concatenate([word, fed]), states)
            weights = softmax(annotations @ apply(w, "decoder.attention.input_proj", state))
            read = np.concatenate([weights @ annotations, state])
            fed = np.tanh(apply(w, "decoder.attention.output_proj", read))
            out = apply(w, "decoder.additional_fc", fed) if kind.out != kind.state else fed
            logits = w["decoder.embed_tokens.weight"] @ out if kind.shared else apply(w, "decoder.fc_out", out)
            rows.append((logits, weights))
        return joined(rows)

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


class Opennmt(Peer):
    """OpenNMT-py; an `older` version names the output layer otherwise, and has vocabularies as files, here of lists."""

    SOURCE = ("<unk>", "<blank>", "<s>", "</s>", "der", "hund", "schläft", "im", "park", ".")
    TARGET = ("<unk>", "<blank>", "<s>", "</s>", "the", "dog", "sleeps", "in", "park", ".", "is")
    CLOSED = False
    KIND: ClassVar = {
        "rnn": "LSTM",
        "bidirectional": True,
        "layers": 1,
        "attention": "general",
        "feeding": True,
        "bridge": False,
        "coverage": False,
        "older": False,
        "start": "<s>",
        "safe": False,
    }

    def __init__(self, seed: int = 0, **kind: Any) -> None:
        if kind.get("older"):
            self.SOURCE = tuple(token for token in self.SOURCE if token not in ("<s>", "</s>"))
        self.START = kind.get("start", "<s>")
        super().__init__(seed, **kind)

    @property
    def decoder(self) -> str:
        return "decoder.rnn.layers.{layer}.{gate}{way}" if self.kind.feeding else f"decoder.rnn.{RNN}"

    @property
    def generator(self) -> str:
        return "generator.0" if self.kind.older else "generator"

    def shapes(self) -> Shapes:
        kind, lstm, embeddings = self.kind, self.kind.rnn == "LSTM", "embeddings.make_embedding.emb_luts.0.weight"
        size, additive = 8 // (1 + self.kind.bidirectional), self.kind.attention == "mlp"
        found = {
            f"encoder.{embeddings}": (len(self.SOURCE), 6),
            **rnn(f"encoder.rnn.{RNN}", 6, size, kind.layers, kind.bidirectional, lstm),
            f"decoder.{embeddings}": (len(self.TARGET), 5),
            **rnn(self.decoder, 5 + 8 * kind.feeding, 8, kind.layers, lstm=lstm),
            **linear("decoder.attn.linear_out", 8, 16, bias=additive),
            **linear(self.generator, len(self.TARGET), 8),
        }
        for place in range((1 + lstm) * kind.bridge):
            found |= linear(f"encoder.bridge.{place}", size * kind.layers, size * kind.layers)
        if additive:
            found |= linear("decoder.attn.linear_context", 8, 8, bias=False) | linear("decoder.attn.linear_query", 8, 8)
            found |= linear("decoder.attn.v", 1, 8, bias=False)
        found |= linear("decoder.attn.linear_in", 8, 8, bias=False) if kind.attention == "general" else {}
        return found | ({"decoder.attn.linear_cover.weight": (8, 1)} if kind.coverage else {})

    def force_decode(self, w: Mapping[str, Array], source: Sequence[int], target: Sequence[int]) -> Outputs:
        kind, lstm, embeddings = self.kind, self.kind.rnn == "LSTM", "embeddings.make_embedding.emb_luts.0.weight"
        words = w[f"encoder.{embeddings}"][source]
        annotations, ends = encode(w, f"encoder.rnn.{RNN}", words, kind.layers, kind.bidirectional, lstm)
        if kind.bridge:
            width = 8 // (1 + kind.bidirectional) * kind.layers
            rows = [apply(w, f"encoder.bridge.{place}", one.reshape(-1, width)) for place, one in enumerate(ends)]
            ends = np.maximum(np.stack(rows), 0).reshape(ends.shape)
        states = [*ends.reshape(len(ends), kind.layers, -1).swapaxes(0, 1)]
        fed, steps = np.zeros(8), []
        for word in w[f"decoder.{embeddings}"][target]:
            given = np.concatenate([word, fed]) if kind.feeding else word
            state, states = stacked(w, self.decoder, given, states)
            if kind.attention == "mlp":
                keys = apply(w, "decoder.attn.linear_context", annotations)
                inner = np.tanh(apply(w, "decoder.attn.linear_query", state) + keys)
                weights = softmax(apply(w, "decoder.attn.v", inner)[:, 0])
            else:
                asked = apply(w, "decoder.attn.linear_in", state) if kind.attention == "general" else state
                weights = softmax(annotations @ asked)
            read = apply(w, "decoder.attn.linear_out", np.concatenate([weights @ annotations, state]))
            fed = read if kind.attention == "mlp" else np.tanh(read)
            steps.append((apply(w, self.generator, fed), weights))
        return joined(steps)

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
