"""Configs of the networks, stored as `config.json` beside the weights.

`ModelConfig` is for RNNsearch, `TransformerConfig` for transformers, `DecomposableConfig` for decomposable attention,
`Seq2SeqConfig` for imported recurrent translators.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

from attnviz import bounds
from attnviz.attention_kinds import check_known, kind_of
from attnviz.imported_families import CHOICES


@dataclass(frozen=True)
class _Config:
    """Base of the configs of all architectures."""

    architecture: ClassVar[str]

    def to_dict(self) -> dict[str, Any]:
        """Return the known fields as a dictionary for JSON, with the architecture unless that is RNNsearch."""
        named = {} if self.architecture == "rnnsearch" else {"architecture": self.architecture}
        return named | {name: value for name, value in dataclasses.asdict(self).items() if value is not None}


@dataclass(frozen=True)
class Seq2SeqConfig(_Config):
    """Sizes and choices of an imported recurrent translator, with one vocabulary per side."""

    architecture = "seq2seq"
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
    as they are, or multiplied by a matrix. "rectified" is max(0, W s + b) of the last states of all layers, s: one
    vector of L m numbers, or, with two directions, each half of the 2 L m numbers. An LSTM then takes its cell states
    from those of the encoder.
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
        bounds.check_whole("directions", self.directions, 1, 2)
        bounds.check_whole("source_length", self.source_length, 0, bounds.LONGEST_PADDING)
        for name, choices in CHOICES.items():
            bounds.check_one_of(name, getattr(self, name), choices)
        for field in dataclasses.fields(self):
            if field.type == "bool" and not isinstance(value := getattr(self, field.name), bool):
                raise ValueError(f"{field.name} must be true or false, not {bounds.shortened_repr(value)}")
        if self.first_state == "last" and self.encoder_size != self.hidden_size:
            raise ValueError("the last state of an encoder of another size cannot begin a decoder")
        if self.first_state in ("layers", "rectified") and self.annotation_size != self.hidden_size:
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
        return self.first_state in ("layers", "projected", "rectified")

    @property
    def bridge_shape(self) -> tuple[int, int]:
        """Rows and columns of the matrix of the first state; (0, 0) where it has none."""
        if self.first_state == "rectified":
            return (self.layers * self.encoder_size,) * 2
        return (self.hidden_size, self.annotation_size) if self.first_state in ("bridge", "projected") else (0, 0)

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
    def readout_size(self) -> int:
        """r, the size of the readout."""
        joined = self.hidden_size + self.annotation_size + self.embedding_size
        return joined if self.readout == "joined" else self.hidden_size


READOUT_STATES = ("previous", "current")


@dataclass(frozen=True)
class ModelConfig(_Config):
    """Sizes of an RNNsearch network, in the symbols of Bahdanau, Cho & Bengio (2014)."""

    architecture = "rnnsearch"
    vocabulary_size: int
    """K, shared by source and target."""
    embedding_size: int = 256
    """m, the embedding size."""
    hidden_size: int = 512
    """n, the size of the decoder, and of each encoder direction except in *dot* attention (`encoder_size`)."""
    alignment_size: int = 512
    """n', the number of units of the additive energy."""
    maxout_size: int = 256
    """l, the maxout size."""
    attention: str = "additive"
    """One of `attention_kinds.BUILT_IN_KINDS`, or a user's own kind, package.module:Class.

    With "none", every context is the last forward annotation.
    """
    readout_state: str = "previous"
    """State that the readout uses: "previous", s_{i-1}, as in the paper's appendix, or "current", s_i, as in Eq. 4."""
    dropout: float = 0.0
    """Dropout probability, in [0, 1), in training, of embeddings, annotations and readouts."""
    guidance: float | None = None
    """Weight of the guided-attention loss in training; 0 without guidance, None where unknown."""

    def __post_init__(self) -> None:
        """Raise ValueError, naming the field, unless every field is in range.

        Raise AttnvizError for a user's own kind of attention that is not registered.
        """
        bounds.check_model(dataclasses.asdict(self))
        check_known(self.attention)
        if kind_of(self.attention).halves and self.hidden_size % 2:
            raise ValueError(
                f"hidden_size must be even for the attention {self.attention}, because each direction of the "
                f"encoder gets half of it, not {self.hidden_size}"
            )
        bounds.check_one_of("readout_state", self.readout_state, READOUT_STATES)
        bounds.check_real("guidance", self.guidance or 0.0, 0, bounds.LARGEST_GUIDANCE)

    @property
    def encoder_size(self) -> int:
        """Size of each encoder direction; an annotation has twice as many numbers."""
        return self.hidden_size // 2 if kind_of(self.attention).halves else self.hidden_size


@dataclass(frozen=True)
class TransformerConfig(_Config):
    """Sizes of a transformer, in the symbols of Vaswani et al. (2017)."""

    architecture = "transformer"
    vocabulary_size: int
    """K, shared by source and target."""
    model_size: int = 256
    """d, the size of the residual stream and of the embeddings."""
    heads: int = 4
    """H, the number of heads, which divides d."""
    layers: int = 3
    """L, the number of encoder layers and of decoder layers."""
    feedforward_size: int = 1024
    """f, the number of hidden units of a feed-forward block."""
    dropout: float = 0.0
    """Dropout probability, in [0, 1), in training, of embeddings, readouts and the output of every block."""

    def __post_init__(self) -> None:
        """Raise ValueError, naming the field, unless every field is in range."""
        bounds.check_model(dataclasses.asdict(self))
        if self.model_size % self.heads:
            raise ValueError(
                f"model_size must be a multiple of the number of heads, {self.heads}, not {self.model_size}"
            )
        if self.model_size % 2:
            raise ValueError(
                f"model_size must be even, because positions are pairs of sine and cosine, not {self.model_size}"
            )


@dataclass(frozen=True)
class DecomposableConfig(_Config):
    """Sizes of decomposable attention (Parikh et al. 2016), which detects translations."""

    architecture = "decomposable"
    vocabulary_size: int
    """K, shared by source and target."""
    embedding_size: int = 256
    """m, the embedding size."""
    model_size: int = 256
    """d, the size of the projected embeddings and of every layer of the networks F, G and H."""
    dropout: float = 0.0
    """Dropout probability, in [0, 1), in training, of the inputs of every layer of F, G and H."""

    def __post_init__(self) -> None:
        """Raise ValueError, naming the field, unless every field is in range."""
        bounds.check_model(dataclasses.asdict(self))


TrainableConfig = ModelConfig | TransformerConfig | DecomposableConfig
"""Configs of networks that this program trains."""
AnyConfig = TrainableConfig | Seq2SeqConfig
"""Configs of every architecture."""
CONFIGS: dict[str, type[AnyConfig]] = {
    kind.architecture: kind for kind in (ModelConfig, TransformerConfig, Seq2SeqConfig, DecomposableConfig)
}
"""The class of the config of each architecture."""


def read_fields(fields: dict[str, Any]) -> AnyConfig:
    """Return the config of the architecture that `fields` name, RNNsearch where they name none.

    Raise ValueError where the architecture or a field is unknown, missing or invalid.
    """
    architecture = fields.get("architecture", "rnnsearch")
    bounds.check_one_of("architecture", architecture, tuple(CONFIGS))
    kind = CONFIGS[architecture]
    settings = {name: value for name, value in fields.items() if name != "architecture"}
    needed = {field.name: field.default is dataclasses.MISSING for field in dataclasses.fields(kind)}
    if unknown := sorted(settings.keys() - needed):
        raise ValueError(f"unknown field {', '.join(unknown)}")
    if missing := [name for name in needed if needed[name] and name not in settings]:
        raise ValueError(f"{missing[0]} is missing")
    return kind(**settings)
