"""Texts about perturbation tests (other attention weights at a step): names, outcomes, what they show, references."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from attnviz.analysis.minimal_change import MinimalChange
from attnviz.analysis.perturbation_tests import PerturbationTests
from attnviz.analysis.shuffled import Shuffled
from attnviz.analysis.step_evaluation import PerturbedStep
from attnviz.languages import gettext, ngettext
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


def perturbation_tests_sentence(tests: PerturbationTests, spelling: Spelling) -> str:
    """Return how far the word of a step depends on its attention."""
    name, count = quoted_name(spelling(tests.real.piece_id)), len(tests.permuted)
    same_word = sum(perturbed.piece_id == tests.real.piece_id for perturbed in tests.permuted)
    parts = [
        ngettext(
            "In {all} random shuffles of this step’s weights, the model writes {name} {count} time. The "
            "probabilities change by a median of {change} (total variation).",
            "In {all} random shuffles of this step’s weights, the model writes {name} {count} times. The "
            "probabilities change by a median of {change} (total variation).",
            same_word,
            all=count,
            name=name,
            change=decimal(tests.change_when_permuted),
        )
    ]
    for perturbed, condition in (
        (tests.uniform, gettext("With uniform weights")),
        (tests.without_strongest, gettext("Without the strongest piece")),
    ):
        parts.append(
            gettext(
                "{trial}, the model {outcome}.", trial=condition, outcome=_written_text(tests.real, perturbed, spelling)
            )
        )
    parts.append(
        gettext(
            "A search for very different attention weights moved {moved} of the attention to other pieces, but "
            "changed the probabilities by no more than {change}.",
            moved=percent(0.5 * float(np.abs(tests.adversary.weights - tests.real.weights).sum())),
            change=decimal(tests.adversary.total_variation, 3),
        )
    )
    change = tests.change_when_permuted
    if change < SMALL_CHANGE:
        parts.append(gettext("So this word depends little on attention, and more on the state and the previous words."))
    elif change >= LARGE_CHANGE:
        parts.append(gettext("So this word depends strongly on attention."))
    return " ".join(parts)


def best_sentence(best: PerturbedStep, real: PerturbedStep, piece_id: int, trace: Trace, spelling: Spelling) -> str:
    """Return the attention that makes a piece likeliest, and the gain in probability."""
    name, most = _capital(quoted_name(spelling(piece_id))), int(best.weights.argmax())
    before, p = (percent(float(step.probabilities[piece_id])) for step in (real, best))
    if p == before:
        return gettext("{name} cannot become more probable than {p}, whatever the attention.", name=name, p=p)
    return gettext(
        "{name} would reach its highest probability, {p} instead of {before}, if attention put {share} of the "
        "weight on {source}.",
        name=name,
        p=p,
        before=before,
        share=percent(float(best.weights[most])),
        source=quoted_name(trace.source_pieces[most]),
    )


def shuffled_sentence(shuffled: Shuffled) -> str:
    """Return the effect of shuffled weights on the steps of a sentence."""
    steps = len(shuffled.change)
    unchanged_words = int((shuffled.kept > 0.5).sum())
    sentence = ngettext(
        "Of {steps}, {count} still writes the same word in most shuffles of the attention weights. At {unmoved} "
        "of the steps, the median change of the probabilities over all shuffles is below {little} (total "
        "variation).",
        "Of {steps}, {count} still write the same word in most shuffles of the attention weights. At {unmoved} "
        "of the steps, the median change of the probabilities over all shuffles is below {little} (total "
        "variation).",
        unchanged_words,
        steps=ngettext("{count} step", "{count} steps", steps),
        unmoved=int((shuffled.change < SMALL_CHANGE).sum()),
        little=SMALL_CHANGE,
    )
    if steps < 3 or not np.ptp(shuffled.largest) or not np.ptp(shuffled.change):
        return sentence
    correlation = float(np.corrcoef(shuffled.largest, shuffled.change)[0, 1])
    return f"{sentence} " + gettext(
        "The correlation between the largest weight of a step and the change of its probabilities is {r} (Pearson).",
        r=decimal(correlation),
    )


def minimal_change_sentence(minimal_change: MinimalChange, step: int, spelling: Spelling) -> str:
    """Return the minimal change of 0-based `step`."""
    name, distance = quoted_name(spelling(int(minimal_change.first_ids[step]))), float(minimal_change.distances[step])
    if np.isinf(distance):
        return gettext("None of the weight changes tried makes the model write anything but {name}.", name=name)
    return gettext(
        "Moving {share} of the weight (a total change of {distance}) makes the model write {other} instead of "
        "{name}. This change is an upper bound: a smaller one may exist.",
        other=quoted_name(spelling(int(minimal_change.second_ids[step]))),
        name=name,
        share=percent(distance / 2),
        distance=decimal(distance),
    )


def perturbation_tests_caveat() -> str:
    """Return what perturbation tests do and do not show."""
    return gettext(
        "If other weights lead to the same word, the word did not need this attention (Jain & Wallace 2019). "
        "That does not make the attention meaningless: the model was not trained with those other weights. No "
        "sentence would make the model compute weights as far from the original weights as those of an "
        "adversarial search (Wiegreffe & Pinter 2019). In translation, content words depend on attention far "
        "more than articles and prepositions do (Moradi et al. 2019). Even if a word depends on attention, "
        "attention does not explain the word: an annotation carries information from the whole sentence."
    )


def _written_text(real: PerturbedStep, perturbed: PerturbedStep, spelling: Spelling) -> str:
    values = {
        "name": quoted_name(spelling(perturbed.piece_id)),
        "p": percent(float(perturbed.probabilities[perturbed.piece_id])),
    }
    if perturbed.piece_id == real.piece_id:
        return gettext("still writes {name} ({p})", **values)
    return gettext("writes {name} ({p})", **values)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


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
