"""Figure and table of shuffled attention: change of the output by largest weight, as in Jain & Wallace (2019)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from attnviz.analysis.perturbation_tests import Shuffled
from attnviz.figures.build import Spec, base_axis, base_layout, build, literal
from attnviz.languages import gettext
from attnviz.palette import ROW_FRAME, ThemeName, palette
from attnviz.text import piece_name
from attnviz.trace import Trace
from attnviz.wording.labels import shorten
from attnviz.wording.numbers import decimal, percent
from attnviz.wording.perturbation_tests import shuffled_sentence

_PLOT = (300, 330)
"""Width and height in pixels of the plot on a narrow page, for which labels are placed without overlap."""
_LETTER, _LINE = 6.5, 15
"""Pixels of a letter and of a line of a label."""
_GAP = 6
"""Pixels of the space before a label, which keeps it off the ring around the current step."""


def shuffled_figure(
    trace: Trace, shuffled: Shuffled, *, step: int | None = None, theme: ThemeName = "light"
) -> go.Figure:
    """Draw a point for each step: max_j alpha_ij on x, the median change of its output on y, both from 0 to 1.

    A point is filled where most permutations write the same piece, and hollow otherwise; points are labelled where
    there is room. `step` (0-based) is ringed. For clicks, the points' `customdata` begins with the 0-based step;
    `layout.meta` has `alt`, `narrowest`, `frame`, and for each step its number (`steps`) and its position (`points`).
    """
    ink, keeps_piece = palette(theme), shuffled.kept > 0.5
    names = [shorten(piece_name(piece), 14) for piece in trace.target_pieces]
    hover = [
        [i, literal(name), percent(float(share))]
        for i, (name, share) in enumerate(zip(names, shuffled.kept, strict=True))
    ]
    points = {
        "type": "scatter",
        "mode": "markers+text",
        "name": "steps",
        "x": shuffled.largest,
        "y": shuffled.change,
        "text": _point_labels(shuffled, names),
        "textposition": "middle right",
        "cliponaxis": False,
        "textfont": {"size": 12, "color": ink.decoder},
        "customdata": hover,
        "marker": {
            "size": 9,
            "color": ink.decoder,
            "line": {"width": 2, "color": ink.decoder},
            "symbol": ["circle" if filled else "circle-open" for filled in keeps_piece],
        },
        "hovertemplate": gettext(
            "{piece}<br>largest weight {largest}<br>change of the probabilities when shuffled {change}<br>{kept} "
            "of the shuffles write the same piece",
            piece="%{customdata[1]}",
            largest="%{x:.2f}",
            change="%{y:.2f}",
            kept="%{customdata[2]}",
        )
        + "<extra></extra>",
    }
    traces: list[Spec] = [points]
    if step is not None:
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": "this step",
                "hoverinfo": "skip",
                "x": [shuffled.largest[step]],
                "y": [shuffled.change[step]],
                "cliponaxis": False,
                "marker": {"size": 18, "symbol": "circle-open", "color": ROW_FRAME, "line": {"width": 2.5}},
            }
        )
    axis = base_axis(ink) | {"range": [-0.02, 1.04], "tickvals": [0, 0.25, 0.5, 0.75, 1], "zeroline": False}
    title = {"font": {"size": 12, "color": ink.quiet}, "standoff": 6}
    layout = base_layout(ink) | {
        "height": 420,
        "margin": {"l": 50, "r": 40, "t": 12, "b": 46},
        "hovermode": "closest",
        "xaxis": axis | {"title": title | {"text": gettext("largest weight of the step")}},
        "yaxis": axis | {"title": title | {"text": gettext("probability change when shuffled (total variation)")}},
        "meta": {
            "alt": _alt(shuffled),
            "narrowest": 320,
            "frame": ROW_FRAME,
            "steps": list(range(len(names))),
            "points": np.stack([shuffled.largest, shuffled.change], axis=1).round(4).tolist(),
        },
    }
    return build(traces, layout)


def shuffled_table(trace: Trace, shuffled: Shuffled) -> pd.DataFrame:
    """Return the numbers of the figure, a row for each step (counted from 1)."""
    frame = {
        gettext("target piece"): list(trace.target_pieces),
        gettext("largest weight"): shuffled.largest,
        gettext("change when shuffled"): shuffled.change,
        gettext("share of shuffles with the same piece"): shuffled.kept,
    }
    return pd.DataFrame(frame, index=pd.RangeIndex(1, len(shuffled.change) + 1, name=gettext("step")))


def _point_labels(shuffled: Shuffled, names: list[str]) -> list[str]:
    """Return the label of each point that has room for it, and "" for the others; isolated points come first."""
    x, y = shuffled.largest * _PLOT[0], (1 - shuffled.change) * _PLOT[1]
    distances = np.hypot(x[:, None] - x, y[:, None] - y)
    np.fill_diagonal(distances, np.inf)
    texts = [""] * len(names)
    label_extents: list[tuple[float, float, float]] = []
    for i in np.argsort(-distances.min(axis=1), kind="stable").tolist():
        left, right = x[i] + 8, x[i] + 12 + _GAP + _LETTER * len(names[i])
        overlaps_label = any(
            left < end and start < right and abs(y[i] - height) < _LINE for start, end, height in label_extents
        )
        covers_point = np.any((x > left - 4) & (x < right) & (np.abs(y - y[i]) < 13) & (np.arange(len(x)) != i))
        if right < _PLOT[0] + 60 and not overlaps_label and not covers_point:
            texts[i] = f"\u2002{literal(names[i])}"
            label_extents.append((left, right, y[i]))
    return texts


def _alt(shuffled: Shuffled) -> str:
    return gettext(
        "One point for each of {count} steps. The largest weight of a step lies between {least} and {most}. "
        "Shuffling the weights of a step changes the probabilities by {small} to {large}. {told}",
        count=len(shuffled.change),
        least=decimal(float(shuffled.largest.min())),
        most=decimal(float(shuffled.largest.max())),
        small=decimal(float(shuffled.change.min())),
        large=decimal(float(shuffled.change.max())),
        told=shuffled_sentence(shuffled),
    )
