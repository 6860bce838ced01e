"""Figure and table of the energies and attention weights of one decoder step, as bars one above the other."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from attnviz.figures.build import Spec, base_axis, base_layout, build
from attnviz.figures.labels import axis_labels, label_stride, literal
from attnviz.languages import gettext
from attnviz.palette import Palette, ThemeName, palette
from attnviz.text import piece_name
from attnviz.trace import Recurrent
from attnviz.wording.labels import shorten


def attention_bars(trace: Recurrent, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw e_ij (above, signed) and alpha_ij (below) of 0-based `step`, one bar for each source piece.

    `layout.meta` has `alt`, `narrowest`, and the 0-based column of the largest alpha (`peak`), to scroll to.
    """
    ink, count = palette(theme), len(trace.source_pieces)
    energies = np.where(np.isfinite(trace.energies[step]), trace.energies[step], np.nan)
    names = [piece_name(piece) for piece in trace.source_pieces]
    hover = [literal(shorten(name, 60)) for name in names]
    signs = [ink.minus if energy < 0 else ink.plus for energy in energies]
    bar = {"type": "bar", "x": np.arange(count, dtype=np.int32), "customdata": hover}
    traces = [
        bar | {"y": energies, "yaxis": "y2", "marker": {"color": signs}, "hovertemplate": _hover("e")},
        bar | {"y": trace.alignment[step], "marker": {"color": ink.bar}, "hovertemplate": _hover("α")},
    ]
    size = 13 if count <= 16 else 12 if count <= 30 else 11 if count <= 45 else 10
    longest = max(len(shorten(name)) for name in names) * size * 0.58
    stride = label_stride(count)
    angle = -90 if count > 14 else -50
    # 0.77 is the sine of 50 degrees; 0.37 is its cosine times 0.58.
    bottom = int(longest + 12 if angle == -90 else longest * 0.77 + 30)
    # Slanted labels extend to the left of their bars; only the first can extend past the axis.
    left = max(46, int(len(shorten(names[0])) * size * 0.37)) if angle == -50 else 46
    axis = base_axis(ink)
    layout = base_layout(ink) | {
        "height": 214 + bottom,
        "margin": {"l": left, "r": 6, "t": 6, "b": bottom},
        "bargap": 0.25,
        "xaxis": axis
        | {
            "tickvals": list(range(0, count, stride)),
            "ticktext": axis_labels(names[::stride]),
            "tickangle": angle,
            "showgrid": False,
            "zeroline": False,
            "tickfont": {"size": size, "color": ink.encoder},
            "range": [-0.6, count - 0.4],
            "anchor": "y",
        },
        "yaxis": axis | {"domain": [0, 0.42], "range": [0, 1], "tickvals": [0, 0.5, 1], "title": _title("α", ink)},
        "yaxis2": axis
        | {
            "domain": [0.55, 1],
            "title": _title(gettext("energy e"), ink),
            "nticks": 4,
            "zerolinecolor": ink.quiet,
        },
        "meta": {
            "alt": _attention_alt(trace, step),
            "narrowest": 60 + min(13 * count, max(320, 8 * count), 4000),
            "peak": int(trace.alignment[step].argmax()),
        },
    }
    return build(traces, layout)


def attention_table(trace: Recurrent, step: int) -> pd.DataFrame:
    """Return e_ij and alpha_ij of 0-based `step`, one row for each source piece j (counted from 1)."""
    return pd.DataFrame(
        {
            "j": np.arange(1, len(trace.source_pieces) + 1),
            gettext("source piece"): list(trace.source_pieces),
            gettext("energy"): trace.energies[step],
            "alpha": trace.alignment[step],
        }
    ).set_index("j")


def _attention_alt(trace: Recurrent, step: int) -> str:
    alpha = trace.alignment[step]
    best = int(alpha.argmax())
    return gettext(
        "Energies and attention weights of step {step} over {count} source pieces. The largest weight, {weight:.2f}, "
        "is on piece {number}, {name}.",
        step=step + 1,
        count=len(alpha),
        weight=alpha[best],
        number=best + 1,
        name=shorten(piece_name(trace.source_pieces[best]), 30),
    )


def _hover(symbol: str) -> str:
    return f"%{{customdata}}<br>{symbol} = %{{y:.4f}}<extra></extra>"


def _title(text: str, ink: Palette) -> Spec:
    return {"text": text, "font": {"size": 12, "color": ink.quiet}, "standoff": 4}
