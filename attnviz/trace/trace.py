"""`Trace`: all that was computed while RNNsearch translated a sentence, and ways to look at it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from attnviz.trace import storage
from attnviz.trace.drawing import drawing
from attnviz.trace.parts import FloatArray
from attnviz.trace.quantities import RECORDED, sizes
from attnviz.trace.quantity import Quantity
from attnviz.trace.record import Record

_CHOICES = {"attention": ("additive", "dot", "none"), "readout_state": ("previous", "current")}


@dataclass(frozen=True, eq=False, kw_only=True)
class Trace(Record):
    """Everything computed while one sentence was translated by RNNsearch (Bahdanau, Cho & Bengio 2014).

    n is the hidden size, n' the alignment size, l the maxout size; shapes and equations of the arrays stand in the
    table of `trace.quantities`. The config is a `ModelConfig`.
    """

    saved_as: ClassVar[storage.Format] = storage.Format(
        "attnviz-trace", 3,
        {2: {"score_vector": np.zeros(0, np.float32), "weights_digest": ""}, 3: {"interventions": []}},
    )  # fmt: skip
    arrays: ClassVar[tuple[Quantity, ...]] = RECORDED

    annotations: FloatArray
    """h_j = [forward h_j ; backward h_j], (Tx, 2n)."""
    initial_state: FloatArray
    """s_0, (n,)."""
    keys: FloatArray
    """U_a h_j (additive, (Tx, n')) or P h_j (dot, (Tx, n)); (Tx, 0) without attention."""
    queries: FloatArray
    """W_a s_{i-1} (additive, (Ty, n')) or s_{i-1} (dot, (Ty, n)); (Ty, 0) without attention."""
    score_vector: FloatArray
    """v_a, which weighs the units of an additive energy, (n',); (0,) for dot-product and no attention, which have none,
    and where it is unknown."""
    energies: FloatArray
    """e_ij, (Ty, Tx). Without attention: 0 for the last source piece and -inf for every other."""
    alignment: FloatArray
    """alpha_ij = softmax_j e_ij, (Ty, Tx), rows sum to 1."""
    contexts: FloatArray
    """c_i = sum_j alpha_ij h_j, (Ty, 2n); without attention the forward half of h_Tx, (Ty, n)."""
    states: FloatArray
    """s_i, (Ty, n)."""
    update_gates: FloatArray
    """z_i, (Ty, n), in (0, 1); torch's convention: s_i = (1 - z_i) * candidate + z_i * s_{i-1}."""
    reset_gates: FloatArray
    """r_i, (Ty, n), in (0, 1)."""
    candidates: FloatArray
    """The candidate states, (Ty, n), in (-1, 1)."""
    readouts: FloatArray
    """t_i after the maxout, (Ty, l)."""

    @property
    def attends(self) -> bool:
        """Whether the model chose where to look at each step; False where all contexts are one (`attention="none"`)."""
        return bool(self.config["attention"] != "none")

    @property
    def attends_once(self) -> bool:
        """Whether it has attention: then it has one."""
        return self.attends

    @property
    def previous_states(self) -> FloatArray:
        """s_{i-1} of each step, the state the attention queries with, (Ty, n)."""
        return np.concatenate([self.initial_state[None], self.states[:-1]])

    def sizes(self) -> dict[str, int]:
        """Return the numbers that the symbols of the table's shapes stand for.

        Raise IndexError or KeyError where an array lacks a dimension or the config its vocabulary.
        """
        return sizes(self)

    def check_numbers(self) -> None:
        """Raise ValueError unless rows of the alignment are shares and the model is of a known kind."""
        if not np.allclose(self.alignment.sum(axis=1), 1, atol=1e-3) or self.alignment.min() < 0:
            raise ValueError("a row of the alignment does not sum to 1")
        for name, known in _CHOICES.items():
            if self.config[name] not in known:
                raise ValueError(f"its model has an unknown {name}")

    def heatmap(self, **choices: Any) -> Any:
        """Return the alignment as a Plotly figure, which a notebook shows; choices as those of `figures.heatmap`."""
        return drawing().heatmap(self, **choices)

    def step_figure(self, i: int, picture: str = "attention", **choices: Any) -> Any:
        """Return a picture of step index `i` (0-based), named as in `figures.STEP_FIGURES`: with
        `weights=analysis.load_weights(folder)`, those of the model that made the trace, also one that needs them.

        Raise IndexError where there is no such step and AttnvizError where there is no such picture.
        """
        return drawing().step_figure(self, range(len(self.target_pieces))[i], picture, **choices)

    def _repr_html_(self) -> str:
        """Return the heatmap as a bare table: what a notebook shows of a trace."""
        return drawing().table_html(self)
