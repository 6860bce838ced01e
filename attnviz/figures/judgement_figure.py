"""Figures and tables of decomposable attention (Parikh et al. 2016): attend, compare, aggregate, verdict."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import shorten
from attnviz.analysis.numbers import decimal
from attnviz.figures.heatmap import heatmap
from attnviz.figures.spec import (
    Part,
    Spec,
    axis_labels,
    colour_limit,
    frame_of,
    label_axis,
    numbered_rows,
    sized_layout,
    strips,
    titled_axis,
)
from attnviz.languages import gettext
from attnviz.text import piece_name
from attnviz.trace import FloatArray, Judgement
from attnviz.trace.aligned import AttentionView


def attend_figure(attention: AttentionView) -> Spec:
    """Draw the attention of one sentence to the other; English is green and French violet in either direction."""
    spec = heatmap(attention, end=True)
    if attention.name == "source":
        spec.layout["xaxis"]["tickfont"]["color"] = "decoder"
        spec.layout["yaxis"]["tickfont"]["color"] = "encoder"
    return spec


def compared_figure(judgement: Judgement, step: int) -> Spec:
    """Draw the comparison of 0-based target piece `step`: its vector, its weighted sum, and their comparison."""
    name = piece_name(judgement.target_pieces[step])
    labels = [f"b  {shorten(name, 10)}", gettext("α  it sees"), gettext("v  compared")]
    vectors = {
        "b": judgement.target_projected[step],
        "alpha": judgement.target_aligned[step],
        "v": judgement.target_comparisons[step],
    }
    rows = np.stack(list(vectors.values()))
    panel = gettext("{count} units", count=rows.shape[1]), axis_labels(labels, 20), range(3), rows
    data, axes = _strips([panel], judgement.target_projected)
    layout = sized_layout(154, (148, 6, 36, 8), 320) | axes
    alt = gettext(
        "Strips of {count} units for French piece {number}, {name}: its vector, the mean of the English vectors "
        "weighted by its attention, and the comparison of its vector with this mean. The comparison has norm {length}.",
        count=rows.shape[1],
        number=step + 1,
        name=name,
        length=decimal(np.linalg.norm(rows[2])),
    )
    return Spec(data, layout, alt, numbered_rows(vectors, gettext("unit")))


def bag_figure(judgement: Judgement, other: Judgement | None = None) -> Spec:
    """Draw the comparisons of all English pieces with their sum, for one judgement or before and after a swap of words.

    A swap shows the same strips in another order. The table has the lengths of the strips and their first three units.
    """
    units = len(judgement.source_sum)
    bags = {gettext("original order"): judgement} | ({gettext("two words swapped"): other} if other else {})
    panels, names = [], []
    for title, bag in bags.items():
        labels = [*map(piece_name, bag.source_surfaces), gettext("sum")]
        rows = np.concatenate([bag.source_comparisons, bag.source_sum[None]])
        # A gap separates the sum from its terms, like the line under a sum on paper.
        places = [*range(len(labels) - 1), len(labels) - 0.4]
        heading = title if other else gettext("{count} units", count=units)
        panels.append((heading, axis_labels(labels, 14), places, rows))
        names += [(title, label) for label in labels]
    data, axes = _strips(panels, judgement.source_comparisons)
    count = max(len(labels) for _, labels, *_ in panels)
    layout = sized_layout(48 + 17 * (count + 1), (104, 6, 36, 8), 640 if other else 320) | axes
    alt = gettext(
        "Comparisons of {count} English pieces with French pieces, as strips of {units} units, before and after two "
        "words were swapped. Below the strips of each word order, one more strip shows their sum."
        if other
        else "The comparisons of {count} English pieces with French pieces, as strips of {units} units, with their sum "
        "below.",
        count=count - 1,
        units=units,
    )
    rows = np.concatenate([rows for *_, rows in panels])
    columns = {
        gettext("order"): [title for title, _ in names],
        gettext("piece"): [label for _, label in names],
        **{gettext("unit {k}", k=k + 1): rows[:, k] for k in range(3)},
        gettext("length"): np.linalg.norm(rows, axis=1),
    }
    return Spec(data, layout, alt, numbered_rows(columns))


_Panel = tuple[str, Sequence[str], Sequence[float], FloatArray]
"""Title, and labels, places from the top, and values of strips, (strips, units)."""


def _strips(panels: Sequence[_Panel], scale: FloatArray) -> tuple[list[Part], Part]:
    """Return one or two panels of strips, whose colours saturate at large values of `scale`, and their axes."""
    data, axes, domains = [], {}, [[0, 1]] if len(panels) == 1 else [[0, 0.4], [0.6, 1]]
    for number, domain, (title, labels, places, rows) in zip(("", "2"), domains, panels, strict=False):
        axis = titled_axis(title, standoff=2, side="top", showgrid=False, zeroline=False, showticklabels=False)
        axis |= {"range": [0.5, rows.shape[1] + 0.5], "domain": domain, "anchor": f"y{number}"}
        if len(panels) > 1:
            axis["title"]["font"] = {"size": 13, "color": "ink"}
        axes[f"xaxis{number}"] = axis
        axes[f"yaxis{number}"] = label_axis(labels, "ink", places, anchor=f"x{number}")
        place = {"y": list(places), "ygap": 2, "xaxis": f"x{number}", "yaxis": f"y{number}"}
        data.append(strips(rows, colour_limit(scale), **place))
    return data, axes


def aggregated_table(judgement: Judgement) -> pd.DataFrame:
    """Return v_1 and v_2, the sums of comparisons, and the hidden layer h, a row for each unit (counted from 1)."""
    vectors = judgement.source_sum, judgement.target_sum, judgement.hidden
    return frame_of(numbered_rows(dict(zip(("v₁", "v₂", "h"), vectors, strict=True)), gettext("unit")))


def verdict_table(judgement: Judgement) -> pd.DataFrame:
    """Return the logits o and the probabilities p, a row for each class."""
    verdicts = {gettext("verdict"): [gettext("not a translation"), gettext("translation")]}
    return frame_of(verdicts | {"o": judgement.logits, "p": judgement.probabilities})
