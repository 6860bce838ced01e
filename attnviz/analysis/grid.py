"""The data of a heatmap or its table: rows, columns, and attention, posterior or difference by steps or by words."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from attnviz.analysis.gold import GoldLinks, link_errors
from attnviz.analysis.imported_file_texts import missing_values_reason
from attnviz.analysis.measures import coverage, entropy
from attnviz.arguments import check_choice
from attnviz.errors import AttnvizError, user_error
from attnviz.languages import gettext
from attnviz.text import CONTINUES, piece_name
from attnviz.trace import Array, By, Face, FloatArray, Floating, Link, Words
from attnviz.trace.aligned import Groups

GRID_UNITS: tuple[By, ...] = get_args(By)
FACES: tuple[Face, ...] = get_args(Face)

_ENDS = (0.1, 0.2, 0.4, 0.6, 0.8)
"""Ends of a difference's colour scale for small differences; larger ones use 1."""


class Bracket(NamedTuple):
    """Neighbouring rows, or columns, that are the pieces of one word."""

    first: int
    last: int
    word: str


@dataclass(frozen=True)
class Grid:
    """The data of a heatmap: names of columns and rows, cell values, and the steps of each row."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    alpha: FloatArray
    """alpha, (rows, columns), unrounded, whatever face is displayed."""
    face: Face
    shown: Floating
    """Displayed values, (rows, columns): alpha or the posterior in [0, 1], or their difference in [-1, 1]."""
    steps: tuple[tuple[int, ...], ...]
    """For each row, the 0-based decoder steps that wrote it."""
    pieces: tuple[tuple[int, ...], ...]
    """For each column, its 0-based source pieces."""
    covered: Array
    """Sum of each displayed column over all rows, including rows that are not drawn, (columns,)."""
    entropies: Array
    """H_i of the pieces of each displayed row, in bits; for a word the mean over its pieces.

    For the difference, the entropy of the posterior minus that of alpha.
    """
    source_brackets: tuple[Bracket, ...] = ()
    """The columns of each word of several pieces, where a column is a piece."""
    target_brackets: tuple[Bracket, ...] = ()
    """The rows of each word of several steps, where a row is a step."""

    @property
    def full_names(self) -> tuple[list[str], list[str]]:
        """Names of columns and rows for hover texts: a piece of a longer word is followed by its word."""
        source, target = list(self.source), list(self.target)
        for names, brackets in ((source, self.source_brackets), (target, self.target_brackets)):
            for first, last, word in brackets:
                names[first : last + 1] = [f"{name} ({word})" for name in names[first : last + 1]]
        return source, target

    @property
    def merged(self) -> bool:
        """Whether a row is the mean of several steps, or a column the sum of several pieces."""
        return any(len(group) > 1 for group in (*self.steps, *self.pieces))

    @property
    def posterior_or_weights(self) -> Floating:
        """The posterior, (rows, columns), where the face needs it; else alpha."""
        return self.alpha + self.shown if self.face == "difference" else self.shown

    @property
    def range(self) -> tuple[float, float]:
        """Ends of the colour scale: 0 and 1, or for differences a symmetric round number near the largest."""
        if self.face != "difference":
            return 0, 1
        end = scale_end(float(np.abs(self.shown).max()))
        return -end, end


def scale_end(largest: float) -> float:
    """Return the end of the colour scale for differences up to `largest`: a round number."""
    return next((end for end in _ENDS if end >= largest), 1.0)


def grid(
    trace: Any,
    by: By = "steps",
    end: bool | None = True,
    face: Face = "before",
    posterior: Array | None = None,
) -> Grid:
    """Return the rows and columns to draw, by steps or by words; without `end`, `</s>` is left out on both axes.

    By steps, the numbers are those of the steps. By words, a row is the *mean* of the steps of its word, and a column
    the *sum* of the pieces of its word.

    `posterior`, (Ty, Tx), from `analysis.posterior`, is needed for every face except "before". Raise AttnvizError where
    it is missing, and for an unknown `by` or `face`.
    """
    check_choice("by", by, GRID_UNITS)
    check_choice("face", face, FACES)
    shares: Floating = trace.alignment
    bits = entropy(shares)
    if face != "before":
        check_posterior(trace)
        if posterior is None:
            message = gettext(
                "Posterior attention (the attention once the word is known) is computed from the weights of the model "
                "{model}. Give the model {model} too, or show the attention before the word is known.",
                model=trace.model,
            )
            raise AttnvizError(message)
        less = trace.alignment if face == "difference" else 0
        bits = entropy(posterior) - (bits if face == "difference" else 0)
        shares = posterior - less
    words, by_words = trace.words(), by == "words"
    alpha = words.alignment if by_words else trace.alignment
    shown = alpha if face == "before" else words.merged(shares) if by_words else shares
    rows, columns = alpha.shape
    if not end:
        columns -= trace.source_pieces[-1] == "</s>" and columns > 1
        rows -= trace.target_pieces[-1] == "</s>" and rows > 1
    source, target, steps, pieces = words.source, words.target, words.target_groups, words.source_groups
    brackets = {}
    if not by_words:
        source, brackets["source_brackets"] = _pieces_of(source, pieces, trace.source_surfaces[:columns])
        target, brackets["target_brackets"] = _pieces_of(target, steps, trace.typed_target[:rows])
        steps, pieces = (tuple((k,) for k in range(len(names))) for names in (target, source))
    return Grid(
        source[:columns],
        target[:rows],
        alpha[:rows, :columns],
        face,
        shown[:rows, :columns],
        steps[:rows],
        pieces[:columns],
        coverage(shown)[:columns],
        np.array([bits[list(group)].mean() for group in steps[:rows]]),
        **brackets,
    )


def _pieces_of(
    words: Sequence[str], groups: Groups, pieces: Sequence[str]
) -> tuple[tuple[str, ...], tuple[Bracket, ...]]:
    """Return a label for each piece, that of its word where it is the whole word, and the brackets of longer words.

    A label with CONTINUES before it continues a word; tables are read back by it.
    """
    names, brackets = list(map(piece_name, pieces)), []
    for word, group in zip(words, groups, strict=True):
        shown = [piece for piece in group if piece < len(pieces)]
        if len(shown) > 1:
            brackets.append(Bracket(shown[0], shown[-1], word))
            for piece in shown[1:]:
                names[piece] = CONTINUES + names[piece].removeprefix(CONTINUES)
        elif shown and len(group) == 1:
            names[shown[0]] = word
    return tuple(names), tuple(brackets)


def check_posterior(trace: Any) -> None:
    """Raise AttnvizError, saying why, where `trace` cannot have exactly one posterior attention."""
    if not trace.translated:
        raise AttnvizError(missing_values_reason())
    if not trace.attends:
        raise user_error(
            "The model {model} has no attention, so there is no alignment to show before and after the word.",
            model=trace.model,
        )
    if trace.imported:
        raise user_error(
            "The model {model} was imported, so it has no posterior attention (after the word).", model=trace.model
        )
    if not trace.attends_once:
        raise user_error(
            "The model {model} is a transformer: each step has many attention distributions, so it has no "
            "single posterior attention (after the word).",
            model=trace.model,
        )


def places_of_pieces(groups: tuple[tuple[int, ...], ...], count: int) -> list[int | None]:
    """Return the row or column of each of `count` pieces; None where it is not drawn."""
    places: list[int | None] = [None] * count
    for place, group in enumerate(groups):
        for piece in group:
            places[piece] = place
    return places


LinkKind = Literal["sure", "possible", "false"]
LinkMarkers = dict[LinkKind, tuple[Link, ...]]
"""The (row, column) of each marked cell, by kind; only kinds that occur."""


def link_markers(cells: Grid, words: Words, gold: GoldLinks) -> LinkMarkers:
    """Return the markers of the links of `gold` and `words` on `cells`.

    A false link is one of the alignment in `words` that is neither a sure nor a possible link of `gold`.
    """
    rows, columns = (
        places_of_pieces(shown, sum(map(len, groups)))
        for shown, groups in ((cells.steps, words.target_groups), (cells.pieces, words.source_groups))
    )
    kinds: dict[LinkKind, Iterable[Link]] = {
        "sure": gold.sure,
        "possible": gold.possible,
        "false": link_errors(words, gold).false,
    }
    found: LinkMarkers = {}
    for kind, links in kinds.items():
        marked = {
            (row, column)
            for j, i in links
            for row in {rows[step] for step in words.linkable.target_groups[i]}
            for column in {columns[piece] for piece in words.linkable.source_groups[j]}
            if row is not None and column is not None
        }
        if marked:
            found[kind] = tuple(sorted(marked))
    return found
