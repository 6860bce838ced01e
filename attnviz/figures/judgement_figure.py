"""Figures and tables of decomposable attention (Parikh et al. 2016): attend, compare, aggregate, verdict."""

from __future__ import annotations

import numpy as np

from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import decimal, shorten
from attnviz.figures.heatmap import heatmap
from attnviz.figures.spec import (
    STRIP,
    Spec,
    axis_labels,
    blank_axis,
    colour_limit,
    frame_of,
    label_axis,
    numbered_rows,
    rows_layout,
    side_by_side,
    strip_shapes,
    strips,
)
from attnviz.languages import gettext
from attnviz.text import piece_name
from attnviz.trace import Judgement
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
    rows_axis = label_axis(axis_labels(labels, 20), "ink")
    unit_axis = blank_axis(0.5, rows.shape[1] + 0.5)
    layout = rows_layout(rows_axis, STRIP, (148, 6, 8, 8), 320, unit_axis)
    layout["shapes"] = strip_shapes(rows_axis, 2, "decoder")
    alt = gettext(
        "Strips of {count} units for French piece {number}, {name}: its vector, the mean of the English vectors "
        "weighted by its attention, and the comparison of its vector with this mean. The comparison has norm {length}.",
        count=rows.shape[1],
        number=step + 1,
        name=name,
        length=decimal(np.linalg.norm(rows[2])),
    )
    data = [strips(rows, colour_limit(judgement.target_projected))]
    return Spec(data, layout, alt, numbered_rows(vectors, gettext("unit")))


def bag_figure(judgement: Judgement, other: Judgement | None = None) -> Spec:
    """Draw the comparisons of all English pieces with their sum, for one judgement or before and after a swap of words.

    A swap shows the same strips in another order. The table has the lengths of the strips and their first three units.
    """
    units, limit = len(judgement.source_sum), colour_limit(judgement.source_comparisons)
    bags = {gettext("original order"): judgement} | ({gettext("two words swapped"): other} if other else {})
    panels, names, vectors, data = {}, [], [], []
    for title, bag in bags.items():
        labels = [*map(piece_name, bag.source_surfaces), gettext("sum")]
        # A gap separates the sum from its terms, like the line under a sum on paper.
        places = [*range(len(labels) - 1), len(labels) - 0.4]
        heading = title if other else gettext("{count} units", count=units)
        panels[title] = heading, blank_axis(0.5, units + 0.5), label_axis(axis_labels(labels, 14), "ink", places)
        names += [(title, label) for label in labels]
        vectors.append(np.concatenate([bag.source_comparisons, bag.source_sum[None]]))
    count = max(map(len, vectors))
    layout, axes = side_by_side(panels, 1, (26, 0, 17 * (count + 1), 8), (104, 6, 0, 0), 210)
    for (title, (_, _, rows_axis)), strip_rows in zip(panels.items(), vectors, strict=True):
        *_, end = places = rows_axis["tickvals"]
        layout["shapes"] += strip_shapes(rows_axis, end, "encoder", 2, *axes[title].values())
        data.append(strips(strip_rows, limit, y=places, **axes[title]))
    alt = gettext(
        "Comparisons of {count} English pieces with French pieces, as strips of {units} units, before and after two "
        "words were swapped. Below the strips of each word order, one more strip shows their sum."
        if other
        else "The comparisons of {count} English pieces with French pieces, as strips of {units} units, with their sum "
        "below.",
        count=count - 1,
        units=units,
    )
    rows = np.concatenate(vectors)
    columns = {
        gettext("order"): [title for title, _ in names],
        gettext("piece"): [label for _, label in names],
        **{gettext("unit {k}", k=k + 1): rows[:, k] for k in range(3)},
        gettext("length"): np.linalg.norm(rows, axis=1),
    }
    return Spec(data, layout, alt, numbered_rows(columns))


def aggregated_table(judgement: Judgement) -> pd.DataFrame:
    """Return v_1 and v_2, the sums of comparisons, and the hidden layer h, a row for each unit (counted from 1)."""
    vectors = judgement.source_sum, judgement.target_sum, judgement.hidden
    return frame_of(numbered_rows(dict(zip(("v₁", "v₂", "h"), vectors, strict=True)), gettext("unit")))


def verdict_table(judgement: Judgement) -> pd.DataFrame:
    """Return the logits o and the probabilities p, a row for each class."""
    verdicts = {gettext("verdict"): [gettext("not a translation"), gettext("translation")]}
    return frame_of(verdicts | {"o": judgement.logits, "p": judgement.probabilities})
