"""`Recurrent`: what every record of a recurrent translator holds, whoever trained it: one look at the source a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from attnviz.trace.drawing import drawing
from attnviz.trace.parts import FloatArray
from attnviz.trace.record import Record


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Recurrent(Record):
    """A translation by an encoder of annotations and a recurrent decoder that attends to them.

    m is the encoder's size in each direction, n the decoder's, n' that of an energy; in RNNsearch m is n.
    """

    annotations: FloatArray
    """h_j = [forward h_j ; backward h_j], (Tx, 2m)."""
    initial_state: FloatArray
    """s_0, (n,)."""
    keys: FloatArray
    """U_a h_j (additive, (Tx, n')) or P h_j (general, (Tx, n)); (Tx, 0) without attention."""
    queries: FloatArray
    """W_a s (additive, (Ty, n')) or s (general, (Ty, n)), of s_{i-1} but where a record says otherwise; (Ty, 0) without
    attention."""
    score_vector: FloatArray
    """v_a, which weighs the units of an additive energy, (n',); (0,) for general and no attention, which have none,
    and where it is unknown."""
    energies: FloatArray
    """e_ij, (Ty, Tx). Without attention: 0 for the last source piece and -inf for every other."""
    alignment: FloatArray
    """alpha_ij = softmax_j e_ij, (Ty, Tx), rows sum to 1."""
    contexts: FloatArray
    """c_i = sum_j alpha_ij h_j, (Ty, 2m); without attention the forward half of h_Tx, (Ty, n)."""
    readouts: FloatArray
    """t_i, what the words of a step are scored with, a vector each."""

    if TYPE_CHECKING:
        # A field where it is kept; a property here would pass for a field's default.
        @property
        def states(self) -> FloatArray:
            """s_i, (Ty, n), of the last layer."""

        @property
        def kept_shares(self) -> FloatArray:
            """How much each unit keeps of the old state, or an LSTM of its memory, (Ty, n), in (0, 1)."""

    @property
    def previous_states(self) -> FloatArray:
        """s_{i-1} of each step, (Ty, n)."""
        return np.concatenate([self.initial_state[None], self.states[:-1]])

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
