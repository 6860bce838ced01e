"""Verify a step of RNNsearch: recompute every displayed number in NumPy float64, without code of the network.

Each number is computed from the saved weights and the displayed operands. `Verifier`, the base class of the verifiers
of all architectures, and the types of their results are here too.

Symbols and sizes are those of `trace.trace`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis import recomputation
from attnviz.analysis.energy_decomposition import energy_decomposition
from attnviz.analysis.fit import check_fit
from attnviz.analysis.likelihood import Readouts
from attnviz.analysis.logit_attribution import logit_attributions
from attnviz.analysis.logit_attribution import pairs as readout_pairs
from attnviz.analysis.measures import coverage, entropy
from attnviz.analysis.posterior import bayes, posterior_of
from attnviz.analysis.recomputation import (
    attend,
    decode_with_alignment,
    encode,
    log_softmax,
    softmax,
    submodule_weights,
)
from attnviz.analysis.scorers import scorer_of
from attnviz.trace import Trace
from attnviz.trace.interventions import changed_energies, forced_words, interventions_at
from attnviz.trace.trace import RECORDED

Array = NDArray[np.float64]
Pairs = dict[str, tuple[Any, Array]]
"""Quantities by name, each as displayed and as recomputed."""

TOLERANCE = 1e-4
"""Largest accepted difference, relative to the quantity's largest number (or to 1, if that is larger).

It is a hundred times the error of float32 sums of a thousand terms, and a hundredth of what the page displays.
"""
LIKELIEST = 10
"""Number of candidates of a step whose logit attributions are verified: those that the page displays."""


@dataclass(frozen=True)
class Discrepancy:
    """A number that differs from its recomputation."""

    quantity: str
    """Name of the quantity in `trace.trace`."""
    index: tuple[int, ...]
    """Index within the quantity."""
    shown: float
    recomputed: float


@dataclass(frozen=True)
class Check:
    """Comparison of one quantity of a step."""

    quantity: str
    numbers: int
    """Number of recomputed numbers."""
    largest_difference: float
    """Largest |shown - recomputed|."""
    discrepancy: Discrepancy | None
    """The number with the largest difference, where that exceeds the tolerance."""


@dataclass(frozen=True)
class Verification:
    """Result of verifying a step."""

    checks: tuple[Check, ...]
    missing: str = ""
    """Message that names the quantities that could not be recomputed, with the reason; empty where all were."""

    @property
    def numbers(self) -> int:
        """Number of recomputed numbers."""
        return sum(check.numbers for check in self.checks)

    @property
    def largest_difference(self) -> float:
        """Largest |shown - recomputed|."""
        return max(check.largest_difference for check in self.checks)

    @property
    def discrepancies(self) -> tuple[Discrepancy, ...]:
        """The worst number of each quantity that exceeds the tolerance."""
        return tuple(check.discrepancy for check in self.checks if check.discrepancy)

    @property
    def holds(self) -> bool:
        """Whether all numbers are within the tolerance."""
        return not self.discrepancies


class Verifier(ABC):
    """Base of the verifiers: compares displayed quantities with their recomputation in NumPy.

    Each architecture implements `pairs`.
    """

    trace: Any
    """The trace to verify."""
    missing = ""
    """Message that names the quantities that cannot be recomputed, with the reason; empty where all can."""

    @abstractmethod
    def pairs(self, step: int, pieces: Sequence[int] = (), *, with_heatmap_posterior: bool = False) -> Pairs:
        """Return the quantities of 0-based `step`, as displayed and as recomputed from the displayed operands.

        `pieces` are further pieces whose logit attributions are displayed. `with_heatmap_posterior` includes the
        heatmap's posterior attention.
        """

    def verify(self, step: int, pieces: Sequence[int] = (), *, with_heatmap_posterior: bool = False) -> Verification:
        """Return the comparison of every quantity of 0-based `step`; arguments as for `pairs`."""
        pairs = self.pairs(step, pieces, with_heatmap_posterior=with_heatmap_posterior)
        checks = tuple(compare_quantity(name, np.asarray(value), expected) for name, (value, expected) in pairs.items())
        return Verification(checks, self.missing)


class RNNsearchVerifier(Verifier):
    """Verifies the steps of one RNNsearch trace; the encoder's numbers are recomputed once for all steps."""

    def __init__(self, trace: Trace, weights: Mapping[str, NDArray[Any]]) -> None:
        """Take the trace and the weights of its model (`load_weights`), preferably in float64.

        Raise MisfitError where they are of a model of another kind or size.
        """
        check_fit(trace, weights)
        self.trace, self.weights = trace, weights
        self.missing = scorer_of(trace.config).missing
        decoder = submodule_weights(weights, "decoder.")
        self._decoder = {n: value if n == "embedding.weight" else _float64(value) for n, value in decoder.items()}

    def pairs(self, step: int, pieces: Sequence[int] = (), *, with_heatmap_posterior: bool = False) -> Pairs:
        """Return all numbers of 0-based `step`, as displayed and as recomputed.

        These are annotations, keys, query, features, energies and their units, alignment with entropy and coverage,
        context, gates, candidate, state, readout, probabilities, the logit attributions of the chosen piece, the
        likeliest ones and `pieces`, and likelihood and posterior of each source piece. With `with_heatmap_posterior`,
        also the heatmap's posterior attention, which takes all steps to recompute.
        """
        trace, recomputed = self.trace, self._attention_at(step)
        recomputed |= decode_with_alignment(
            self._decoder,
            trace.config,
            _float64(trace.annotations),
            recomputed["alignment"],
            _float64(trace.previous_states[step]),
            _float64(self._decoder["embedding.weight"][trace.previous_ids[step]]),
        )
        probabilities, logits = recomputed["probabilities"], recomputed["logits"]
        pairs: dict[str, tuple[Any, Array]] = dict(self._by_encoder)
        recorded = [
            quantity.name for quantity in RECORDED if quantity.name in recomputed and recomputed[quantity.name].size
        ]
        pairs |= {name: (getattr(trace, name)[step], recomputed[name]) for name in recorded}
        pairs["top_probabilities"] = trace.top_probabilities[step], probabilities[trace.top_ids[step]]
        pairs["log_probabilities"] = trace.log_probabilities[step], log_softmax(logits)[trace.target_ids[step]]
        pairs["entropy"] = entropy(trace.alignment[step]), recomputed["entropy"]
        pairs["coverage"] = coverage(trace.alignment), self._coverage
        if trace.attends and not self.missing:
            unmasked = np.flatnonzero(np.isfinite(recomputed["energies"]))  # masked ones are -inf, not their units' sum
            sums = [energy_decomposition(trace, self.weights, step, position).energy for position in unmasked.tolist()]
            pairs["energy sums"] = sums, recomputed["energies"][unmasked]
        if trace.attends:
            pairs |= self._posterior_pairs(step, recomputed["alignment"], with_heatmap_posterior=with_heatmap_posterior)
        maxout_inputs = readout_pairs(trace, self.weights, step)
        pairs["maxout pairs"] = maxout_inputs.reshape(-1, 2).max(axis=1), recomputed["readouts"]
        shown = list(dict.fromkeys([trace.target_ids[step], *trace.top_ids[step, :LIKELIEST].tolist(), *pieces]))
        entries = logit_attributions(trace, self.weights, [(step, piece) for piece in shown])
        pairs["attribution sums"] = [entry.logit for entry in entries], logits[shown]
        if step in (words := forced_words(trace.interventions)):
            pairs["target_ids"] = np.array(trace.target_ids[step]), np.array(words[step])
        return pairs

    def _attention_at(self, step: int) -> dict[str, Array]:
        """Return the result of `attend` for 0-based `step`.

        For a kind of attention without a NumPy class, it is the alignment alone, from the displayed energies.
        """
        trace, interventions = self.trace, interventions_at(self.trace.interventions, step)
        if self.missing:
            return {"alignment": softmax(changed_energies(_float64(trace.energies[step]), interventions))}
        state, previous_alignment = _float64(trace.previous_states[step]), _float64(trace.previous_alignment[step])
        return attend(self._decoder, trace.config, _float64(trace.keys), state, previous_alignment, interventions)

    def _posterior_pairs(
        self, step: int, alignment: Array, *, with_heatmap_posterior: bool
    ) -> dict[str, tuple[Any, Array]]:
        """Return likelihood and posterior of 0-based `step`, as displayed and as recomputed from `alignment` (Tx,)."""
        trace, readouts = self.trace, Readouts(self.trace, self.weights)
        logarithms = readouts.log_likelihood(steps=slice(step, step + 1))
        word = _float64(self._decoder["embedding.weight"][trace.previous_ids[step]])
        expected = recomputation.log_likelihood(
            self._decoder,
            trace.config,
            _float64(trace.annotations),
            _float64(trace.previous_states[step]),
            word,
            trace.target_ids[step],
        )
        pairs: dict[str, tuple[Any, Array]] = {
            "likelihood": (np.exp(logarithms[0]), np.exp(expected)),
            "log_likelihood": (logarithms[0], expected),
            "posterior": (
                bayes(readouts.alignment[[step]], logarithms)[0],
                recomputation.bayes(alignment, expected),
            ),
        }
        if with_heatmap_posterior:
            pairs["heatmap_posterior"] = posterior_of(readouts)[step], self._balanced_posterior[step]
        return pairs

    @cached_property
    def _balanced_posterior(self) -> Array:
        """The heatmap's posterior attention, recomputed, (Ty, Tx)."""
        trace = self.trace
        return recomputation.heatmap_posterior(
            self._decoder,
            trace.config,
            _float64(trace.annotations),
            _float64(trace.previous_states),
            _float64(self._decoder["embedding.weight"][list(trace.previous_ids)]),
            trace.target_ids,
            self._alignment,
        )

    @cached_property
    def _by_encoder(self) -> dict[str, tuple[Any, Array]]:
        """Quantities that are the same at every step, as displayed and as recomputed."""
        trace, decoder, scorer = self.trace, self._decoder, scorer_of(self.trace.config)
        encoder = {
            n: v if n == "embedding.weight" else _float64(v)
            for n, v in submodule_weights(self.weights, "encoder.").items()
        }
        annotations = _float64(trace.annotations)
        first_backward = annotations[0, annotations.shape[1] // 2 :]
        pairs: dict[str, tuple[Any, Array]] = {
            "annotations": (trace.annotations, encode(encoder, trace.source_ids)),
            "initial_state": (
                trace.initial_state,
                np.tanh(decoder["initial.weight"] @ first_backward + decoder["initial.bias"]),
            ),
        }
        if self.missing:
            return pairs
        pairs["keys"] = trace.keys, scorer.keys(decoder, annotations)
        if trace.score_vector.size:
            pairs["score_vector"] = trace.score_vector, decoder["attention.score"]
        if trace.feature_weight.size:
            pairs["feature_weight"] = trace.feature_weight, decoder["attention.feature.weight"]
        return pairs

    @property
    def _coverage(self) -> Array:
        """Sum of the recomputed alignment over all steps, (Tx,)."""
        total: Array = self._alignment.sum(axis=0)
        return total

    @cached_property
    def _alignment(self) -> Array:
        """The recomputed alignment, (Ty, Tx)."""
        return np.stack([self._attention_at(i)["alignment"] for i in range(len(self.trace.target_pieces))])


def verify(trace: Trace, weights: Mapping[str, NDArray[Any]], step: int) -> Verification:
    """Verify one 0-based step; for several steps of one trace, reuse an `RNNsearchVerifier`."""
    return RNNsearchVerifier(trace, weights).verify(step)


def _float64(values: NDArray[Any]) -> Array:
    return np.asarray(values, dtype=np.float64)


def compare_quantity(quantity: str, shown: NDArray[Any], expected: Array) -> Check:
    """Compare all numbers of a quantity, arrays of any shape; a scalar counts as an array of length 1."""
    shown, expected = np.atleast_1d(shown), np.atleast_1d(expected)
    if shown.shape != expected.shape:
        return Check(quantity, 0, float("inf"), Discrepancy(quantity, (), float("nan"), float("nan")))
    if not shown.size:
        return Check(quantity, 0, 0.0, None)
    # Equal infinities (masked energies) have difference 0; a number and an infinity have difference infinity.
    with np.errstate(invalid="ignore"):
        differences = np.where(shown == expected, 0.0, np.abs(shown.astype(np.float64) - expected))
    differences = np.where(np.isnan(differences), np.inf, differences)
    worst = np.unravel_index(int(differences.argmax()), differences.shape)
    finite = np.abs(expected[np.isfinite(expected)])
    allowed = TOLERANCE * max(1.0, float(finite.max()) if finite.size else 0.0)
    difference = float(differences[worst])
    discrepancy = None
    if difference > allowed:
        discrepancy = Discrepancy(quantity, tuple(int(i) for i in worst), float(shown[worst]), float(expected[worst]))
    return Check(quantity, int(shown.size), difference, discrepancy)
