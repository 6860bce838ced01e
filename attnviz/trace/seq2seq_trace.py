"""`Seq2SeqTrace`: all that was computed while an imported recurrent translator translated a sentence."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np

from attnviz import bounds
from attnviz.attention_kinds import IMPORTED_KINDS, renamed
from attnviz.text import SPECIAL_PIECES
from attnviz.trace import storage
from attnviz.trace.aligned import Groups
from attnviz.trace.parts import FloatArray, Words
from attnviz.trace.quantity import Quantity
from attnviz.trace.recurrent import Recurrent
from attnviz.trace.seq2seq_quantities import RECORDED

_JOINED = "@@"
"""Ends a piece that the next one goes on with."""
_CELLS = ("gru", "lstm")
_CHOICES = {
    "family": ("tutorial", "joey"),
    "cell": _CELLS,
    "encoder_cell": _CELLS,
    "attention": IMPORTED_KINDS,
    "first_state": ("bridge", "last", "zero"),
}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Seq2SeqTrace(Recurrent):
    """Everything computed while one sentence was translated by an imported network (`network.seq2seq`).

    L is the number of the decoder's layers; shapes and equations of the arrays stand in the table of
    `trace.seq2seq_quantities`. The config is a `Seq2SeqConfig`; by its family the query is of s_{i-1} or of s_i.
    """

    saved_as: ClassVar[storage.Format] = storage.Format(
        "attnviz-seq2seq-trace", 2, changed={2: lambda record: record | {"config": renamed(record["config"])}}
    )
    arrays: ClassVar[tuple[Quantity, ...]] = RECORDED

    gates: FloatArray
    """Of each layer after their sigmoid or tanh, (Ty, L, g, n): r_i, z_i and candidate of a GRU, or input, forget,
    candidate and output of an LSTM."""
    memories: FloatArray
    """What an LSTM keeps beside its state, (Ty, L, n); of a GRU, which has none, (Ty, 0, n)."""
    layer_states: FloatArray
    """s_i in every layer, (Ty, L, n)."""

    @property
    def states(self) -> FloatArray:
        """s_i of the last layer, (Ty, n)."""
        return self.layer_states[:, -1]

    @property
    def asks_before(self) -> bool:
        """Whether the query of a step is of the state before it."""
        return bool(self.config["family"] == "tutorial")

    @property
    def linear(self) -> bool:
        """Whether the words are scored with state, context and word as they are, so that a logit splits into parts."""
        return bool(self.config["family"] == "tutorial")

    @property
    def reads_new_state(self) -> bool:
        """True: the words are scored with s_i."""
        return True

    @property
    def reset_gates(self) -> FloatArray:
        """r_i of the last layer of GRU, (Ty, n)."""
        return self.gates[:, -1, 0]

    @property
    def update_gates(self) -> FloatArray:
        """z_i of the last layer of GRU, (Ty, n)."""
        return self.gates[:, -1, 1]

    @property
    def kept_shares(self) -> FloatArray:
        """z_i of the last layer of GRU, or the forget gate of LSTM, (Ty, n)."""
        return self.gates[:, -1, 1]

    @property
    def candidates(self) -> FloatArray:
        """The candidate of the last layer, of GRU or LSTM, (Ty, n)."""
        return self.gates[:, -1, 2]

    @property
    def previous_memories(self) -> FloatArray:
        """What the last layer of LSTM kept before each step, (Ty, n); at first it is s_0."""
        return np.concatenate([self.initial_state[None], self.memories[:-1, -1]])

    @property
    def attends(self) -> bool:
        """True: every step chooses where to look."""
        return True

    @property
    def attends_once(self) -> bool:
        """False: its look cannot be changed by hand here, and has no posterior yet."""
        return False

    @property
    def source_vocabulary_size(self) -> int:
        """How many pieces there are to make a source sentence of."""
        return int(self.config["source_vocabulary_size"])

    def sizes(self) -> dict[str, int]:
        """Return the numbers that the symbols of the table's shapes stand for.

        Raise IndexError or KeyError where an array lacks a dimension or the config a size, ValueError where it is none.
        """
        bounds.check_model(self.config)
        layers, lstm = int(self.config["layers"]), self.config["cell"] == "lstm"
        return {
            "Tx": len(self.source_pieces),
            "Ty": len(self.target_pieces),
            "2m": 2 * int(self.config["encoder_size"]),
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
        """Raise ValueError unless rows of the alignment are shares and the model is of a known kind."""
        if not np.allclose(self.alignment.sum(axis=1), 1, atol=1e-3) or self.alignment.min() < 0:
            raise ValueError("a row of the alignment does not sum to 1")
        for name, known in _CHOICES.items():
            bounds.one_of(name, self.config[name], known)

    def word_groups(self) -> tuple[Groups, Groups]:
        """Return the pieces of the words of both sides; a piece that ends in `@@` is one word with the next."""
        return tuple(  # type: ignore[return-value]  # two, as there are sides
            _joined(pieces) if any(piece.endswith(_JOINED) for piece in pieces) else groups
            for pieces, groups in zip((self.source_pieces, self.target_pieces), super().word_groups(), strict=True)
        )

    @cached_property
    def _words(self) -> Words:
        words = super()._words
        source, target = (
            tuple(name.replace(f"{_JOINED} ", "") for name in names) for names in (words.source, words.target)
        )
        return dataclasses.replace(words, source=source, target=target)


def _joined(pieces: tuple[str, ...]) -> Groups:
    groups: list[list[int]] = []
    for i, piece in enumerate(pieces):
        if groups and pieces[i - 1].endswith(_JOINED) and piece not in SPECIAL_PIECES:
            groups[-1].append(i)
        else:
            groups.append([i])
    return tuple(map(tuple, groups))
