"""Figures and tables of the heads of a transformer: one head at one step, and all heads as small heatmaps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_args

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz import lazy_pandas as pd
from attnviz.analysis.heads import HeadTrace, head_trace, heads_of, strongest_words, word_weights_of_heads
from attnviz.analysis.measures import entropy, weight_order
from attnviz.figures.build import APART, Spec, axis_labels, base_axis, base_layout, build, emphasise, escape, rectangle
from attnviz.figures.context import growth_frame, sum_strips, terms_table, weighted_terms
from attnviz.figures.heatmap_parts import font_size
from attnviz.figures.source_rows import (
    LABEL_LENGTH,
    bar_numbers,
    bar_texts,
    energy_range,
    fit_alt,
    piece_bars,
    short_name,
    signed_colours,
    signs,
    source_layout,
    source_values,
    value_axis,
    without_scale,
)
from attnviz.figures.template import Slot, Values
from attnviz.languages import gettext, ngettext
from attnviz.palette import GREYS, PALE, Palette, ThemeName, palette
from attnviz.trace import FloatArray, TransformerTrace
from attnviz.trace.parts import Kind
from attnviz.wording.head import kind_name
from attnviz.wording.labels import quote, shorten, subscript
from attnviz.wording.numbers import decimal, percent

HeadOrTrace = TransformerTrace | HeadTrace
"""A head, or a trace that selects one: see `head_trace`."""


def scores_template(head: HeadOrTrace, theme: ThemeName, *, simple: bool = False) -> Spec:
    """Return the template of the scores: a signed bar for each source piece, with the same axis at every step.

    If `simple`, the bars have no scale and no numbers.
    """
    opened, ink = head_trace(head), palette(theme)
    bars = piece_bars(opened, Slot("scores"), "s") | signed_colours(ink)
    layout = source_layout(opened, ink)
    layout["xaxis"] = value_axis(ink, gettext("score s"), energy_range(opened.finite_scores))
    spec = {"data": [bars, *bar_numbers(opened, ink)], "layout": layout}
    return without_scale(spec) if simple else spec


def scores_values(head: HeadOrTrace, step: int, *, simple: bool = False) -> Values:
    """Return the values of `scores_template` at 0-based `step`: s_ij of the displayed head."""
    opened = head_trace(head)
    scores, best = opened.finite_scores[step], _strongest(opened, step)
    alt = (
        fit_alt(opened, step)
        if simple
        else gettext(
            "Scores of step {step}, a bar for each of {count} source pieces. Piece {number}, {name}, has the highest "
            "score, {score:.2f}.",
            step=step + 1,
            count=len(scores),
            score=scores[best],
            number=best + 1,
            name=short_name(opened, best),
        )
    )
    return {"scores": scores} | signs(scores) | bar_texts(scores) | source_values(opened, step, alt)


def weights_template(head: HeadOrTrace, theme: ThemeName) -> Spec:
    """Return the template of the softmax: each score and, beside it, its weight in [0, 1]."""
    opened, ink = head_trace(head), palette(theme)
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
    opened = head_trace(head)
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
    opened = head_trace(head)
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
        "Output of the head at step {step}: a strip of {count} units for each weighted value, and a last strip for "
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
    opened = head_trace(head)
    units = opened.values.shape[1]
    alt = gettext(
        "Weighted values: one strip of {count} units for each source piece, and a last strip for their sum.",
        count=units,
    )
    return growth_frame(opened, units, units, [gettext("values of the head")], alt, thinned=thinned, theme=theme)


def all_heads_template(trace: TransformerTrace, theme: ThemeName) -> Spec:
    """Return the template of all cross-attention heads at one step: a row for each, a column for each source word.

    It replaces the values of one head at the level *Idea*. Brightness is the square root of the share; layers are
    separated, the displayed head is framed.
    """
    ink, opened, words = palette(theme), head_trace(trace), trace.words().source
    layers, heads = trace.cross_weights.shape[:2]
    count, displayed_row, columns = layers * heads, opened.layer * heads + opened.head, len(words)
    names = [gettext("attention {k}", k=k + 1) for k in range(count)]
    names[displayed_row] = emphasise(names[displayed_row], ink.context)
    labels = axis_labels(words, LABEL_LENGTH)
    slanted = sum(map(len, labels)) > 40
    top = 16 + (max(map(len, labels)) * 6 if slanted else 14)
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    image = {
        "type": "heatmap",
        "z": Slot("shares"),
        "zmin": 0,
        "zmax": 1,
        "colorscale": GREYS,
        "showscale": False,
        "text": Slot("texts"),
        "hoverinfo": "text",
        "xgap": 1,
        "ygap": 1,
    }
    layout = base_layout(ink) | {
        "height": top + _HEAD_ROW * count + 8,
        "margin": {"l": 84, "r": 26, "t": top, "b": 8},
        "plot_bgcolor": ink.line,
        "shapes": [
            *(_separator(heads * layer, ink.quiet) for layer in range(1, layers)),
            rectangle(-0.5, columns - 0.5, displayed_row - 0.5, displayed_row + 0.5, ink.context),
        ],
        "xaxis": axis
        | {
            "side": "top",
            "range": [-0.5, columns - 0.5],
            "tickangle": -50 if slanted else 0,
            "tickvals": list(range(columns)),
            "ticktext": labels,
            "tickfont": {"size": font_size(columns), "color": ink.encoder},
        },
        "yaxis": axis
        | APART
        | {
            "range": [count - 0.5, -0.5],
            "tickvals": list(range(count)),
            "ticktext": names,
            "tickfont": {"size": 12, "color": ink.quiet},
        },
        "meta": {"alt": Slot("alt"), "narrowest": max(260, 110 + 12 * columns), "widest": 110 + 44 * max(columns, 6)},
    }
    return {"data": [image], "layout": layout}


def all_heads_values(trace: TransformerTrace, step: int) -> Values:
    """Return the values of `all_heads_template` at 0-based `step`."""
    words = trace.words().source
    shares = word_weights_of_heads(trace, step).reshape(-1, len(words))
    names = [escape(shorten(word, 60)) for word in words]
    texts = [
        [f"{gettext('attention {k}', k=k)}<br>{name} {percent(share)}" for name, share in zip(names, row, strict=True)]
        for k, row in enumerate(shares.tolist(), 1)
    ]
    strongest, counts = np.unique(strongest_words(trace, step), return_counts=True)
    most_attended = int(counts.argmax())
    alt = ngettext(
        "The {all} attention distributions of step {step}, a row each. {count} distribution attends most to {word}.",
        "The {all} attention distributions of step {step}, a row each. {count} distributions attend most to {word}.",
        int(counts[most_attended]),
        all=len(shares),
        step=step + 1,
        word=quote(shorten(words[int(strongest[most_attended])], 30)),
    )
    return {"shares": np.sqrt(shares), "texts": texts, "alt": alt}


def _separator(row: int, colour: str) -> dict[str, Any]:
    """Return a line above a 0-based row, across its label and the whole width."""
    return {
        "type": "line",
        "xref": "paper",
        "x0": 0,
        "x1": 1,
        "y0": row - 0.5,
        "y1": row - 0.5,
        "line": {"color": colour, "width": 2},
    }


def _terms(head: HeadOrTrace, step: int) -> tuple[list[str], FloatArray]:
    opened = head_trace(head)
    name = gettext("{context} = sum", context=f"z{subscript(step + 1)}")
    return weighted_terms(opened, opened.weights[step], opened.values, opened.outputs[step], name)


def _strongest(opened: HeadTrace, step: int) -> int:
    return weight_order(opened, step)[0]


_HEAD_ROW = 21
"""Pixels of the row of a head."""

Rates = Mapping[tuple[int, int], float]
"""Alignment error rates of the cross-attention heads, by 0-based layer and head."""
_ROW, _GAP, _NAME = 120, 0.012, 34
"""Pixels of a row; share of the width between panels; pixels of the name of a kind of attention."""

LARGEST = 48
"""Largest number of rows and columns of a thumbnail."""


def thumbnail(matrix: NDArray[np.floating]) -> NDArray[np.floating]:
    """Return `matrix`, (m, n), with at most LARGEST rows and columns, by the maximum of each block.

    The maximum keeps single bright cells visible.
    """
    for axis in (0, 1):
        if (size := matrix.shape[axis]) > LARGEST:
            starts = np.arange(LARGEST) * size // LARGEST
            matrix = np.maximum.reduceat(matrix, starts, axis=axis)
    return matrix


def head_gallery(trace: TransformerTrace, rates: Rates, *, theme: ThemeName = "light") -> go.Figure:
    """Draw the weights of every head, queries down and keys across, with its number and its alignment error rate.

    Brightness is the square root of the weight. Heads without an entry in `rates` have only a number.
    """
    ink, kinds = palette(theme), get_args(Kind)
    layers, heads = trace.cross_weights.shape[:2]
    layout = base_layout(ink) | {
        "height": _NAME + len(kinds) * (layers * _ROW + _NAME),
        "margin": {"l": 8, "r": 8, "t": _NAME, "b": 8},
        "annotations": [],
        "meta": {"alt": _alt(trace, rates), "narrowest": 560},
    }
    panels: list[Spec] = []
    for block, kind in enumerate(kinds):
        top = 1 - block / len(kinds)
        layout["annotations"].append(_annotation(kind_name(kind), 0, top, ink, size=14))
        for place, head in enumerate(heads_of(trace, kind)):
            number = len(panels) + 1
            left, high = place % heads / heads, top - (place // heads + 0.28) / (layers + 0.3) / len(kinds)
            low = high - 0.78 / (layers + 0.3) / len(kinds)
            panels.append(_panel(head, number))
            layout |= _axes(number, (left, left + 1 / heads - _GAP), (low, high), ink)
            layout["annotations"].append(_annotation(_panel_name(head, rates), left, high, ink))
    return build(panels, layout)


def head_gallery_table(trace: TransformerTrace, rates: Rates) -> pd.DataFrame:
    """Return a row for each head: mean entropy in bits, mean largest weight, and alignment error rate where known."""
    rows = [
        {
            gettext("attention"): kind_name(kind),
            gettext("layer"): head.layer + 1,
            gettext("head"): head.head + 1,
            gettext("mean entropy, bits"): float(entropy(head.weights).mean()),
            gettext("mean largest weight"): float(head.weights.max(axis=1).mean()),
            gettext("alignment error rate"): rates.get((head.layer, head.head), np.nan) if kind == "cross" else np.nan,
        }
        for kind in get_args(Kind)
        for head in heads_of(trace, kind)
    ]
    return pd.DataFrame(rows, index=pd.RangeIndex(1, len(rows) + 1))


def _panel(head: HeadTrace, number: int) -> Spec:
    return {
        "type": "heatmap",
        "z": np.sqrt(thumbnail(head.weights)),
        "zmin": 0,
        "zmax": 1,
        "colorscale": GREYS,
        "showscale": False,
        "hoverinfo": "skip",
        "xaxis": f"x{number}",
        "yaxis": f"y{number}",
    }


def _axes(number: int, horizontal: tuple[float, float], vertical: tuple[float, float], ink: Palette) -> Spec:
    axis = base_axis(ink) | {
        "showticklabels": False,
        "showgrid": False,
        "zeroline": False,
        "linecolor": ink.line,
        "mirror": True,
    }
    return {
        f"xaxis{number}": axis | {"domain": horizontal, "anchor": f"y{number}"},
        f"yaxis{number}": axis | {"domain": vertical, "anchor": f"x{number}", "autorange": "reversed"},
    }


def _panel_name(head: HeadTrace, rates: Rates) -> str:
    rate = rates.get((head.layer, head.head)) if head.kind == "cross" else None
    number = f"{head.layer + 1}.{head.head + 1}"
    return number if rate is None else f"{number}  " + gettext("AER {rate}", rate=decimal(rate))


def _annotation(text: str, x: float, y: float, ink: Palette, size: int = 12) -> Spec:
    return {
        "text": text,
        "x": x,
        "y": y,
        "xref": "paper",
        "yref": "paper",
        "xanchor": "left",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": size, "color": ink.ink if size > 12 else ink.quiet},
    }


def _alt(trace: TransformerTrace, rates: Rates) -> str:
    layers, heads = trace.cross_weights.shape[:2]
    text = gettext(
        "Small heatmaps of all heads: three kinds of attention, {layers} layers of {heads} heads each.",
        layers=layers,
        heads=heads,
    )
    if not rates:
        return text
    layer, head = min(rates, key=rates.__getitem__)
    return (
        text
        + " "
        + gettext(
            "In the cross-attention, head {head} of layer {layer} aligns best: its AER is {rate}.",
            head=head + 1,
            layer=layer + 1,
            rate=decimal(rates[layer, head]),
        )
    )
