"""Texts about perturbation tests (other attention weights at a step): names, outcomes, what they show, references."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnviz.analysis.minimal_change import MinimalChange
from attnviz.analysis.perturbation_tests import PermutationEffects, PerturbationTests
from attnviz.analysis.step_evaluation import PerturbedStep
from attnviz.languages import format_share, gettext, ngettext
from attnviz.trace import Trace
from attnviz.wording.labels import quoted_name
from attnviz.wording.numbers import decimal, percent

Spelling = Callable[[int], str]
"""Returns the piece of an id."""

SMALL_CHANGE, LARGE_CHANGE = 0.1, 0.5
"""Total variation below which a change of the output is called small, and from which it is called large."""


def perturbation_test_names(count: int) -> dict[str, str]:
    """Return the names of the perturbation tests of a step, with `count` permutations."""
    return {
        "real": gettext("Actual attention"),
        "uniform": gettext("Uniform"),
        "without_strongest": gettext("Without strongest piece"),
        "permuted": gettext("Shuffled, {count} times", count=count),
        "adversary": gettext("Adversarial attention"),
        "best": gettext("Best attention"),
    }


def outcome(real: PerturbedStep, perturbed: PerturbedStep, spelling: Spelling) -> str:
    """Return in a few words which piece a test would write."""
    name = quoted_name(spelling(perturbed.piece_id))
    return (
        gettext("still {name}", name=name)
        if perturbed.piece_id == real.piece_id
        else gettext("writes {name}", name=name)
    )


def median_probability(tests: PerturbationTests) -> float:
    """Return the median over the shuffles of the probability of the step's likeliest piece."""
    return float(np.median([perturbed.probabilities[tests.real.piece_id] for perturbed in tests.permuted]))


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
    moved = percent(0.5 * float(np.abs(tests.adversary.weights - tests.real.weights).sum()))
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
    changing = [(one, change) for one in trials if (change := _change_text(name, before, one[1]))]
    if changing:
        (trial, _, perturbed), change = max(changing, key=lambda one: round(abs(one[0][1] - before), 2))
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


def _change_text(name: str, before: float, after: float) -> str:
    """Return how a probability changes, as “verte”: 88 % → 10 %; empty where it stays the same."""
    was, becomes = format_share(before), format_share(after)
    if was == becomes:
        return ""
    return gettext("{piece}: {before} → {after}", piece=name, before=was, after=becomes)


def best_sentence(best: PerturbedStep, real: PerturbedStep, piece_id: int, trace: Trace, spelling: Spelling) -> str:
    """Return the attention that makes a piece likeliest, and the gain in probability; empty where it gains nothing."""
    before, after = (float(step.probabilities[piece_id]) for step in (real, best))
    change, most = _change_text(quoted_name(spelling(piece_id)), before, after), int(best.weights.argmax())
    if not change:
        return ""
    return gettext(
        "The best attention found gives {change}, with {share} of the weight on {source}.",
        change=change,
        share=percent(float(best.weights[most])),
        source=quoted_name(trace.source_pieces[most]),
    )


def shuffled_sentence(shuffled: PermutationEffects) -> str:
    """Return the effect of shuffled weights on the steps of a sentence."""
    steps = len(shuffled.change)
    unchanged_words = int((shuffled.kept > 0.5).sum())
    sentence = ngettext(
        "Of {steps}, {count} still writes the same word in most shuffles of the attention weights. At {unmoved} of "
        "the steps, shuffling the weights changes the probabilities by less than {little} (median total variation "
        "over all shuffles).",
        "Of {steps}, {count} still write the same word in most shuffles of the attention weights. At {unmoved} of the "
        "steps, shuffling the weights changes the probabilities by less than {little} (median total variation over "
        "all shuffles).",
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


def minimal_change_sentence(minimal_change: MinimalChange, step: int, spelling: Spelling) -> str:
    """Return the minimal change of 0-based `step`."""
    name, distance = quoted_name(spelling(int(minimal_change.first_ids[step]))), float(minimal_change.distances[step])
    if np.isinf(distance):
        return gettext(
            "With all changes of the attention weights that we tried, the model still writes {name}.", name=name
        )
    return gettext(
        "Moving {share} of the weight (an L1 distance of {distance}) makes the model write {other} instead of {name}. "
        "The minimal change may be smaller: {share} is an upper bound.",
        other=quoted_name(spelling(int(minimal_change.second_ids[step]))),
        name=name,
        share=percent(distance / 2),
        distance=decimal(distance),
    )


def perturbation_tests_caveat() -> str:
    """Return what perturbation tests do and do not show."""
    return gettext(
        "If other weights lead to the same word, the word did not need the original weights (Jain & Wallace 2019). "
        "The original weights may still be meaningful: the model was not trained with other weights. An adversarial "
        "search finds weights so far from the original weights that no sentence would make the model compute them "
        "(Wiegreffe & Pinter 2019). In translation, content words depend on attention far more than articles and "
        "prepositions do (Moradi et al. 2019). Even if a word depends on attention, attention does not explain the "
        "word: an annotation carries information from the whole sentence."
    )


REFERENCES = (
    ("Jain & Wallace 2019", "Attention is not explanation", "1902.10186"),
    ("Wiegreffe & Pinter 2019", "Attention is not not explanation", "1908.04626"),
    (
        "Moradi, Kambhatla & Sarkar 2019",
        "Interrogating the explanatory power of attention in neural machine translation",
        "1910.00139",
    ),
)
"""References: authors, title, arXiv number."""
