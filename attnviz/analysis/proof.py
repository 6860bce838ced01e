"""The proof of a step: every number shown is computed again in NumPy float64, from the saved weights and the operands
shown beside it, by code that shares nothing with the network's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.recomputation import below, decode_step, project_keys
from attnviz.trace import Trace

TOLERANCE = 1e-4
"""Largest difference that still counts as right, relative to the largest number of the quantity (or to 1 where that is
less): a hundred times what float32 sums of a thousand terms lose, a hundredth of what a page shows."""


@dataclass(frozen=True)
class Discrepancy:
    """A number that does not come out as shown."""

    quantity: str
    """The trace's name for it."""
    index: tuple[int, ...]
    """Its place in the quantity."""
    shown: float
    recomputed: float


@dataclass(frozen=True)
class Proof:
    """The outcome of recomputing a step."""

    numbers: int
    """How many numbers were recomputed."""
    largest_difference: float
    """Largest |shown - recomputed|."""
    discrepancies: tuple[Discrepancy, ...]
    """The worst number of each quantity that is off by more than the tolerance."""

    @property
    def holds(self) -> bool:
        """Whether all numbers check out."""
        return not self.discrepancies


def prove(trace: Trace, weights: Mapping[str, NDArray[Any]], step: int) -> Proof:
    """Recompute all that 0-based `step` shows: keys, query, energies, alignment, context, gates, candidate, state,
    readout and probabilities. `weights` are those of the model that made the trace (`load_weights`)."""
    decoder = {name: np.asarray(value, dtype=np.float64) for name, value in below(weights, "decoder.").items()}
    annotations, keys = trace.annotations.astype(np.float64), trace.keys.astype(np.float64)
    found = decode_step(
        decoder, trace.config, annotations, keys, trace.previous_states[step].astype(np.float64),
        decoder["embedding.weight"][trace.previous_ids[step]],
    )  # fmt: skip
    probabilities = found.pop("probabilities")
    found.pop("logits")
    pairs = {name: (getattr(trace, name)[step], expected) for name, expected in found.items()}
    pairs["keys"] = trace.keys, project_keys(decoder, annotations, trace.config["attention"])
    pairs["top_probabilities"] = trace.top_probabilities[step], probabilities[trace.top_ids[step]]
    pairs["log_probabilities"] = trace.log_probabilities[step], np.log(probabilities[trace.target_ids[step]])
    if step == 0:
        first = annotations[0, annotations.shape[1] // 2 :]
        initial = np.tanh(decoder["initial.weight"] @ first + decoder["initial.bias"])
        pairs["initial_state"] = trace.initial_state, initial
    results = [_compare(name, np.asarray(shown), np.asarray(expected)) for name, (shown, expected) in pairs.items()]
    return Proof(
        numbers=sum(count for count, _, _ in results),
        largest_difference=max(difference for _, difference, _ in results),
        discrepancies=tuple(wrong for _, _, wrong in results if wrong),
    )


def _compare(
    quantity: str, shown: NDArray[Any], expected: NDArray[np.float64]
) -> tuple[int, float, Discrepancy | None]:
    """Return how many numbers were compared, the largest difference, and the worst number where it is too far off."""
    if shown.shape != expected.shape:
        return 0, float("inf"), Discrepancy(quantity, (), float("nan"), float("nan"))
    if not shown.size:
        return 0, 0.0, None
    # Equal infinities (masked energies) differ by nothing; a number against an infinity by infinity.
    with np.errstate(invalid="ignore"):
        differences = np.where(shown == expected, 0.0, np.abs(shown.astype(np.float64) - expected))
    differences = np.where(np.isnan(differences), np.inf, differences)
    worst = np.unravel_index(int(differences.argmax()), differences.shape)
    finite = np.abs(expected[np.isfinite(expected)])
    allowed = TOLERANCE * max(1.0, float(finite.max()) if finite.size else 0.0)
    difference = float(differences[worst])
    wrong = None
    if difference > allowed:
        place = tuple(int(i) for i in worst)
        wrong = Discrepancy(quantity, place, float(shown[worst]), float(expected[worst]))
    return int(shown.size), difference, wrong
