"""Sums drawn as waterfalls: the logit ledger and the energy microscope, each with its table."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from attnviz.analysis.ledger import Ledger
from attnviz.analysis.microscope import SATURATED, Microscope, saturated
from attnviz.figures.build import base_axis, base_layout, build
from attnviz.figures.labels import axis_labels, literal, piece_name, shorten
from attnviz.figures.palette import ThemeName, palette
from attnviz.trace import Trace

SOURCES = 12
"""Source pieces of a ledger with a bar of their own, the largest entries; the rest are one bar."""
UNITS = 12
"""Units of a microscope with a bar of their own, likewise."""

_ROW = 21


def ledger_table(trace: Trace, account: Ledger) -> pd.DataFrame:
    """Return the entries of a ledger, all of them, with alpha_ij beside those of source pieces; they add up to the last
    row. alpha is missing where an entry has none."""
    through = "through s_i" if trace.config["readout_state"] == "current" else "state s_{i-1}"
    entries = ["bias", through, "previous word", *(piece_name(piece) for piece in trace.source_pieces), "logit"]
    values = [account.bias, account.state, account.previous_word, *account.source, account.logit]
    alpha = [None] * 3 + [float(weight) for weight in trace.alignment[account.step]] + [None]
    frame = {"entry": entries, "adds": values, "alpha": pd.array(alpha, dtype="Float64")}
    return pd.DataFrame(frame, index=pd.RangeIndex(1, len(entries) + 1, name="row"))


def ledger_waterfall(trace: Trace, account: Ledger, title: str = "logit", *, theme: ThemeName = "light") -> go.Figure:
    """Draw a ledger, or the contrast of two, from the bias down to its sum, which is called `title`.

    Entries of source pieces stand in sentence order; beside each is its alpha_ij, so that much attention with little
    effect is seen for what it is.
    """
    order = np.sort(np.argsort(-np.abs(account.source), kind="stable")[:SOURCES])
    alpha = trace.alignment[account.step]
    through = "through sᵢ" if trace.config["readout_state"] == "current" else "state sᵢ₋₁"
    names = ["bias", through, "previous word"]
    names += [f"{shorten(piece_name(trace.source_pieces[j]), 14)}  α {alpha[j]:.2f}" for j in order]
    values = [account.bias, account.state, account.previous_word, *account.source[order]]
    others = np.setdiff1d(np.arange(len(account.source)), order)
    if others.size:
        names.append(f"{others.size} more  α {alpha[others].sum():.2f}")
        values.append(float(account.source[others].sum()))
    largest = int(np.abs(account.source).argmax())
    piece = shorten(piece_name(trace.source_pieces[largest]))
    alt = (
        f"What each ingredient of step {account.step + 1} added to a sum of {account.logit:.2f}. The largest entry of "
        f"a source piece, {account.source[largest]:+.2f}, is that of {piece}."
    )
    return _waterfall(names, values, title, alt, theme)


def microscope_table(units: Microscope) -> pd.DataFrame:
    """Return the units of an energy, largest |contribution| first, with the running sum; the index is the unit's
    number, from 1."""
    order = units.order
    contributions = units.contributions[order]
    return pd.DataFrame(
        {
            "query": units.query[order],
            "key": units.key[order],
            "activation": units.activation[order],
            "v": units.score[order],
            "contribution": contributions,
            "running sum": np.cumsum(contributions),
            "saturated": saturated(units)[order],
        },
        index=pd.Index(order + 1, name="unit"),
    )


def microscope_waterfall(units: Microscope, *, theme: ThemeName = "light") -> go.Figure:
    """Draw an energy as the sum of its units: the largest by name, the rest as one bar; `▮` marks saturated ones."""
    order, flat = units.order, saturated(units)
    top, rest = order[:UNITS], order[UNITS:]
    names = [f"unit {k + 1}{' ▮' if flat[k] else ''}" for k in top]
    values = list(units.contributions[top])
    if rest.size:
        names.append(f"{rest.size} more")
        values.append(float(units.contributions[rest].sum()))
    alt = (
        f"An energy of {units.energy:.3f} as the sum of {len(order)} units, of which {int(flat.sum())} are saturated "
        f"(|tanh| at least {SATURATED}). The largest is unit {order[0] + 1} with {units.contributions[order[0]]:+.3f}."
    )
    return _waterfall(names, values, "energy e", alt, theme)


def _waterfall(names: Sequence[str], values: Sequence[float], total: str, alt: str, theme: ThemeName) -> go.Figure:
    """Draw `values` one under another, each from where the last ended, and their sum at the bottom."""
    ink = palette(theme)
    labels = axis_labels([*names, total], 34)
    rows = list(range(len(labels)))
    amounts = [*(float(value) for value in values), float(np.sum(values))]
    ends = np.concatenate([[0.0], np.cumsum(values)])
    low, high = float(ends.min()), float(ends.max())
    room = 0.16 * (high - low or 1.0)
    bars = {
        "type": "waterfall", "orientation": "h", "y": rows, "x": amounts,
        "measure": ["relative"] * len(values) + ["total"],
        "increasing": {"marker": {"color": ink.plus}}, "decreasing": {"marker": {"color": ink.minus}},
        "totals": {"marker": {"color": ink.decoder}}, "connector": {"line": {"color": ink.line, "width": 1}},
        "text": [f"{amount:+.2f}" for amount in amounts], "textposition": "outside", "cliponaxis": False,
        "textfont": {"size": 12, "color": ink.ink}, "customdata": [literal(name) for name in [*names, total]],
        "hovertemplate": "%{customdata}: %{text}<extra></extra>",
    }  # fmt: skip
    left = 16 + int(6.8 * max(len(name) for name in [*names, total]))
    axis = base_axis(ink)
    layout = base_layout(ink) | {
        "height": _ROW * len(labels) + 34, "margin": {"l": min(left, 210), "r": 12, "t": 6, "b": 28}, "bargap": 0.3,
        "xaxis": axis | {"range": [low - room, high + room], "zerolinecolor": ink.quiet, "nticks": 5},
        "yaxis": axis | {
            "range": [len(rows) - 0.4, -0.6], "tickvals": rows, "ticktext": labels, "showgrid": False,
            "tickfont": {"size": 12, "color": ink.ink},
        },
        "meta": {"alt": alt, "narrowest": 320},
    }  # fmt: skip
    return build([bars], layout)
