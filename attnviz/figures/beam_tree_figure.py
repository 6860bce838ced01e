"""Figure of a beam search as a tree: a column for each step, and as few rows as possible."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from types import NoneType
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.beam_sentences import fate_label, fate_sentence, search_sentence, winner_sentence
from attnviz.analysis.labels import shorten
from attnviz.analysis.numbers import decimal
from attnviz.arguments import check_each, check_piece_ids
from attnviz.figures.spec import Part, Spec, Table, base_axis, base_layout, escape, rectangle, width
from attnviz.languages import gettext
from attnviz.palette import BAND, ThemeName, palette
from attnviz.text import EOS, SPACE, piece_name
from attnviz.trace import BeamTree

_LABEL, _TAIL = 14, 48
"""Characters of a piece's label, and of the text before it in a hover text."""
_ROW, _TOP, _BOTTOM, _LEFT, _RIGHT = 19, 28, 12, 40, 16
"""Pixels of a row and of the margins; the left one holds `<s>`."""
_MIN_GAP, _MAX_GAP, _FULL_WIDTH = 22, 64, 760
"""Pixels between two columns, at least and at most, and pixels that the columns of a short search fill."""
_MIN_COLUMN, _SCORE = 34, 68
"""Pixels of the narrowest column, and of a column with a score."""
_FONT_RATIO = 0.86
"""Width of the page's font, as a share of the estimated width."""
_LINK_X = np.linspace(0, 1, 9)
_LINK_Y = 3 * _LINK_X**2 - 2 * _LINK_X**3
"""Horizontal and vertical positions along the bend of a link between two rows, from 0 to 1."""
_LABEL_GAP = 3
"""Pixels between a label and its links."""

BranchKind = Literal["winner", "finished", "dropped", "twig"]
"""Kind of a branch: the winner's, another finished one, one dropped after a while, or a twig.

A twig is a hypothesis that was dropped at its own step; "dropped" ones stayed in the beam for a while.
"""


class _Style(NamedTuple):
    """Style of a kind of branch."""

    size: float
    """Font size in pixels."""
    line: Part
    letter_width: float = 1
    """Width of the letters relative to regular ones."""


_STYLES: dict[BranchKind, _Style] = {
    "twig": _Style(10.5, {"width": 0.7, "dash": "dot"}),
    "dropped": _Style(11.5, {"width": 1.1, "dash": "solid"}),
    "finished": _Style(12.5, {"width": 1.7, "dash": "solid"}),
    "winner": _Style(13.5, {"width": 3, "dash": "solid"}, letter_width=1.08),
}
"""Styles, in drawing order."""


def beam_tree(
    tree: BeamTree, *, step: int | None = None, shown: Sequence[int] = (), theme: ThemeName = "light"
) -> Spec:
    """Draw all hypotheses of a beam search as a tree with a column for each step; shared beginnings appear once.

    The winner's path is on top; rank and score follow each finished hypothesis. A link runs level from the parent's
    label to the edge of its column, bends to the row of the hypothesis before the next column, and runs level again.

    Args:
        tree: The beam search.
        step: Step, 0-based, that has a band.
        shown: Ids of the pieces of the displayed translation.
        theme: "light" or "dark".

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
    ink, places, nodes = palette(theme), places_of(tree), tree.nodes
    colours = dict.fromkeys(_STYLES, ink.quiet) | {"finished": ink.ink, "winner": ink.decoder}
    labels = [shorten(piece_name(node.piece), _LABEL) for node in nodes]
    styles = [_STYLES[part] for part in places.parts]
    halves = [
        _FONT_RATIO * style.letter_width * width(label, style.size) / 2
        for label, style in zip(labels, styles, strict=True)
    ]
    # Each column is as wide as its widest label; one more holds the last scores.
    widths = np.full(tree.steps + 1, float(_MIN_COLUMN))
    for node, half in zip(nodes, halves, strict=True):
        widths[node.step] = max(widths[node.step], 2 * (half + _LABEL_GAP))
        if node.fate == "finished":
            widths[node.step + 1] = max(widths[node.step + 1], _SCORE)
    gap = float(np.clip((_FULL_WIDTH - widths.sum()) / tree.steps, _MIN_GAP, _MAX_GAP))
    starts = gap + np.concatenate([[0.0], np.cumsum(widths + gap)[:-1]])
    middles, ends = starts + widths / 2, np.concatenate([[0.0], starts + widths])  # the first end is that of `<s>`
    right = int(np.ceil(ends[-1]))

    links: list[Part] = []
    texts: list[Part] = []
    for part, style in _STYLES.items():
        members = [index for index, own in enumerate(places.parts) if own == part]
        x: list[float | None] = []
        y: list[float | None] = []
        for index in members:
            node, row = nodes[index], float(places.rows[index])
            start, parent_row = 0.0, 0.0
            if node.parent is not None:
                start = middles[node.step - 1] + halves[node.parent] + _LABEL_GAP
                parent_row = float(places.rows[node.parent])
            bend = ends[node.step] + _LINK_X * (starts[node.step] - ends[node.step])
            x += [start, *bend.tolist(), middles[node.step] - halves[index] - _LABEL_GAP, None]
            y += [parent_row, *(parent_row + _LINK_Y * (row - parent_row)).tolist(), row, None]
        line = style.line | {"color": colours[part]}
        links.append({"mode": "lines", "name": f"links: {part}", "x": x, "y": y, "hoverinfo": "skip", "line": line})
        names = {index: escape(labels[index]) for index in members}
        texts.append(
            {
                "mode": "text",
                "name": part,
                "x": [middles[nodes[index].step] for index in members],
                "y": places.rows[members],
                "customdata": members,
                "hoverinfo": "text",
                "text": [f"<b>{name}</b>" if part == "winner" else name for name in names.values()],
                "hovertext": [_hover(tree, index, name) for index, name in names.items()],
                "textfont": {"size": style.size, "color": colours[part]},
            }
        )

    note = {"showarrow": False, "xanchor": "left", "yanchor": "middle", "font": {"size": 12, "color": ink.quiet}}
    before = note | {"xref": "paper", "x": 0, "xshift": -_LABEL_GAP, "xanchor": "right"}
    notes = [
        before | {"y": 0, "text": "&lt;s&gt;"},
        before | {"yref": "paper", "y": 1, "yanchor": "bottom", "yshift": 2, "text": gettext("step")},
    ]
    for rank, index in enumerate(tree.finished, 1):
        text, part = f"{rank}.  {decimal(tree.score(index), 3)}", places.parts[index]
        notes.append(
            note
            | {
                "x": starts[nodes[index].step + 1],
                "y": int(places.rows[index]),
                "text": f"<b>{text}</b>" if part == "winner" else text,
                "font": {"size": 12, "color": colours[part]},
            }
        )
    spans = np.stack([starts - _MIN_GAP / 2, ends[1:] + _MIN_GAP / 2], axis=1)[:-1].tolist()
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    layout = base_layout(ink) | {
        "height": _TOP + _ROW * places.height + _BOTTOM,
        "margin": {"l": _LEFT, "r": _RIGHT, "t": _TOP, "b": _BOTTOM},
        "hovermode": "closest",
        "hoverdistance": 26,
        "xaxis": axis
        | {
            "side": "top",
            "range": [0, right],
            "tickvals": middles[:-1],
            "ticktext": [str(number) for number in range(1, tree.steps + 1)],
        },
        "yaxis": axis | {"range": [places.height - 0.5, -0.5], "showticklabels": False},
        "annotations": notes,
        "meta": {
            "narrowest": _LEFT + right + _RIGHT,
            "widest": _LEFT + right + _RIGHT,
            "spans": spans,
            "selection_colour": ink.decoder,
            "tree": {
                "parents": [-1 if node.parent is None else node.parent for node in nodes],
                "pieces": [node.piece_id for node in nodes],
                "inner": [int(node.fate == "continued") for node in nodes],
                "winner": tree.winner,
                "shown": list(shown),
                "end": EOS,
            },
        },
    }
    if step is not None and step < tree.steps:
        x0, x1 = spans[step]
        band = rectangle(x0, x1, 0, 1, ink.decoder, 0)
        layout["shapes"] = [band | {"yref": "paper", "layer": "below", "fillcolor": ink.decoder, "opacity": BAND}]
    traces = [{"type": "scatter"} | trace for trace in (*links, *texts)]
    return Spec(traces, layout, f"{winner_sentence(tree)} {search_sentence(tree)}", _table(tree))


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


_SHORT_BRANCH = 3
"""Steps of the longest branch that may use any row; longer branches use every second, which leaves space for twigs."""


class Places(NamedTuple):
    """Row of each node of a tree, by its index; columns are the steps, from the left."""

    rows: NDArray[np.int64]
    """Row from the top, (N,); the winner's path is in row 0."""
    parts: tuple[BranchKind, ...]
    """Kind of the branch of each node."""

    @property
    def height(self) -> int:
        """Number of rows."""
        return int(self.rows.max()) + 1


def places_of(tree: BeamTree) -> Places:
    """Return the rows of the nodes of `tree`.

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
        near = 0 if first.parent is None else int(rows[first.parent])
        end = tree.steps if part == "winner" else last.step + (part == "finished")
        every = 2 if len(branch) > _SHORT_BRANCH else 1
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
    return Places(np.searchsorted(np.unique(rows), rows), tuple(parts[index] for index in range(len(tree.nodes))))
