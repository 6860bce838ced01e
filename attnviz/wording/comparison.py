"""Texts about a comparison of two translations, or of two programs' links: labels, hover texts, differences."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnviz.analysis.alignment_error import Link, PairAgreement, error_between
from attnviz.analysis.comparison import Comparison, SharedAxis, Side
from attnviz.languages import gettext, ngettext
from attnviz.wording.attention_forms import SYMBOLS, face_names
from attnviz.wording.labels import quote, shorten
from attnviz.wording.numbers import decimal, percent, signed

Names = tuple[str, str]
"""Labels of the two translations."""
_LONGEST_NAME = 26


def default_names() -> Names:
    """Return the default labels of two translations."""
    return gettext("the first"), gettext("the other")


def panel_captions(names: Names, compared: Comparison) -> dict[str, tuple[str, str]]:
    """Return, for each panel, its title and what it shows; of other programs, it is not known when they computed it."""
    one, two = (shorten(name, _LONGEST_NAME) for name in names)
    shown = SYMBOLS[compared.face]
    if compared.has_probabilities or not compared.both_attend:
        shown = f"{shown}, {face_names()[compared.face].lower()}"
    return {
        "first": (one, shown),
        "other": (two, shown),
        "difference": (gettext("Difference"), gettext("{other} minus {first}", other=two, first=one)),
        "words": (gettext("log p of each word"), f"○ {one}  ● {two}"),
    }


def cell_hover_lines(compared: Comparison, names: Names, row: int, column: int) -> list[str]:
    """Return the hover text of a cell, the same in all panels: both words, both numbers and their difference."""
    words = f"{shorten(compared.target.names[row], 40)} ← {shorten(compared.source.names[column], 40)}"
    numbers = float(compared.first[row, column]), float(compared.other[row, column])
    return [words, *_value_lines(names, numbers, SYMBOLS[compared.face], 4)]


def word_hover_lines(compared: Comparison, names: Names, row: int) -> list[str]:
    """Return the hover text of a row's log probabilities."""
    numbers = float(compared.first_log_probabilities[row]), float(compared.other_log_probabilities[row])
    return [shorten(compared.target.names[row], 40), *_value_lines(names, numbers, "log p", 2)]


def _value_lines(names: Names, numbers: tuple[float, float], symbol: str, places: int) -> list[str]:
    """Return a line for each number, and one for their difference where both exist."""
    shown = signed if "−" in symbol else decimal
    lines = [
        f"{shorten(name, 40)}: "
        + (gettext("no such word") if np.isnan(number) else f"{symbol} = {shown(number, places)}")
        for name, number in zip(names, numbers, strict=True)
    ]
    if not np.isnan(numbers).any():
        lines.append(gettext("Difference: {amount}", amount=signed(numbers[1] - numbers[0], places)))
    return lines


def comparison_sentences(compared: Comparison, names: Names) -> list[str]:
    """Return sentences about what two translations share and how they differ."""
    sentences = []
    if not (compared.source.same and compared.target.same):
        sentences.append(_shared_sentence(compared))
    if compared.both_attend and compared.face != "difference" and np.isfinite(compared.total_variation).any():
        sentences.append(_attention_sentence(compared, names))
    logs = compared.first_log_probabilities, compared.other_log_probabilities
    if all(np.isfinite(values).any() for values in logs):
        sentences.append(_likelihood_sentence(compared, names))
    return sentences


def _shared_sentence(compared: Comparison) -> str:
    """Return how many source and target positions are shared."""
    counts = {
        "source": int(compared.source.shared.sum()),
        "sources": len(compared.source.names),
        "target": int(compared.target.shared.sum()),
        "targets": len(compared.target.names),
    }
    if not compared.has_probabilities:  # attention of other programs, in any languages
        return gettext(
            "The two files share {source} of {sources} source words and {target} of {targets} target words.", **counts
        )
    if compared.by == "words":
        return gettext(
            "The two translations share {source} of {sources} English words and {target} of {targets} French "
            "words. The end-of-sentence mark counts as one word.",
            **counts,
        )
    return gettext(
        "The two translations share {source} of {sources} English pieces and {target} of {targets} French "
        "pieces. The end-of-sentence mark counts as one piece.",
        **counts,
    )


def _attention_sentence(compared: Comparison, names: Names) -> str:
    """Return how far the attention differs, and where most."""
    mean, row = float(np.nanmean(compared.total_variation)), int(np.nanargmax(compared.total_variation))
    if compared.total_variation[row] < 0.005:
        return gettext("Every heatmap row that both translations have shows nearly the same attention in both.")
    start = gettext(
        "In the heatmap rows that both translations have, {mean} of the attention differs on average (total "
        "variation). The attention in the row of {word} differs most, by {share}.",
        mean=percent(mean),
        word=_quoted(compared.target, row),
        share=percent(float(compared.total_variation[row])),
    )
    one, two = (int(np.nanargmax(values[row])) for values in (compared.first, compared.other))
    if one == two:
        return start
    return (
        start
        + " "
        + gettext(
            "In the row that differs most, “{first}” attends most to {one}, “{other}” to {two}.",
            first=names[0],
            one=_quoted(compared.source, one),
            other=names[1],
            two=_quoted(compared.source, two),
        )
    )


def _likelihood_sentence(compared: Comparison, names: Names) -> str:
    """Return the log probabilities of both, and where they differ most."""
    logs = compared.first_log_probabilities, compared.other_log_probabilities
    sums = [float(np.nansum(values)) for values in logs]
    sentence = gettext(
        "The log p of all words together is {one} in “{first}” and {two} in “{other}”",
        one=decimal(sums[0]),
        first=names[0],
        two=decimal(sums[1]),
        other=names[1],
    )
    gains = logs[1] - logs[0]
    if not np.isfinite(gains).any() or np.nanmax(np.abs(gains)) < 0.005:
        return sentence + "."
    row = int(np.nanargmax(np.abs(gains)))
    return sentence + gettext(
        "; among the shared words, the log p of {word} changes most, from {one} to {two}.",
        word=_quoted(compared.target, row),
        one=decimal(float(logs[0][row])),
        two=decimal(float(logs[1][row])),
    )


def step_sentence(compared: Comparison, names: Names, step: int, side: Side = "first") -> str:
    """Return how the word of 0-based `step` of one `side` compares with the other translation.

    It says where each attends most, how far their attention differs, and the word's probabilities. Raise IndexError
    where there is no such step.
    """
    row = compared.row_of(step, side)
    word, other_step = _quoted(compared.target, row), compared.aligned_step(step, side)
    one, two = names if side == "first" else names[::-1]
    if other_step is None:
        sentences = [gettext("{word} is written only in “{first}”.", word=word, first=one)]
    elif other_step == step:
        sentences = [gettext("{word}: step {step} in both translations.", word=word, step=step + 1)]
    else:
        sentences = [
            gettext(
                "{word}: step {step} in “{first}”, step {there} in “{other}”.",
                word=word,
                step=step + 1,
                first=one,
                there=other_step + 1,
                other=two,
            )
        ]
    sentences += _step_attention_sentences(compared, names, row)
    logs = float(compared.first_log_probabilities[row]), float(compared.other_log_probabilities[row])
    if listed := [f"{name} {decimal(log)}" for name, log in zip(names, logs, strict=True) if not np.isnan(log)]:
        sentences.append(gettext("log p: {listed}.", listed="; ".join(listed)))
    return " ".join(sentences)


def attention_at_step(compared: Comparison, names: Names, step: int) -> str:
    """Return where the attention of two programs is largest at 0-based `step` of the first, and how far it differs."""
    row = compared.row_of(step)
    return " ".join([f"{_quoted(compared.target, row)}.", *_step_attention_sentences(compared, names, row)])


def _step_attention_sentences(compared: Comparison, names: Names, row: int) -> list[str]:
    """Return where each attends most in a row, and how far their attention differs."""
    if not compared.both_attend or compared.face == "difference":
        return []
    listed = []
    for name, values in zip(names, (compared.first[row], compared.other[row]), strict=True):
        if not np.isnan(values).all():
            column = int(np.nanargmax(values))
            listed.append(f"{name} {_quoted(compared.source, column)} ({decimal(float(values[column]))})")
    sentences = [gettext("Most attention: {listed}.", listed="; ".join(listed))]
    if not np.isnan(compared.total_variation[row]):
        sentences.append(
            gettext(
                "Share of the attention that differs: {share}.", share=percent(float(compared.total_variation[row]))
            )
        )
    return sentences


def _quoted(axis: SharedAxis, position: int) -> str:
    return quote(shorten(axis.names[position], 30))


def comparison_caveat() -> str:
    """Return what a comparison of two translations does not show."""
    return gettext(
        "A difference shows that the attention is not the same. A difference does not show which attention is "
        "right, or why. If the two translations differ before a word, their decoder states at that word differ "
        "too."
    )


def no_heatmaps_reason(model: str) -> str:
    """Return why there are no heatmaps to compare."""
    return gettext(
        "The model {model} has no attention, so only the probabilities of the words can be compared.",
        model=model,
    )


def agreement_sentences(pairs: Sequence[PairAgreement], names: tuple[str, str]) -> list[str]:
    """Return how many links both programs have, how many only one has, and the error rate between them."""
    shared, only_first, only_other = (
        sum(len(getattr(pair, name)) for pair in pairs) for name in ("shared", "only_first", "only_other")
    )
    sentences = [ngettext("The files share {count} link.", "The files share {count} links.", shared)]
    sentences += [
        ngettext("{count} link is only in {name}.", "{count} links are only in {name}.", count, name=name)
        for count, name in ((only_first, names[0]), (only_other, names[1]))
        if count
    ]
    rate = error_between(pairs)
    if rate is not None:
        sentences.append(gettext("The alignment error rate between the files is {aer}.", aer=decimal(rate, 3)))
    return sentences


def only_one_sentence(source: str, target: str, link: Link, name: str) -> str:
    """Return the sentence that a link is only in the file `name`."""
    return gettext(
        "Only {name} has {source} → {target} ({link}).",
        name=shorten(name, 40),
        source=quote(shorten(source, 30)),
        target=quote(shorten(target, 30)),
        link=f"{link[0]}-{link[1]}",
    )
