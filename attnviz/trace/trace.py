"""`Trace`: everything computed while a recurrent translator translated a sentence, and the table of its quantities.

Traces check their arrays by the table, recomputation and verification compare by it, and the page, `help(Trace)` and
`Trace.describe` read symbols and equations from it. The equations are those of RNNsearch; `imported_families.form_of`
says which other forms the parts of a translator can have.

Sizes: Tx source and Ty target pieces, `</s>` included; n hidden and n' alignment size; m the size of each encoder
direction, and 2m that of an annotation, also where the encoder has one direction; L decoder layers, M of them with a
cell state; g gates of a cell, its candidate included; r the number of features of location-aware attention; c the
length of a context vector, 2m, or m without attention; l the readout's size; k candidates stored of each step; K pieces
of the vocabulary.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, TextIO

import numpy as np

from attnviz import bounds
from attnviz.attention_kinds import HALVING_KINDS, check_known
from attnviz.imported_families import CHOICES, LINEAR_READOUTS, form_of
from attnviz.text import SPECIAL_PIECES
from attnviz.trace import storage
from attnviz.trace.aligned import Groups
from attnviz.trace.drawing import step_index
from attnviz.trace.parts import FloatArray, Words
from attnviz.trace.quantity import PROBABILITIES, Quantity, piece_quantities, quantity_table
from attnviz.trace.record import Record


def additive_energy(inside: str, left: str = "(", right: str = ")") -> str:
    """Return the energy in LaTeX, given the sum `inside` the tanh and the parentheses around it."""
    return rf"v_a^\top \tanh{left}{inside}{right}"


def query_and_key(state: str = "s_{i-1}", annotation: str = "h_j", more: str = "") -> str:
    """Return the sum inside the tanh in LaTeX; `more` is added to query and key as it is written."""
    return rf"W_a {state} + U_a {annotation}{more}"


RECORDED = (
    Quantity(
        "annotations",
        r"h_j",
        ("Tx", "2m"),
        r"h_j = [\overrightarrow{h}_j ; \overleftarrow{h}_j]",
        "annotation: both encoder states at a source piece",
    ),
    Quantity(
        "initial_states",
        r"s_0",
        ("L", "n"),
        r"s_0 = \tanh(W_s \overleftarrow{h}_1 + b_s)",
        "decoder state before the first word, in every layer",
    ),
    Quantity(
        "initial_memories",
        r"m_0",
        ("M", "n"),
        r"m_0",
        "cell state of an LSTM before the first word, in every layer",
    ),
    Quantity("keys", r"U_a h_j", ("Tx", "n'"), r"U_a h_j", "key: an annotation in the alignment space"),
    Quantity(
        "queries", r"W_a s_{i-1}", ("Ty", "n'"), r"W_a s_{i-1}", "query: the previous state in the alignment space"
    ),
    Quantity(
        "score_vector", r"v_a", ("n'",), r"v_a", "weights of the alignment units in an energy", may_be_absent=True
    ),
    Quantity(
        "features",
        r"f_{ij}",
        ("Ty", "Tx", "r"),
        r"f_{ij} = (F * \alpha_{i-1})_j",
        "features of the weights of the step before, on which energies depend",
        may_be_absent=True,
    ),
    Quantity(
        "feature_weight",
        r"L",
        ("n'", "r"),
        r"L",
        "weights of the features in the units of an energy",
        may_be_absent=True,
    ),
    Quantity(
        "energies",
        r"e_{ij}",
        ("Ty", "Tx"),
        rf"e_{{ij}} = {additive_energy(query_and_key())}",
        "energy: how well a source piece fits the state, before interventions",
    ),
    Quantity(
        "alignment",
        r"\alpha_{ij}",
        ("Ty", "Tx"),
        r"\alpha_{ij} = \exp(e_{ij}) / \sum_k \exp(e_{ik})",
        "attention, after interventions; rows sum to 1",
    ),
    Quantity(
        "contexts",
        r"c_i",
        ("Ty", "c"),
        r"c_i = \sum_j \alpha_{ij} h_j",
        "context vector: weighted sum of the annotations",
    ),
    Quantity(
        "gates",
        r"g_i",
        ("Ty", "L", "g", "n"),
        r"g_i = \sigma(W x_i + U s_{i-1} + b)",
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
        ("Ty", "l"),
        r"t_{ik} = \max(\tilde t_{i,2k}, \tilde t_{i,2k+1})",
        "readout, from which the logits are computed; in RNNsearch maxout",
    ),
    *piece_quantities(r"p(y_i) = \operatorname{softmax}(W_o t_i + b_o)"),
)
"""The quantities that a trace stores as arrays."""
DERIVED = (
    PROBABILITIES,
    Quantity("target_ids", r"y_i", ("Ty",), r"y_i", "id of the written piece; given in forced decoding"),
    Quantity(
        "states",
        r"s_i",
        ("Ty", "n"),
        r"s_i = (1 - z_i) \odot \tilde s_i + z_i \odot s_{i-1}",
        "decoder state after the step, in the last layer",
    ),
    Quantity(
        "update_gates",
        r"z_i",
        ("Ty", "n"),
        r"z_i = \sigma(W_z [E y_{i-1} ; c_i] + U_z s_{i-1} + b_z)",
        "update gate: share of the old state that is kept, in (0, 1)",
    ),
    Quantity(
        "reset_gates",
        r"r_i",
        ("Ty", "n"),
        r"r_i = \sigma(W_r [E y_{i-1} ; c_i] + U_r s_{i-1} + b_r)",
        "reset gate: share of the old state in the candidate, in (0, 1)",
    ),
    Quantity(
        "candidate_states",
        r"\tilde s_i",
        ("Ty", "n"),
        r"\tilde s_i = \tanh(W [E y_{i-1} ; c_i] + b + r_i \odot (U s_{i-1} + b'))",
        "candidate state, in (-1, 1)",
    ),
    Quantity(
        "input_gates",
        r"e_i",
        ("Ty", "n"),
        r"e_i = \sigma(W_e x_i + U_e s_{i-1} + b_e)",
        "input gate of an LSTM: share of the candidate that enters the cell state, in (0, 1)",
    ),
    Quantity(
        "forget_gates",
        r"f_i",
        ("Ty", "n"),
        r"f_i = \sigma(W_f x_i + U_f s_{i-1} + b_f)",
        "forget gate of an LSTM: share of the old cell state that is kept, in (0, 1)",
    ),
    Quantity(
        "output_gates",
        r"o_i",
        ("Ty", "n"),
        r"o_i = \sigma(W_o x_i + U_o s_{i-1} + b_o)",
        "output gate of an LSTM: share of the cell state that is read, in (0, 1)",
    ),
    Quantity(
        "entropy",
        r"H_i",
        ("Ty",),
        r"H_i = -\sum_j \alpha_{ij} \log_2 \alpha_{ij}",
        "entropy of the attention, in bits, from 0 to log2 Tx",
    ),
    Quantity(
        "coverage",
        r"\textstyle\sum_i \alpha_{ij}",
        ("Tx",),
        r"\sum_i \alpha_{ij}",
        "attention to a source piece, summed over the steps",
    ),
    Quantity("logits", r"o_i", ("Ty", "K"), r"W_o t_i + b_o", "logits of all pieces"),
    Quantity(
        "distributions",
        r"p(y_i)",
        ("Ty", "K"),
        r"p(y_i) = \operatorname{softmax}(W_o t_i + b_o)",
        "probabilities of all pieces",
    ),
    Quantity(
        "energy sums",
        r"e_{ij}",
        ("Ty", "Tx"),
        rf"\sum_k v_k \tanh({query_and_key()})_k",
        "energy, summed over the alignment units of its decomposition",
    ),
    Quantity(
        "maxout pairs",
        r"t_i",
        ("Ty", "l"),
        r"\tilde t_i = U_o s_{i-1} + V_o E y_{i-1} + C_o c_i + b",
        "maxout layer, from the larger of each pair",
    ),
    Quantity(
        "attribution sums",
        r"o_i",
        ("Ty", "k"),
        r"b_o + W_o (b + U_o s_{i-1} + V_o E y_{i-1} + \sum_j \alpha_{ij} C_o h_j)^{\mathrm{win}}",
        "logits of the displayed candidates, summed over their attributions",
    ),
    Quantity(
        "likelihood",
        r"p(y_i \mid h_j)",
        ("Ty", "Tx"),
        r"p(y_i \mid s_{i-1}, y_{i-1}, c = h_j)",
        "probability of the written piece if the context were one annotation",
    ),
    Quantity(
        "log_likelihood",
        r"\log p(y_i \mid h_j)",
        ("Ty", "Tx"),
        r"\log p(y_i \mid s_{i-1}, y_{i-1}, c = h_j)",
        "log probability of the same, in nats",
    ),
    Quantity(
        "posterior",
        r"p(j \mid y_i)",
        ("Ty", "Tx"),
        r"\alpha_{ij}\, p(y_i \mid h_j) / \sum_k \alpha_{ik}\, p(y_i \mid h_k)",
        "posterior attention, given the written piece; rows sum to 1",
    ),
    Quantity(
        "heatmap_posterior",
        r"\alpha'_{ij}",
        ("Ty", "Tx"),
        r"\bigl(\alpha_{ij}\, p(y_i \mid h_j)\bigr)^{3/4} e^{f_{ij}/4} \big/ \textstyle\sqrt{\sum_i \cdots}",
        "heatmap: posterior attention normalised over steps too; rows sum to 1",
    ),
)
"""The quantities that follow from those and the weights."""
QUANTITIES: Mapping[str, Quantity] = {quantity.name: quantity for quantity in (*RECORDED, *DERIVED)}
"""All quantities, by name."""
GATES: Mapping[str, tuple[str, ...]] = {
    "gru": ("reset_gates", "update_gates", "candidate_states"),
    "lstm": ("input_gates", "forget_gates", "candidate_states", "output_gates"),
}
"""The quantities in `gates` of each kind of cell, in torch's order."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Trace(Record):
    """Everything computed while one sentence was translated by a recurrent translator with attention.

    The translator is RNNsearch (Bahdanau, Cho & Bengio 2014), whose config is a `ModelConfig`, or an imported one, with
    a `Seq2SeqConfig`. Tx and Ty count source and target pieces; n is the hidden size, m the size of each encoder
    direction, n' the alignment size, L the number of decoder layers, M that of cell states, L or 0, g the number of
    gates of a cell, its candidate included, r the number of features, c the length of a context vector, 2m or without
    attention m, l the readout's size, k the number of candidates stored of each step and K the vocabulary's size.
    """

    saved_as: ClassVar[storage.FileFormat] = storage.FileFormat("attnviz-trace", 6)
    architectures: ClassVar[tuple[str, ...]] = ("rnnsearch", "seq2seq")
    arrays: ClassVar[tuple[Quantity, ...]] = RECORDED
    derived: ClassVar[tuple[Quantity, ...]] = DERIVED
    recurrent: ClassVar[bool] = True
    context_symbol: ClassVar[str] = "c"
    """Symbol of `contexts`."""
    attention_figure: ClassVar[str] = "attention"

    annotations: FloatArray
    """Annotations h_j = [forward h_j ; backward h_j], (Tx, 2m)."""
    initial_states: FloatArray
    """Initial decoder states s_0 of every layer, (L, n)."""
    initial_memories: FloatArray
    """Initial cell states of an LSTM, (L, n); (0, n) for a GRU."""
    keys: FloatArray
    """Keys U_a h_j (additive, (Tx, n')) or P h_j (general, (Tx, n)); (Tx, 0) without attention."""
    queries: FloatArray
    """Queries W_a s (additive, (Ty, n')) or s (general, (Ty, n)); (Ty, 0) without attention.

    The state s is s_{i-1}, or, in some imported models, s_i (`queries_previous_state`).
    """
    score_vector: FloatArray
    """Score vector v_a of additive attention, (n',); (0,) for other kinds and where it is unknown."""
    features: FloatArray
    """Features f_ij of the previous step's weights, (Ty, Tx, r); r is 0 except in location-aware attention."""
    feature_weight: FloatArray
    """Feature matrix L, (n', r), whose product with the features is added to the keys."""
    energies: FloatArray
    """Energies e_ij, (Ty, Tx); without attention 0 for the last source piece and -inf for every other."""
    alignment: FloatArray
    """Attention alpha_ij = softmax_j e_ij, (Ty, Tx); rows sum to 1."""
    contexts: FloatArray
    """Context vectors c_i = sum_j alpha_ij h_j, (Ty, 2m); without attention the forward half of h_Tx, (Ty, m)."""
    gates: FloatArray
    """Gates and candidate of each layer after sigmoid or tanh, (Ty, L, g, n), in the order of `GATES`.

    In a GRU the update gate is torch's: s_i = (1 - z_i) * candidate + z_i * s_{i-1}.
    """
    memories: FloatArray
    """Cell states of an LSTM, (Ty, L, n); (Ty, 0, n) for a GRU, which has none."""
    layer_states: FloatArray
    """Decoder states s_i of every layer, (Ty, L, n)."""
    readouts: FloatArray
    """Readouts t_i, (Ty, l), from which the logits of step i are computed."""

    @cached_property
    def form(self) -> Mapping[str, Any]:
        """The form of every part of the translator: its config with the fields that its architecture fixes."""
        return form_of(self.config)

    @property
    def imported(self) -> bool:
        """Whether the network was trained by another program."""
        return self.architecture == "seq2seq"

    @property
    def attends(self) -> bool:
        """Whether the model has attention; False for `attention="none"`, where every step has the same context."""
        return bool(self.config["attention"] != "none")

    @property
    def attends_once(self) -> bool:
        """Whether attention can be changed by hand, and has a posterior: in RNNsearch with attention."""
        return self.attends and not self.imported

    @property
    def values(self) -> FloatArray:
        """What a context is the weighted sum of: the annotations, or without attention their forward half, (Tx, c)."""
        return self.annotations[:, : self.contexts.shape[1]]

    @property
    def queries_previous_state(self) -> bool:
        """Whether the query of a step is computed from the state before it, s_{i-1}, rather than from s_i."""
        return bool(self.form["query"] != "new")

    @property
    def reads_new_state(self) -> bool:
        """Whether logits are computed from s_i; otherwise from s_{i-1}."""
        return bool(self.form["readout_state"] == "current")

    @property
    def reads_backwards(self) -> bool:
        """Whether the encoder also reads backwards, so that the second half of an annotation comes from this."""
        return bool(self.form["directions"] == 2)

    @property
    def has_maxout(self) -> bool:
        """Whether the readout is a maxout layer, as in RNNsearch."""
        return bool(self.form["readout"] == "maxout")

    @property
    def linear(self) -> bool:
        """Whether a logit is exactly the sum of contributions of state, context and previous word."""
        return self.form["readout"] in LINEAR_READOUTS

    @property
    def initial_state(self) -> FloatArray:
        """Initial decoder state s_0 of the last layer, (n,)."""
        state: FloatArray = self.initial_states[-1]
        return state

    @property
    def states(self) -> FloatArray:
        """Decoder states s_i of the last layer, (Ty, n)."""
        return self.layer_states[:, -1]

    @property
    def previous_states(self) -> FloatArray:
        """Previous decoder state s_{i-1} of each step in the last layer, (Ty, n)."""
        return np.concatenate([self.initial_state[None], self.states[:-1]])

    @property
    def previous_memories(self) -> FloatArray:
        """Cell state of the last LSTM layer before each step, (Ty, n)."""
        return np.concatenate([self.initial_memories[-1:], self.memories[:-1, -1]])

    @property
    def previous_alignment(self) -> FloatArray:
        """Attention alpha_{i-1} of the step before each step, 0 before the first, (Ty, Tx)."""
        return np.concatenate([np.zeros_like(self.alignment[:1]), self.alignment[:-1]])

    @property
    def reset_gates(self) -> FloatArray:
        """Reset gates r_i of the last layer of a GRU, (Ty, n), in (0, 1)."""
        return self.gates[:, -1, 0]

    @property
    def update_gates(self) -> FloatArray:
        """Update gates z_i of the last layer of a GRU, (Ty, n), in (0, 1)."""
        return self.gates[:, -1, 1]

    @property
    def kept_shares(self) -> FloatArray:
        """Share of the old state that each unit keeps, (Ty, n), in (0, 1).

        The update gate of a GRU or the forget gate of an LSTM.
        """
        return self.gates[:, -1, 1]

    @property
    def candidate_states(self) -> FloatArray:
        """Candidate states of the last layer, of a GRU or LSTM, (Ty, n), in (-1, 1)."""
        return self.gates[:, -1, 2]

    def features_at(self, step: int) -> FloatArray:
        """Return the features f_ij of a step.

        Args:
            step: Step, 0-based.

        Returns:
            Features, (Tx, r); r is 0 except in location-aware attention.
        """
        features: FloatArray = self.features[step_index(self, step)]
        return features

    def keys_at(self, step: int) -> FloatArray:
        """Return the keys plus L f_ij, from which the energies of a step are computed.

        Args:
            step: Step, 0-based.

        Returns:
            Keys, (Tx, n').
        """
        step = step_index(self, step)
        return self.keys + self.features[step] @ self.feature_weight.T if self.features.size else self.keys

    def sizes(self) -> dict[str, int]:
        """Return the value of each size symbol in the table of quantities.

        Raise IndexError or KeyError where an array lacks a dimension or the config a size, ValueError where a size is
        out of bounds.
        """
        bounds.check_model(self.config)
        n, layers, lstm = int(self.config["hidden_size"]), int(self.form["layers"]), self.form["cell"] == "lstm"
        halved = self.config["attention"] in HALVING_KINDS
        m = int(self.config.get("encoder_size", n // 2 if halved else n))
        annotation = int(self.form["directions"]) * m
        return {
            "Tx": len(self.source_pieces),
            "Ty": len(self.target_pieces),
            "n": n,
            "2m": annotation,
            "n'": self.keys.shape[1],
            "L": layers,
            "M": layers if lstm else 0,
            "g": len(GATES[self.form["cell"]]),
            "r": self.features.shape[2],
            "c": annotation if self.attends else m,
            "l": self.readouts.shape[1],
            "k": self.top_ids.shape[1],
            "K": self.vocabulary_size,
        }

    def describe(self, file: TextIO | None = None) -> None:
        """Print each quantity with symbol, shape, sizes, meaning and equation.

        Args:
            file: Where to print; None is standard output.
        """
        absent = {name for names in GATES.values() for name in names} - {*GATES[self.form["cell"]]}
        absent |= set() if self.attends_once else {"likelihood", "log_likelihood", "posterior", "heatmap_posterior"}
        absent |= set() if self.has_maxout else {"maxout pairs"}
        absent |= set() if self.linear else {"attribution sums"}
        derived = [quantity for quantity in self.derived if quantity.name not in absent]
        print(quantity_table(self.arrays, derived, self.sizes()), file=file)

    def check_numbers(self) -> None:
        """Raise ValueError unless the rows of the alignment sum to 1 and the config's choices are known."""
        self._check_shares("alignment")
        check_known(self.config["attention"])
        choices = CHOICES if self.imported else {"readout_state": ("previous", "current")}
        for name, known in choices.items():
            bounds.check_one_of(name, self.config[name], known)

    def word_groups(self) -> tuple[Groups, Groups]:
        """Return the indices of the pieces of each word, for both sides; a piece that ends in a joiner joins the next.

        An `<unk>` belongs to the word whose typed characters it stands for, where they are known.
        """
        joiner, sides = self.form["joiner"], (self.source_pieces, self.target_pieces)
        source, target = (
            _joined_groups(pieces, joiner) if joiner and any(piece.endswith(joiner) for piece in pieces) else groups
            for pieces, groups in zip(sides, super().word_groups(), strict=True)
        )
        return source, target

    @cached_property
    def _words(self) -> Words:
        words, joiner = super()._words, self.form["joiner"]
        if not joiner:
            return words
        source, target = (
            tuple(name.replace(f"{joiner} ", "") for name in names) for names in (words.source, words.target)
        )
        return dataclasses.replace(words, source=source, target=target)


def _joined_groups(pieces: tuple[str, ...], joiner: str) -> Groups:
    groups: list[list[int]] = []
    for i, piece in enumerate(pieces):
        if groups and pieces[i - 1].endswith(joiner) and piece not in SPECIAL_PIECES:
            groups[-1].append(i)
        else:
            groups.append([i])
    return tuple(map(tuple, groups))
