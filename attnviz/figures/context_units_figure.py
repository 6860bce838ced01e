"""Figure and table of the most distinctive units of a context vector, as a running sum over source words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from attnviz import lazy_pandas as pd
from attnviz.analysis.context_units import SHOWN_UNITS, WORDS, ContextUnits, context_units
from attnviz.analysis.diagram_texts import context_sentence
from attnviz.analysis.labels import shorten, subscript
from attnviz.analysis.numbers import decimal, percent
from attnviz.figures.legacy import Slot, Values
from attnviz.figures.spec import APART, Part, axis_labels, base_axis, base_layout, escape
from attnviz.languages import gettext
from attnviz.palette import Palette, ThemeName, palette
from attnviz.trace import Trace

_LABEL_LENGTH = 12
"""Characters of a word beside its line."""
_LINE, _WEIGHT_BAR, _GAP, _UNIT_LABELS = 38, 42, 26, 46
"""Pixels: height of a line, of the bar of weights above, of the gap, and of the unit labels below."""
_BAR_LENGTH = 0.46
"""Largest extent of a bar as a share of a line's height, in either direction."""
_WEIGHTS_Y, _NAMES_Y = 0.715, 0.2
"""Vertical positions of the bar of weights and of the words above it, downwards from 0 to 1."""
_LEAST_LABELLED = 0.12
"""Smallest share of the bar of weights with room for a word."""


def context_units_template(trace: Trace, theme: ThemeName) -> Part:
    """Return the template of 24 units of c_i as columns, with a line for each source word and one for c_i.

    On a word's line, its alpha_ij h_j are added to the running sum of the lines above (a thin line). The bar above has
    the weights of the words; the column at the right has the largest cosine of c_i with an annotation of each word.
    """
    ink, count = palette(theme), min(SHOWN_UNITS, trace.contexts.shape[1])
    rows = _line_count(trace)
    inner = _WEIGHT_BAR + _GAP + _LINE * rows
    lines = [_LINE * rows / inner, 1 - _WEIGHT_BAR / inner]
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False}
    layout = base_layout(ink) | {
        "height": inner + _UNIT_LABELS + 6,
        "margin": {"l": 112, "r": 46, "t": 6, "b": _UNIT_LABELS},
        "bargap": 0.22,
        "barmode": "overlay",
        "hovermode": "closest",
        "xaxis": axis
        | {
            "range": [-0.6, count],
            "tickvals": list(range(count)),
            "ticktext": Slot("units"),
            "tickangle": -90,
            "anchor": "y",
            "tickfont": {"size": 10, "color": ink.quiet},
        },
        "yaxis": axis
        | APART
        | {
            "range": [rows - 0.5, -0.5],
            "domain": [0, lines[0]],
            "tickvals": list(range(rows)),
            "ticktext": Slot("names"),
            "tickfont": {"size": 13, "color": ink.encoder},
            "showgrid": True,
        },
        "xaxis2": axis | {"range": [0, 1], "showticklabels": False, "anchor": "y2"},
        "yaxis2": axis
        | APART
        | {
            "range": [1, 0],
            "domain": [lines[1], 1],
            "tickvals": [_WEIGHTS_Y],
            "ticktext": Slot("sum"),
            "tickfont": {"size": 14, "color": ink.context},
        },
        "annotations": [_heading(gettext("cosine"), lines[0], ink)],
        "shapes": [
            {
                "type": "rect",
                "xref": "paper",
                "x0": 0,
                "x1": 1,
                "yref": "y2",
                "y0": 0.46,
                "y1": 0.97,
                "line": {"color": ink.context, "width": 2},
            }
        ],
        "meta": {"alt": Slot("alt"), "narrowest": 340, "lines": Slot("lines"), "selection_colour": ink.encoder},
    }
    return {"data": [*_bars(ink), _cosines(ink), _weight_bar(ink), _weight_bar_names(ink)], "layout": layout}


def context_units_values(trace: Trace, decomposition: ContextUnits, step: int) -> Values:
    """Return the values of `context_units_template`."""
    names = [trace.words().source[k] for k in decomposition.words]
    names += (
        [gettext("{n} more", n=len(trace.words().source) - len(names))] if len(decomposition.terms) > len(names) else []
    )
    count, rows = len(decomposition.units), len(decomposition.terms)
    sums_before = np.vstack([decomposition.partial_sums, np.zeros(count)])
    added = np.vstack([decomposition.terms, decomposition.context])
    limit = float(np.abs(np.vstack([sums_before + added, sums_before])).max()) or 1.0
    # Lines are numbered downwards; positive values extend upwards from their line.
    unit, ends = -_BAR_LENGTH / limit, np.cumsum(decomposition.weights)
    shown = [
        f"{shorten(name, _LABEL_LENGTH)} {decimal(w)}"
        for name, w in zip(names, decomposition.weights.tolist(), strict=True)
    ]
    return {
        "x": np.tile(np.arange(count), rows + 1),
        "line": np.repeat(np.arange(rows + 1), count),
        "before": (unit * sums_before).ravel(),
        "from": (np.arange(rows + 1)[:, None] + unit * sums_before).ravel(),
        "added": (unit * added).ravel(),
        "kind": np.vstack([added[:-1] < 0, np.full((1, count), 2)]).astype(int).ravel().tolist(),
        "hover": _hover_texts(names, decomposition, sums_before, added),
        "units": [_unit_label(trace, k) for k in decomposition.units],
        "sum": [f"c{subscript(step + 1)} ="],
        "names": [
            *axis_labels(shown, _LABEL_LENGTH + 6),
            f"<b>{gettext('sum = {c}', c=f'c{subscript(step + 1)}')}</b>",
        ],
        "cosine_texts": _word_cosines(trace, decomposition),
        "cosine_lines": list(range(rows)),
        "cosine_places": [count - 0.2] * rows,
        "shares": decomposition.weights,
        "starts": ends - decomposition.weights,
        "places": ends - decomposition.weights / 2,
        "weight_bar_lines": [_WEIGHTS_Y] * rows,
        "name_lines": [_NAMES_Y] * rows,
        "share_texts": [
            escape(f"{percent(w)} {shorten(name, 30)}")
            for name, w in zip(names, decomposition.weights.tolist(), strict=True)
        ],
        "share_names": _weight_bar_labels(names, decomposition),
        "alt": context_units_alt(trace, decomposition, step),
        "lines": _line_of_pieces(trace, decomposition),
    }


def context_units_table(trace: Trace, step: int) -> pd.DataFrame:
    """Return the contribution of each source word to each unit of 0-based `step`, c_i, and its mean over all steps.

    Units are counted from 1. The first two rows are the words' weights, and their largest cosines with c_i.
    """
    decomposition, words = context_units(trace, step), trace.words()
    names = [f"({k + 1}) {words.source[k]}" for k in decomposition.words]
    columns = [
        *names,
        *([gettext("other words")] if len(decomposition.terms) > len(names) else []),
        f"c{subscript(step + 1)}",
        gettext("mean of all steps"),
    ]
    blank = [np.nan] * (len(decomposition.terms) - len(names))
    rows = {
        gettext("weight"): [*decomposition.weights, decomposition.weights.sum(), np.nan],
        gettext("cosine"): [*_largest_cosines(trace, decomposition), *blank, 1.0, np.nan],
    } | {
        str(unit + 1): [*decomposition.terms[:, k], decomposition.context[k], decomposition.mean[k]]
        for k, unit in enumerate(decomposition.units)
    }
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return table.rename_axis(gettext("unit"))


def context_units_alt(trace: Trace, decomposition: ContextUnits, step: int) -> str:
    """Return the text alternative."""
    largest = int(np.abs(decomposition.context - decomposition.mean).argmax())
    return gettext(
        "What each source word adds to the units of the context vector of step {step}. {told} Unit {unit} "
        "differs most from its mean over all steps: {value} instead of {mean}.",
        step=step + 1,
        told=context_sentence(trace, decomposition, step),
        unit=int(decomposition.units[largest]) + 1,
        value=decimal(float(decomposition.context[largest])),
        mean=decimal(float(decomposition.mean[largest])),
    )


def _line_count(trace: Trace) -> int:
    """Return the number of lines: words with a line each, one line for the others, and the sum."""
    words = len(trace.words().source)
    return min(words, WORDS) + (words > WORDS) + 1


def _line_of_pieces(trace: Trace, decomposition: ContextUnits) -> list[int]:
    """Return the line of each source piece."""
    line_of_piece = {j: row for row, k in enumerate(decomposition.words) for j in trace.words().source_groups[k]}
    return [line_of_piece.get(j, len(decomposition.words)) for j in range(len(trace.source_pieces))]


def _bars(ink: Palette) -> list[Part]:
    running_sum_bars = {
        "type": "bar",
        "x": Slot("x"),
        "base": Slot("line"),
        "y": Slot("before"),
        "hoverinfo": "skip",
        "width": 0.16,
        "marker": {"color": ink.quiet},
    }
    added_bars = {
        "type": "bar",
        "x": Slot("x"),
        "base": Slot("from"),
        "y": Slot("added"),
        "customdata": Slot("hover"),
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {"color": Slot("kind", (ink.plus, ink.minus, ink.context))},
    }
    return [running_sum_bars, added_bars]


def _cosines(ink: Palette) -> Part:
    """Return the column of cosines at the right."""
    return {
        "type": "scatter",
        "mode": "text",
        "x": Slot("cosine_places"),
        "y": Slot("cosine_lines"),
        "text": Slot("cosine_texts"),
        "textposition": "middle right",
        "cliponaxis": False,
        "hoverinfo": "skip",
        "textfont": {"size": 12, "color": ink.quiet},
    }


def _weight_bar(ink: Palette) -> Part:
    return {
        "type": "bar",
        "orientation": "h",
        "xaxis": "x2",
        "yaxis": "y2",
        "x": Slot("shares"),
        "base": Slot("starts"),
        "y": Slot("weight_bar_lines"),
        "width": 0.43,
        "customdata": Slot("share_texts"),
        "hovertemplate": "%{customdata}<extra></extra>",
        "marker": {"color": ink.encoder, "line": {"width": 1.5, "color": ink.paper}},
    }


def _weight_bar_names(ink: Palette) -> Part:
    return {
        "type": "scatter",
        "mode": "text",
        "xaxis": "x2",
        "yaxis": "y2",
        "x": Slot("places"),
        "y": Slot("name_lines"),
        "text": Slot("share_names"),
        "hoverinfo": "skip",
        "textfont": {"size": 13, "color": ink.ink},
    }


def _heading(text: str, y: float, ink: Palette) -> Part:
    return {
        "text": text,
        "x": 1,
        "xref": "paper",
        "xanchor": "left",
        "xshift": -2,
        "y": y,
        "yref": "paper",
        "yanchor": "bottom",
        "showarrow": False,
        "font": {"size": 11, "color": ink.quiet},
    }


def _unit_label(trace: Trace, unit: int) -> str:
    """Return the number of a unit, counted from 1, with the direction of its half of the annotation."""
    forward = trace.annotations.shape[1] // (1 + trace.reads_backwards)
    return f"{unit + 1} {'→' if unit < forward else '←'}"


def _hover_texts(
    names: Sequence[str], decomposition: ContextUnits, sums_before: np.ndarray, added: np.ndarray
) -> list[str]:
    """Return the hover text of each bar."""
    texts = []
    for row, name in enumerate([*names, ""]):
        for k, unit in enumerate(decomposition.units):
            fields = {"unit": unit + 1, "value": decimal(float(added[row, k]), 3)}
            if row == len(names):
                texts.append(gettext("unit {unit}: {value}", **fields))
                continue
            total = decimal(float(sums_before[row, k] + added[row, k]), 3)
            texts.append(
                gettext(
                    "{name} adds {value} to unit {unit}, making {total}",
                    name=escape(shorten(name, 30)),
                    total=total,
                    **fields,
                )
            )
    return texts


def _largest_cosines(trace: Trace, decomposition: ContextUnits) -> list[float]:
    """Return, for each word with a line of its own, the largest cosine of c_i with one of its annotations."""
    groups = trace.words().source_groups
    return [float(decomposition.cosines[list(groups[k])].max()) for k in decomposition.words]


def _word_cosines(trace: Trace, decomposition: ContextUnits) -> list[str]:
    texts = [decimal(value) for value in _largest_cosines(trace, decomposition)]
    return texts + [""] * (len(decomposition.terms) - len(texts))


def _weight_bar_labels(names: Sequence[str], decomposition: ContextUnits) -> list[str]:
    """Return the labels in the bar of weights, where there is room."""
    return [
        escape(f"{percent(share)} {shorten(name, max(3, int(share * 34)))}") if share >= _LEAST_LABELLED else ""
        for name, share in zip(names, decomposition.weights.tolist(), strict=True)
    ]
