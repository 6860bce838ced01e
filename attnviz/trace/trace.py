"""`Trace`: everything computed while RNNsearch translated a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from attnviz.attention_kinds import ATTENTION_KINDS, renamed
from attnviz.trace import storage
from attnviz.trace.parts import FloatArray
from attnviz.trace.quantities import DERIVED, RECORDED, sizes
from attnviz.trace.quantity import Quantity
from attnviz.trace.recurrent import Recurrent

_CHOICES = {"attention": ATTENTION_KINDS, "readout_state": ("previous", "current")}


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Trace(Recurrent):
    """Everything computed while one sentence was translated by RNNsearch (Bahdanau, Cho & Bengio 2014).

    n is the hidden size, n' the alignment size, l the maxout size. The config is a `ModelConfig`.
    """

    saved_as: ClassVar[storage.Format] = storage.Format(
        "attnviz-trace",
        4,
        {2: {"score_vector": np.zeros(0, np.float32), "weights_digest": ""}, 3: {"interventions": []}},
        {4: lambda record: record | {"config": renamed(record["config"])}},
    )
    arrays: ClassVar[tuple[Quantity, ...]] = RECORDED
    derived: ClassVar[tuple[Quantity, ...]] = DERIVED

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
        for name, known in _CHOICES.items():
            if self.config[name] not in known:
                raise ValueError(f"its model has an unknown {name}")
