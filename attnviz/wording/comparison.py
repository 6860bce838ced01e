"""What is said of two translations side by side: their names, their cells, and what they differ in."""

from __future__ import annotations

import numpy as np

from attnviz.analysis.comparison import Comparison
from attnviz.analysis.grid import Face
from attnviz.analysis.shared_words import SharedAxis
from attnviz.languages import say
from attnviz.wording.faces import SYMBOLS, face_names
from attnviz.wording.labels import quote, shorten
from attnviz.wording.numbers import decimal, percent, signed

Names = tuple[str, str]
"""What the two are called."""
_LONGEST = 26


def plain_names() -> Names:
    """Return what two translations are called of which nothing is known."""
    return say("the first"), say("the other")


def panel_captions(names: Names, face: Face) -> dict[str, tuple[str, str]]:
    """Return of each panel, by its kind, what it is called and what it shows."""
    one, two = (shorten(name, _LONGEST) for name in names)
    shown = f"{SYMBOLS[face]}, {face_names()[face].lower()}"
    return {
        "first": (one, shown),
        "other": (two, shown),
        "difference": (say("Difference"), say("{other} less {first}", other=two, first=one)),
        "words": (say("log p of each word"), f"○ {one}  ● {two}"),
    }


def cell_lines(compared: Comparison, names: Names, row: int, column: int) -> list[str]:
    """Return what is said of a cell, in all panels alike: both words, both numbers, and what they differ by."""
    words = f"{shorten(compared.target.names[row], 40)} ← {shorten(compared.source.names[column], 40)}"
    numbers = float(compared.first[row, column]), float(compared.other[row, column])
    return [words, *_both(names, numbers, SYMBOLS[compared.face], 4)]


def word_lines(compared: Comparison, names: Names, row: int) -> list[str]:
    """Return what is said of how likely each found the word of a row."""
    numbers = float(compared.first_log_probabilities[row]), float(compared.other_log_probabilities[row])
    return [shorten(compared.target.names[row], 40), *_both(names, numbers, "log p", 2)]


def _both(names: Names, numbers: tuple[float, float], symbol: str, places: int) -> list[str]:
    """Return a line for the number of each, and one for their difference where both have one."""
    shown = signed if "−" in symbol else decimal
    lines = [
        f"{shorten(name, 40)}: " + (say("no such word") if np.isnan(number) else f"{symbol} = {shown(number, places)}")
        for name, number in zip(names, numbers, strict=True)
    ]
    if not np.isnan(numbers).any():
        lines.append(say("Difference: {amount}", amount=signed(numbers[1] - numbers[0], places)))
    return lines


def comparison_sentences(compared: Comparison, names: Names) -> list[str]:
    """Return in words what two translations share and what they differ in, a sentence each."""
    told = []
    if not (compared.source.same and compared.target.same):
        told.append(say(
            "They share {source} of {sources} English and {target} of {targets} French words.",
            source=_count(compared.source), sources=len(compared.source.names),
            target=_count(compared.target), targets=len(compared.target.names),
        ))  # fmt: skip
    if compared.looks and np.isfinite(compared.moved).any():
        told.append(_looks(compared, names))
    told.append(_likelihoods(compared, names))
    return told


def _count(axis: SharedAxis) -> int:
    return int(axis.shared.sum())


def _looks(compared: Comparison, names: Names) -> str:
    """Say how far the looks lie apart, and where most."""
    mean, row = float(np.nanmean(compared.moved)), int(np.nanargmax(compared.moved))
    if compared.moved[row] < 0.005:
        return say("The looks of the words they share are the same.")
    start = say(
        "From one to the other {mean} of a word’s look lies elsewhere in the mean (total variation), most at {word}: "
        "{share}.", mean=percent(mean), word=_quoted(compared.target, row), share=percent(float(compared.moved[row])),
    )  # fmt: skip
    one, two = (int(np.nanargmax(values[row])) for values in (compared.first, compared.other))
    if one == two:
        return start
    return start + " " + say(
        "There “{first}” has most on {one}, “{other}” on {two}.", first=names[0], one=_quoted(compared.source, one),
        other=names[1], two=_quoted(compared.source, two),
    )  # fmt: skip


def _likelihoods(compared: Comparison, names: Names) -> str:
    """Say how likely each found its words, and where they differ most."""
    logs = compared.first_log_probabilities, compared.other_log_probabilities
    sums = [float(np.nansum(one)) for one in logs]
    told = say("All words together have log p = {one} in “{first}” and {two} in “{other}”",
               one=decimal(sums[0]), first=names[0], two=decimal(sums[1]), other=names[1])  # fmt: skip
    gains = logs[1] - logs[0]
    if not np.isfinite(gains).any() or np.nanmax(np.abs(gains)) < 0.005:
        return told + "."
    row = int(np.nanargmax(np.abs(gains)))
    return told + say("; of shared words {word} changes most, from {one} to {two}.", word=_quoted(compared.target, row),
                      one=decimal(float(logs[0][row])), two=decimal(float(logs[1][row])))  # fmt: skip


def _quoted(axis: SharedAxis, place: int) -> str:
    return quote(shorten(axis.names[place], 30))


def comparison_caveat() -> str:
    """Return what two translations, side by side, do not say."""
    return say(
        "A difference says that two looked elsewhere, not which of them is right, nor why. Where the words before a "
        "word differ, so does the question that its look answers."
    )


def without_looks(model: str) -> str:
    """Return why there are no heatmaps to compare."""
    return say("The model {model} has no attention: it looked nowhere, so that only how likely it found each word can "
               "be compared.", model=model)  # fmt: skip
