"""Figure without numbers of a context vector as a running sum of weighted annotations; the browser fills it."""

from __future__ import annotations

import plotly.graph_objects as go

from attnviz.figures.build import APART, STRIP, base_axis, base_layout, build
from attnviz.figures.source_rows import LEFT, SUM_GAP, THINNED_ROWS, TOP, label_size, row_height, row_names
from attnviz.languages import gettext
from attnviz.palette import ThemeName, palette
from attnviz.trace import Recurrent
from attnviz.trace.attention_matrix import AttentionMatrix


def context_frame(trace: Recurrent, *, thinned: bool = False, theme: ThemeName = "light") -> go.Figure:
    """Return the figure of the growing context vector without its numbers: see `growth_frame`."""
    alt = gettext(
        "Weighted annotations: one strip of {count} units for each source piece. The last strip is their sum.",
        count=trace.contexts.shape[1],
    )
    halves = [gettext("forward →"), gettext("← backward")][: 1 + trace.reads_backwards]
    units, half = trace.contexts.shape[1], trace.annotations.shape[1] // len(halves)
    return growth_frame(trace, units, half, halves, alt, thinned=thinned, theme=theme)


def growth_frame(
    trace: AttentionMatrix, units: int, part_size: int, parts: list[str], alt: str, *, thinned: bool, theme: ThemeName
) -> go.Figure:
    """Return the figure of a growing weighted sum of vectors with `units` units, without its numbers.

    The browser computes the numbers. Rows are the source pieces, or if `thinned` THINNED_ROWS of them and one for
    the rest; below them is the running sum, on an axis of its own. `layout.meta` has the pieces' `names`, the number of
    `rows`, and the unit after which the second of the `parts` begins (`part_size`).
    """
    ink, count = palette(theme), THINNED_ROWS + 1 if thinned else len(trace.source_pieces)
    rows_height, sum_height = row_height(count) * count, STRIP + 4
    inner = rows_height + SUM_GAP + sum_height
    strip = {
        "type": "heatmap",
        "x0": 1,
        "dx": 1,
        "colorscale": ink.signed_root,
        "showscale": False,
        "zmid": 0,
        "hovertemplate": gettext("unit %{x}: %{z:.3f}") + "<extra></extra>",
    }
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    rows = axis | APART | {"tickfont": {"size": label_size(count), "color": ink.encoder}}
    layout = base_layout(ink) | {
        "height": TOP + inner + 8,
        "margin": {"l": LEFT + 38, "r": 6, "t": TOP, "b": 8},
        "xaxis": axis
        | {
            "side": "top",
            "range": [0.5, units + 0.5],
            "anchor": "y",
            "tickfont": {"size": 12, "color": ink.encoder},
            "tickvals": [part_size / 2, part_size * 1.5][: units // part_size],
            "ticktext": parts,
        },
        "yaxis": rows
        | {
            "range": [count - 0.5, -0.5],
            "domain": [1 - rows_height / inner, 1],
            "tickvals": list(range(count)),
        },
        "yaxis2": axis
        | APART
        | {
            "range": [0.5, -0.5],
            "domain": [0, sum_height / inner],
            "tickvals": [0],
            "tickfont": {"size": 13, "color": ink.context},
            "anchor": "x",
        },
        "meta": {
            "alt": alt,
            "narrowest": 320,
            "mark": ink.encoder,
            "paper": ink.paper,
            "context": ink.context,
            "hidden": part_size,
            "rows": count,
            "names": row_names(trace),
        },
    }
    return build([strip, strip | {"yaxis": "y2"}], layout)
