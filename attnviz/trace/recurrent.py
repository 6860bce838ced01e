"""`Recurrent`: the base class of traces of recurrent translators, which have one attention distribution a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from attnviz.trace.drawing import drawing, step_index
from attnviz.trace.parts import FloatArray
from attnviz.trace.record import Record


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Recurrent(Record):
    """A translation by an encoder that makes annotations and a recurrent decoder that attends to them.

    m is the encoder's size in each direction, n the decoder's, n' the alignment size. In RNNsearch m is n, but n / 2
    with *dot* attention.
    """

    recurrent: ClassVar[bool] = True

    annotations: FloatArray
    """Annotations h_j = [forward h_j ; backward h_j], (Tx, 2m)."""
    initial_state: FloatArray
    """Initial decoder state s_0, (n,)."""
    keys: FloatArray
    """Keys U_a h_j (additive, (Tx, n')) or P h_j (general, (Tx, n)); (Tx, 0) without attention."""
    queries: FloatArray
    """Queries W_a s_{i-1} (additive, (Ty, n')) or s_{i-1} (general, (Ty, n)); (Ty, 0) without attention.

    Imported models of some families query with s_i: see their trace.
    """
    score_vector: FloatArray
    """Score vector v_a of additive attention, (n',); (0,) for other kinds and where it is unknown."""
    energies: FloatArray
    """Energies e_ij, (Ty, Tx); without attention 0 for the last source piece and -inf for every other."""
    alignment: FloatArray
    """Attention alpha_ij = softmax_j e_ij, (Ty, Tx); rows sum to 1."""
    contexts: FloatArray
    """Context vectors c_i = sum_j alpha_ij h_j, (Ty, 2m); without attention the forward half of h_Tx, (Ty, n)."""
    readouts: FloatArray
    """Readouts t_i, from which the logits of step i are computed."""

    if TYPE_CHECKING:
        # For type checkers only: at run time, dataclasses would take a property for a field's default.
        @property
        def states(self) -> FloatArray:
            """Decoder states s_i of the last layer, (Ty, n)."""

        @property
        def kept_shares(self) -> FloatArray:
            """Share of the old state that each unit keeps, (Ty, n), in (0, 1).

            The update gate of a GRU or the forget gate of an LSTM.
            """

    @property
    def queries_previous_state(self) -> bool:
        """Whether the query of a step is computed from the state before it, s_{i-1}, rather than from s_i."""
        return True

    @property
    def linear(self) -> bool:
        """Whether a logit is exactly the sum of contributions of state, context and previous word."""
        return True

    @property
    def reads_backwards(self) -> bool:
        """Whether the encoder also reads backwards, so that the second half of an annotation comes from this."""
        return True

    @property
    def previous_states(self) -> FloatArray:
        """Previous decoder state s_{i-1} of each step, (Ty, n)."""
        return np.concatenate([self.initial_state[None], self.states[:-1]])

    def features_at(self, step: int) -> FloatArray:  # noqa: ARG002
        """Return the features f_ij of 0-based `step`, (Tx, r): here r is 0."""
        return np.zeros((len(self.source_pieces), 0), np.float32)

    def keys_at(self, step: int) -> FloatArray:  # noqa: ARG002
        """Return the keys that the energies of 0-based `step` are computed from, (Tx, n')."""
        return self.keys

    def heatmap(self, **choices: Any) -> Any:
        """Return the alignment as a Plotly figure; `choices` as for `figures.heatmap`."""
        return drawing().heatmap(self, **choices)

    def step_figure(self, i: int, picture: str = "attention", **choices: Any) -> Any:
        """Return the figure `picture` of step index `i` (0-based), a name from `figures.STEP_FIGURES`.

        Some figures need the model's weights: pass `weights=analysis.load_weights(folder)`. Raise AttnvizError where
        there is no such step or picture.
        """
        return drawing().step_figure(self, step_index(self, i), picture, **choices)

    def _repr_html_(self) -> str:
        """Return the heatmap as an HTML table without scripts, which notebooks display."""
        return drawing().table_html(self)
