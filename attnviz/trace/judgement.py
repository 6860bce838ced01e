"""`Judgement`: everything computed while a detector judged one sentence pair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attnviz import bounds
from attnviz.trace import storage
from attnviz.trace.computation import Computation
from attnviz.trace.decomposable_quantities import RECORDED
from attnviz.trace.parts import FloatArray
from attnviz.trace.quantity import Quantity


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Judgement(Computation):
    """Everything computed while one sentence pair was judged by decomposable attention (Parikh et al. 2016).

    Tx and Ty count source and target pieces, `</s>` included; m is the size of embeddings, d of every later layer. The
    model ignores word order: only the order of the rows depends on it. The config is a `DecomposableConfig`.
    """

    saved_as: ClassVar[storage.Format] = storage.Format("attnviz-judgement", 1)
    arrays: ClassVar[tuple[Quantity, ...]] = RECORDED

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
        for name in ("source_alignment", "target_alignment", "probabilities"):
            shares = getattr(self, name)
            if not np.allclose(shares.sum(axis=-1), 1, atol=1e-3) or shares.min() < 0:
                raise ValueError(f"a row of {name} does not sum to 1")
