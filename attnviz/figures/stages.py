"""The pictures of a step's five stages: energies, softmax, the growing context vector, the state, the maxout.

Those of the first three share their rows, one for each source piece, so that they can be read across. In `layout.meta`
these have `order`, the source pieces (0-based) by weight, largest first, and `mark`, the colour of the chosen row; for
a long sentence also `thinned`: the rows and the height to draw when they are ordered by weight, and the name of the
row that the rest share (`more`).
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz.figures.build import APART, Spec, base_axis, base_layout, build, emphasise, numbers, rectangle
from attnviz.figures.labels import axis_labels, literal, piece_name, shorten
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
_STRIP = 24
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
    rows_high, sum_high = row_height(count) * count, _STRIP + 4
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


def state_rows(trace: Trace, step: int) -> tuple[list[str], NDArray[np.float32]]:
    """Return names and rows of the state's change at 0-based `step`: both gates, then state before, candidate, what is
    kept, what is new, state after, (7, n), units in their own order; the two last but one add up to the last."""
    i = step + 1
    gate, before, candidate = trace.update_gates[step], trace.previous_states[step], trace.candidates[step]
    old, new = f"s{subscript(i - 1)}", f"s{subscript(i)}"
    rows = [trace.reset_gates[step], gate, before, candidate, gate * before, (1 - gate) * candidate, trace.states[step]]
    names = [
        say("reset gate r"), say("update gate z"), say("{state} before", state=old),
        say("candidate {state}", state=f"s̃{subscript(i)}"), say("kept {product}", product=f"z⊙{old}"),
        say("new {product}", product="(1−z)⊙s̃"), say("{state} after", state=new),
    ]  # fmt: skip
    return names, np.stack(rows)


def state_table(trace: Trace, step: int) -> pd.DataFrame:
    """Return the rows of `state_rows` as columns, one row for each unit (counted from 1)."""
    names, rows = state_rows(trace, step)
    return pd.DataFrame(rows.T, index=pd.RangeIndex(1, rows.shape[1] + 1, name=say("unit")), columns=names)


def state_strips(trace: Trace, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw the rows of `state_rows` as strips, units in the order of the update gate: what is rewritten stands left.

    Gates run from the page's colour (0) to purple (1); the rest is signed, in (-1, 1).
    """
    ink, (names, rows) = palette(theme), state_rows(trace, step)
    order = np.argsort(rows[1], kind="stable")
    units = len(order)
    strip = {
        "type": "heatmap", "x": [str(unit + 1) for unit in order], "showscale": False,
        "hovertemplate": say("unit %{x}: %{z:.3f}") + "<extra></extra>",
    }  # fmt: skip
    gates = strip | {
        "z": rows[:2, order], "y": [0, 1], "zmin": 0, "zmax": 1, "colorscale": [[0, ink.paper], [1, ink.decoder]],
    }  # fmt: skip
    states = strip | {
        "z": rows[2:, order], "y": [2.4, 3.4, 4.4, 5.4, 6.4], "zmin": -1, "zmax": 1, "colorscale": ink.signed_root,
    }  # fmt: skip
    places = [0, 1, 2.4, 3.4, 4.4, 5.4, 6.4]
    labels = axis_labels(names, 20)
    labels[-1] = emphasise(labels[-1], ink.decoder)
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    layout = base_layout(ink) | {
        "height": 24 + round(_STRIP * 7.4) + 8, "margin": {"l": 116, "r": 6, "t": 24, "b": 8},
        "shapes": [*_seams(places, units, ink), rectangle(-0.5, units - 0.5, 5.94, 6.86, ink.decoder)],
        "xaxis": axis | {"type": "category", "range": [-0.5, units - 0.5], "showticklabels": False},
        "annotations": [_heading(say("← rewritten"), 0, ink), _heading(say("kept →"), 1, ink)],
        "yaxis": axis | APART | {
            "range": [6.9, -0.5], "tickvals": places, "ticktext": labels,
            "tickfont": {"size": 12, "color": ink.decoder},
        },
        "meta": {"alt": _state_alt(trace, step), "narrowest": 320},
    }  # fmt: skip
    return build([gates, states], layout)


def maxout_strips(
    trace: Trace, step: int, pairs: NDArray[np.floating] | None, *, theme: ThemeName = "light"
) -> go.Figure:
    """Draw t~_i as pairs, (2l,) as `analysis.readout.pairs` gives them, and t_i, the larger of each; losers are pale.

    Without `pairs`, for want of the weights, only t_i is drawn. Colours end at the 98th percentile of |t_i|.
    """
    ink, winners = palette(theme), trace.readouts[step]
    limit = float(np.quantile(np.abs(winners), 0.98)) or 1.0
    strip = {
        "type": "heatmap", "x0": 1, "dx": 1, "zmin": -limit, "zmax": limit, "colorscale": ink.signed_root,
        "showscale": False, "hovertemplate": say("pair %{x}: %{z:.3f}") + "<extra></extra>",
    }  # fmt: skip
    names, traces, size = [f"t{subscript(step + 1)}"], [], len(winners)
    if pairs is not None:
        both = np.asarray(pairs, dtype=np.float32).reshape(-1, 2).T
        lost = both < both.max(axis=0)
        for rows, opacity in ((np.where(lost, np.nan, both), 1), (np.where(lost, both, np.nan), 0.25)):
            traces.append(strip | {"z": rows, "y": [0, 1], "opacity": opacity})
        names = [say("first of pair"), say("second of pair"), say("larger: {vector}", vector=names[0])]
    last = len(names) - 1
    traces.append(strip | {"z": winners[None], "y": [last]})
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    layout = base_layout(ink) | {
        "height": 4 + _STRIP * len(names) + 4, "margin": {"l": 116, "r": 6, "t": 4, "b": 4},
        "shapes": [*_seams(range(len(names)), size, ink, first=0.5),
                   rectangle(0.5, size + 0.5, last - 0.46, last + 0.46, ink.quiet, 1)],
        "xaxis": axis | {"range": [0.5, size + 0.5], "showticklabels": False},
        "yaxis": axis | APART | {
            "range": [last + 0.5, -0.5], "tickvals": list(range(len(names))), "ticktext": names,
            "tickfont": {"size": 12, "color": ink.ink},
        },
        "meta": {"alt": _maxout_alt(winners, step), "narrowest": 320},
    }  # fmt: skip
    return build(traces, layout)


def maxout_table(trace: Trace, step: int, pairs: NDArray[np.floating] | None) -> pd.DataFrame:
    """Return each pair of `maxout_strips`, where it is known, with the larger of the two (counted from 1)."""
    columns = {} if pairs is None else {say("first"): pairs[0::2], say("second"): pairs[1::2]}
    index = pd.RangeIndex(1, trace.readouts.shape[1] + 1, name=say("pair"))
    return pd.DataFrame(columns | {say("larger"): trace.readouts[step]}, index=index)


def subscript(number: int) -> str:
    """Return `number` in subscript digits."""
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number))


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


def _seams(places: Iterable[float], width: int, ink: Palette, first: float = -0.5) -> list[Spec]:
    """Return thin lines of the page's colour below the strips at `places`, which part them."""
    line = {"color": ink.paper, "width": 3}
    return [
        {"type": "line", "x0": first, "x1": first + width, "y0": y + 0.5, "y1": y + 0.5, "line": line} for y in places
    ]


def _heading(text: str, x: int, ink: Palette) -> Spec:
    """Return a note above the strips, at their left (0) or right (1) end."""
    return {
        "text": text, "x": x, "xref": "paper", "xanchor": "right" if x else "left", "y": 1, "yref": "paper",
        "yanchor": "bottom", "showarrow": False, "font": {"size": 12, "color": ink.quiet},
    }  # fmt: skip


def _state_alt(trace: Trace, step: int) -> str:
    kept = f"{float(trace.update_gates[step].mean()):.0%}"
    return say(
        "The state of step {step}, {count} units: gates, state before, candidate, what is kept, what is new, state "
        "after. The update gate keeps {kept} on average.", step=step + 1, count=trace.states.shape[1], kept=kept,
    )  # fmt: skip


def _maxout_alt(winners: NDArray[np.float32], step: int) -> str:
    return say(
        "Maxout of step {step}: {count} pairs, of each the larger is kept, from {low:.2f} to {high:.2f}.",
        step=step + 1, count=len(winners), low=winners.min(), high=winners.max(),
    )  # fmt: skip


def _label_size(count: int) -> int:
    return 13 if count <= 28 else 12 if count <= 48 else 11 if count <= 90 else 10


def _name(trace: Trace, j: int) -> str:
    return shorten(piece_name(trace.source_pieces[j]), 30)
