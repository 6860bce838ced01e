"""Figure and table of a beam search as a tree: a column for each step, and as few rows as possible."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from types import NoneType
from typing import Literal

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz import lazy_pandas as pd
from attnviz.analysis.beam_sentences import fate_label, fate_sentence, search_sentence, winner_sentence
from attnviz.analysis.labels import shorten
from attnviz.analysis.numbers import decimal
from attnviz.arguments import check_each, check_piece_ids
from attnviz.figures.spec import Part, base_axis, base_layout, build_figure, escape, width
from attnviz.languages import gettext
from attnviz.palette import BAND, Palette, ThemeName, palette
from attnviz.text import EOS, SPACE, piece_name
from attnviz.trace import BeamTree

_LABEL, _TAIL = 14, 48
"""Characters of a piece's label, and of the text before it in a hover text."""
_ROW, _TOP, _BOTTOM, _LEFT, _RIGHT = 19, 28, 12, 40, 16
"""Pixels of a row and of the margins; the left one holds `<s>`."""
_MIN_GAP, _MAX_GAP, _FULL_WIDTH = 22, 64, 760
"""Pixels between two columns, at least and at most, and pixels that the columns of a short search fill."""
_MIN_COLUMN = 34
"""Pixels of the narrowest column."""
_FONT_RATIO = 0.86
"""Width of the page's font, as a share of the estimated width."""
_LINK_X = np.linspace(0, 1, 9)
_LINK_Y = 3 * _LINK_X**2 - 2 * _LINK_X**3
"""Horizontal and vertical positions along the bend of a link between two rows, from 0 to 1."""
_LABEL_GAP = 3
"""Pixels between a label and its links."""


@dataclass(frozen=True)
class _BranchStyle:
    """Style of a kind of branch."""

    size: float
    """Font size in pixels."""
    line: float
    """Line width in pixels."""
    dash: str = "solid"
    letter_width: float = 1
    """Width of the letters relative to regular ones."""


_STYLES: dict[BranchKind, _BranchStyle] = {
    "twig": _BranchStyle(10.5, 0.7, dash="dot"),
    "dropped": _BranchStyle(11.5, 1.1),
    "finished": _BranchStyle(12.5, 1.7),
    "winner": _BranchStyle(13.5, 3, letter_width=1.08),
}
"""Styles, in drawing order."""


@dataclass(frozen=True)
class _Columns:
    """Positions of the steps, in pixels from the left of the plot."""

    middles: NDArray[np.float64]
    ends: NDArray[np.float64]
    """Right edges; the first is that of `<s>`, before all steps. Links bend between one column and the next."""
    starts: NDArray[np.float64]
    """Left edges of the steps."""
    widest: int


def beam_tree_figure(
    tree: BeamTree, *, step: int | None = None, shown: Sequence[int] = (), theme: ThemeName = "light"
) -> go.Figure:
    """Draw all hypotheses of a beam search as a tree with a column for each step; shared beginnings appear once.

    The winner's path is on top; rank and score follow each finished hypothesis.

    Args:
        tree: The beam search.
        step: Step, 0-based, that has a band.
        shown: Ids of the pieces of the displayed translation.
        theme: "light" or "dark".

    Returns:
        The figure. The `customdata` of a label is the index of its node in `tree.nodes`. `layout.meta` has `alt`, the
        fixed width (`narrowest`, `widest`), the edges of each step's column on the x axis (`spans`), and the colour of
        their band (`selection_colour`). Its `tree` has, for each node, its parent (-1 is none), the id of its piece and
        whether it was continued (`inner`), with the `winner`, the id of EOS (`end`) and the ids of the displayed
        translation (`shown`).
    """
    check_each(gettext("steps"), (step,), (int, NoneType))
    check_piece_ids(shown)
    ink, places = palette(theme), places_of(tree)
    names = [escape(shorten(piece_name(node.piece), _LABEL)) for node in tree.nodes]
    half_widths = [_half_width(node.piece, _STYLES[part]) for node, part in zip(tree.nodes, places.parts, strict=True)]
    columns = _columns(tree, half_widths)
    traces = [_links(tree, places, columns, half_widths, part, ink) for part in _STYLES]
    traces += [_labels(tree, places, columns, names, part, ink) for part in _STYLES]
    layout = _layout(tree, places, columns, ink)
    layout["meta"] = _meta(tree, columns, shown, ink)
    layout["annotations"] = [
        *_start_annotations(ink),
        *(_score_annotation(tree, places, columns, index, ink) for index in tree.finished),
    ]
    if step is not None and step < tree.steps:
        layout["shapes"] = [_band(layout["meta"]["spans"][step], ink)]
    return build_figure(traces, layout)


def beam_tree_table(tree: BeamTree) -> pd.DataFrame:
    """Return all hypotheses of a beam search.

    Args:
        tree: The beam search.

    Returns:
        One row for each hypothesis, numbered from 1, in order of steps. Columns are parent, last piece, text, log p of
        the piece and of all pieces in nats, score of finished hypotheses, and when and why it was dropped.
    """
    nodes = tree.nodes
    dropped = [tree.dropped_at(index) for index in range(len(nodes))]
    frame = {
        gettext("step"): [node.step + 1 for node in nodes],
        gettext("continues"): pd.array([None if node.parent is None else node.parent + 1 for node in nodes], "Int64"),
        gettext("piece"): [node.piece for node in nodes],
        gettext("so far"): [tree.text(index) for index in range(len(nodes))],
        gettext("log p of the piece"): [node.log_probability for node in nodes],
        gettext("log p so far"): [node.total for node in nodes],
        gettext("rank at this step"): [node.rank + 1 for node in nodes],
        gettext("score"): [
            tree.score(index) if node.fate == "finished" else np.nan for index, node in enumerate(nodes)
        ],
        gettext("dropped at step"): pd.array([None if at is None else at + 1 for at in dropped], "Int64"),
        gettext("outcome"): [fate_label(tree, index) for index in range(len(nodes))],
    }
    return pd.DataFrame(frame, index=pd.RangeIndex(1, len(nodes) + 1, name=gettext("hypothesis")))


def _half_width(piece: str, style: _BranchStyle) -> float:
    """Return half the width of a label, in pixels."""
    return _FONT_RATIO * style.letter_width * width(shorten(piece_name(piece), _LABEL), style.size) / 2


def _columns(tree: BeamTree, half_widths: list[float]) -> _Columns:
    """Return columns as wide as their widest labels, with space for links, and one more for the last scores."""
    widths = np.full(tree.steps + 1, float(_MIN_COLUMN))
    for node, half_width in zip(tree.nodes, half_widths, strict=True):
        widths[node.step] = max(widths[node.step], 2 * (half_width + _LABEL_GAP))
        if node.fate == "finished":  # space for its score
            widths[node.step + 1] = max(widths[node.step + 1], _MIN_COLUMN + 34)
    gap = float(np.clip((_FULL_WIDTH - widths.sum()) / tree.steps, _MIN_GAP, _MAX_GAP))
    starts = gap + np.concatenate([[0.0], np.cumsum(widths + gap)[:-1]])
    ends = np.concatenate([[0.0], starts + widths])
    return _Columns(starts + widths / 2, ends, starts, int(np.ceil(ends[-1])))


def _links(
    tree: BeamTree, places: Places, columns: _Columns, half_widths: list[float], part: BranchKind, ink: Palette
) -> Part:
    """Return the links to the labels of a kind of branch.

    A link runs level from the end of the parent's label to the edge of its column, bends to the child's row before the
    next column, and runs level to its label.
    """
    x: list[float | None] = []
    y: list[float | None] = []
    for index, node in enumerate(tree.nodes):
        if places.parts[index] != part:
            continue
        if node.parent is None:
            start, parent_row = 0.0, 0.0
        else:
            start = columns.middles[node.step - 1] + half_widths[node.parent] + _LABEL_GAP
            parent_row = float(places.rows[node.parent])
        bend = columns.ends[node.step] + _LINK_X * (columns.starts[node.step] - columns.ends[node.step])
        end, own_row = columns.middles[node.step] - half_widths[index] - _LABEL_GAP, float(places.rows[index])
        x += [start, *bend.tolist(), end, None]
        y += [parent_row, *(parent_row + _LINK_Y * (own_row - parent_row)).tolist(), own_row, None]
    style = _STYLES[part]
    return {
        "type": "scatter",
        "mode": "lines",
        "name": f"links: {part}",
        "x": x,
        "y": y,
        "hoverinfo": "skip",
        "line": {"color": _colour(part, ink), "width": style.line, "dash": style.dash},
    }


def _labels(
    tree: BeamTree, places: Places, columns: _Columns, names: list[str], part: BranchKind, ink: Palette
) -> Part:
    """Return the labels of a kind of branch, centred in their columns."""
    nodes = [index for index, other in enumerate(places.parts) if other == part]
    return {
        "type": "scatter",
        "mode": "text",
        "name": part,
        "x": [columns.middles[tree.nodes[i].step] for i in nodes],
        "y": [int(places.rows[i]) for i in nodes],
        "customdata": nodes,
        "hoverinfo": "text",
        "text": [f"<b>{names[i]}</b>" if part == "winner" else names[i] for i in nodes],
        "hovertext": [_hover(tree, i, names[i]) for i in nodes],
        "textfont": {"size": _STYLES[part].size, "color": _colour(part, ink)},
    }


def _colour(part: BranchKind, ink: Palette) -> str:
    return {"winner": ink.decoder, "finished": ink.ink}.get(part, ink.quiet)


def _hover(tree: BeamTree, index: int, name: str) -> str:
    """Return the numbers of a hypothesis, and what happened to it."""
    node, text = tree.nodes[index], "".join(tree.pieces(index)).replace(SPACE, " ").strip()
    tail = text if len(text) <= _TAIL else "…" + text[-_TAIL:]
    p = decimal(float(np.exp(node.log_probability)), 3)
    return "<br>".join(
        [
            f"<b>{name}</b>",
            escape(tail),
            f"log p({name}) = {decimal(node.log_probability, 3)}  (p = {p})",
            f"log p = {decimal(node.total, 3)}, {gettext('all pieces so far')}",
            fate_sentence(tree, index),
        ]
    )


def _score_annotation(tree: BeamTree, places: Places, columns: _Columns, index: int, ink: Palette) -> Part:
    """Return rank and score of a finished hypothesis, after the column of its end."""
    rank, part = tree.finished.index(index) + 1, places.parts[index]
    text = f"{rank}.  {decimal(tree.score(index), 3)}"
    return {
        "x": columns.starts[tree.nodes[index].step + 1],
        "y": int(places.rows[index]),
        "showarrow": False,
        "xanchor": "left",
        "yanchor": "middle",
        "text": f"<b>{text}</b>" if part == "winner" else text,
        "font": {"size": 12, "color": _colour(part, ink)},
    }


def _band(span: list[float], ink: Palette) -> Part:
    """Return the band behind a step's column."""
    return {
        "type": "rect",
        "x0": span[0],
        "x1": span[1],
        "y0": 0,
        "y1": 1,
        "yref": "paper",
        "layer": "below",
        "fillcolor": ink.decoder,
        "opacity": BAND,
        "line": {"width": 0},
    }


def _start_annotations(ink: Palette) -> list[Part]:
    """Return the annotations left of the first step: `<s>`, and above it the label of the step numbers."""
    annotation = {
        "xref": "paper",
        "x": 0,
        "xshift": -_LABEL_GAP,
        "xanchor": "right",
        "showarrow": False,
        "font": {"size": 12, "color": ink.quiet},
    }
    return [
        annotation | {"y": 0, "yanchor": "middle", "text": "&lt;s&gt;"},
        annotation | {"yref": "paper", "y": 1, "yanchor": "bottom", "yshift": 2, "text": gettext("step")},
    ]


def _layout(tree: BeamTree, places: Places, columns: _Columns, ink: Palette) -> Part:
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    return base_layout(ink) | {
        "height": _TOP + _ROW * places.height + _BOTTOM,
        "margin": {"l": _LEFT, "r": _RIGHT, "t": _TOP, "b": _BOTTOM},
        "hovermode": "closest",
        "hoverdistance": 26,
        "xaxis": axis
        | {
            "side": "top",
            "range": [0, columns.widest],
            "tickvals": columns.middles[:-1],
            "ticktext": [str(i + 1) for i in range(tree.steps)],
        },
        "yaxis": axis | {"range": [places.height - 0.5, -0.5], "showticklabels": False},
    }


def _meta(tree: BeamTree, columns: _Columns, shown: Sequence[int], ink: Palette) -> Part:
    width_with_margins = _LEFT + columns.widest + _RIGHT
    spans = np.stack([columns.starts - _MIN_GAP / 2, columns.ends[1:] + _MIN_GAP / 2], axis=1)[:-1]
    return {
        "alt": f"{winner_sentence(tree)} {search_sentence(tree)}",
        "narrowest": width_with_margins,
        "widest": width_with_margins,
        "spans": spans.tolist(),
        "selection_colour": ink.decoder,
        "tree": {
            "parents": [-1 if node.parent is None else node.parent for node in tree.nodes],
            "pieces": [node.piece_id for node in tree.nodes],
            "inner": [int(node.fate == "continued") for node in tree.nodes],
            "winner": tree.winner,
            "shown": list(shown),
            "end": EOS,
        },
    }


BranchKind = Literal["winner", "finished", "dropped", "twig"]
"""Kind of a branch: the winner's, another finished one, one dropped after a while, or a twig.

A twig is a hypothesis that was dropped at its own step; "dropped" ones stayed in the beam for a while.
"""


_SHORT_BRANCH = 3
"""Steps of the longest branch that may use any row; longer branches use every second, which leaves space for twigs."""


@dataclass(frozen=True)
class Places:
    """Row of each node of a tree, by its index; columns are the steps, from the left."""

    rows: NDArray[np.int64]
    """Row from the top, (N,); the winner's path is in row 0."""
    parts: tuple[BranchKind, ...]
    """Kind of the branch of each node."""

    @cached_property
    def height(self) -> int:
        """Number of rows."""
        return int(self.rows.max()) + 1


def places_of(tree: BeamTree) -> Places:
    """Return the rows of the nodes of `tree`.

    The tree is split into branches: the winner's path, the unshared ends of the other finished hypotheses, branches
    that stayed in the beam for a while, then twigs. Each takes the free row nearest to the one it branches off from.
    A row is free again after a branch ends; that of a finished hypothesis is occupied for one more step, by its score.
    No other branch uses the winner's row.
    """
    grid, rows = _Grid(), np.zeros(len(tree.nodes), dtype=np.int64)
    parts: list[BranchKind | None] = [None] * len(tree.nodes)
    for part, leaf in _branch_ends(tree):
        branch = [index for index in tree.path(leaf) if parts[index] is None]
        first, last = tree.nodes[branch[0]], tree.nodes[branch[-1]]
        parent_row = 0 if first.parent is None else int(rows[first.parent])
        end = tree.steps if part == "winner" else last.step + (part == "finished")
        row = grid.occupy(parent_row, first.step, end, multiple_of=2 if len(branch) > _SHORT_BRANCH else 1)
        for index in branch:
            rows[index], parts[index] = row, part
    used = np.unique(rows)
    return Places(np.searchsorted(used, rows), tuple(part or "twig" for part in parts))


def _branch_ends(tree: BeamTree) -> list[tuple[BranchKind, int]]:
    """Return the ends of all branches, in the order in which they get rows."""
    ends: dict[BranchKind, list[int]] = {"winner": [tree.winner], "finished": list(tree.finished[1:])}
    dropped = [index for index, node in enumerate(tree.nodes) if node.fate in ("overtaken", "pruned")]
    ends["dropped"] = sorted(dropped, key=lambda index: -tree.nodes[index].step)
    ends["twig"] = [index for index, node in enumerate(tree.nodes) if node.fate in ("outside", "late")]
    return [(part, leaf) for part, leaves in ends.items() for leaf in leaves]


class _Grid:
    """The occupied columns of each row."""

    def __init__(self) -> None:
        self._occupied: set[tuple[int, int]] = set()

    def occupy(self, near_row: int, first: int, last: int, multiple_of: int) -> int:
        """Occupy the columns from `first` to `last` in the free row nearest to `near_row`, and return it.

        Of two equally near rows it is the lower one. Only multiples of `multiple_of` are used.
        """
        distance = 0
        while True:
            for row in (near_row + distance, near_row - distance):
                if row >= 0 and row % multiple_of == 0 and self._free(row, first, last):
                    self._occupied.update((row, column) for column in range(first, last + 1))
                    return row
            distance += 1

    def _free(self, row: int, first: int, last: int) -> bool:
        return not any((row, column) in self._occupied for column in range(first, last + 1))
