"""`Seq2SeqConfig`: settings of an imported recurrent translator, stored as `config.json`."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

from attnviz import bounds

FAMILIES = ("tutorial", "joey", "pytorch")
CELLS = ("gru", "lstm")
SCORE_VECTORS = {"additive": True, "general": False}
"""Whether each kind of attention has a vector v that weighs the units of an energy."""
FIRST_STATES = ("bridge", "last", "zero")


@dataclass(frozen=True)
class Seq2SeqConfig:
    """Sizes and choices of an imported recurrent translator, with one vocabulary per side."""

    family: str
    """"tutorial" (bentrevett/pytorch-seq2seq), "joey" (Joey NMT) or "pytorch" (the tutorial on pytorch.org since 2023).

    "tutorial" has the query s_{i-1} and the linear readout [s_i ; c_i ; E y_{i-1}], "joey" the query s_i and the
    readout tanh(W [s_i ; c_i] + b). "pytorch" has the query s_{i-1} and the readout s_i; its encoder reads forwards.
    """
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
    attention: str = "additive"
    """"additive", or "general": s_i . W_k h_j (Luong et al. 2015)."""
    first_state: str = "bridge"
    """s_0: "bridge", tanh(W [forward h_Tx ; backward h_1] + b), "last", forward h_Tx, or "zero"."""
    input_feeding: bool = False
    """Whether the decoder also reads the previous step's readout."""
    source_scaled: bool = False
    """Whether source embeddings are multiplied by the square root of their size."""
    target_scaled: bool = False

    def __post_init__(self) -> None:
        """Raise ValueError, naming the field, unless every field is in range and the fields are consistent."""
        bounds.check_model(dataclasses.asdict(self))
        for name, choices in (
            ("family", FAMILIES),
            ("cell", CELLS),
            ("encoder_cell", CELLS),
            ("attention", tuple(SCORE_VECTORS)),
            ("first_state", FIRST_STATES),
        ):
            bounds.one_of(name, getattr(self, name), choices)
        for name in ("input_feeding", "source_scaled", "target_scaled"):
            if not isinstance(getattr(self, name), bool):
                raise ValueError(f"{name} must be true or false, not {bounds.shown(getattr(self, name))}")
        if self.first_state == "last" and self.encoder_size != self.hidden_size:
            raise ValueError("the last state of an encoder of another size cannot begin a decoder")
        if not self.has_score_vector and self.alignment_size != self.hidden_size:
            raise ValueError(f"alignment_size must be {self.hidden_size} for a dot product, not {self.alignment_size}")
        if any(getattr(self, name) != one for name, one in _FIXED.get(self.family, {}).items()):
            raise ValueError("the tutorial's translator has one layer of GRU on each side and additive attention")

    @property
    def queries_previous_state(self) -> bool:
        """Whether the query is s_{i-1}; otherwise it is s_i."""
        return self.family != "joey"

    @property
    def directions(self) -> int:
        """Number of directions in which the encoder reads, 1 or 2."""
        return 1 if self.family == "pytorch" else 2

    @property
    def annotation_size(self) -> int:
        """Size of an annotation: m for each direction."""
        return self.directions * self.encoder_size

    @property
    def has_score_vector(self) -> bool:
        """Whether an energy is v . tanh(W_a s + U_a h_j); otherwise it is s . U_a h_j."""
        return SCORE_VECTORS[self.attention]

    @property
    def linear(self) -> bool:
        """Whether the readout is [s_i ; c_i ; E y_{i-1}], so that a logit splits into contributions."""
        return self.family == "tutorial"

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
        return joined if self.linear else self.hidden_size

    def to_dict(self) -> dict[str, Any]:
        """Return the fields and the architecture as a dictionary for JSON."""
        return {"architecture": "seq2seq"} | dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, fields: dict[str, Any]) -> Seq2SeqConfig:
        """Return the config with these fields; raise ValueError for unknown, missing or invalid ones."""
        settings = {name: value for name, value in fields.items() if name != "architecture"}
        known = {field.name: field.default is dataclasses.MISSING for field in dataclasses.fields(cls)}
        if unknown := sorted(set(settings) - set(known)):
            raise ValueError(f"unknown field {', '.join(unknown)}")
        if missing := [name for name, needed in known.items() if needed and name not in settings]:
            raise ValueError(f"{missing[0]} is missing")
        return cls(**settings)


_TUTORIALS: dict[str, Any] = {
    "cell": "gru",
    "encoder_cell": "gru",
    "encoder_layers": 1,
    "layers": 1,
    "attention": "additive",
    "input_feeding": False,
    "source_scaled": False,
    "target_scaled": False,
}
_FIXED = {"tutorial": _TUTORIALS | {"first_state": "bridge"}, "pytorch": _TUTORIALS | {"first_state": "last"}}
"""The fields that the translators of the two tutorials fix."""
