"""`Trace`: everything computed while RNNsearch translated a sentence."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from attnviz import bounds
from attnviz.attention_kinds import check_known, renamed
from attnviz.trace import storage
from attnviz.trace.parts import FloatArray
from attnviz.trace.quantities import DERIVED, RECORDED, sizes
from attnviz.trace.quantity import Quantity
from attnviz.trace.record import Recurrent

_NONE = np.zeros(0, np.float32)
"""Placeholder for an array that older files lack."""


def _without_features(record: dict[str, Any]) -> dict[str, Any]:
    """Return the `record` of an older file with empty features added."""
    shape = len(record["target_pieces"]), len(record["source_pieces"]), 0
    weight = np.zeros((record["keys"]["shape"][1], 0), np.float32)
    return record | {"features": np.zeros(shape, np.float32), "feature_weight": weight}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Trace(Recurrent):
    """Everything computed while one sentence was translated by RNNsearch (Bahdanau, Cho & Bengio 2014).

    Tx and Ty count source and target pieces; n is the hidden size, m the size of each encoder direction, n' the
    alignment size, l the maxout size, r the number of features, c the length of a context vector, 2m or without
    attention m, k the number of candidates stored of each step and K the vocabulary's size. The config is a
    `ModelConfig`.
    """

    saved_as: ClassVar[storage.Format] = storage.Format(
        "attnviz-trace",
        5,
        {2: {"score_vector": _NONE, "weights_digest": ""}, 3: {"interventions": []}},
        {4: lambda record: record | {"config": renamed(record["config"])}, 5: _without_features},
    )
    arrays: ClassVar[tuple[Quantity, ...]] = RECORDED
    derived: ClassVar[tuple[Quantity, ...]] = DERIVED

    features: FloatArray = field(default_factory=_NONE.copy)
    """Features f_ij of the previous step's weights, (Ty, Tx, r); r is 0 except in location-aware attention."""
    feature_weight: FloatArray = field(default_factory=_NONE.copy)
    """Feature matrix L, (n', r), whose product with the features is added to the keys."""
    states: FloatArray
    """Decoder states s_i, (Ty, n)."""
    update_gates: FloatArray
    """Update gates z_i, (Ty, n), in (0, 1); torch's convention: s_i = (1 - z_i) * candidate + z_i * s_{i-1}."""
    reset_gates: FloatArray
    """Reset gates r_i, (Ty, n), in (0, 1)."""
    candidates: FloatArray
    """Candidate states, (Ty, n), in (-1, 1)."""

    @property
    def attends(self) -> bool:
        """Whether the model has attention; False for `attention="none"`, where every step has the same context."""
        return bool(self.config["attention"] != "none")

    @property
    def attends_once(self) -> bool:
        """Whether the model has attention: RNNsearch then has one distribution a step."""
        return self.attends

    @property
    def previous_alignment(self) -> FloatArray:
        """Attention alpha_{i-1} of the step before each step, 0 before the first, (Ty, Tx)."""
        return np.concatenate([np.zeros_like(self.alignment[:1]), self.alignment[:-1]])

    def features_at(self, step: int) -> FloatArray:
        """Return the features f_ij of 0-based `step`, (Tx, r); r is 0 except in location-aware attention."""
        return self.features[step] if self.features.size else super().features_at(step)

    def keys_at(self, step: int) -> FloatArray:
        """Return the keys plus L f_ij, from which the energies of 0-based `step` are computed, (Tx, n')."""
        return self.keys + self.features[step] @ self.feature_weight.T if self.features.size else self.keys

    @property
    def kept_shares(self) -> FloatArray:
        """Update gates z_i, (Ty, n)."""
        return self.update_gates

    @property
    def reads_new_state(self) -> bool:
        """Whether logits are computed from s_i; otherwise from s_{i-1}."""
        return bool(self.config["readout_state"] == "current")

    def sizes(self) -> dict[str, int]:
        """Return the value of each size symbol in the table of quantities.

        Raise IndexError or KeyError where an array lacks a dimension or the config its vocabulary size.
        """
        return sizes(self)

    def check_numbers(self) -> None:
        """Raise ValueError unless the rows of the alignment sum to 1 and the config's choices are known."""
        if not np.allclose(self.alignment.sum(axis=1), 1, atol=1e-3) or self.alignment.min() < 0:
            raise ValueError("a row of the alignment does not sum to 1")
        check_known(self.config["attention"])
        bounds.one_of("readout_state", self.config["readout_state"], ("previous", "current"))
