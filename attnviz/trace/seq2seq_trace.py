"""`Seq2SeqTrace`: everything an imported translator computed for a sentence, and the table of its quantities.

The docstring of `Seq2SeqTrace` explains the symbols of the sizes.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from attnviz import bounds
from attnviz.imported_families import CHOICES, LINEAR_READOUTS
from attnviz.text import SPECIAL_PIECES
from attnviz.trace import storage
from attnviz.trace.aligned import Groups
from attnviz.trace.parts import FloatArray, Words
from attnviz.trace.quantity import Quantity, piece_quantities
from attnviz.trace.record import Recurrent
from attnviz.trace.trace import additive_energy, query_and_key

_JOINED = "@@"
"""Ends a piece that continues in the next one (subword-nmt)."""

_TABLE = (
    Quantity(
        "annotations",
        r"h_j",
        ("Tx", "2m"),
        r"h_j = [\overrightarrow h_j ; \overleftarrow h_j]",
        "annotation: both encoder states at a source piece",
    ),
    Quantity(
        "initial_state",
        r"s_0",
        ("n",),
        r"s_0 = \tanh(W_s [\overrightarrow h_{T_x} ; \overleftarrow h_1] + b_s) \text{ or } \overrightarrow h_{T_x}",
        "decoder state before the first word, in the last layer",
    ),
    Quantity(
        "initial_states",
        r"s_0",
        ("L", "n"),
        r"s_0",
        "decoder state before the first word, in every layer",
    ),
    Quantity(
        "initial_memories",
        r"m_0",
        ("M", "n"),
        r"m_0",
        "cell state of an LSTM before the first word, in every layer",
    ),
    Quantity("keys", r"U_a h_j", ("Tx", "n'"), r"U_a h_j + b_a", "key: an annotation in the alignment space"),
    Quantity(
        "queries",
        r"W_a s",
        ("Ty", "n'"),
        r"W_a s_{i-1} \text{ or } W_a s_i",
        "query: a decoder state in the alignment space",
    ),
    Quantity("score_vector", r"v_a", ("v",), r"v_a", "weights of the alignment units in an energy", may_be_absent=True),
    Quantity(
        "energies",
        r"e_{ij}",
        ("Ty", "Tx"),
        rf"e_{{ij}} = {additive_energy(query_and_key('s', more=' + b_a'))}",
        "energy: how well a source piece fits the state",
    ),
    Quantity(
        "alignment",
        r"\alpha_{ij}",
        ("Ty", "Tx"),
        r"\alpha_{ij} = \operatorname{softmax}_j(e_{ij})",
        "attention; rows sum to 1",
    ),
    Quantity(
        "contexts",
        r"c_i",
        ("Ty", "2m"),
        r"c_i = \sum_j \alpha_{ij} h_j",
        "context vector: weighted sum of the annotations",
    ),
    Quantity(
        "gates",
        r"g_i",
        ("Ty", "L", "g", "n"),
        r"\sigma(W x + U s_{i-1} + b)",
        "gates and candidate of every layer, in torch's order",
    ),
    Quantity(
        "memories",
        r"m_i",
        ("Ty", "M", "n"),
        r"m_i = f_i \odot m_{i-1} + e_i \odot \tilde m_i",
        "cell state of an LSTM, in every layer; a GRU has none",
    ),
    Quantity(
        "layer_states",
        r"s_i",
        ("Ty", "L", "n"),
        r"s_i = \operatorname{RNN}(s_{i-1}, x_i)",
        "decoder state after the step, in every layer",
    ),
    Quantity(
        "readouts",
        r"t_i",
        ("Ty", "r"),
        r"t_i = [s_i ; c_i ; E y_{i-1}] \text{, } W_t [s_i ; c_i] + b_t \text{, its tanh, or } s_i",
        "vector from which the logits are computed",
    ),
    *piece_quantities(r"p(y_i) = \operatorname{softmax}(W_o t_i + b_o)"),
)

QUANTITIES: Mapping[str, Quantity] = {quantity.name: quantity for quantity in _TABLE}
"""The table, by name."""
RECORDED = _TABLE
"""The quantities that a trace stores as arrays: all of them."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Seq2SeqTrace(Recurrent):
    """Everything computed while one sentence was translated by an imported network (`network.seq2seq`).

    Tx and Ty count source and target pieces; L is the number of decoder layers, n their size, m the size of each
    encoder direction, n' the alignment size, v the length of v_a, r the readouts' size, g the number of gates of a
    cell, its candidate included, M the number of cell states, L or 0, and k the number of candidates stored of each
    step. The config is a `Seq2SeqConfig`, which says of which form the parts of the network are.
    """

    saved_as: ClassVar[storage.FileFormat] = storage.FileFormat("attnviz-seq2seq-trace", 4)
    arrays: ClassVar[tuple[Quantity, ...]] = RECORDED
    imported: ClassVar[bool] = True

    initial_states: FloatArray
    """Initial decoder states s_0 of every layer, (L, n)."""
    initial_memories: FloatArray
    """Initial cell states of an LSTM, (L, n); (0, n) for a GRU."""
    gates: FloatArray
    """Gates and candidate of each layer after sigmoid or tanh, (Ty, L, g, n).

    Order: r_i, z_i, candidate of a GRU; input, forget, candidate, output of an LSTM.
    """
    memories: FloatArray
    """Cell state of an LSTM, (Ty, L, n); (Ty, 0, n) for a GRU, which has none."""
    layer_states: FloatArray
    """Decoder states s_i of every layer, (Ty, L, n)."""

    @property
    def states(self) -> FloatArray:
        """Decoder states s_i of the last layer, (Ty, n)."""
        return self.layer_states[:, -1]

    @property
    def queries_previous_state(self) -> bool:
        """Whether the query is of s_{i-1}; otherwise it is of s_i."""
        return bool(self.config["query"] != "new")

    @property
    def reads_backwards(self) -> bool:
        """Whether the encoder reads in both directions."""
        return bool(self.config["directions"] == 2)

    @property
    def linear(self) -> bool:
        """Whether logits are linear in state, context and previous word, so that they split into contributions."""
        return bool(self.config["readout"] in LINEAR_READOUTS)

    @property
    def reads_new_state(self) -> bool:
        """True: logits are computed from s_i."""
        return True

    @property
    def reset_gates(self) -> FloatArray:
        """Reset gates r_i of the last layer of a GRU, (Ty, n)."""
        return self.gates[:, -1, 0]

    @property
    def update_gates(self) -> FloatArray:
        """Update gates z_i of the last layer of a GRU, (Ty, n)."""
        return self.gates[:, -1, 1]

    @property
    def kept_shares(self) -> FloatArray:
        """Update gates z_i of the last layer of a GRU, or forget gates of an LSTM, (Ty, n)."""
        return self.gates[:, -1, 1]

    @property
    def candidates(self) -> FloatArray:
        """Candidate of the last layer, of a GRU or LSTM, (Ty, n)."""
        return self.gates[:, -1, 2]

    @property
    def previous_memories(self) -> FloatArray:
        """Cell state of the last LSTM layer before each step, (Ty, n)."""
        return np.concatenate([self.initial_memories[-1:], self.memories[:-1, -1]])

    @property
    def attends(self) -> bool:
        """True: imported models have attention."""
        return True

    @property
    def attends_once(self) -> bool:
        """False: interventions and posterior attention are not available for imported models."""
        return False

    @property
    def source_vocabulary_size(self) -> int:
        """Number of pieces for source sentences."""
        return int(self.config["source_vocabulary_size"])

    def sizes(self) -> dict[str, int]:
        """Return the value of each size symbol in the table of quantities.

        Raise IndexError or KeyError where an array lacks a dimension or the config a size, ValueError where a size is
        out of bounds.
        """
        bounds.check_model(self.config)
        layers, lstm = int(self.config["layers"]), self.config["cell"] == "lstm"
        return {
            "Tx": len(self.source_pieces),
            "Ty": len(self.target_pieces),
            "2m": int(self.config["directions"]) * int(self.config["encoder_size"]),
            "n": int(self.config["hidden_size"]),
            "n'": self.keys.shape[1],
            "v": self.keys.shape[1],
            "L": layers,
            "M": layers if lstm else 0,
            "g": 4 if lstm else 3,
            "r": self.readouts.shape[1],
            "k": self.top_ids.shape[1],
            "K": self.vocabulary_size,
        }

    def check_numbers(self) -> None:
        """Raise ValueError unless the rows of the alignment sum to 1 and the config's choices are known."""
        if not np.allclose(self.alignment.sum(axis=1), 1, atol=1e-3) or self.alignment.min() < 0:
            raise ValueError("a row of the alignment does not sum to 1")
        for name, known in CHOICES.items():
            bounds.check_one_of(name, self.config[name], known)

    def word_groups(self) -> tuple[Groups, Groups]:
        """Return the indices of the pieces of each word, for both sides; a piece that ends in `@@` joins the next."""
        return tuple(  # type: ignore[return-value]  # two, as there are sides
            _word_groups(pieces) if any(piece.endswith(_JOINED) for piece in pieces) else groups
            for pieces, groups in zip((self.source_pieces, self.target_pieces), super().word_groups(), strict=True)
        )

    @cached_property
    def _words(self) -> Words:
        words = super()._words
        source, target = (
            tuple(name.replace(f"{_JOINED} ", "") for name in names) for names in (words.source, words.target)
        )
        return dataclasses.replace(words, source=source, target=target)


def _word_groups(pieces: tuple[str, ...]) -> Groups:
    groups: list[list[int]] = []
    for i, piece in enumerate(pieces):
        if groups and pieces[i - 1].endswith(_JOINED) and piece not in SPECIAL_PIECES:
            groups[-1].append(i)
        else:
            groups.append([i])
    return tuple(map(tuple, groups))
