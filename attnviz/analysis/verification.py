"""Verify a step of RNNsearch: recompute each displayed number in NumPy float64, and say what differs by how much.

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
from attnviz.analysis.energy_equations import energy_decomposition
from attnviz.analysis.labels import power_of_ten, quote
from attnviz.analysis.likelihood import Readouts
from attnviz.analysis.logit_attribution import logit_attributions, maxout_inputs
from attnviz.analysis.measures import coverage, entropy
from attnviz.analysis.numpy_scorers import scorer_of
from attnviz.analysis.posterior import bayes, posterior_of
from attnviz.analysis.recomputation import RecurrentEquations, RecurrentState, Weights, log_softmax, softmax
from attnviz.analysis.weight_shapes import Shapes, check_fit, recurrent_weight_shapes
from attnviz.languages import gettext, gettexts, ngettext
from attnviz.text import piece_name
from attnviz.trace import Array, Judgement, Record, Trace, float64, interventions_at
from attnviz.trace.interventions import forced_words
from attnviz.trace.trace import GATES, QUANTITIES

ComparedNumbers = dict[str, tuple[Any, Array]]
"""Quantities by name, each as displayed and as recomputed."""

TOLERANCE = 1e-4
"""Largest accepted difference, relative to the quantity's largest number (or to 1, if that is larger).

It is a hundred times the error of float32 sums of a thousand terms, and a hundredth of what the page displays.
"""
_LIKELIEST = 10
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

    missing = ""
    """Message that names the quantities that cannot be recomputed, with the reason; empty where all can."""

    def __init__(self, trace: Any, weights: Weights) -> None:
        """Take the trace and the weights of its model (`load_weights`), preferably in float64.

        Raise MisfitError where they are of a model of another kind or size.
        """
        check_fit(trace, weights, self.weight_shapes)
        self.trace, self.weights = trace, weights

    @staticmethod
    @abstractmethod
    def weight_shapes(trace: Any, weights: Weights) -> Shapes:
        """Return the shape that each weight of the model that made `trace` must have."""

    @abstractmethod
    def pairs(self, step: int, pieces: Sequence[int] = (), *, with_heatmap_posterior: bool = False) -> ComparedNumbers:
        """Return the quantities of 0-based `step`, as displayed and as recomputed from the displayed operands.

        `pieces` are further pieces whose logit attributions are displayed. `with_heatmap_posterior` includes the
        heatmap's posterior attention.
        """

    def verify(self, step: int, pieces: Sequence[int] = (), *, with_heatmap_posterior: bool = False) -> Verification:
        """Return the comparison of every quantity of 0-based `step`; arguments as for `pairs`."""
        pairs = self.pairs(step, pieces, with_heatmap_posterior=with_heatmap_posterior)
        checks = tuple(compare_quantity(name, np.asarray(value), expected) for name, (value, expected) in pairs.items())
        return Verification(checks, self.missing)


class RecurrentVerifier(Verifier):
    """Verifies the steps of one trace of a recurrent translator; the encoder's numbers are recomputed once."""

    weight_shapes = staticmethod(recurrent_weight_shapes)

    def __init__(self, trace: Trace, weights: Weights) -> None:
        """Take the trace and the weights of its model, as the parent class."""
        super().__init__(trace, weights)
        self.missing = scorer_of(trace.config).missing
        self._network = RecurrentEquations(weights, trace.config)
        self._annotations = float64(trace.annotations)

    def pairs(self, step: int, pieces: Sequence[int] = (), *, with_heatmap_posterior: bool = False) -> ComparedNumbers:
        """Return all numbers of 0-based `step`, as displayed and as recomputed.

        These are annotations, first state, keys, query, features, energies and their units, alignment with entropy and
        coverage, context, gates, candidate, cell states and states of all layers, readout, probabilities; where logits
        are linear, the logit attributions of the chosen piece, the likeliest ones and `pieces`; and where there is a
        posterior, likelihood and posterior of each source piece. With `with_heatmap_posterior`, also the heatmap's
        posterior attention, which takes all steps to recompute.
        """
        trace, recomputed = self.trace, self._steps[step]
        logits = self._network.logits(recomputed["readouts"])
        pairs: ComparedNumbers = dict(self._by_encoder)
        recorded = {name: getattr(trace, name)[step] for name in recomputed}
        displayed, expected = _by_quantity(recorded, trace), _by_quantity(recomputed, trace)
        pairs |= {name: (displayed[name], expected[name]) for name in expected}
        pairs["top_probabilities"] = trace.top_probabilities[step], softmax(logits)[trace.top_ids[step]]
        pairs["log_probabilities"] = trace.log_probabilities[step], log_softmax(logits)[trace.target_ids[step]]
        pairs["entropy"] = entropy(trace.alignment[step]), recomputation.entropy_of(recomputed["alignment"])
        pairs["coverage"] = coverage(trace.alignment), self._alignment.sum(axis=0)
        if trace.attends and not self.missing:
            unmasked = np.flatnonzero(np.isfinite(recomputed["energies"]))  # masked ones are -inf, not their units' sum
            sums = [energy_decomposition(trace, self.weights, step, position).energy for position in unmasked.tolist()]
            pairs["energy sums"] = sums, recomputed["energies"][unmasked]
        if trace.attends_once:
            pairs |= self._posterior_pairs(step, with_heatmap_posterior=with_heatmap_posterior)
        if trace.has_maxout:
            inputs = maxout_inputs(trace, self.weights, [step]).astype(np.float32)
            pairs["maxout pairs"] = inputs.reshape(-1, 2).max(axis=1), recomputed["readouts"]
        if trace.linear:
            shown = list(dict.fromkeys([trace.target_ids[step], *trace.top_ids[step, :_LIKELIEST].tolist(), *pieces]))
            entries = logit_attributions(trace, self.weights, [(step, piece) for piece in shown])
            pairs["attribution sums"] = [entry.logit for entry in entries], logits[shown]
        if step in (words := forced_words(trace.interventions)):
            pairs["target_ids"] = np.array(trace.target_ids[step]), np.array(words[step])
        return {name: pair for name, pair in pairs.items() if np.size(pair[1])}

    def _posterior_pairs(self, step: int, *, with_heatmap_posterior: bool) -> ComparedNumbers:
        """Return likelihood and posterior of 0-based `step`, as displayed and as recomputed."""
        trace, readouts = self.trace, Readouts(self.trace, self.weights)
        logarithms = readouts.log_likelihood(steps=slice(step, step + 1))
        expected = self._network.log_likelihood(
            self._annotations, self._before[step], self._word(step), trace.target_ids[step]
        )
        pairs: ComparedNumbers = {
            "likelihood": (np.exp(logarithms[0]), np.exp(expected)),
            "log_likelihood": (logarithms[0], expected),
            "posterior": (
                bayes(readouts.alignment[[step]], logarithms)[0],
                recomputation.recomputed_bayes(self._alignment[step], expected),
            ),
        }
        if with_heatmap_posterior:
            pairs["heatmap_posterior"] = posterior_of(readouts)[step], self._heatmap_posterior[step]
        return pairs

    @cached_property
    def _heatmap_posterior(self) -> Array:
        """The heatmap's posterior attention, recomputed, (Ty, Tx)."""
        words = [self._word(step) for step in range(len(self._before))]
        return self._network.heatmap_posterior(
            self._annotations, self._before, words, self.trace.target_ids, self._alignment
        )

    @cached_property
    def _by_encoder(self) -> ComparedNumbers:
        """Quantities that are the same at every step, as displayed and as recomputed."""
        trace, network = self.trace, self._network
        encoded = network.encode(trace.source_ids)
        # Imported translators begin the decoder with states of the encoder that a trace does not record.
        recorded = (
            encoded._replace(states=self._annotations[[0]]) if trace.form["first_state"] == "backward" else encoded
        )
        first = network.start(recorded)
        pairs: ComparedNumbers = {
            "annotations": (trace.annotations, encoded.annotations),
            "initial_states": (_of_layers(trace.initial_states), _of_layers(first.states)),
            "initial_memories": (_of_layers(trace.initial_memories), _of_layers(first.memories)),
        }
        if self.missing:
            return pairs
        pairs["keys"] = trace.keys, network.keys(self._annotations)
        if trace.score_vector.size:
            pairs["score_vector"] = trace.score_vector, network.decoder["attention.score"]
        if trace.feature_weight.size:
            pairs["feature_weight"] = trace.feature_weight, network.decoder["attention.feature.weight"]
        return pairs

    @cached_property
    def _before(self) -> list[RecurrentState]:
        """The recorded state of the decoder before every step."""
        trace = self.trace
        readouts = np.concatenate([np.zeros_like(trace.readouts[:1]), trace.readouts[:-1]])
        states = np.concatenate([trace.initial_states[None], trace.layer_states[:-1]])
        memories = np.concatenate([trace.initial_memories[None], trace.memories[:-1]])
        parts = map(float64, (states, memories, readouts, trace.previous_alignment))
        return [RecurrentState(*rows) for rows in zip(*parts, strict=True)]

    @cached_property
    def _steps(self) -> list[dict[str, Array]]:
        """Every step, recomputed from the recorded one before it, without logits."""
        trace, keys = self.trace, float64(self.trace.keys)
        return [
            self._network.step(
                self._annotations,
                keys,
                self._before[i],
                previous_id,
                interventions_at(trace.interventions, i),
                float64(trace.energies[i]) if self.missing else None,
            )[0]
            for i, previous_id in enumerate(trace.previous_ids)
        ]

    @cached_property
    def _alignment(self) -> Array:
        """The recomputed alignment, (Ty, Tx)."""
        return np.stack([arrays["alignment"] for arrays in self._steps])

    def _word(self, step: int) -> Array:
        """Return E y_{i-1} of 0-based `step`, (m,)."""
        return self._network.word(self.trace.previous_ids[step])


def _by_quantity(arrays: Mapping[str, NDArray[Any]], trace: Trace) -> dict[str, NDArray[Any]]:
    """Return the arrays of a step with each gate and the states of all layers by their names in the table."""
    apart = {name: arrays["gates"][:, place] for place, name in enumerate(GATES[trace.form["cell"]])}
    apart |= {"memories": arrays["memories"], "states": arrays["layer_states"]}
    together = ("gates", "memories", "layer_states", "readouts")
    rest = {name: array for name, array in arrays.items() if name not in together}
    return rest | {name: _of_layers(array) for name, array in apart.items()} | {"readouts": arrays["readouts"]}


def _of_layers(vectors: NDArray[Any]) -> NDArray[Any]:
    """Return vectors of every layer (L, n); that of a single layer as (n,)."""
    return vectors[0] if len(vectors) == 1 else vectors


def compare_quantity(quantity: str, shown: NDArray[Any], expected: Array) -> Check:
    """Compare all numbers of a quantity, arrays of any shape; a scalar counts as an array of length 1."""
    shown, expected = np.atleast_1d(shown), np.atleast_1d(expected)
    if shown.shape != expected.shape:
        return Check(quantity, 0, float("inf"), Discrepancy(quantity, (), float("nan"), float("nan")))
    if not shown.size:
        return Check(quantity, 0, 0.0, None)
    # Equal infinities (masked energies) have difference 0; a number and an infinity have difference infinity.
    with np.errstate(invalid="ignore"):
        differences = np.where(shown == expected, 0.0, np.abs(float64(shown) - expected))
    differences = np.where(np.isnan(differences), np.inf, differences)
    worst = np.unravel_index(int(differences.argmax()), differences.shape)
    finite = np.abs(expected[np.isfinite(expected)])
    allowed = TOLERANCE * max(1.0, float(finite.max()) if finite.size else 0.0)
    difference = float(differences[worst])
    discrepancy = None
    if difference > allowed:
        discrepancy = Discrepancy(quantity, tuple(int(i) for i in worst), float(shown[worst]), float(expected[worst]))
    return Check(quantity, int(shown.size), difference, discrepancy)


def quantity_names() -> dict[str, str]:
    """Return the names of the verified quantities on the page."""
    return gettexts(
        {
            "annotations": "annotations",
            "initial_states": "first state s₀",
            "initial_memories": "first cell states",
            "keys": "keys U h",
            "score_vector": "vector v",
            "features": "features f of the previous step’s weights",
            "feature_weight": "matrix L, which multiplies the features",
            "queries": "query W s",
            "energies": "energies e",
            "energy sums": "energy decomposition sums",
            "alignment": "weights α",
            "entropy": "entropy H",
            "coverage": "coverage Σ α",
            "contexts": "context vector c",
            "states": "state s",
            "reset_gates": "reset gate r",
            "update_gates": "update gate z",
            "input_gates": "input gate e",
            "forget_gates": "forget gate f",
            "output_gates": "output gate o",
            "candidate_states": "candidate state",
            "memories": "memory m",
            "maxout pairs": "pairs before the maxout",
            "readouts": "readout t",
            "top_probabilities": "likeliest words’ probabilities",
            "log_probabilities": "log probability of the word",
            "target_ids": "forced word y",
            "attribution sums": "attribution sums",
            "likelihood": "likelihoods p(y | h)",
            "log_likelihood": "logarithms of the likelihoods",
            "posterior": "posterior p(j | y)",
            "heatmap_posterior": "α′ of the heatmap",
            "encoder_streams": "the encoder’s residual stream",
            "decoder_streams": "the decoder’s residual stream",
        }
    ) | {
        f"{kind}_{name}": f"{what}, {where}"
        for kind, where in gettexts(
            {
                "encoder": "English to itself",
                "decoder": "French to itself",
                "cross": "French to English",
            }
        ).items()
        for name, what in gettexts(
            {
                "queries": "queries q",
                "keys": "keys k",
                "values": "values v",
                "energies": "energies e",
                "alignment": "weights α",
            }
        ).items()
    }


def not_verified_text(trace: Record | Judgement) -> str:
    """Return why nothing was verified where the weights are not available."""
    return gettext(
        "Numbers not verified: the model that computed them, “{model}”, is not installed.", model=trace.model
    )


def misfit_text(trace: Record, step: int) -> str:
    """Return the message that 0-based `step` does not match the weights: altered, or made by another model."""
    return gettext(
        "Step {step}: this translation does not match the weights of “{model}”", step=step + 1, model=trace.model
    )


def verification_caption() -> str:
    """Return what the badge means."""
    return gettext(
        "Every number of this step is computed a second time, in NumPy with 64-bit floats. The check uses the saved "
        "weights, the operands shown beside the number, and code separate from the network’s. A number passes if it is "
        "almost equal to the recomputed number: the difference may be {tolerance:g} of the largest number of its kind, "
        "or {tolerance:g} if that largest number is below 1.",
        tolerance=TOLERANCE,
    )


def badge_text(verification: Verification, step: int) -> str:
    """Return the badge of 0-based `step`; it contains no user input, so that it may be Markdown."""
    if verification.holds:
        return gettext(
            "{numbers} numbers of step {step} are verified with NumPy in 64 bits; the recomputed numbers differ by at "
            "most {largest}. {missing}"
            if verification.missing
            else "All {numbers} numbers of step {step} are verified with NumPy in 64 bits; the recomputed numbers "
            "differ by at most {largest}",
            numbers=verification.numbers,
            step=step + 1,
            largest=power_of_ten(verification.largest_difference),
            missing=verification.missing,
        )
    first, *others = verification.discrepancies
    what = quantity_names()[first.quantity]
    if first.index:
        what = gettext("{what}, no. {number}", what=what, number=first.index[0] + 1)
    if others:
        return ngettext(
            "Step {step}: {what} failed verification (and so did {count} other quantity)",
            "Step {step}: {what} failed verification (and so did {count} other quantities)",
            len(others),
            step=step + 1,
            what=what,
        )
    return gettext("Step {step}: {what} failed verification", step=step + 1, what=what)


def discrepancy_text(trace: Record, discrepancy: Discrepancy, step: int) -> str:
    """Return which number of 0-based `step` is wrong, and by how much, as plain text."""
    name = quantity_names()[discrepancy.quantity]
    if not discrepancy.index:
        return gettext("{what}: the number of values is wrong.", what=name)
    if (quantity := QUANTITIES.get(discrepancy.quantity)) and quantity.of_positions:
        piece = quote(piece_name(trace.source_surfaces[discrepancy.index[0]]))
        name = gettext("{what} of {piece}", what=name, piece=piece)
    return gettext(
        "{what}, entry {number} at step {step}: shown {shown:.6g}, recomputed {recomputed:.6g}, |Δ| = {difference}",
        what=name,
        number=", ".join(str(index + 1) for index in discrepancy.index),
        step=step + 1,
        shown=discrepancy.shown,
        recomputed=discrepancy.recomputed,
        difference=power_of_ten(abs(discrepancy.shown - discrepancy.recomputed)),
    )
