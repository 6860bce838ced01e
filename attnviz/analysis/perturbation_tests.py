"""Perturbation tests (Jain & Wallace 2019): a step with other attention weights, and sentences about the outcome.

Jain & Wallace (2019) asked whether other attention gives the same output. Wiegreffe & Pinter (2019) replied that the
existence of such attention does not make the model's meaningless. Moradi et al. (2019) tested translation. A test shows
whether this word depends on this attention. It does not show what the model would have learnt without attention, nor
that attention which matters is a reason.

The adversary (Jain & Wallace, Eq. 4 to 6), for one step: the largest Jensen-Shannon divergence of alpha' from alpha
with the total variation of p(w) within a bound. Projected gradient ascent may miss the maximum, but its result respects
the bound.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from attnviz.analysis.labels import decimal, percent, quoted_name, shorten
from attnviz.analysis.likelihood import Readouts
from attnviz.analysis.measures import ranked, total_variation
from attnviz.analysis.recomputation import Weights
from attnviz.analysis.step_evaluation import (
    PerturbedStep,
    Spelling,
    StepEvaluation,
    gradient_ascent,
    jensen_shannon,
)
from attnviz.analysis.what_if_effects import probability_change_text
from attnviz.arguments import check_number, check_seed, check_whole_argument
from attnviz.languages import format_share, gettext, ngettext
from attnviz.text import EOS
from attnviz.trace import Array, OneLine, Trace, float64

PERMUTATIONS = 100
"""Number of permutations, as in Jain & Wallace (2019)."""
MOST_PERMUTATIONS = 1_000_000
BOUND = 0.01
"""Bound on the total variation of p(w), as in Jain & Wallace."""
_USED_SHARE = 0.999
"""Share of the bound that is used, so that a single-precision network stays below it too."""
_POINTS_PER_ORIGIN = 3
"""Starting points taken from the lines of each origin."""
_SHARES_FROM_ALPHA, _SHARES_FROM_STRONGEST = (1, 0.5, 0.25, 0.12, 0.06, 0.03, 0.01), (0, 0.05, 0.1, 0.2, 0.4)
"""Positions of the candidate starting points on lines that begin at alpha, and at its strongest piece."""
_MOST_PULLS, _PULL_FACTOR = 2, 0.99
_DIFFERENCE_STEP, _DAMPING = 1e-3, 0.01
"""Step of the finite differences, and share of the identity in the Fisher information."""
_STEEPEST = 3.0
"""Largest slope of the divergence, which is infinite where a weight leaves 0."""


def adversary(trace: Trace, step: int, weights: Weights | None = None, *, bound: float = BOUND) -> PerturbedStep:
    """Return the perturbation farthest from alpha_i, by Jensen-Shannon divergence, that hardly changes the output.

    Projected gradient ascent starts from several distributions that respect the bound; its result is at least as far as
    any of them, and not always the farthest.

    Args:
        trace: The translation.
        weights: Weights of the model that made it (`load_weights`); by default those of the installed model.
        step: Step, 0-based.
        bound: Largest change of p(w), by total variation, in [0, 1].

    Returns:
        The perturbed step.

    Raises:
        AttnvizError: The model has no attention, or the weights are another model's.
        AttnvizError: There is no such step.
        AttnvizError: The bound is outside 0 to 1.
    """
    evaluation = StepEvaluation(trace, step, weights)
    return evaluation.perturbed(adversarial_weights(evaluation, bound)[None])[0]


def adversarial_weights(evaluation: StepEvaluation, bound: float = BOUND) -> Array:
    """Return the weights of `adversary`, (Tx,); raise AttnvizError for a bound outside 0 to 1."""
    check_number(gettext("bound"), bound, 1)
    alignment, limit = evaluation.alignment, _USED_SHARE * bound
    start_points = _start_points(evaluation, limit)
    # Climb from each start twice: along the gradient, and along the natural gradient of p(w).
    metrics = np.repeat(
        np.stack([np.eye(len(alignment)), _inverse_fisher_information(evaluation)]), len(start_points), axis=0
    )

    def evaluate(attentions: Array) -> tuple[Array, Array]:
        # Pull points outside the bound back towards alpha; the change grows almost linearly along that line.
        attentions, change = attentions.copy(), evaluation.change(attentions)
        for _ in range(_MOST_PULLS):
            over = change > limit
            if over.any():
                shares = _PULL_FACTOR * limit / change[over]
                attentions[over] = alignment + shares[:, None] * (attentions[over] - alignment)
                change[over] = evaluation.change(attentions[over])
        return attentions, np.where(change <= limit, jensen_shannon(attentions, alignment), -np.inf)

    def direction(attentions: Array) -> Array:
        gradient = np.log(np.maximum(attentions, 1e-12) / np.maximum(attentions + alignment, 1e-12))
        gradient = _projected(np.maximum(gradient - gradient.max(axis=1, keepdims=True), -_STEEPEST))
        change, change_gradient = evaluation.change_and_slopes(attentions)
        change_gradient = _projected(change_gradient)
        ascent, change_ascent = (np.einsum("nj,njk->nk", vectors, metrics) for vectors in (gradient, change_gradient))
        # Near the bound, move along it and not across it.
        overlap, sizes = (ascent * change_gradient).sum(axis=1), (change_ascent * change_gradient).sum(axis=1)
        shares = np.divide(
            overlap, sizes, out=np.zeros_like(overlap), where=(change > limit / 2) & (overlap > 0) & (sizes > 0)
        )
        return ascent - shares[:, None] * change_ascent

    points, divergences = gradient_ascent(np.concatenate([start_points, start_points]), direction, evaluate)
    return _within_bound(evaluation, points[divergences.argmax()], bound)


def _inverse_fisher_information(evaluation: StepEvaluation) -> Array:
    """Return the matrix that turns a gradient into a natural gradient of p(w), (Tx, Tx).

    It is the inverse of the Fisher information of the weights at alpha, damped by a multiple of the identity.
    """
    alignment, vertices = evaluation.alignment, np.eye(len(evaluation.alignment))
    probabilities, vertex_probabilities = (
        evaluation.probabilities,
        evaluation.distributions(alignment + _DIFFERENCE_STEP * (vertices - alignment)),
    )
    derivatives = (vertex_probabilities - probabilities) / _DIFFERENCE_STEP
    information = (derivatives / np.maximum(probabilities, 1e-300)) @ derivatives.T
    scale = max(float(np.trace(information)) / len(alignment), 1e-300)
    inverse = np.linalg.inv(information / scale + _DAMPING * vertices)
    return float64(inverse)


def _within_bound(evaluation: StepEvaluation, attention: Array, bound: float) -> Array:
    """Return weights (Tx,) closer to alpha where `attention` exceeds the bound in double precision."""
    for share in (1.0, 0.999, 0.99, 0.9):
        nearer: Array = evaluation.alignment + share * (attention - evaluation.alignment)
        if evaluation.perturbed(nearer[None])[0].total_variation <= bound:
            return nearer
    return evaluation.alignment


def _start_points(evaluation: StepEvaluation, limit: float) -> Array:
    """Return starting distributions (N, Tx) whose change is at most `limit`, where there are any.

    They are alpha, and the farthest points on lines from alpha, and from its strongest piece alone, to each source
    piece and to the uniform distribution without the strongest piece.
    """
    alignment, strongest = evaluation.alignment, np.eye(len(evaluation.alignment))[evaluation.alignment.argmax()]
    line_ends = np.concatenate([np.eye(len(alignment)), (1 - strongest)[None] / max(len(alignment) - 1, 1)])
    start_points = [alignment[None]]
    for line_start, shares in ((alignment, _SHARES_FROM_ALPHA), (strongest, _SHARES_FROM_STRONGEST)):
        attentions = (line_start + np.array(shares)[:, None, None] * (line_ends - line_start)).reshape(
            -1, len(alignment)
        )
        divergences = np.where(evaluation.change(attentions) <= limit, jensen_shannon(attentions, alignment), -np.inf)
        # Where too few are within the bound, `evaluate` pulls the others back.
        start_points.append(attentions[ranked(divergences)[:_POINTS_PER_ORIGIN]])
    return np.concatenate(start_points)


def _projected(directions: Array) -> Array:
    """Return `directions` (N, Tx) projected onto the simplex: without their mean."""
    return directions - directions.mean(axis=1, keepdims=True)


@dataclass(frozen=True, eq=False, repr=False)
class PerturbationTests(OneLine):
    """A step with its own attention and with perturbed attention."""

    step: int
    """0-based step."""
    real: PerturbedStep
    uniform: PerturbedStep
    """Equal weights on all source pieces."""
    permuted: tuple[PerturbedStep, ...]
    """The step's own weights, randomly permuted."""
    without_strongest: PerturbedStep
    """The largest weight set to 0, the others renormalised."""
    adversary: PerturbedStep
    """The farthest weights that keep p(w) nearly unchanged: see `adversary`."""

    @property
    def change_when_permuted(self) -> float:
        """Median total variation over the permutations."""
        return float(np.median([perturbed.total_variation for perturbed in self.permuted]))

    @property
    def kept_when_permuted(self) -> float:
        """Share of permutations that write the same piece as the step's own weights."""
        return float(np.mean([perturbed.piece_id == self.real.piece_id for perturbed in self.permuted]))


def perturbation_tests(
    trace: Trace,
    step: int,
    weights: Weights | None = None,
    *,
    permutations: int = PERMUTATIONS,
    seed: int = 0,
    bound: float = BOUND,
) -> PerturbationTests:
    """Return the perturbation tests of a step.

    Args:
        trace: The translation.
        weights: Weights of the model that made it (`load_weights`); by default those of the installed model.
        step: Step, 0-based.
        permutations: Number of permutations of the weights.
        seed: The same seed gives the same permutations.
        bound: Largest total variation of p(w) that the adversary may cause, in [0, 1].

    Returns:
        The tests.

    Raises:
        AttnvizError: The model has no attention, or the weights are another model's.
        AttnvizError: There is no such step.
        AttnvizError: There is less than one permutation, or the bound is outside 0 to 1.
    """
    check_whole_argument(gettext("number of permutations"), permutations, 1, MOST_PERMUTATIONS)
    evaluation = StepEvaluation(trace, step, weights)
    count = len(evaluation.alignment)
    attentions = np.concatenate(
        [
            evaluation.alignment[None],
            np.full((1, count), 1 / count),
            without_strongest(evaluation.alignment)[None],
            permuted(evaluation.alignment, permutations, seed, evaluation.step),
            adversarial_weights(evaluation, bound)[None],
        ]
    )
    real, uniform, without_largest, *permuted_steps, adversary = evaluation.perturbed(attentions)
    return PerturbationTests(evaluation.step, real, uniform, tuple(permuted_steps), without_largest, adversary)


def permuted(alignment: Array, count: int, seed: int, step: int) -> Array:
    """Return `count` random permutations of the weights (Tx,) of 0-based `step`, (count, Tx).

    They depend only on `seed` and `step`.
    """
    check_seed(seed)
    generator = np.random.default_rng((seed, step))
    return generator.permuted(np.broadcast_to(alignment, (count, len(alignment))), axis=1)


def without_strongest(alignment: Array) -> Array:
    """Return the weights (Tx,) with the largest set to 0 and the others renormalised, (Tx,).

    Where the others were all 0, they become equal.
    """
    strongest = np.arange(len(alignment)) == alignment.argmax()
    others = np.where(strongest, 0, alignment)
    if not others.any():
        others = np.where(strongest, 0.0, 1.0)
    return others / max(others.sum(), np.finfo(np.float64).tiny)


@dataclass(frozen=True, eq=False, repr=False)
class PermutationEffects(OneLine):
    """For each of Ty steps, the effect of shuffling its weights."""

    largest: Array
    """max_j alpha_ij, (Ty,), in (0, 1]."""
    change: Array
    """Median total variation of p(w) over the permutations, (Ty,), from 0 to 1."""
    kept: Array
    """Share of permutations that write the same piece as the step's own weights, (Ty,), from 0 to 1."""


def shuffled(
    trace: Trace, weights: Weights | None = None, *, permutations: int = PERMUTATIONS, seed: int = 0
) -> PermutationEffects:
    """Return the effect of the permutations of `perturbation_tests` on every step, correct to about 1e-6.

    Args:
        trace: The translation.
        weights: Weights of the model that made it (`load_weights`); by default those of the installed model.
        permutations: Number of permutations.
        seed: The same seed gives the same permutations.

    Returns:
        The effects.

    Raises:
        AttnvizError: The model has no attention, or the weights are another model's.
        AttnvizError: There is less than one permutation.
    """
    check_whole_argument(gettext("number of permutations"), permutations, 1, MOST_PERMUTATIONS)
    readouts = Readouts(trace, weights)
    real = readouts.alignment / readouts.alignment.sum(axis=1, keepdims=True)
    attentions = np.stack([permuted(row, permutations, seed, step) for step, row in enumerate(real)])
    change, unchanged = np.empty(attentions.shape[:2]), np.empty(attentions.shape[:2])
    for steps in readouts.blocks(permutations + 1):
        probabilities = readouts.rough_probabilities(
            steps, np.concatenate([real[steps, None], attentions[steps]], axis=1)
        )
        written = probabilities[..., EOS:].argmax(axis=2)
        change[steps] = total_variation(probabilities[:, 1:], probabilities[:, :1])
        unchanged[steps] = written[:, 1:] == written[:, :1]
    return PermutationEffects(readouts.alignment.max(axis=1), np.median(change, axis=1), unchanged.mean(axis=1))


SMALL_CHANGE, LARGE_CHANGE = 0.1, 0.5
"""Total variation below which a change of the output is called small, and from which it is called large."""


def median_probability(tests: PerturbationTests) -> float:
    """Return the median over the shuffles of the probability of the step's likeliest piece."""
    return float(np.median([perturbed.probabilities[tests.real.piece_id] for perturbed in tests.permuted]))


class PerturbationResult(NamedTuple):
    """One of the perturbation tests of a step, for figures and tables."""

    title: str
    test: PerturbedStep
    """The weights and the output; of the permutations, those with the median change of the output."""
    probability: float
    """Probability of the step's likeliest piece; of the permutations, the median."""
    outcome: str
    """This probability, and which piece would be written."""


def perturbation_results(
    tests: PerturbationTests, spelling: Spelling, best: PerturbedStep | None = None
) -> dict[str, PerturbationResult]:
    """Return the tests of a step by name, in the order of the figure's rows; `best`, if given, is the last."""
    by_change = sorted(tests.permuted, key=lambda test: test.total_variation)
    titled = {
        "real": (gettext("Actual attention"), tests.real),
        "uniform": (gettext("Uniform"), tests.uniform),
        "permuted": (
            gettext("Shuffled, {count} times", count=len(tests.permuted)),
            by_change[(len(by_change) - 1) // 2],
        ),
        "without_strongest": (gettext("Without strongest piece"), tests.without_strongest),
        "adversary": (gettext("Adversarial attention"), tests.adversary),
    }
    if best is not None:
        titled["best"] = gettext("Best attention"), best
    word, results = tests.real.piece_id, {}
    for name, (title, test) in titled.items():
        probability = median_probability(tests) if name == "permuted" else float(test.probabilities[word])
        share, piece = format_share(probability), spelling(test.piece_id)
        if name == "real":
            outcome = gettext("{p}, writes {name}", p=share, name=quoted_name(shorten(piece, 12)))
        elif name == "permuted":
            kept = percent(tests.kept_when_permuted)
            outcome = gettext("median {p}; the same piece in {share}", p=share, share=kept)
        elif test.piece_id == word:
            outcome = f"{share}, {gettext('still {name}', name=quoted_name(piece))}"
        else:
            outcome = f"{share}, {gettext('writes {name}', name=quoted_name(piece))}"
        results[name] = PerturbationResult(title, test, probability, outcome)
    return results


def perturbation_tests_question(tests: PerturbationTests, spelling: Spelling) -> str:
    """Return the question that the tests of a step answer."""
    name = quoted_name(spelling(tests.real.piece_id))
    return gettext("Would this step still write {name} with other attention weights?", name=name)


def perturbation_tests_sentence(tests: PerturbationTests, spelling: Spelling) -> str:
    """Return the largest change of the probability of the step's likeliest piece, and whether it depends on attention.

    Where no test changes the probability, say that.
    """
    piece, count = tests.real.piece_id, len(tests.permuted)
    name, before = quoted_name(spelling(piece)), float(tests.real.probabilities[piece])
    moved = percent(float(total_variation(tests.adversary.weights, tests.real.weights)))
    trials: list[tuple[str, float, PerturbedStep | None]] = [
        *(
            (condition, float(perturbed.probabilities[piece]), perturbed)
            for perturbed, condition in (
                (tests.without_strongest, gettext("Without the most-attended piece")),
                (tests.uniform, gettext("With uniform weights")),
                (tests.adversary, gettext("With {moved} of the attention moved by an adversarial search", moved=moved)),
            )
        ),
        (gettext("In the median of {count} shuffles of the weights", count=count), median_probability(tests), None),
    ]
    changing = [one for one in trials if format_share(one[1]) != format_share(before)]
    if changing:
        trial, after, perturbed = max(changing, key=lambda one: round(abs(one[1] - before), 2))
        change = probability_change_text(spelling(piece), before, after)
        sentences = [gettext("{trial}, {change}.", trial=trial, change=change)]
        if perturbed is not None and perturbed.piece_id != piece:
            other, p = quoted_name(spelling(perturbed.piece_id)), float(perturbed.probabilities[perturbed.piece_id])
            sentences.append(
                gettext(
                    "With the changed weights, the model writes {other} with probability {p}.",
                    other=other,
                    p=percent(p),
                )
            )
    else:
        sentences = [
            gettext(
                "In every test with other attention weights, the probability of {name} stays {p}.",
                name=name,
                p=percent(before),
            )
        ]
    dependence = tests.change_when_permuted
    if dependence < SMALL_CHANGE:
        sentences.append(
            gettext("So this word depends little on attention, and more on the state and the previous words.")
        )
    elif dependence >= LARGE_CHANGE:
        sentences.append(gettext("So this word depends strongly on attention."))
    return " ".join(sentences)


def best_sentence(best: PerturbedStep, real: PerturbedStep, piece_id: int, trace: Trace, spelling: Spelling) -> str:
    """Return the attention that makes a piece likeliest, and the gain in probability; empty where it gains nothing."""
    before, after = (float(step.probabilities[piece_id]) for step in (real, best))
    most = int(best.weights.argmax())
    if format_share(before) == format_share(after):
        return ""
    return gettext(
        "The best attention found gives {change}, with {share} of the weight on {source}.",
        change=probability_change_text(spelling(piece_id), before, after),
        share=percent(best.weights[most]),
        source=quoted_name(trace.source_surfaces[most]),
    )


def shuffled_sentence(shuffled: PermutationEffects) -> str:
    """Return the effect of shuffled weights on the steps of a sentence."""
    steps = len(shuffled.change)
    unchanged_words = int((shuffled.kept > 0.5).sum())
    sentence = ngettext(
        "Of {steps}, {count} still writes the same word in most shuffles of the attention weights. At {unmoved} of the "
        "steps, shuffling the weights changes the probabilities by less than {little} (median total variation over all "
        "shuffles).",
        "Of {steps}, {count} still write the same word in most shuffles of the attention weights. At {unmoved} of the "
        "steps, shuffling the weights changes the probabilities by less than {little} (median total variation over all "
        "shuffles).",
        unchanged_words,
        steps=ngettext("{count} step", "{count} steps", steps),
        unmoved=int((shuffled.change < SMALL_CHANGE).sum()),
        little=SMALL_CHANGE,
    )
    if steps < 3 or not np.ptp(shuffled.largest) or not np.ptp(shuffled.change):
        return sentence
    correlation = float(np.corrcoef(shuffled.largest, shuffled.change)[0, 1])
    return f"{sentence} " + gettext(
        "The correlation between the largest weight of a step and the change of the step’s probabilities after "
        "shuffling is {r} (Pearson).",
        r=decimal(correlation),
    )


def perturbation_tests_caveat() -> str:
    """Return what perturbation tests do and do not show."""
    return gettext(
        "If other weights lead to the same word, the word did not need the original weights (Jain & Wallace 2019). The "
        "original weights may still be meaningful: the model was not trained with other weights. An adversarial search "
        "finds weights so far from the original weights that no sentence would make the model compute them (Wiegreffe "
        "& Pinter 2019). In translation, content words depend on attention far more than articles and prepositions do "
        "(Moradi et al. 2019). Even if a word depends on attention, attention does not explain the word: an annotation "
        "carries information from the whole sentence."
    )


PERTURBATION_REFERENCES = (
    ("Jain & Wallace 2019", "Attention is not explanation", "1902.10186"),
    ("Wiegreffe & Pinter 2019", "Attention is not not explanation", "1908.04626"),
    (
        "Moradi, Kambhatla & Sarkar 2019",
        "Interrogating the explanatory power of attention in neural machine translation",
        "1910.00139",
    ),
)
"""References: authors, title, arXiv number."""
