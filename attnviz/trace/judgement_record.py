"""`Judgement`: everything computed while a detector judged one sentence pair, and the table of its quantities.

Sizes: Tx source and Ty target pieces, `</s>` included; m units of an embedding, d of every later layer; two classes,
"no translation" and "translation".
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from attnviz import bounds
from attnviz.trace import storage
from attnviz.trace.parts import FloatArray
from attnviz.trace.quantity import Quantity
from attnviz.trace.saved import Computation

JUDGEMENT_ARRAYS = (
    Quantity("source_embeddings", "E x_i", ("Tx", "m"), "E x_i", "embeddings of the source pieces"),
    Quantity("target_embeddings", "E y_j", ("Ty", "m"), "E y_j", "embeddings of the target pieces"),
    Quantity(
        "source_projected", "a_i", ("Tx", "d"), "a_i = P_a E x_i", "source embeddings, projected to the model size"
    ),
    Quantity(
        "target_projected", "b_j", ("Ty", "d"), "b_j = P_b E y_j", "target embeddings, projected to the model size"
    ),
    Quantity(
        "source_features",
        "F(a_i)",
        ("Tx", "d"),
        r"F(a_i), \quad F(x) = \max(0, W_2 \max(0, W_1 x + c_1) + c_2)",
        "features of a source piece for the energies",
    ),
    Quantity("target_features", "F(b_j)", ("Ty", "d"), "F(b_j)", "features of a target piece for the energies"),
    Quantity(
        "energies",
        "e_{ij}",
        ("Tx", "Ty"),
        r"e_{ij} = F(a_i) \cdot F(b_j)",
        "energy: how well a source and a target piece fit",
    ),
    Quantity(
        "source_alignment",
        r"\alpha_{ij}",
        ("Tx", "Ty"),
        r"\exp(e_{ij}) / \sum_k \exp(e_{ik})",
        "attention of each source piece to the target; rows sum to 1",
    ),
    Quantity(
        "target_alignment",
        r"\alpha'_{ji}",
        ("Ty", "Tx"),
        r"\exp(e_{ij}) / \sum_k \exp(e_{kj})",
        "attention of each target piece to the source; rows sum to 1",
    ),
    Quantity(
        "source_aligned",
        r"\beta_i",
        ("Tx", "d"),
        r"\beta_i = \sum_j \alpha_{ij} b_j",
        "weighted sum of the target for a source piece",
    ),
    Quantity(
        "target_aligned",
        r"\alpha_j",
        ("Ty", "d"),
        r"\alpha_j = \sum_i \alpha'_{ji} a_i",
        "weighted sum of the source for a target piece",
    ),
    Quantity(
        "source_comparisons",
        "v_{1,i}",
        ("Tx", "d"),
        r"v_{1,i} = G([a_i ; \beta_i])",
        "comparison of a source piece with its weighted sum",
    ),
    Quantity(
        "target_comparisons",
        "v_{2,j}",
        ("Ty", "d"),
        r"v_{2,j} = G([b_j ; \alpha_j])",
        "comparison of a target piece with its weighted sum",
    ),
    Quantity("source_sum", "v_1", ("d",), r"v_1 = \sum_i v_{1,i}", "sum of the comparisons of the source"),
    Quantity("target_sum", "v_2", ("d",), r"v_2 = \sum_j v_{2,j}", "sum of the comparisons of the target"),
    Quantity("hidden", "h", ("d",), r"h = \max(0, W_H [v_1 ; v_2] + c_H)", "hidden layer of the classifier"),
    Quantity("logits", "o", ("classes",), r"o = W_o h + c_o", "logits of “no translation” and “translation”"),
    Quantity(
        "probabilities",
        "p",
        ("classes",),
        r"p = \operatorname{softmax}(o)",
        "probabilities of both classes; they sum to 1",
    ),
)
"""The quantities that a judgement stores as arrays."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Judgement(Computation):
    """Everything computed while one sentence pair was judged by decomposable attention (Parikh et al. 2016).

    Tx and Ty count source and target pieces, `</s>` included; m is the size of embeddings, d of every later layer. The
    model ignores word order: only the order of the rows depends on it. The config is a `DecomposableConfig`.
    """

    saved_as: ClassVar[storage.FileFormat] = storage.FileFormat("attnviz-judgement", 1)
    architectures: ClassVar[tuple[str, ...]] = ("decomposable",)
    arrays: ClassVar[tuple[Quantity, ...]] = JUDGEMENT_ARRAYS

    source_text: str
    """The first sentence as typed."""
    target_text: str
    """The second sentence as typed."""
    source_pieces: tuple[str, ...]
    target_pieces: tuple[str, ...]
    source_ids: tuple[int, ...]
    target_ids: tuple[int, ...]
    source_surfaces: tuple[str, ...]
    """The source pieces, with the typed characters in place of each `<unk>`."""
    target_surfaces: tuple[str, ...]

    source_embeddings: FloatArray
    """Embeddings E x_i, (Tx, m)."""
    target_embeddings: FloatArray
    """Embeddings E y_j, (Ty, m)."""
    source_projected: FloatArray
    """Projected embeddings a_i, (Tx, d)."""
    target_projected: FloatArray
    """Projected embeddings b_j, (Ty, d)."""
    source_features: FloatArray
    """Features F(a_i), (Tx, d)."""
    target_features: FloatArray
    """Features F(b_j), (Ty, d)."""
    energies: FloatArray
    """Energies e_ij = F(a_i) . F(b_j), (Tx, Ty)."""
    source_alignment: FloatArray
    """Softmax of e_ij over j, (Tx, Ty); rows sum to 1."""
    target_alignment: FloatArray
    """Softmax of e_ij over i, (Ty, Tx); rows sum to 1."""
    source_aligned: FloatArray
    """Weighted sums of the target beta_i, (Tx, d)."""
    target_aligned: FloatArray
    """Weighted sums of the source alpha_j, (Ty, d)."""
    source_comparisons: FloatArray
    """Comparisons v_1,i = G([a_i ; beta_i]), (Tx, d)."""
    target_comparisons: FloatArray
    """Comparisons v_2,j = G([b_j ; alpha_j]), (Ty, d)."""
    source_sum: FloatArray
    """Sum v_1 of the source comparisons, (d,)."""
    target_sum: FloatArray
    """Sum v_2 of the target comparisons, (d,)."""
    hidden: FloatArray
    """Hidden layer h before the output, (d,)."""
    logits: FloatArray
    """Logits of "no translation" and "translation", (2,)."""
    probabilities: FloatArray
    """Probabilities of "no translation" and "translation", (2,)."""

    @property
    def probability(self) -> float:
        """Probability, in [0, 1], that the second sentence translates the first."""
        return float(self.probabilities[1])

    @property
    def is_translation(self) -> bool:
        """Whether that probability is above 0.5."""
        return self.probability > 0.5

    def sizes(self) -> dict[str, int]:
        """Return the value of each size symbol in the table of quantities.

        Raise KeyError where the config lacks a size, ValueError where one is out of bounds.
        """
        bounds.check_model(self.config)
        return {
            "Tx": len(self.source_pieces),
            "Ty": len(self.target_pieces),
            "classes": 2,
            "m": int(self.config["embedding_size"]),
            "d": int(self.config["model_size"]),
        }

    def check_texts(self) -> None:
        """Raise ValueError or KeyError unless pieces and ids fit one another and the config."""
        for pieces, surfaces, ids in (
            (self.source_pieces, self.source_surfaces, self.source_ids),
            (self.target_pieces, self.target_surfaces, self.target_ids),
        ):
            if not len(pieces) == len(surfaces) == len(ids):
                raise ValueError("the ids do not fit the pieces")
            storage.check_characters(pieces, surfaces)
        storage.check_ids((*self.source_ids, *self.target_ids), int(self.config["vocabulary_size"]))

    def check_numbers(self) -> None:
        """Raise ValueError unless the rows of both alignments, and the probabilities, sum to 1."""
        self._check_shares("source_alignment", "target_alignment", "probabilities")
