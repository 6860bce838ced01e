"""Figure and table of posterior attention at one decoder step: prior × likelihood → posterior, as bars."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from attnviz import lazy_pandas as pd
from attnviz.analysis.posterior import PosteriorAttention
from attnviz.figures.attention import attention_table
from attnviz.figures.build import Spec
from attnviz.figures.source_rows import (
    MOST_ROWS,
    label_size,
    piece_bars,
    short_name,
    source_layout,
    source_values,
    value_axis,
)
from attnviz.figures.template import Slot, Values, filled, number_values, numbers
from attnviz.languages import gettext
from attnviz.palette import ThemeName, palette
from attnviz.trace import Trace
from attnviz.wording.numbers import decimal, significant, small

_SPANS = {"prior": (0.0, 0.26), "likelihood": (0.33, 0.63), "posterior": (0.71, 1.0)}
"""Horizontal extents of the three columns, as shares of the width."""
_AXIS_LENGTH = 1.5
"""Length of the axes relative to the longest bar, for the numbers at the ends."""
_VISIBLE = 0.02
"""Smallest posterior attention of the heatmap that has a mark."""


def posterior_template(trace: Trace, theme: ThemeName) -> Spec:
    """Return the template of `posterior_bars`."""
    ink, count = palette(theme), len(trace.source_pieces)
    prior_spec = piece_bars(trace, Slot("prior"), "α") | {"marker": {"color": ink.bar}}
    likelihood_spec = piece_bars(trace, Slot("likelihood"), "p(y | h)", ".3~g") | {
        "xaxis": "x2",
        "marker": {"color": ink.decoder},
    }
    posterior_spec = piece_bars(trace, Slot("posterior"), "p(j | y)") | {"xaxis": "x3", "marker": {"color": ink.bar}}
    heatmap_marks = piece_bars(trace, Slot("seen"), gettext("α′ of the heatmap")) | {
        "type": "scatter",
        "mode": "markers",
        "xaxis": "x3",
        "marker": {"symbol": "diamond", "size": 9, "color": ink.paper, "line": {"width": 1.5, "color": ink.ink}},
    }
    del heatmap_marks["orientation"]
    axis, layout = value_axis(ink, "α", [0, _AXIS_LENGTH]), source_layout(trace, ink)
    layout["xaxis"] = axis | {"domain": list(_SPANS["prior"]), "tickvals": [0, 1]}
    layout["xaxis2"] = value_axis(ink, "× p(y | h)", []) | {
        "domain": list(_SPANS["likelihood"]),
        "range": Slot("likelihoods"),
        "tickvals": Slot("likelihood_ticks"),
        "ticktext": Slot("likelihood_names"),
        "anchor": "y",
    }
    layout["xaxis3"] = value_axis(ink, "→ p(j | y),  ◇ α′", [0, _AXIS_LENGTH]) | {
        "domain": list(_SPANS["posterior"]),
        "tickvals": [0, 1],
        "anchor": "y",
    }
    layout["meta"]["narrowest"] = 300
    texts = [
        numbers(label_size(count) - 1, ink, f"{name}_number") | {"xaxis": axis}
        for name, axis in zip(_SPANS, ("x", "x2", "x3"), strict=True)
    ]
    return {
        "data": [prior_spec, likelihood_spec, posterior_spec, heatmap_marks, *(texts if count <= MOST_ROWS else [])],
        "layout": layout,
    }


def posterior_values(trace: Trace, attention: PosteriorAttention, step: int) -> Values:
    """Return the values of `posterior_bars`."""
    rows = {name: getattr(attention, name)[step] for name in (*_SPANS, "reading")}
    largest = _axis_end(float(rows["likelihood"].max()))
    # Marks at 0 would carry no information.
    marks = np.where(rows["reading"] >= _VISIBLE, rows.pop("reading"), np.nan)
    values = rows | {
        "seen": marks,
        "likelihoods": [0, _AXIS_LENGTH * 1.2 * largest],
        "likelihood_ticks": [0, largest],
        "likelihood_names": ["0", significant(largest, 1) if largest >= 0.001 else small(largest)],
    }
    if len(trace.source_pieces) <= MOST_ROWS:
        for name in _SPANS:
            write = small if name == "likelihood" else decimal
            has_mark = np.isfinite(marks) if name == "posterior" else np.zeros(len(marks), bool)
            ends = np.where(has_mark, np.fmax(rows[name], marks), rows[name])
            # Place the number after the mark too.
            texts = [
                f"{'  ' * (1 + mark)}{write(value)} "[1:] for value, mark in zip(rows[name], has_mark, strict=True)
            ]
            values |= number_values(ends, texts, prefix=f"{name}_number")
    return values | source_values(trace, step, _alt(trace, attention, step))


def posterior_bars(trace: Trace, attention: PosteriorAttention, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw alpha_ij of 0-based `step`, p(y_i | c = h_j) and p(j | y_i), each in [0, 1], on the same rows.

    Only ratios of likelihoods matter: their axis ends at the step's largest. A diamond is the heatmap's posterior
    attention, which normalises over steps too.
    """
    return filled(posterior_template(trace, theme), posterior_values(trace, attention, step))


def posterior_table(trace: Trace, attention: PosteriorAttention, step: int) -> pd.DataFrame:
    """Return prior, likelihood, product, posterior and the heatmap's posterior of 0-based `step`.

    There is one row for each source piece j (counted from 1).
    """
    table = attention_table(trace, step).drop(columns=[gettext("energy")])
    return table.assign(
        **{
            gettext("likelihood p(y | h)"): attention.likelihood[step],
            gettext("product"): attention.prior[step] * attention.likelihood[step],
            gettext("posterior p(j | y)"): attention.posterior[step],
            gettext("α′ of the heatmap"): attention.reading[step],
        }
    )


def _axis_end(largest: float) -> float:
    """Return the round number at which the axis of likelihoods ends, for the largest."""
    if largest > 0.5:
        return 1.0
    unit = 10.0 ** np.floor(np.log10(max(largest, 1e-300)))
    return float(unit * np.ceil(largest / unit * (1 - 1e-9)))


def _alt(trace: Trace, attention: PosteriorAttention, step: int) -> str:
    first, last = int(attention.prior[step].argmax()), int(attention.posterior[step].argmax())
    return gettext(
        "Attention of step {step}, before and after its word is known. The posterior of a source piece is its "
        "weight α times the likelihood of the word with the annotation of this piece alone. The largest weight, "
        "{weight:.2f}, is that of {piece}. The largest posterior, {posterior:.2f}, is that of {other}, whose "
        "likelihood is {likelihood}.",
        step=step + 1,
        weight=attention.prior[step, first],
        piece=short_name(trace, first),
        posterior=attention.posterior[step, last],
        other=short_name(trace, last),
        likelihood=small(float(attention.likelihood[step, last])),
    )
