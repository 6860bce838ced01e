"""The pictures of a step's first three stages: energies, softmax, the growing context vector.

They share their rows, one for each source piece, so that they can be read across. In `layout.meta`
they have `order`, the source pieces (0-based) by weight, largest first, and `mark`, the colour of the chosen row; for
a long sentence also `thinned`: the rows and the height to draw when they are ordered by weight, and the name of the
row that the rest share (`more`).
"""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz.figures.build import APART, STRIP, Spec, base_axis, base_layout, build, numbers
from attnviz.figures.labels import literal, piece_name, shorten, subscript
from attnviz.figures.palette import PALE, Palette, ThemeName, palette
from attnviz.languages import say
from attnviz.trace import Trace

LABEL = 12
"""Characters of a source piece beside its row; the hover text has more."""

_LEFT = 96
TOP = 44
"""Pixels above the first row of the three, where the axes are."""
MOST_ROWS = 48
"""Source pieces that have a row each, with its number, in whatever order; of more, ordered by weight, KEPT have one."""
KEPT = 30
"""Rows of a long sentence ordered by weight; the pieces of less weight share one more row."""
_SEAM = 12


def row_height(count: int) -> int:
    """Return the pixels of one of `count` rows, enough for a readable label."""
    return 23 if count <= 18 else 20 if count <= 28 else 17 if count <= 48 else 14 if count <= 90 else 12


def weight_order(trace: Trace, step: int) -> list[int]:
    """Return the 0-based source pieces of 0-based `step` by weight, largest first, ties in sentence order."""
    return [int(j) for j in np.argsort(-trace.alignment[step], kind="stable")]


def row_names(trace: Trace) -> list[str]:
    """Return a label for each source piece, with its number where the sentence has another of that name."""
    names = [shorten(piece_name(piece), LABEL) for piece in trace.source_pieces]
    return [literal(name) + (subscript(j) if names.count(name) > 1 else "") for j, name in enumerate(names, 1)]


def energy_bars(trace: Trace, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw e_ij of 0-based `step`, a signed bar for each source piece; the axis is the same at every step."""
    ink, energies = palette(theme), _energies(trace)
    bars = _bars(trace, energies[step], "e") | _signed(energies[step], ink)
    layout = _source_layout(trace, step, ink)
    layout["xaxis"] = _value_axis(ink, say("energy e"), _energy_range(energies))
    best = weight_order(trace, step)[0]
    layout["meta"]["alt"] = say(
        "Energies of step {step}, a bar for each of {count} source pieces. The highest, {energy:.2f}, is that of piece "
        "{number}, {name}.", step=step + 1, count=len(energies[step]), energy=energies[step, best], number=best + 1,
        name=_name(trace, best),
    )  # fmt: skip
    return build([bars, *_numbers(energies[step], ink)], layout)


def softmax_bars(trace: Trace, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw e_ij of 0-based `step` and, beside it on the same rows, alpha_ij in [0, 1]."""
    ink, energies, alpha = palette(theme), _energies(trace), trace.alignment[step]
    before = _bars(trace, energies[step], "e") | _signed(energies[step], ink, opacity=PALE)
    after = _bars(trace, alpha, "α") | {"xaxis": "x2", "marker": {"color": ink.bar}}
    layout = _source_layout(trace, step, ink)
    layout["xaxis"] = _value_axis(ink, say("energy e"), _energy_range(energies, room=0.06)) | {"domain": [0, 0.36]}
    layout["xaxis2"] = _value_axis(ink, say("weight α"), [0, 1.16]) | {
        "domain": [0.44, 1], "tickvals": [0, 0.5, 1], "anchor": "y",
    }  # fmt: skip
    best = weight_order(trace, step)[0]
    layout["meta"]["alt"] = say(
        "Softmax of step {step}: beside each energy the weight it becomes. The largest weight, {weight:.2f}, is that "
        "of piece {number}, {name}.", step=step + 1, weight=alpha[best], number=best + 1, name=_name(trace, best),
    )  # fmt: skip
    return build([before, after, *({**one, "xaxis": "x2"} for one in _numbers(alpha, ink))], layout)


def context_frame(trace: Trace, *, thinned: bool = False, theme: ThemeName = "light") -> go.Figure:
    """Return the picture of the growing context vector without its numbers, which the browser multiplies out itself.

    Rows are the source pieces, or if `thinned` as many of them as KEPT and the rest as one; below them, on an axis of
    its own, is the running sum. `layout.meta` has the pieces' `names`, the number of `rows`, and the unit after which
    the backward half begins (`hidden`).
    """
    alt = say("Weighted annotations, a strip of {count} units for each source piece, and below them their sum.",
              count=trace.contexts.shape[1])  # fmt: skip
    ink, count = palette(theme), KEPT + 1 if thinned else len(trace.source_pieces)
    units, hidden = trace.contexts.shape[1], trace.initial_state.shape[0]
    rows_high, sum_high = row_height(count) * count, STRIP + 4
    inner = rows_high + _SEAM + sum_high
    strip = {
        "type": "heatmap", "x0": 1, "dx": 1, "colorscale": ink.signed_root, "showscale": False, "zmid": 0,
        "hovertemplate": say("unit %{x}: %{z:.3f}") + "<extra></extra>",
    }  # fmt: skip
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    rows = axis | APART | {"tickfont": {"size": _label_size(count), "color": ink.encoder}}
    layout = base_layout(ink) | {
        "height": TOP + inner + 8, "margin": {"l": _LEFT + 38, "r": 6, "t": TOP, "b": 8},
        "xaxis": axis | {
            "side": "top", "range": [0.5, units + 0.5], "anchor": "y", "tickfont": {"size": 12, "color": ink.encoder},
            "tickvals": [hidden / 2, hidden * 1.5][: units // hidden],
            "ticktext": [say("forward →"), say("← backward")],
        },
        "yaxis": rows | {
            "range": [count - 0.5, -0.5], "domain": [1 - rows_high / inner, 1], "tickvals": list(range(count)),
        },
        "yaxis2": axis | APART | {
            "range": [0.5, -0.5], "domain": [0, sum_high / inner], "tickvals": [0],
            "tickfont": {"size": 13, "color": ink.context}, "anchor": "x",
        },
        "meta": {
            "alt": alt, "narrowest": 320, "mark": ink.encoder, "paper": ink.paper, "context": ink.context,
            "hidden": hidden, "rows": count, "names": row_names(trace),
        },
    }  # fmt: skip
    return build([strip, strip | {"yaxis": "y2"}], layout)


def _energies(trace: Trace) -> NDArray[np.float32]:
    """Energies of all steps, with nan for -inf, which has no bar."""
    return np.where(np.isfinite(trace.energies), trace.energies, np.float32(np.nan))


def _energy_range(energies: NDArray[np.float32], room: float = 0.2) -> list[float]:
    """Return an axis for all steps, with `room` at both ends for the numbers."""
    low, high = min(0.0, float(np.nanmin(energies))), max(0.0, float(np.nanmax(energies)))
    spread = (high - low) or 1.0
    return [low - room * spread * (low < 0), high + room * spread * (high > 0)]


def _bars(trace: Trace, values: NDArray[np.float32], symbol: str) -> Spec:
    """Return one horizontal bar for each source piece."""
    return {
        "type": "bar", "orientation": "h", "x": values, "y": np.arange(len(values), dtype=np.int32),
        "customdata": [literal(shorten(piece_name(piece), 60)) for piece in trace.source_pieces],
        "hovertemplate": f"%{{customdata}}<br>{symbol} = %{{x:.4f}}<extra></extra>",
    }  # fmt: skip


def _numbers(values: NDArray[np.float32], ink: Palette) -> list[Spec]:
    """Return the bars' numbers at their ends, where there is room for them."""
    count = len(values)
    if count > MOST_ROWS:
        return []
    texts = [f" {value:.2f} ".replace("-", "−") if np.isfinite(value) else " −∞ " for value in values]
    return [numbers(np.nan_to_num(values), texts, _label_size(count) - 1, ink)]


def _signed(values: NDArray[np.float32], ink: Palette, opacity: float = 1) -> Spec:
    return {"marker": {"color": [ink.minus if value < 0 else ink.plus for value in values], "opacity": opacity}}


def _value_axis(ink: Palette, title: str, limits: list[float]) -> Spec:
    return base_axis(ink) | {
        "side": "top", "range": limits, "nticks": 4, "zerolinecolor": ink.quiet,
        "title": {"text": title, "font": {"size": 12, "color": ink.quiet}, "standoff": 2},
    }  # fmt: skip


def _source_layout(trace: Trace, step: int, ink: Palette) -> Spec:
    """Return a layout whose rows are the source pieces, as all of the first three stages have them."""
    count = len(trace.source_pieces)
    return base_layout(ink) | {
        "height": TOP + row_height(count) * count + 8, "margin": {"l": _LEFT, "r": 8, "t": TOP, "b": 8},
        "bargap": 0.3, "hovermode": "y", "barmode": "overlay",
        "yaxis": base_axis(ink) | APART | {
            "range": [count - 0.5, -0.5], "tickvals": list(range(count)), "ticktext": row_names(trace),
            "tickfont": {"size": _label_size(count), "color": ink.encoder}, "showgrid": False, "zeroline": False,
        },
        "meta": {"narrowest": 260, "order": weight_order(trace, step), "mark": ink.encoder, "thinned": _thinned(count)},
    }  # fmt: skip


def _thinned(count: int) -> Spec | None:
    if count <= MOST_ROWS:
        return None
    more = say("{n} more", n=count - KEPT)
    return {"rows": KEPT, "more": more, "height": TOP + row_height(KEPT + 1) * (KEPT + 1) + 8}


def _label_size(count: int) -> int:
    return 13 if count <= 28 else 12 if count <= 48 else 11 if count <= 90 else 10


def _name(trace: Trace, j: int) -> str:
    return shorten(piece_name(trace.source_pieces[j]), 30)
