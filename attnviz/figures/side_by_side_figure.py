"""Heatmaps side by side, and their tables: attribution methods of one translation, and two translations compared."""

from __future__ import annotations

from typing import Any

import numpy as np

from attnviz import lazy_pandas as pd
from attnviz.analysis.attribution_methods import (
    UNSIGNED_METHODS,
    Agreement,
    AttributionMethods,
    attribution_method_texts,
)
from attnviz.analysis.comparison import (
    ComparedSide,
    Comparison,
    SharedAxis,
    cell_hover_lines,
    comparison_sentences,
    default_names,
    panel_captions,
    word_hover_lines,
)
from attnviz.analysis.grid import grid, scale_end
from attnviz.analysis.labels import shorten, signed, size_text
from attnviz.figures.heatmap import CELL_GAP_COLOUR, MOST_TEXTS, colour_bar, value_scale, words_axis
from attnviz.figures.spec import (
    FRAMED,
    PANEL_GAP,
    PRINT_WIDTH,
    Part,
    Spec,
    Table,
    axis_labels,
    bars,
    cursor,
    escape,
    frame_of,
    in_colour,
    label_height,
    label_width,
    numbered_rows,
    pair_columns,
    path,
    points,
    rectangle,
    row_frames,
    side_by_side,
    strips,
    titled_axis,
)
from attnviz.languages import gettext
from attnviz.palette import DEFAULT_COLOURS, Colours, heatmap_scale
from attnviz.trace import Attention, Trace
from attnviz.trace.drawing import By
from attnviz.trace.parts import Array

_LABEL = 14
"""Characters of a label."""


def attributions(
    trace: Trace | Attention,
    methods: AttributionMethods,
    *,
    by: By = "words",
    end: bool = True,
    across: int = 3,
    step: int | None = None,
    width: int = PRINT_WIDTH,
) -> Spec:
    """Draw each attribution as a heatmap: target down, source across.

    All share one scale: each entry divided by the sum of absolute values of its row (`AttributionMethods.shares`). Blue
    counts for the word, red against it; weights, which have no sign, run from black 0 to white 1. The shade is the
    square root; hover texts have the numbers themselves.

    Args:
        trace: The translation.
        methods: Result of `analysis.attribution_methods`.
        by: "words" or "steps".
        end: Whether to draw `</s>`.
        across: Number of heatmaps side by side.
        step: Step, 0-based, whose row is framed in all panels.
        width: Width of the figure in pixels; labels are thinned to fit it.

    Returns:
        The figure. `layout.meta` has, as that of `heatmap`, `narrowest`, `steps`, `sources`, `rows`, `columns` and
        `frame`, and the axes of each panel by attribution (`panels`), for a shared cursor. The table has the
        attributions in their own units, a row for each target piece i and source piece j, both counted from 1.

    Raises:
        AttnvizError: `by` is unknown.
        ValueError: `across` is less than 1.
    """
    cells, texts = grid(trace, by, end), attribution_method_texts()
    (rows, columns), count = cells.alpha.shape, len(methods.names)
    across, height = min(across, count), np.clip(230 / rows, 11, 20) * rows
    target_axis, left = words_axis(cells.target, (), "decoder", _LABEL, pixels=height)
    panel = (width - left - PANEL_GAP * across) / max(1, across)
    source_axis, longest = words_axis(cells.source, (), "encoder", _LABEL, across=True, pixels=panel)
    bottom = label_height(longest, source_axis["tickfont"]["size"], -90) + 50
    layout, axes = side_by_side(
        {
            name: (
                f"<b>{texts[name].name}</b><br>{texts[name].summary}",
                # The names of columns are below the lowest panel of each column.
                source_axis | FRAMED | {"tickangle": -90, "showticklabels": place + across >= count},
                target_axis | FRAMED,
            )
            for place, name in enumerate(methods.names)
        },
        across,
        (44, 0, height, 0),
        (int(left) + 14, 12, 0, bottom),
        max(label_width([texts[name].summary for name in methods.names], 12, longest=99), 5 * columns),
        size=12,
        width=width,
    )

    hover: Part = {}
    if rows * columns * count <= MOST_TEXTS:
        source, target = axis_labels(cells.source, 40), axis_labels(cells.target, 40)
        hover = {"text": [[f"{row} ← {column}" for column in source] for row in target]}
    cell_gap = 1 if max(rows, columns) <= 24 else 0
    panels: list[Part] = []
    for name, place in axes.items():
        shares, amounts = (
            (trace.words().merged(values) if by == "words" else values.astype(np.float32))[:rows, :columns]
            for values in (methods.shares(name), methods.matrices[name])
        )
        number = f"{escape(texts[name].name)}: %{{customdata:.3f}} {texts[name].unit}<extra></extra>"
        cell: Part = {"x0": 0, "xgap": cell_gap, "ygap": cell_gap, "customdata": amounts}
        cell["hovertemplate"] = f"%{{text}}<br>{number}" if hover else number
        # Gaps, which show the paper, would be bright lines between black cells.
        greys: Part = {"zmin": 0, "colorscale": heatmap_scale(root=True), "xgap": 0, "ygap": 0}
        signs = greys if name in UNSIGNED_METHODS else {}
        panels.append(strips(shares, 1, name=texts[name].name, **cell | hover | place | signs))
    words = [gettext("against"), "¼", "0", "¼", gettext("for the word")]
    below = (30 - bottom) / (layout["height"] - bottom)
    scale = colour_bar([-1, -0.25, 0, 0.25, 1], words) | {"len": 230, "y": below, "ypad": 0}
    signed = next((panel for panel in panels if panel["zmin"] < 0), None)
    if signed is not None:
        signed |= {"showscale": True, "colorbar": scale}

    counts = len(trace.target_pieces), len(trace.source_pieces)
    layout["meta"] |= cursor(cells.steps, cells.pieces, *counts) | {"panels": axes}
    layout["shapes"] = row_frames(layout["meta"], step, axes.values())
    table = pair_columns(trace) | {
        f"{texts[name].name}, {texts[name].unit}": methods.matrices[name].ravel() for name in methods.names
    }
    steps = range(len(trace.target_pieces))[:12] if step is None else [step]
    strongest = {
        name: ", ".join(
            f"{shorten(trace.target_pieces[i], 20)} ← {shorten(trace.source_surfaces[matrix[i].argmax()], 20)}"
            for i in steps
        )
        for name, matrix in methods.matrices.items()
    }
    listed = (gettext("{answer}: {piece}", answer=texts[name].name, piece=strongest[name]) for name in methods.names)
    alt = gettext(
        "Heatmaps of {count} attribution methods, with the same scale. Most important source piece for each "
        "target piece, by method: {listed}.",
        count=count,
        listed="; ".join(listed),
    )
    return Spec(panels, layout, alt, table)


def agreement_table(agreement: Agreement) -> pd.DataFrame:
    """Return the agreement of each pair of attributions: same top piece, tau-b, total variation.

    Args:
        agreement: Result of `analysis.agreement`.
    """
    texts, (one, other) = attribution_method_texts(), np.triu_indices(len(agreement.names), 1)
    names = np.array([texts[name].name for name in agreement.names], dtype=object)
    columns = {
        gettext("attribution"): names[one],
        gettext("other attribution"): names[other],
        gettext("same top piece"): agreement.top[one, other],
        gettext("Kendall’s τ"): agreement.tau[one, other],
        gettext("total variation"): agreement.variation[one, other],
    }
    return frame_of(numbered_rows(columns))


def comparison(
    compared: Comparison,
    names: tuple[str, str] | None = None,
    *,
    end: bool = True,
    root: bool = False,
    colours: Colours = DEFAULT_COLOURS,
    across: int = 2,
    step: int | None = None,
    leads: ComparedSide = "first",
    width: int = PRINT_WIDTH,
) -> Spec:
    """Draw the result of `analysis.compare` as panels with the same axes.

    The panels are both heatmaps with one scale, other minus first (blue more, red less), and log p of each word. Cells
    of words that one side lacks are hatched; where a model has no attention, there is only log p.

    Args:
        compared: Result of `analysis.compare`.
        names: Labels of the two translations.
        end: Whether to draw `</s>`.
        root: Whether to colour by the square root.
        colours: Colour scale of the heatmaps.
        across: Number of panels side by side.
        step: Step, 0-based, of the side that leads, whose row is framed.
        leads: "first" or "other".
        width: Width of the figure in pixels.

    Returns:
        The figure. `layout.meta` has, as that of `heatmap`, `narrowest`, `widest`, `rows`, `columns`, `frame` and
        `selection_colour`, for steps and source pieces of the leading side; `steps` and `sources` are None where it
        lacks a word. `panels` are the axes of the heatmaps by kind, `beside` those of the others, `stacked` whether all
        are in one column. The table has a row for each cell that either translation has, with the words, counted from 1
        on the common axes, both values, and their difference; missing values are nan.

    Raises:
        ValueError: `across` is less than 1.
    """
    names = names or default_names()
    rows, columns = (
        max(1, len(axis.names) - (not end and axis.names[-1:] == ("</s>",)))
        for axis in (compared.target, compared.source)
    )
    matrices = {"first": compared.first, "other": compared.other, "difference": compared.difference}
    heatmaps = {kind: matrix[:rows, :columns] for kind, matrix in matrices.items() if compared.both_attend}

    angle = -50 if columns <= 24 else -90
    target_axis, left = _word_axis(compared.target, rows, "decoder")
    source_axis, longest = _word_axis(compared.source, columns, "encoder", across=True)
    source_axis |= {"side": "top", "tickangle": angle}
    above, right = 6, 12
    if heatmaps:
        above = label_height(longest, source_axis["tickfont"]["size"], angle) + 8
        right += int(longest * 0.64) if angle == -50 else 0  # the cosine: labels extend to the right of their column
    captions = {
        kind: f"<b>{escape(name)}</b><br>{in_colour(escape(caption), 'quiet')}"
        for kind, (name, caption) in panel_captions(names, compared).items()
    }
    panels = {kind: (captions[kind], source_axis, target_axis) for kind in heatmaps}
    logs = [values[:rows] for values in (compared.first_log_probabilities, compared.other_log_probabilities)]
    if compared.has_probabilities or not heatmaps:
        lowest = min(-0.5, np.nan_to_num(logs).min())
        limits = [1.06 * lowest, -0.05 * lowest]
        log_axis = titled_axis("log p", standoff=2, range=limits, zerolinecolor="quiet", nticks=6)
        panels["words"] = captions["words"], log_axis, target_axis | {"showgrid": True, "mirror": False}

    across, row_height = min(across, len(panels)), np.clip(380 / rows, 16, 34)
    narrowest = max(210, 15 * columns if len(panels) > 1 else 0)
    layout, axes = side_by_side(
        panels,
        across,
        (40, above, rows * row_height, 44),
        (int(left) + 14, right, 0, 4),
        narrowest,
        max(narrowest, 320, round(1.6 * row_height * columns)),
        width=width,
    )

    hover: Part = {"hoverinfo": "skip"}
    if compared.first.size <= MOST_TEXTS:
        texts = [[_lines(cell_hover_lines(compared, names, i, j)) for j in range(columns)] for i in range(rows)]
        hover = {"text": texts, "hoverinfo": "text"}
    layout["barmode"] = "overlay"
    pattern = {"shape": "/", "fgcolor": "quiet", "bgcolor": "paper", "solidity": 0.12}
    hatched: Part = {"name": "gaps", "marker": {"pattern": pattern}, "base": -0.5, "width": 1}
    gap = 1 if max(rows, columns) <= 32 else 0
    traces: list[Part] = []
    for kind, values in heatmaps.items():
        face = "difference" if kind == "difference" else compared.face
        scaled = [values] if kind == "difference" else [compared.first, compared.other]
        end_of_scale = scale_end(float(np.abs(np.nan_to_num(scaled)).max())) if face == "difference" else 1
        x, y = axes[kind].values()
        start, bottom = (layout[f"{axis[0]}axis{axis[1:]}"]["domain"][0] for axis in (x, y))
        scale = value_scale(face, end_of_scale, root, colours) | {"showscale": kind != "other"}
        scale["colorbar"] |= {"x": start, "y": bottom, "len": 180}
        shown = {"type": "heatmap", "name": kind, "z": values, "hoverongaps": False, "xgap": gap, "ygap": gap}
        traces.append(shown | scale | hover | axes[kind])
        # Drawn below the heatmaps of the other panels: the colour that shows between their cells.
        colour = "line" if kind == "difference" else CELL_GAP_COLOUR
        ground = {"fillcolor": colour, "layer": "below", "xref": f"{x} domain", "yref": f"{y} domain"}
        layout["shapes"].append(rectangle(0, 1, 0, 1, colour, 0) | ground)
        down, along = (np.flatnonzero(np.isnan(values).all(axis=axis)) for axis in (1, 0))  # what the panel lacks
        if len(down):
            traces.append(bars([columns] * len(down), "quiet", y=down, **hatched | axes[kind]))
        if len(along):
            upright = {"orientation": "v", "y": [rows] * len(along)}
            traces.append(bars(along, "quiet", **hatched | axes[kind] | upright))
    if compared.has_probabilities:
        traces += [trace | axes["words"] for trace in _word_traces(compared, logs, names)]

    groups = compared.steps[leads], compared.pieces[leads]
    layout["meta"] |= cursor(groups[0][:rows], groups[1][:columns], *(sum(map(len, own)) for own in groups)) | {
        "panels": {kind: axes[kind] for kind in heatmaps},
        "beside": [place for kind, place in axes.items() if kind == "words"],
        "stacked": across == 1,
    }
    layout["shapes"] += row_frames(layout["meta"], step, axes.values())
    return Spec(traces, layout, _alt(compared, names, end), _table(compared, names))


def _word_axis(axis: SharedAxis, count: int, colour: str, *, across: bool = False) -> tuple[Part, float]:
    """Return the `words_axis` of the first `count` words; a word of one side only has a sign and a colour."""
    sides = [
        ("+ ", "plus") if first is None else ("− ", "minus") if other is None else ("", "")
        for first, other in zip(axis.first[:count], axis.other[:count], strict=True)
    ]
    names = [sign + shorten(name, _LABEL) for (sign, _), name in zip(sides, axis.names, strict=False)]
    drawn, longest = words_axis(names, (), colour, _LABEL + 2, across=across)
    drawn["ticktext"] = [
        in_colour(text, sides[place][1]) if sides[place][0] else text
        for place, text in zip(drawn["tickvals"], drawn["ticktext"], strict=True)
    ]
    return drawn | FRAMED, longest


def _word_traces(compared: Comparison, logs: list[Array], names: tuple[str, str]) -> list[Part]:
    """Return log p of each word: a ring for the first, a dot for the other, and a line in the colour of the sign."""
    (first, other), rows = logs, np.arange(len(logs[0]))
    traces: list[Part] = []
    for name, colour, selected in (("likelier", "plus", other > first), ("less likely", "minus", other < first)):
        ends = np.stack([first, other, np.full(len(rows), np.nan)], axis=1)[selected]
        traces.append(path(ends.ravel(), np.repeat(rows[selected], 3), colour, 3, name=name))
    texts = [_lines(word_hover_lines(compared, names, int(row))) for row in rows]
    ring = {"color": "paper", "line": {"color": "decoder", "width": 2}, "size": 9}
    for name, values, marker in (("first", first, ring), ("other", other, {"color": "decoder", "size": 9})):
        hover = {"text": texts, "hoverinfo": "text", "cliponaxis": False}
        traces.append(points(values, rows, marker, name=f"log p, {name}", **hover))
    return traces


def _lines(lines: list[str]) -> str:
    """Return the lines of a hover text, with markup escaped."""
    return "<br>".join(map(escape, lines))


def _table(compared: Comparison, names: tuple[str, str]) -> Table:
    rows, places = np.nonzero(np.isfinite(compared.first) | np.isfinite(compared.other))
    first, other = _distinct(names)
    columns = {
        gettext("target word"): [f"{row + 1} {compared.target.names[row]}" for row in rows],
        gettext("source word"): [f"{place + 1} {compared.source.names[place]}" for place in places],
        first: compared.first[rows, places],
        other: compared.other[rows, places],
        gettext("difference"): compared.difference[rows, places],
    }
    return numbered_rows(columns)


def compared_words_table(compared: Comparison, names: tuple[str, str] | None = None) -> pd.DataFrame:
    """Return log p of each target word in two translations.

    Args:
        compared: Result of `analysis.compare`.
        names: Labels of the two translations.

    Returns:
        For each target word on the common axis, counted from 1, log p in both, the difference, and
        `Comparison.total_variation`; nan where one translation lacks the word.
    """
    first, other = _distinct(names or default_names())
    logs = compared.first_log_probabilities, compared.other_log_probabilities
    columns: dict[str, Any] = {gettext("target word"): compared.target.names}
    if compared.has_probabilities:
        columns |= {f"log p, {first}": logs[0], f"log p, {other}": logs[1], gettext("difference"): logs[1] - logs[0]}
    if compared.both_attend and compared.face != "difference":
        columns[gettext("total variation of attention")] = compared.total_variation
    return frame_of(numbered_rows(columns))


def _distinct(names: tuple[str, str]) -> tuple[str, str]:
    """Return names that differ, since columns must."""
    first, other = names
    return first, other if other != first else f"{other} (2)"


def _alt(compared: Comparison, names: tuple[str, str], end: bool) -> str:
    """Return the text alternative: contents of the panels, and the cells that differ most."""
    start = gettext(
        "log p of each word in “{first}” and in “{other}”."
        if not compared.both_attend
        else "“{first}” and “{other}” as heatmaps of {size}, their difference, and log p of each word."
        if compared.has_probabilities
        else "“{first}” and “{other}” as heatmaps of {size}, and their difference.",
        first=names[0],
        other=names[1],
        size=size_text("words", len(compared.target.names), len(compared.source.names)),
    )
    cells = [
        f"{shorten(compared.target.names[row], 20)} ← {shorten(compared.source.names[column], 20)} "
        f"{signed(compared.difference[row, column])}"
        for row, column in compared.most_changed(5)
        if end or "</s>" not in (compared.target.names[row], compared.source.names[column])
    ]
    if cells:
        start += " " + gettext("The cells that differ most: {listed}.", listed="; ".join(cells))
    return " ".join([start, *comparison_sentences(compared, names)])
