"""Compare two translations, or attention of other programs, on the words they share; texts of the differences."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from types import NoneType
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.grid import Grid, grid
from attnviz.analysis.labels import SYMBOLS, decimal, face_names, percent, quote, shorten, signed
from attnviz.analysis.measures import PairAgreement, error_between, ranked, total_variation
from attnviz.analysis.word_classes import is_punctuation
from attnviz.arguments import check_choice, check_each, check_whole_argument
from attnviz.errors import user_error
from attnviz.languages import gettext, ngettext
from attnviz.text import normalise, word_spans
from attnviz.trace import Array, Attention, By, Face, Link, OneLine, Record, float64
from attnviz.trace.aligned import Groups

ComparedSide = Literal["first", "other"]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison(OneLine):
    """Two translations on common axes of R target and C source places.

    A cell is nan in a translation that lacks its row or column, and where its model has no attention.
    """

    by: By
    face: Face
    source: SharedAxis
    """The columns."""
    target: SharedAxis
    """The rows."""
    first: Array
    """Values of the chosen face of the first translation, (R, C)."""
    other: Array
    """Values of the other translation, (R, C)."""
    first_log_probabilities: Array
    """log p of each word of the first translation, summed over its pieces, in nats, (R,); nan where unknown."""
    other_log_probabilities: Array
    steps: Mapping[ComparedSide, Groups]
    """For each translation and row, the 0-based steps that wrote the word; empty where it lacks the word."""
    pieces: Mapping[ComparedSide, Groups]
    """For each translation and column, its 0-based source pieces."""
    both_attend: bool
    """Whether both models have attention, so that cells can be compared."""

    @property
    def has_probabilities(self) -> bool:
        """Whether the words of at least one translation have probabilities, which imported attention lacks."""
        return bool(np.isfinite([self.first_log_probabilities, self.other_log_probabilities]).any())

    @property
    def difference(self) -> Array:
        """Other minus first, (R, C): in [-1, 1] for shares, nan except in shared cells."""
        return self.other - self.first

    @property
    def total_variation(self) -> Array:
        """For each shared row, half the sum of absolute differences of its cells, (R,); missing cells count as 0.

        For shares this is the total variation, from 0 (the same) to 1 (disjoint). nan where the row is not shared.
        """
        unshared = np.isnan(self.first).all(axis=1) | np.isnan(self.other).all(axis=1)
        return np.where(unshared, np.nan, total_variation(np.nan_to_num(self.other), np.nan_to_num(self.first)))

    def most_changed(self, count: int = 1) -> list[tuple[int, int]]:
        """Return the shared cells that differ most.

        Args:
            count: Number of cells.

        Returns:
            Cells, (row, column), without zeros, largest difference first.
        """
        check_whole_argument(gettext("count"), count, 0, sys.maxsize)
        amounts = np.nan_to_num(np.abs(self.difference))
        places = [divmod(place, amounts.shape[1]) for place in ranked(amounts.ravel())[:count]]
        return [place for place in places if amounts[place] > 0]

    def row_of(self, step: int, side: ComparedSide = "first") -> int:
        """Return the row of a step of one side.

        Args:
            step: Step, 0-based.
            side: "first" or "other".

        Returns:
            The row on the common axes.

        Raises:
            AttnvizError: This side has no such step.
        """
        check_choice("side", side, get_args(ComparedSide))
        written = sum(map(len, self.steps[side]))
        check_whole_argument(gettext("step"), step, 0, written - 1)
        return next(row for row, steps in enumerate(self.steps[side]) if step in steps)

    def aligned_step(self, step: int, side: ComparedSide = "first") -> int | None:
        """Return the step of the other side that wrote the same word as a step of this side.

        Args:
            step: Step of this side, 0-based.
            side: This side, "first" or "other".

        Returns:
            The step; in a word of several pieces, the piece of the same number, or its last. None where the other side
            lacks the word.

        Raises:
            AttnvizError: This side has no such step.
        """
        row = self.row_of(step, side)
        theirs = self.steps["other" if side == "first" else "first"][row]
        return theirs[min(self.steps[side][row].index(step), len(theirs) - 1)] if theirs else None


def compare(
    trace: Record | Attention,
    other: Record | Attention,
    *,
    by: By = "words",
    face: Face = "before",
    posteriors: tuple[Array | None, Array | None] = (None, None),
) -> Comparison:
    """Return two translations on common axes, by words or by pieces.

    They may be of one sentence by two models, of two sentences, or before and after an intervention; or attention or
    links of other programs (`Attention`), which have no probabilities. Words are merged as in `grid`, and shared as in
    `shared_axis`.

    Args:
        trace: The first translation.
        other: The other translation.
        by: "words" or "steps". Pieces compare poorly where the tokenizers differ.
        face: "before", "after" or "difference", as in `figures.heatmap`.
        posteriors: Posterior attention of both, (Ty, Tx), as `posterior` returns it, for a `face` other than "before";
            None for a model without attention.

    Returns:
        The comparison.

    Raises:
        AttnvizError: A posterior is missing, an argument is no translation, or `by` or `face` is unknown.
    """
    check_each(gettext("translations"), (trace, other), (Record, Attention))
    if not isinstance(posteriors, tuple) or len(posteriors) != 2:
        raise user_error("Give a pair of posterior attentions, one for each translation.")
    check_each(gettext("posterior attentions"), posteriors, (np.ndarray, NoneType))
    faces: list[Face] = [face if record.attends else "before" for record in (trace, other)]
    first_grid, other_grid = (
        grid(record, by, face=own_face, posterior=posterior)
        for record, own_face, posterior in zip((trace, other), faces, posteriors, strict=True)
    )
    source, target = (
        shared_axis(first_grid.source, other_grid.source),
        shared_axis(first_grid.target, other_grid.target),
    )
    first_cells, first_logs, first_steps, first_pieces = _on_common_axes(trace, first_grid, target.first, source.first)
    other_cells, other_logs, other_steps, other_pieces = _on_common_axes(other, other_grid, target.other, source.other)
    return Comparison(
        by,
        face,
        source,
        target,
        first_cells,
        other_cells,
        first_logs,
        other_logs,
        {"first": first_steps, "other": other_steps},
        {"first": first_pieces, "other": other_pieces},
        both_attend=trace.attends and other.attends,
    )


def _on_common_axes(
    record: Record | Attention, own_grid: Grid, rows: Sequence[int | None], columns: Sequence[int | None]
) -> tuple[Array, Array, Groups, Groups]:
    """Return the cells of one translation on the common axes, (R, C), with what else belongs to its rows and columns.

    That is the log probability of the word in each row, (R,), its steps, and the pieces of each column.
    """
    cells, logs = np.full((len(rows), len(columns)), np.nan), np.full(len(rows), np.nan)
    present = [[k for k, word in enumerate(places) if word is not None] for places in (rows, columns)]
    if record.attends:
        cells[np.ix_(*present)] = own_grid.shown
    steps, pieces = (
        tuple(() if word is None else groups[word] for word in places)
        for groups, places in ((own_grid.steps, rows), (own_grid.pieces, columns))
    )
    if isinstance(record, Record):  # imported attention has no probabilities
        known = float64(record.log_probabilities)
        logs[present[0]] = [known[list(steps[row])].sum() for row in present[0]]
    return cells, logs, steps, pieces


@dataclass(frozen=True)
class SharedAxis:
    """Two sentences on one axis of N places: shared words once, other words in between, in sentence order."""

    first: tuple[int | None, ...]
    """For each place, the 0-based word of the first sentence; None where only the other has a word."""
    other: tuple[int | None, ...]
    """For each place, the 0-based word of the other sentence; None where only the first has a word."""
    names: tuple[str, ...]
    """Label of each place; both spellings where a shared word differs in case."""

    @property
    def shared(self) -> NDArray[np.bool_]:
        """Whether both have a word there, (N,)."""
        return np.array([None not in pair for pair in zip(self.first, self.other, strict=True)], dtype=bool)

    @property
    def same(self) -> bool:
        """Whether every place is shared, so that the sentences differ only in case."""
        return bool(self.shared.all())


def shared_axis(first: Sequence[str], other: Sequence[str]) -> SharedAxis:
    """Return two sentences on one axis, by the longest common run of words, then recursively left and right of it.

    This is the algorithm of Ratcliff & Obershelp (1988), as in `difflib`, ignoring case. Between shared words, those of
    the first sentence come first. A word that moved is shared in one place at most.
    """
    first_folded, other_folded = ([word.casefold() for word in words] for words in (first, other))
    places: list[tuple[int | None, int | None]] = []
    for kind, start, end, other_start, other_end in SequenceMatcher(
        None, first_folded, other_folded, False
    ).get_opcodes():
        if kind == "equal":
            places += zip(range(start, end), range(other_start, other_end), strict=True)
        else:
            places += [(word, None) for word in range(start, end)]
            places += [(None, word) for word in range(other_start, other_end)]
    names = (
        dict.fromkeys(words[place] for words, place in zip((first, other), pair, strict=True) if place is not None)
        for pair in places
    )
    return SharedAxis(tuple(i for i, _ in places), tuple(k for _, k in places), tuple(map(" / ".join, names)))


def sentence_words(text: str) -> tuple[str, ...]:
    """Return the words of a sentence, punctuation marks included, as the functions here count them."""
    text = normalise(text)
    return tuple(text[start:end] for start, end in word_spans(text))


def without_word(text: str, word: int) -> str:
    """Return a sentence without 0-based `word`; raise IndexError where there is none."""
    text = normalise(text)
    start, end = word_spans(text)[word]
    before, after = text[:start], text[end:]
    # A mark that directly followed the word, such as a full stop, now follows the previous word.
    return " ".join(((before if after[:1].isspace() else before.rstrip()) + after).split())


def next_word(text: str, word: int) -> int | None:
    """Return the next word after 0-based `word`, skipping punctuation, which keeps its place.

    None where there is none or `word` itself is punctuation.
    """
    words = sentence_words(text)
    if is_punctuation(words[word]):
        return None
    return next((k for k in range(word + 1, len(words)) if not is_punctuation(words[k])), None)


def with_next_swapped(text: str, word: int) -> str:
    """Return a sentence in which 0-based `word` and its `next_word` are swapped; unchanged where it has none.

    Raise IndexError where there is no such word.
    """
    text = normalise(text)
    follower, spans = next_word(text, word), word_spans(text)
    if follower is None:
        return text
    (start, end), (next_start, next_end) = spans[word], spans[follower]
    return text[:start] + text[next_start:next_end] + text[end:next_start] + text[start:end] + text[next_end:]


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
    return gettext(
        "The two translations share {source} of {sources} English words and {target} of {targets} French words. The "
        "end-of-sentence mark counts as one word."
        if compared.by == "words"
        else "The two translations share {source} of {sources} English pieces and {target} of {targets} French pieces. "
        "The end-of-sentence mark counts as one piece.",
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
        share=percent(compared.total_variation[row]),
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
        one=decimal(logs[0][row]),
        two=decimal(logs[1][row]),
    )


def comparison_sentence(compared: Comparison, names: Names, step: int, side: ComparedSide = "first") -> str:
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
            listed.append(f"{name} {_quoted(compared.source, column)} ({decimal(values[column])})")
    sentences = [gettext("Most attention: {listed}.", listed="; ".join(listed))]
    if not np.isnan(compared.total_variation[row]):
        sentences.append(
            gettext("Share of the attention that differs: {share}.", share=percent(compared.total_variation[row]))
        )
    return sentences


def _quoted(axis: SharedAxis, position: int) -> str:
    return quote(axis.names[position], 30)


def comparison_caveat() -> str:
    """Return what a comparison of two translations does not show."""
    return gettext(
        "A difference shows that the attention is not the same. A difference does not show which attention is right, "
        "or why. If the two translations differ before a word, their decoder states at that word differ too."
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
        source=quote(source, 30),
        target=quote(target, 30),
        link=f"{link[0]}-{link[1]}",
    )
