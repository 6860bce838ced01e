"""Figures and tables of one attention head of a transformer at one step: scores, softmax, weighted sum of values."""

from __future__ import annotations

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from attnviz.analysis.heads import OpenHead, open_head
from attnviz.analysis.measures import weight_order
from attnviz.figures.build import Spec
from attnviz.figures.context import sum_strips, terms_table, weighted_terms
from attnviz.figures.context_growth import growth_frame
from attnviz.figures.source_rows import (
    bar_numbers,
    bar_texts,
    energy_range,
    piece_bars,
    short_name,
    signed_colours,
    signs,
    source_layout,
    source_values,
    value_axis,
)
from attnviz.figures.template import Slot, Values
from attnviz.languages import gettext
from attnviz.palette import PALE, ThemeName, palette
from attnviz.trace import FloatArray, TransformerTrace
from attnviz.wording.labels import subscript

HeadOrTrace = TransformerTrace | OpenHead
"""A head, or a trace that selects one: see `open_head`."""


def scores_template(head: HeadOrTrace, theme: ThemeName) -> Spec:
    """Return the template of the scores: a signed bar for each source piece, with the same axis at every step."""
    opened, ink = open_head(head), palette(theme)
    bars = piece_bars(opened, Slot("scores"), "s") | signed_colours(ink)
    layout = source_layout(opened, ink)
    layout["xaxis"] = value_axis(ink, gettext("score s"), energy_range(opened.finite_scores))
    return {"data": [bars, *bar_numbers(opened, ink)], "layout": layout}


def scores_values(head: HeadOrTrace, step: int) -> Values:
    """Return the values of `scores_template` at 0-based `step`: s_ij of the displayed head."""
    opened = open_head(head)
    scores, best = opened.finite_scores[step], _strongest(opened, step)
    alt = gettext(
        "Scores of step {step}, a bar for each of {count} source pieces. The highest, {score:.2f}, is that of piece "
        "{number}, {name}.",
        step=step + 1,
        count=len(scores),
        score=scores[best],
        number=best + 1,
        name=short_name(opened, best),
    )
    return {"scores": scores} | signs(scores) | bar_texts(scores) | source_values(opened, step, alt)


def weights_template(head: HeadOrTrace, theme: ThemeName) -> Spec:
    """Return the template of the softmax: each score and, beside it, its weight in [0, 1]."""
    opened, ink = open_head(head), palette(theme)
    score_bars = piece_bars(opened, Slot("scores"), "s") | signed_colours(ink, opacity=PALE)
    weight_bars = piece_bars(opened, Slot("weights"), "α") | {"xaxis": "x2", "marker": {"color": ink.bar}}
    layout = source_layout(opened, ink)
    layout["xaxis"] = value_axis(ink, gettext("score s"), energy_range(opened.finite_scores, padding=0.06)) | {
        "domain": [0, 0.36]
    }
    layout["xaxis2"] = value_axis(ink, gettext("weight α"), [0, 1.16]) | {
        "domain": [0.44, 1],
        "tickvals": [0, 0.5, 1],
        "anchor": "y",
    }
    texts = ({**spec, "xaxis": "x2"} for spec in bar_numbers(opened, ink))
    return {"data": [score_bars, weight_bars, *texts], "layout": layout}


def weights_values(head: HeadOrTrace, step: int) -> Values:
    """Return the values of `weights_template` at 0-based `step`: s_ij and alpha_ij of the displayed head."""
    opened = open_head(head)
    scores, alpha, best = opened.finite_scores[step], opened.weights[step], _strongest(opened, step)
    alt = gettext(
        "Softmax of step {step}: each score and its attention weight, side by side. The largest weight, "
        "{weight:.2f}, is that of piece {number}, {name}.",
        step=step + 1,
        weight=alpha[best],
        number=best + 1,
        name=short_name(opened, best),
    )
    numbers = {"scores": scores, "weights": alpha}
    return numbers | signs(scores) | bar_texts(alpha) | source_values(opened, step, alt)


def scores_table(head: HeadOrTrace, step: int) -> pd.DataFrame:
    """Return s_ij of the displayed head at 0-based `step`, one row for each source piece j (counted from 1)."""
    return head_table(head, step)[[gettext("source piece"), gettext("score")]]


def head_table(head: HeadOrTrace, step: int) -> pd.DataFrame:
    """Return the softmax of the displayed head at 0-based `step`: s_ij, exp(s_ij - max_k s_ik), alpha_ij."""
    opened = open_head(head)
    scores = opened.scores[step]
    return pd.DataFrame(
        {
            "j": np.arange(1, len(opened.source_pieces) + 1),
            gettext("source piece"): list(opened.source_pieces),
            gettext("score"): scores,
            "exp(s - max)": np.exp(scores - scores.max()),
            "alpha": opened.weights[step],
        }
    ).set_index("j")


def values_strips(head: HeadOrTrace, step: int, *, theme: ThemeName = "light") -> go.Figure:
    """Draw alpha_ij v_j of the displayed head for the pieces of largest weight and, below them, their sum z_i."""
    names, rows = _terms(head, step)
    units = rows.shape[1]
    alt = gettext(
        "Output of the head at step {step}. Each weighted value is a strip of {count} units. The last strip is "
        "their sum.",
        step=step + 1,
        count=units,
    )
    return sum_strips(names, rows, [(gettext("values of the head"), units / 2)], alt, theme)


def values_table(head: HeadOrTrace, step: int) -> pd.DataFrame:
    """Return the rows of `values_strips` as columns, one row for each unit (counted from 1)."""
    return terms_table(*_terms(head, step))


def values_frame(head: HeadOrTrace, *, thinned: bool = False, theme: ThemeName = "light") -> go.Figure:
    """Return the figure of the growing sum of values, without its numbers: see `growth_frame`."""
    opened = open_head(head)
    units = opened.values.shape[1]
    alt = gettext(
        "Weighted values: one strip of {count} units for each source piece. The last strip is their sum.",
        count=units,
    )
    return growth_frame(opened, units, units, [gettext("values of the head")], alt, thinned=thinned, theme=theme)


def _terms(head: HeadOrTrace, step: int) -> tuple[list[str], FloatArray]:
    opened = open_head(head)
    name = gettext("{context} = sum", context=f"z{subscript(step + 1)}")
    return weighted_terms(opened, opened.weights[step], opened.values, opened.outputs[step], name)


def _strongest(opened: OpenHead, step: int) -> int:
    return weight_order(opened, step)[0]
