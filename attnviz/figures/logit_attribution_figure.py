"""Figure and table of a logit attribution or a contrast: a waterfall, with the attention beside each source piece."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import plotly.graph_objects as go

from attnviz import lazy_pandas as pd
from attnviz.analysis.labels import shorten
from attnviz.analysis.logit_attribution import LogitAttribution
from attnviz.analysis.numbers import decimal, signed
from attnviz.figures.legacy import (
    Slot,
    Values,
    figure_of,
    panel,
    rows_layout,
    rows_values,
    sum_range,
    waterfall,
    waterfall_values,
)
from attnviz.figures.spec import Part, axis_labels, emphasise, escape
from attnviz.languages import gettext
from attnviz.palette import Palette, ThemeName, palette
from attnviz.text import piece_name
from attnviz.trace import Trace

SOURCES = 12
"""Number of source pieces with a bar of their own, those with the largest contributions; the others share one."""

_LABEL = 15
"""Characters of a row's label, the same at every step, so that the bars begin at one position."""


def logit_attribution_table(trace: Trace, attribution: LogitAttribution) -> pd.DataFrame:
    """Return all contributions, with alpha_ij for source pieces; they add up to the last row.

    alpha is missing in other rows.
    """
    state_name = gettext("through s_i") if trace.reads_new_state else gettext("state s_{i-1}")
    pieces = [piece_name(piece) for piece in trace.source_pieces]
    entries = [gettext("bias"), state_name, gettext("previous word"), *pieces, gettext("sum")]
    values = [attribution.bias, attribution.state, attribution.previous_word, *attribution.source, attribution.logit]
    alpha = [None] * 3 + [float(weight) for weight in trace.alignment[attribution.step]] + [None]
    frame = {gettext("entry"): entries, gettext("adds"): values, "alpha": pd.array(alpha, dtype="Float64")}
    return pd.DataFrame(frame, index=pd.RangeIndex(1, len(entries) + 1, name=gettext("row")))


def logit_attribution_rows(attributions: Sequence[LogitAttribution], chosen: int | None = None) -> tuple[int, ...]:
    """Return the source pieces with a row of their own, in sentence order: the largest contributions, and `chosen`.

    They are the largest in any of the `attributions`, so that all can be drawn with the same rows.
    """
    amounts = np.max([np.abs(attribution.source) for attribution in attributions], axis=0)
    # A piece without weight contributes nothing and gets no bar.
    count = min(SOURCES, max(int(np.count_nonzero(amounts)), 1))
    rows = np.argsort(-amounts, kind="stable")[:count].tolist()
    if chosen is not None and chosen not in rows:
        rows = [*rows[: SOURCES - 1], chosen]
    return tuple(sorted(rows))


def logit_attribution_template(trace: Trace, theme: ThemeName) -> Part:
    """Return the template of `logit_attribution_waterfall`."""
    ink = palette(theme)
    attention_bars, axes = _attention(ink) if trace.attends else ([], {})
    layout = (
        rows_layout(118, ink)
        | axes
        | {
            "xaxis": panel(ink, [0.19 if trace.attends else 0, 1], gettext("running sum"))
            | {"range": Slot("limits"), "nticks": 5},
            "meta": {"alt": Slot("alt"), "narrowest": 320, "selection_colour": ink.encoder, "entries": Slot("entries")},
        }
    )
    return {"data": [*waterfall(ink), *attention_bars], "layout": layout}


def logit_attribution_values(
    trace: Trace,
    attribution: LogitAttribution,
    title: str | None = None,
    *,
    rows: Sequence[int] | None = None,
    theme: ThemeName = "light",
) -> Values:
    """Return the values of `logit_attribution_waterfall`."""
    ink, title = palette(theme), title or gettext("sum")
    sources = _sources(trace, attribution, rows)
    values = [attribution.bias, attribution.state, attribution.previous_word, *sources.values]
    state_name = gettext("through sᵢ") if trace.reads_new_state else gettext("state sᵢ₋₁")
    previous_piece = piece_name(trace.previous_pieces[attribution.step])
    names = [gettext("bias"), state_name, gettext("after {piece}", piece=previous_piece), *sources.names, title]
    source_colour = ink.encoder if sources.alpha else ink.context
    colours = [ink.quiet, ink.decoder, ink.decoder, *([source_colour] * len(sources.names)), ink.ink]
    labels = [
        emphasise(label, colour) if row == len(names) - 1 else f'<span style="color:{colour}">{label}</span>'
        for row, (label, colour) in enumerate(zip(axis_labels(names, _LABEL), colours, strict=True))
    ]
    hover = [
        gettext("{name}: {amount}", name=escape(shorten(name, 60)), amount=signed(amount, 4))
        for name, amount in zip(names, [*values, attribution.logit], strict=True)
    ]
    for row, weight in enumerate(sources.alpha, 3):
        hover[row] += f"<br>α = {decimal(weight, 4)}"
    return (
        rows_values(labels)
        | waterfall_values(values, hover)
        | {
            "weights": sources.alpha,
            "weight_rows": list(range(3, 3 + len(sources.alpha))),
            "weight_hover": hover[3:-1],
            "limits": sum_range(values),
            "alt": _alt(trace, attribution, title),
            "entries": sources.entries,
        }
    )


def logit_attribution_waterfall(
    trace: Trace,
    attribution: LogitAttribution,
    title: str | None = None,
    *,
    rows: Sequence[int] | None = None,
    theme: ThemeName = "light",
) -> go.Figure:
    """Draw a logit attribution, or the contrast with a foil, from the bias down to the sum.

    `title` labels the sum. `rows` are the source pieces with a row each, rising; default are those of
    `logit_attribution_rows`, in sentence order. On the left of each is its alpha_ij as a bar, which shows attention
    without effect. Without attention, one row is the whole sentence. For marks and clicks, `layout.meta` has the row of
    each piece, None where it shares one (`entries`), and the mark's colour (`selection_colour`).
    """
    return figure_of(
        logit_attribution_template(trace, theme),
        logit_attribution_values(trace, attribution, title, rows=rows, theme=theme),
    )


@dataclass(frozen=True)
class _Sources:
    """The source's rows of a logit attribution."""

    names: list[str]
    values: list[float]
    alpha: list[float]
    """Attention of each row; empty without attention."""
    entries: list[int | None] | None
    """Row of each source piece, None where it shares one; None without attention."""


def _sources(trace: Trace, attribution: LogitAttribution, rows: Sequence[int] | None) -> _Sources:
    """Return the rows of the source: one for each listed piece and one for the rest; without attention one row."""
    if not trace.attends:
        return _Sources([gettext("c, the sentence")], [float(attribution.source.sum())], [], None)
    named_pieces = np.array(logit_attribution_rows([attribution]) if rows is None else rows)
    other_pieces = np.setdiff1d(np.arange(len(attribution.source)), named_pieces)
    weights = trace.alignment[attribution.step]
    names = [piece_name(trace.source_pieces[j]) for j in named_pieces]
    values, alpha = attribution.source[named_pieces].tolist(), [float(weight) for weight in weights[named_pieces]]
    if other_pieces.size:
        names.append(gettext("{n} more", n=other_pieces.size))
        alpha.append(float(weights[other_pieces].sum()))
        values.append(float(attribution.source[other_pieces].sum()))
    entries = [
        3 + int(np.searchsorted(named_pieces, j)) if j in named_pieces else None for j in range(len(attribution.source))
    ]
    return _Sources(names, values, alpha, entries)


def _attention(ink: Palette) -> tuple[list[Part], Part]:
    """Return the bars of attention beside the source's rows, and their axis."""
    bars = {
        "type": "bar",
        "orientation": "h",
        "name": "alpha",
        "xaxis": "x2",
        "y": Slot("weight_rows"),
        "x": Slot("weights"),
        "marker": {"color": ink.bar},
        "customdata": Slot("weight_hover"),
        "hovertemplate": "%{customdata}<extra></extra>",
    }
    return [bars], {"xaxis2": panel(ink, [0, 0.14], "α") | {"range": [0, 1], "tickvals": [0, 1]}}


def _alt(trace: Trace, attribution: LogitAttribution, title: str) -> str:
    fields = {"title": shorten(title, 60), "step": attribution.step + 1, "logit": attribution.logit}
    if not trace.attends:
        return gettext("{title}: what each term of step {step} adds to the total of {logit:.2f}.", **fields)
    largest = int(np.abs(attribution.source).argmax())
    piece = shorten(piece_name(trace.source_pieces[largest]))
    return gettext(
        "{title}: what each term of step {step} adds to the total of {logit:.2f}. The largest source term, "
        "{entry:+.2f}, is that of {piece}, whose attention weight is {weight:.2f}.",
        entry=attribution.source[largest],
        piece=piece,
        weight=trace.alignment[attribution.step][largest],
        **fields,
    )
