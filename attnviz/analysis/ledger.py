"""The logit ledger: an exact account of why a word got its logit, with one entry for each source piece.

Maxout is piecewise linear: once it is known which of each pair won, the logit is linear in everything that went in.

    logit_w = b_o[w] + W_o[w] . (b + U_o s + V_o E y_{i-1} + sum_j alpha_ij C_o h_j)   at the winners

so it splits into bias, state, previous word, and a signed number per source piece, which add up to the true logit.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.recomputation import Weights
from attnviz.trace import Trace

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Ledger:
    """What each ingredient of step `step` added to the logit of one piece of the vocabulary."""

    step: int
    """Index of the step, 0-based."""
    piece_id: int
    bias: float
    state: float
    """Through s_{i-1}; with `readout_state="current"`, through s_i, which has itself seen the context."""
    previous_word: float
    source: Array
    """Through alpha_ij h_j, (Tx,)."""

    @property
    def logit(self) -> float:
        """The sum of all entries: the logit itself."""
        return float(self.bias + self.state + self.previous_word + self.source.sum())

    def __sub__(self, other: Ledger) -> Ledger:
        """Return the contrast of two pieces at the same step: why this one and not the other, entry by entry.

        Its `piece_id` is this one's; its `logit` is the difference of the two. Raise ValueError for two steps.
        """
        if self.step != other.step:
            raise ValueError(f"a contrast needs one step, not steps {self.step} and {other.step}")
        return Ledger(
            self.step,
            self.piece_id,
            self.bias - other.bias,
            self.state - other.state,
            self.previous_word - other.previous_word,
            self.source - other.source,
        )


def ledger(trace: Trace, weights: Weights, step: int, piece_id: int) -> Ledger:
    """Return the ledger of piece `piece_id` at 0-based `step`, in float64.

    `weights` are the arrays of the model that made the trace (`load_weights`). Raise IndexError where there is no such
    step or piece.
    """
    return ledgers(trace, weights, step, [piece_id])[0]


def ledgers(trace: Trace, weights: Weights, step: int, piece_ids: Sequence[int]) -> list[Ledger]:
    """Return the ledgers of several pieces at one step, like `ledger`; what they share is computed once."""
    rows = len(weights["decoder.output.bias"])
    if not 0 <= step < len(trace.target_pieces) or not all(0 <= piece < rows for piece in piece_ids):
        raise IndexError(f"there is no step {step} or no piece among {list(piece_ids)}")
    current = trace.config["readout_state"] == "current"
    state = _exact(trace.states[step] if current else trace.previous_states[step])
    word = _exact(weights["decoder.embedding.weight"][trace.previous_ids[step]])
    annotations = _exact(trace.annotations)[:, : trace.contexts.shape[1]]
    shared = _exact(trace.alignment[step])[:, None] * annotations
    by_state = _exact(weights["decoder.readout_state.weight"]) @ state
    by_word = _exact(weights["decoder.readout_word.weight"]) @ word
    by_context = _exact(weights["decoder.readout_context.weight"])
    offset = _exact(weights["decoder.readout_state.bias"])
    wide = by_state + by_word + by_context @ shared.sum(axis=0) + offset
    winners = np.arange(0, len(wide), 2) + wide.reshape(-1, 2).argmax(axis=1)
    won = by_context[winners]

    def entries(piece: int) -> Ledger:
        row = _exact(weights["decoder.output.weight"][piece])
        bias = float(row @ offset[winners]) + float(weights["decoder.output.bias"][piece])
        parts = float(row @ by_state[winners]), float(row @ by_word[winners])
        return Ledger(step, piece, bias, *parts, source=shared @ (row @ won))

    return [entries(piece) for piece in piece_ids]


def _exact(values: NDArray[Any]) -> Array:
    return np.asarray(values, dtype=np.float64)
