"""One decoder step in three small figures: energies and alpha, the context vector as a weighted sum, likely words."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz.figures.build import APART, Spec, base_axis, base_layout, build, emphasise, numbers, rectangle
from attnviz.figures.labels import axis_labels, label_stride, literal, piece_name, shorten
from attnviz.figures.palette import PALE, Palette, ThemeName, palette
from attnviz.languages import say
from attnviz.trace import Trace

STRIPS = 6
"""How many annotations get a strip of their own; the rest are summed into one."""

_ROW = 20
_STRIP = 25
_CANDIDATE = 13
"""Characters of a candidate's label: the same room at every step, so that the bars begin at one place."""


def attention_bars(trace: Trace, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw e_ij (above, signed) and alpha_ij (below) of 0-based `step`, one bar for each source piece.

    `layout.meta` has, besides `alt` and `narrowest`, the 0-based column of the largest alpha (`peak`), for those who
    scroll to it.
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
    bottom = int(longest + 12 if angle == -90 else longest * 0.77 + 30)
    # A slanted label reaches to the left of its bar; only the first can reach past the axis.
    left = max(46, int(len(shorten(names[0])) * size * 0.37)) if angle == -50 else 46
    axis = base_axis(ink)
    layout = base_layout(ink) | {
        "height": 214 + bottom, "margin": {"l": left, "r": 6, "t": 6, "b": bottom}, "bargap": 0.25,
        "xaxis": axis | {
            "tickvals": list(range(0, count, stride)), "ticktext": axis_labels(names[::stride]), "tickangle": angle,
            "showgrid": False, "zeroline": False,
            "tickfont": {"size": size, "color": ink.encoder}, "range": [-0.6, count - 0.4], "anchor": "y",
        },
        "yaxis": axis | {"domain": [0, 0.42], "range": [0, 1], "tickvals": [0, 0.5, 1], "title": _title("α", ink)},
        "yaxis2": axis | {
            "domain": [0.55, 1], "title": _title(say("energy e"), ink), "nticks": 4, "zerolinecolor": ink.quiet,
        },
        "meta": {
            "alt": _attention_alt(trace, step),
            "narrowest": 60 + min(13 * count, max(320, 8 * count), 4000),
            "peak": int(trace.alignment[step].argmax()),
        },
    }  # fmt: skip
    return build(traces, layout)


def attention_table(trace: Trace, step: int) -> pd.DataFrame:
    """Return e_ij and alpha_ij of 0-based `step`, one row for each source piece j (counted from 1)."""
    return pd.DataFrame(
        {
            "j": np.arange(1, len(trace.source_pieces) + 1),
            say("source piece"): list(trace.source_pieces),
            say("energy"): trace.energies[step],
            "alpha": trace.alignment[step],
        }
    ).set_index("j")


def weighted_annotations(trace: Trace, step: int) -> tuple[list[str], NDArray[np.float32]]:
    """Return names and rows of the sum c_i = sum_j alpha_ij h_j: the largest terms, the rest as one, and c_i last.

    Without attention c_i is the forward half of the last annotation, and so are the terms. Rows are
    (terms + 1, size of c_i); the terms add up to the last row.
    """
    alpha, size = trace.alignment[step], trace.contexts.shape[1]
    terms = alpha[:, None] * trace.annotations[:, :size]
    kept = np.sort(np.argsort(-alpha, kind="stable")[:STRIPS])
    rest = np.setdiff1d(np.arange(len(alpha)), kept)
    names = [f"{alpha[j]:.2f}  {shorten(piece_name(trace.source_pieces[j]), 14)}" for j in kept]
    rows = [terms[kept]]
    if rest.size:
        names.append(f"{alpha[rest].sum():.2f}  {say('{n} more', n=rest.size)}")
        rows.append(terms[rest].sum(axis=0, keepdims=True))
    names.append(say("{context} = sum", context=f"c{_subscript(step + 1)}"))
    return names, np.concatenate([*rows, trace.contexts[step][None]])


def context_strips(trace: Trace, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw alpha_ij h_j for the pieces of largest weight and, below them, their sum c_i, one pixel column a unit.

    Blue is positive, red negative, darker with the square root of the amount, or small terms would be invisible; past
    the 98th percentile of |c_i| it gets no darker. A rule parts the forward half of the annotations from the backward.
    """
    ink, (names, rows) = palette(theme), weighted_annotations(trace, step)
    units, hidden = rows.shape[1], trace.initial_state.shape[0]
    limit = float(np.quantile(np.abs(rows[-1]), 0.98)) or 1.0
    strips = {
        "type": "heatmap", "z": rows, "y": np.arange(len(names)), "x0": 1, "dx": 1, "zmin": -limit, "zmax": limit,
        "colorscale": ink.signed_root, "colorbar": _signed_bar(limit, ink), "ygap": 3,
        "hovertemplate": say("unit %{x}: %{z:.3f}") + "<extra></extra>",
    }  # fmt: skip
    bottom = len(names) - 1
    shapes = [rectangle(0.5, units + 0.5, bottom - 0.44, bottom + 0.44, ink.context)]
    halves = [(say("forward half"), hidden / 2)]
    if units > hidden:
        halves.append((say("backward half"), hidden * 1.5))
        shapes.append(rectangle(hidden + 0.5, hidden + 0.5, -0.5, bottom + 0.5, ink.encoder, 1.5))
    labels = axis_labels(names, 30)
    labels[-1] = emphasise(labels[-1], ink.context)
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False, "tickfont": {"size": 12, "color": ink.encoder}}
    layout = base_layout(ink) | {
        "height": 60 + _STRIP * len(names), "margin": {"l": 142, "r": 6, "t": 26, "b": 34}, "shapes": shapes,
        "xaxis": axis | {
            "side": "top", "tickvals": [x for _, x in halves], "ticktext": [name for name, _ in halves],
            "range": [0.5, units + 0.5],
        },
        "yaxis": axis | {
            "range": [bottom + 0.5, -0.5], "tickvals": list(range(len(names))), "ticktext": labels,
        },
        "meta": {"alt": _context_alt(trace, step), "narrowest": 300},
    }  # fmt: skip
    return build([strips], layout)


def context_table(trace: Trace, step: int) -> pd.DataFrame:
    """Return the rows of `context_strips` as columns, one row for each unit (counted from 1)."""
    names, rows = weighted_annotations(trace, step)
    unit = pd.RangeIndex(1, rows.shape[1] + 1, name=say("unit"))
    return pd.DataFrame(rows.T, index=unit, columns=[f"({k}) {name}" for k, name in enumerate(names, 1)])


def candidates_table(trace: Trace, step: int, k: int = 10) -> pd.DataFrame:
    """Return the `k` likeliest pieces of 0-based `step` with probability, then the chosen one if it is not one of them.

    The index is the rank, counted from 1; the chosen piece's is 0 where it is not among those recorded.
    """
    heads = {"piece": say("piece"), "probability": say("probability"), "chosen": say("chosen")}
    return _ranked(trace, step, k).rename(columns=heads).rename_axis(say("rank"))


def _ranked(trace: Trace, step: int, k: int = 10) -> pd.DataFrame:
    """Return `candidates_table` with its columns in English, by which others take them."""
    chosen = trace.target_ids[step]
    ids = trace.top_ids[step]
    ranks = list(range(min(k, len(ids))))
    found = np.flatnonzero(ids == chosen)
    if found.size and int(found[0]) not in ranks:
        ranks.append(int(found[0]))
    pieces = [trace.top_pieces[step][rank] for rank in ranks]
    probabilities = [float(trace.top_probabilities[step][rank]) for rank in ranks]
    if not found.size:
        ranks.append(-1)
        pieces.append(trace.target_pieces[step])
        probabilities.append(float(trace.probabilities[step]))
    is_chosen = [rank == -1 or int(ids[rank]) == chosen for rank in ranks]
    return pd.DataFrame(
        {"piece": pieces, "probability": probabilities, "chosen": is_chosen},
        index=pd.Index([rank + 1 for rank in ranks], name="rank"),
    )


def candidates(trace: Trace, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw the ten likeliest pieces of 0-based `step` as bars, the chosen one in the decoder's colour."""
    ink, table = palette(theme), _ranked(trace, step)
    names = [piece_name(piece) for piece in table["piece"]]
    rows = np.arange(len(table), dtype=np.int32)
    chosen = table["chosen"].to_numpy()
    bars = {
        "type": "bar", "orientation": "h", "x": table["probability"].to_numpy(), "y": rows,
        "marker": {
            "color": [ink.decoder if one else ink.quiet for one in chosen],
            "opacity": [1 if one else PALE for one in chosen],
        },
        "customdata": [literal(shorten(name, 60)) for name in names],
        "hovertemplate": say("%{customdata}: %{x:.6f}") + "<extra></extra>",
    }  # fmt: skip
    labels = [
        emphasise(label, ink.decoder) if one else label
        for label, one in zip(axis_labels(names, _CANDIDATE), chosen, strict=True)
    ]
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    layout = base_layout(ink) | {
        "height": _ROW * len(names) + 12, "margin": {"l": 110, "r": 56, "t": 4, "b": 4}, "bargap": 0.3,
        "hovermode": "y",
        "xaxis": axis | {"range": [0, 1], "showticklabels": False},
        "yaxis": axis | APART | {
            "range": [len(names) - 0.4, -0.6], "tickvals": list(range(len(names))), "ticktext": labels,
            "tickfont": {"size": 13, "color": ink.ink},
        },
        "meta": {"alt": _candidates_alt(table), "narrowest": 280, "words": _ids(trace, step, table)},
    }  # fmt: skip
    texts = [f" {_percent(p)}" for p in table["probability"]]
    return build([bars, numbers(table["probability"].to_numpy(), texts, 13, ink)], layout)


def _ids(trace: Trace, step: int, table: pd.DataFrame) -> list[int]:
    """Return the id of each of the `_ranked` pieces."""
    return [
        int(trace.target_ids[step] if chosen else trace.top_ids[step][rank - 1])
        for rank, chosen in zip(table.index, table["chosen"], strict=True)
    ]


def _attention_alt(trace: Trace, step: int) -> str:
    alpha = trace.alignment[step]
    best = int(alpha.argmax())
    return say(
        "Energies and attention weights of step {step} over {count} source pieces. The largest weight, {weight:.2f}, "
        "is on piece {number}, {name}.", step=step + 1, count=len(alpha), weight=alpha[best], number=best + 1,
        name=shorten(piece_name(trace.source_pieces[best]), 30),
    )  # fmt: skip


def _context_alt(trace: Trace, step: int) -> str:
    return say(
        "Context vector of step {step} as a sum of weighted annotations, {count} units wide, the sum below them.",
        step=step + 1, count=trace.contexts.shape[1],
    )  # fmt: skip


def _candidates_alt(table: pd.DataFrame) -> str:
    names = [
        f"{shorten(piece_name(piece), 30)} {_percent(p)}{say(', chosen') if chosen else ''}"
        for piece, p, chosen in zip(table["piece"], table["probability"], table["chosen"], strict=True)
    ]
    return say("Likeliest next pieces: {listed}.", listed="; ".join(names))


def _percent(p: float) -> str:
    """Return a probability as a percentage that never claims to be 0 or 100 when it is not."""
    if 0 < p < 0.0005:
        return "<0.1 %"
    return ">99.9 %" if 0.9995 <= p < 1 else f"{100 * p:.1f} %"


def _subscript(number: int) -> str:
    return "".join("₀₁₂₃₄₅₆₇₈₉"[int(digit)] for digit in str(number))


def _signed_bar(limit: float, ink: Palette) -> Spec:
    """Return the legend of the strips' colours, below them."""
    return {
        "orientation": "h", "x": 1, "xanchor": "right", "y": 0, "yanchor": "top", "ypad": 6, "thickness": 8,
        "lenmode": "pixels", "len": 150, "outlinewidth": 1, "outlinecolor": ink.line,
        "tickvals": [-limit, 0, limit], "ticktext": [f"≤ −{limit:.2g}", "0", f"≥ {limit:.2g}"],
        "tickfont": {"size": 11, "color": ink.quiet},
    }  # fmt: skip


def _hover(symbol: str) -> str:
    return f"%{{customdata}}<br>{symbol} = %{{y:.4f}}<extra></extra>"


def _title(text: str, ink: Palette) -> Spec:
    return {"text": text, "font": {"size": 12, "color": ink.quiet}, "standoff": 4}
