"""`Seq2SeqConfig`: settings of an imported recurrent translator, stored as `config.json`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from attnviz import bounds
from attnviz.imported_families import CHOICES, LINEAR_READOUTS, completed


@dataclass(frozen=True)
class Seq2SeqConfig:
    """Sizes and choices of an imported recurrent translator, with one vocabulary per side."""

    family: str
    """The program that trained the translator, a key of `FAMILIES`."""
    vocabulary_size: int
    """K, the size of the target vocabulary."""
    source_vocabulary_size: int
    embedding_size: int
    """Embedding size of the target."""
    source_embedding_size: int
    encoder_size: int
    """m, the size of each encoder direction."""
    hidden_size: int
    """n, the size of each decoder layer."""
    alignment_size: int
    """n', the number of units of an energy; n where energies are dot products."""
    cell: str = "gru"
    """"gru" or "lstm", with torch's equations."""
    encoder_cell: str = "gru"
    encoder_layers: int = 1
    layers: int = 1
    """Number of decoder layers."""
    directions: int = 2
    """Number of directions in which the encoder reads, 1 (forwards) or 2."""
    attention: str = "additive"
    """"additive", "general": q . W_k h_j, "dot": q . h_j, or "location": q . w_j (Luong et al. 2015)."""
    query: str = "previous"
    """What the attention reads: "previous", s_{i-1}, "new", s_i, or "joined", [E y_{i-1} ; s_{i-1} ; 1].

    With "new", the decoder RNN reads E y_{i-1}, and t_{i-1} where `input_feeding`. With the others, it reads
    [E y_{i-1} ; c_i], or, where `combined`, max(0, W_x [E y_{i-1} ; c_i] + b_x).
    """
    combined: bool = False
    first_state: str = "bridge"
    """s_0: "bridge", tanh(W [forward h_Tx ; backward h_1] + b), "last", forward h_Tx, or "zero", in every layer.

    "layers" and "projected" start each layer with the last states of the same layer of the encoder, in both directions:
    as they are, or multiplied by a matrix. An LSTM then takes its cell states from those of the encoder.
    """
    readout: str = "joined"
    """t_i: "joined", [s_i ; c_i ; E y_{i-1}], "affine", W_t [s_i ; c_i] + b_t, "tanh", its tanh, or "state", s_i."""
    input_feeding: bool = False
    """Whether the decoder also reads the previous step's readout."""
    source_scaled: bool = False
    """Whether source embeddings are multiplied by the square root of their size."""
    target_scaled: bool = False
    key_bias: bool = True
    """Whether the program has a bias b_a in the energies; otherwise the bias here is zero."""
    readout_bias: bool = False
    """Whether the program has the bias b_t; otherwise the bias here is zero."""
    output_bias: bool = True
    """Whether the program has the bias b_o; otherwise the bias here is zero."""
    source_length: int = 0
    """Number of pieces up to which the encoder reads padding after a shorter sentence, before its last states.

    0 where it reads none.
    """
    attends_padding: bool = False
    """Whether every sentence is filled with padding up to `source_length`, which attention reaches.

    The encoder then reads none of it, and its annotations are 0.
    """

    def __post_init__(self) -> None:
        """Raise ValueError, naming the field, unless every field is in range and the fields are consistent."""
        bounds.check_model(dataclasses.asdict(self))
        bounds.whole("directions", self.directions, 1, 2)
        bounds.whole("source_length", self.source_length, 0, bounds.LONGEST_PADDING)
        for name, choices in CHOICES.items():
            bounds.one_of(name, getattr(self, name), choices)
        for field in dataclasses.fields(self):
            if field.type == "bool" and not isinstance(value := getattr(self, field.name), bool):
                raise ValueError(f"{field.name} must be true or false, not {bounds.shown(value)}")
        if self.first_state == "last" and self.encoder_size != self.hidden_size:
            raise ValueError("the last state of an encoder of another size cannot begin a decoder")
        if self.first_state == "layers" and self.annotation_size != self.hidden_size:
            raise ValueError("the last states of an encoder of another size cannot begin a decoder")
        if self.takes_layers and (self.encoder_layers, self.encoder_cell) != (self.layers, self.cell):
            raise ValueError("the last states of an encoder of other layers cannot begin a decoder")
        if self.attends_places != (self.query == "joined" and self.attends_padding):
            raise ValueError("location attention needs the query of word and state, and a number of positions")
        if not self.has_score_vector and self.alignment_size != self.query_size:
            raise ValueError(f"alignment_size must be {self.query_size} for a dot product, not {self.alignment_size}")
        if self.combined and not self.queries_previous_state:
            raise ValueError("a combined input needs a query of the previous state")
        if self.attention == "dot" and self.annotation_size != self.hidden_size:
            raise ValueError(f"the size of an annotation must be {self.hidden_size} for a dot product without a matrix")
        if self.input_feeding and (self.queries_previous_state or self.readout not in ("affine", "tanh")):
            raise ValueError("input feeding needs a query of the new state and a readout of the state's size")

    @property
    def attends_places(self) -> bool:
        """Whether the energies depend on the position of an annotation instead of its values."""
        return self.attention == "location"

    @property
    def queries_previous_state(self) -> bool:
        """Whether the query is computed from s_{i-1}; otherwise from s_i."""
        return self.query != "new"

    @property
    def query_size(self) -> int:
        """Size of a query before it is multiplied by a matrix."""
        return self.hidden_size + (self.embedding_size + 1) * (self.query == "joined")

    @property
    def takes_layers(self) -> bool:
        """Whether each decoder layer begins with the last states of the same encoder layer."""
        return self.first_state in ("layers", "projected")

    @property
    def annotation_size(self) -> int:
        """Size of an annotation: m for each direction."""
        return self.directions * self.encoder_size

    @property
    def input_size(self) -> int:
        """Size of the decoder RNN's input."""
        if self.combined:
            return self.hidden_size
        more = self.annotation_size if self.queries_previous_state else self.hidden_size * self.input_feeding
        return self.embedding_size + more

    @property
    def has_score_vector(self) -> bool:
        """Whether an energy is v . tanh(W_a s + U_a h_j); otherwise it is a dot product."""
        return self.attention == "additive"

    @property
    def has_keys(self) -> bool:
        """Whether a matrix makes the keys from the annotations; otherwise the annotations are the keys."""
        return self.attention in ("additive", "general")

    @property
    def has_readout(self) -> bool:
        """Whether a matrix W_t makes the readout."""
        return self.readout in ("affine", "tanh")

    @property
    def linear(self) -> bool:
        """Whether the readout is linear in s_i, c_i and E y_{i-1}, so that a logit splits into contributions."""
        return self.readout in LINEAR_READOUTS

    @property
    def gates(self) -> int:
        """Number of blocks of n units that a cell computes.

        A GRU has reset, update and candidate; an LSTM input, forget, candidate and output.
        """
        return 3 if self.cell == "gru" else 4

    @property
    def readout_size(self) -> int:
        """r, the size of the readout."""
        joined = self.hidden_size + self.annotation_size + self.embedding_size
        return joined if self.readout == "joined" else self.hidden_size

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the architecture as a dictionary for JSON."""
        return {"architecture": "seq2seq"} | dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Seq2SeqConfig:
        """Return the config with these fields; raise ValueError for unknown, missing or invalid ones."""
        settings = {name: value for name, value in completed(fields).items() if name != "architecture"}
        known = {field.name: field.default is dataclasses.MISSING for field in dataclasses.fields(cls)}
        if unknown := sorted(set(settings) - set(known)):
            raise ValueError(f"unknown field {', '.join(unknown)}")
        if missing := [name for name, needed in known.items() if needed and name not in settings]:
            raise ValueError(f"{missing[0]} is missing")
        return cls(**settings)
