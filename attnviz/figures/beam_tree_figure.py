"""Figure of a beam search as a tree: a column for each step, and as few rows as possible."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from types import NoneType
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.beam_sentences import fate_label, fate_sentence, search_sentence, winner_sentence
from attnviz.analysis.labels import decimal, shorten
from attnviz.arguments import check_each, check_piece_ids
from attnviz.figures.spec import (
    Part,
    Spec,
    Table,
    band,
    bare_axis,
    blank_axis,
    escape,
    path,
    sized_layout,
    text_at,
    texts_at,
    width,
)
from attnviz.languages import gettext
from attnviz.text import EOS, SPACE, piece_name
from attnviz.trace import BeamTree

_LABEL, _TAIL = 14, 48
"""Characters of a piece's label, and of the text before it in a hover text."""
_ROW, _TOP, _BOTTOM, _LEFT, _RIGHT = 19, 28, 12, 40, 16
"""Pixels of a row and of the margins; the left one holds `<s>`."""
_MIN_GAP = 22
"""Least number of pixels between two columns."""
_LINK_X = np.linspace(0, 1, 9)
_LINK_Y = 3 * _LINK_X**2 - 2 * _LINK_X**3
"""Horizontal and vertical positions along the bend of a link between two rows, from 0 to 1."""
_LABEL_GAP = 3
"""Pixels between a label and its links."""

BranchKind = Literal["winner", "finished", "dropped", "twig"]
"""Kind of a branch: the winner's, another finished one, one dropped after a while, or a twig.

A twig is a hypothesis that was dropped at its own step; "dropped" ones stayed in the beam for a while.
"""


_STYLES: dict[BranchKind, tuple[float, float, str, float]] = {
    "twig": (10.5, 0.7, "dot", 1),
    "dropped": (11.5, 1.1, "solid", 1),
    "finished": (12.5, 1.7, "solid", 1),
    "winner": (13.5, 3, "solid", 1.08),
}
"""Font size and line width in pixels, dash, and width of bold letters relative to regular ones, in drawing order."""


def beam_tree(tree: BeamTree, *, step: int | None = None, shown: Sequence[int] = ()) -> Spec:
    """Draw all hypotheses of a beam search as a tree with a column for each step; shared beginnings appear once.

    The winner's path is on top; rank and score follow each finished hypothesis. A link runs level from the parent's
    label to the edge of its column, bends to the row of the hypothesis before the next column, and runs level again.

    Args:
        tree: The beam search.
        step: Step, 0-based, that has a band.
        shown: Ids of the pieces of the displayed translation.

    Returns:
        The figure. The `customdata` of a label is the index of its node in `tree.nodes`. `layout.meta` has the fixed
        width (`narrowest`, `widest`), the edges of each step's column on the x axis (`spans`), and the colour of their
        band (`selection_colour`). Its `tree` has, for each node, its parent (-1 is none), the id of its piece and
        whether it was continued (`inner`), with the `winner`, the id of EOS (`end`) and the ids of the displayed
        translation (`shown`). The table has a row for each hypothesis, numbered from 1, in order of steps: parent, last
        piece, text, log p of the piece and of all pieces in nats, score of finished hypotheses, and when and why it was
        dropped.
    """
    check_each(gettext("steps"), (step,), (int, NoneType))
    check_piece_ids(shown)
    nodes, (rows, parts) = tree.nodes, rows_and_kinds(tree)
    colours = dict.fromkeys(_STYLES, "quiet") | {"finished": "ink", "winner": "decoder"}
    labels, halves = [shorten(piece_name(node.piece), _LABEL) for node in nodes], np.zeros(len(nodes))
    # The page's font is 0.86 times as wide as estimated.
    for index, (label, part) in enumerate(zip(labels, parts, strict=True)):
        size, _, _, letter_width = _STYLES[part]
        halves[index] = 0.86 * letter_width * width(label, size) / 2
    steps = np.array([node.step for node in nodes])
    parents = np.array([-1 if node.parent is None else node.parent for node in nodes])

    # Each column is as wide as its widest label, or that of a score; one more holds the last scores.
    widths = np.full(tree.steps + 1, 34.0)
    np.maximum.at(widths, steps, 2 * (halves + _LABEL_GAP))
    np.maximum.at(widths, steps[list(tree.finished)] + 1, 68)
    gap = np.clip((760 - widths.sum()) / tree.steps, _MIN_GAP, 64)  # a short search has 760 pixels
    starts = gap + np.concatenate([[0.0], np.cumsum(widths + gap)[:-1]])
    middles, ends = starts + widths / 2, np.concatenate([[0.0], starts + widths])  # the first end is that of `<s>`
    right = int(np.ceil(ends[-1]))

    # From the parent's label level to the end of its column, then a bend to the next column, then level again.
    begins, begin_rows = (
        np.where(parents < 0, 0, values)
        for values in (middles[steps - 1] + halves[parents] + _LABEL_GAP, rows[parents])
    )
    bends = ends[steps, None] + _LINK_X * (starts[steps] - ends[steps])[:, None]
    bend_rows = begin_rows[:, None] + _LINK_Y * (rows - begin_rows)[:, None]
    breaks = np.full(len(nodes), None)  # a line breaks at None, which equals itself
    link_x = np.column_stack([begins, bends, middles[steps] - halves - _LABEL_GAP, breaks])
    link_y = np.column_stack([begin_rows, bend_rows, rows, breaks])
    links: list[Part] = []
    texts: list[Part] = []
    for part, (size, line_width, dash, _) in _STYLES.items():
        members, colour = [index for index, own in enumerate(parts) if own == part], colours[part]
        names = [escape(labels[index]) for index in members]
        x, y = (places[members].ravel().tolist() for places in (link_x, link_y))
        stroke = {"color": colour, "width": line_width, "dash": dash}
        links.append(path(x, y, colour, name=f"links: {part}", line=stroke))
        written = [f"<b>{name}</b>" if part == "winner" else name for name in names]
        hover = [_hover(tree, index, name) for index, name in zip(members, names, strict=True)]
        places = middles[steps[members]], rows[members]
        more = {"name": part, "customdata": members, "hoverinfo": "text", "hovertext": hover}
        texts.append(texts_at(*places, written, size, colour, **more))

    start = {"xshift": -_LABEL_GAP, "xanchor": "right"}
    notes = [
        text_at("&lt;s&gt;", 0, 0, "quiet", yanchor="middle", **start),
        text_at(gettext("step"), 0, 1, "quiet", yref="paper", yshift=2, **start),
    ]
    for rank, index in enumerate(tree.finished, 1):
        text, colour = f"{rank}.  {decimal(tree.score(index), 3)}", colours[parts[index]]
        text = f"<b>{text}</b>" if parts[index] == "winner" else text
        notes.append(text_at(text, starts[steps[index] + 1], rows[index], colour, xref="x", yanchor="middle"))
    spans = np.stack([starts - _MIN_GAP / 2, ends[1:] + _MIN_GAP / 2], axis=1)[:-1].tolist()
    height, full_width = int(rows.max()) + 1, _LEFT + right + _RIGHT
    numbered = [str(number) for number in range(1, tree.steps + 1)]
    layout = sized_layout(
        _TOP + _ROW * height + _BOTTOM,
        (_LEFT, _RIGHT, _TOP, _BOTTOM),
        full_width,
        widest=full_width,
        spans=spans,
        selection_colour="decoder",
        tree={
            "parents": parents,
            "pieces": [node.piece_id for node in nodes],
            "inner": [int(node.fate == "continued") for node in nodes],
            "winner": tree.winner,
            "shown": list(shown),
            "end": EOS,
        },
    ) | {
        "hoverdistance": 26,
        "xaxis": bare_axis(side="top", range=[0, right], tickvals=middles[:-1], ticktext=numbered),
        "yaxis": blank_axis(height - 0.5, -0.5),
        "annotations": notes,
    }
    if step is not None and step < tree.steps:
        left, right = spans[step]
        layout["shapes"] = [band(left, right, "decoder")]
    return Spec([*links, *texts], layout, f"{winner_sentence(tree)} {search_sentence(tree)}", _table(tree))


def _hover(tree: BeamTree, index: int, name: str) -> str:
    """Return the numbers of a hypothesis, and what happened to it."""
    node, text = tree.nodes[index], "".join(tree.pieces(index)).replace(SPACE, " ").strip()
    tail = text if len(text) <= _TAIL else "…" + text[-_TAIL:]
    p = decimal(np.exp(node.log_probability), 3)
    return "<br>".join(
        [
            f"<b>{name}</b>",
            escape(tail),
            f"log p({name}) = {decimal(node.log_probability, 3)}  (p = {p})",
            f"log p = {decimal(node.total, 3)}, {gettext('all pieces so far')}",
            fate_sentence(tree, index),
        ]
    )


def _table(tree: BeamTree) -> Table:
    nodes, indices = tree.nodes, range(len(tree.nodes))
    dropped = [tree.dropped_at(index) for index in indices]
    return {
        gettext("hypothesis"): [index + 1 for index in indices],
        gettext("step"): [node.step + 1 for node in nodes],
        gettext("continues"): _numbers([node.parent for node in nodes]),
        gettext("piece"): [node.piece for node in nodes],
        gettext("so far"): [tree.text(index) for index in indices],
        gettext("log p of the piece"): [node.log_probability for node in nodes],
        gettext("log p so far"): [node.total for node in nodes],
        gettext("rank at this step"): [node.rank + 1 for node in nodes],
        gettext("score"): [tree.score(index) if nodes[index].fate == "finished" else np.nan for index in indices],
        gettext("dropped at step"): _numbers(dropped),
        gettext("outcome"): [fate_label(tree, index) for index in indices],
    }


def _numbers(places: Sequence[int | None]) -> NDArray[np.object_]:
    """Return 0-based places as numbers from 1; as objects, since a missing one is no whole number."""
    return np.array([None if place is None else place + 1 for place in places], dtype=object)


def rows_and_kinds(tree: BeamTree) -> tuple[NDArray[np.int64], list[BranchKind]]:
    """Return for each node its row from the top, (N,), and the kind of its branch; the winner's path is in row 0.

    The tree is split into branches: the winner's path, the unshared ends of the other finished hypotheses, branches
    that stayed in the beam for a while, then twigs. Each takes the free row nearest to the one it branches off from, of
    two equally near ones the lower. A row is free again after a branch ends; that of a finished hypothesis is occupied
    for one more step, by its score. No other branch uses the winner's row.
    """
    dropped = [index for index, node in enumerate(tree.nodes) if node.fate in ("overtaken", "pruned")]
    leaves: dict[BranchKind, Sequence[int]] = {
        "winner": [tree.winner],
        "finished": tree.finished[1:],
        "dropped": sorted(dropped, key=lambda index: -tree.nodes[index].step),
        "twig": [index for index, node in enumerate(tree.nodes) if node.fate in ("outside", "late")],
    }
    occupied: set[tuple[int, int]] = set()
    rows, parts = np.zeros(len(tree.nodes), dtype=np.int64), dict[int, BranchKind]()
    for part, leaf in ((part, leaf) for part, ends in leaves.items() for leaf in ends):
        branch = [index for index in tree.path(leaf) if index not in parts]
        first, last = tree.nodes[branch[0]], tree.nodes[branch[-1]]
        near = 0 if first.parent is None else rows[first.parent]
        end = tree.steps if part == "winner" else last.step + (part == "finished")
        every = 2 if len(branch) > 3 else 1  # a longer branch uses every second row, which leaves space for twigs
        row = next(
            row
            for distance in count()
            for row in (near + distance, near - distance)
            if row >= 0 and row % every == 0
            if not any((row, column) in occupied for column in range(first.step, end + 1))
        )
        occupied.update((row, column) for column in range(first.step, end + 1))
        rows[branch] = row
        parts |= dict.fromkeys(branch, part)
    return np.searchsorted(np.unique(rows), rows), [parts[index] for index in range(len(tree.nodes))]
