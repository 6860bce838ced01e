"""The alignment heatmap (Bahdanau et al., Fig. 3), table and text alternative: source on top, target at the side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz import lazy_pandas as pd
from attnviz.analysis.attention_forms import SYMBOLS, face_names
from attnviz.analysis.drift import drifts
from attnviz.analysis.gold import GoldLinks, link_count_texts
from attnviz.analysis.grid import Grid, grid, places_of_pieces, rows_of_steps
from attnviz.analysis.labels import merged_cell_text, shorten, size_text
from attnviz.analysis.numbers import decimal, signed, significant
from attnviz.arguments import check_each
from attnviz.figures.heatmap_parts import (
    COLOUR_BAR_LENGTH,
    HeatmapSizes,
    LinkMarkers,
    add_margin_axes,
    cell_gap_colour,
    cell_sizes,
    font_size,
    link_markers,
    margin_bars,
)
from attnviz.figures.spec import (
    Part,
    axis_labels,
    base_axis,
    base_layout,
    build_figure,
    escape,
    label_stride,
    rectangle,
)
from attnviz.languages import format_number, gettext
from attnviz.palette import (
    CELL_FRAME,
    DEFAULT_COLOURS,
    ROW_FRAME,
    ROW_FRAME_WIDTH,
    Colours,
    Palette,
    ThemeName,
    heatmap_scale,
    palette,
)
from attnviz.text import isolated
from attnviz.trace import FloatArray, Words
from attnviz.trace.aligned import AttentionMatrix
from attnviz.trace.drawing import By, Face, step_index

MOST_TEXTS = 10_000
"""Number of cells up to which each has a hover text."""


def heatmap(
    trace: AttentionMatrix,
    *,
    by: By = "words",
    face: Face = "before",
    posterior: NDArray[np.float64] | None = None,
    colours: Colours = DEFAULT_COLOURS,
    root: bool = False,
    end: bool = True,
    margins: bool = False,
    step: int | None = None,
    theme: ThemeName = "light",
    weights: FloatArray | None = None,
    gold: GoldLinks | None = None,
) -> go.Figure:
    """Draw alpha_ij: a row for each target word (or piece), a column for each source word, 0 dark, 1 bright.

    Args:
        trace: The record.
        by: "words" or "pieces".
        face: "before" draws alpha, "after" the `posterior`, and "difference" posterior minus alpha, blue for more and
            red for less, in [-1, 1], for which `colours` has no effect; hover texts have both numbers.
        posterior: Posterior attention (Ty, Tx), as `analysis.posterior` returns it.
        colours: Colour scale.
        root: Whether to colour by the square root, which makes small weights visible; hover texts keep the exact alpha.
        end: Whether to draw `</s>`.
        margins: Whether to add the sum of each column, sum_i alpha_ij, below, and the entropy H_i of each row in bits
            on the right, both of the displayed values (`Grid`).
        step: Step, 0-based, whose row is framed.
        theme: "light" or "dark".
        weights: Weights (Ty, Tx) that replace the alignment, such as those of one head of a transformer.
        gold: Gold links, which are marked, and so are false links of the displayed values, or of the posterior for the
            difference (`heatmap_parts`).

    Returns:
        The figure; `_meta` describes its `layout.meta`.

    Raises:
        AttnvizError: A face lacks its posterior, or a choice is unknown.
    """
    step = None if step is None else step_index(trace, step)
    check_each(gettext("gold links"), () if gold is None else (gold,), (GoldLinks,))
    cells, ink = grid(trace, by, end, face, posterior, weights), palette(theme)
    markers = link_markers(cells, _linked_words(trace, face, posterior, weights), gold) if gold else None
    image = _image(cells, colours, root, ink, markers)
    sizes = cell_sizes(cells)
    alt = heatmap_alt(trace, by=by, face=face, posterior=posterior, end=end, weights=weights, gold=gold)
    layout = cells_layout(cells, sizes, ink) | {"meta": _meta(trace, cells, sizes, alt)}
    bars: list[Part] = []
    if margins:
        bars = margin_bars(cells, len(trace.source_pieces), ink)
        add_margin_axes(layout, cells, len(trace.source_pieces), ink)
    imported = not getattr(trace, "translated", True)
    if by == "words" and imported and not getattr(trace, "is_self_attention", False):
        layout["shapes"] = _drift_frames(cells, ink)
    row = None if step is None else layout["meta"]["rows"][step]
    if row is not None:
        frame = rectangle(-0.5, len(cells.source) - 0.5, row - 0.5, row + 0.5, ROW_FRAME, ROW_FRAME_WIDTH)
        layout["shapes"] = [*layout.get("shapes", []), frame]
    if markers:
        layout["annotations"], legend_height = markers.legend(sizes, ink)
        layout["margin"]["b"] += legend_height
        layout["height"] += legend_height
        bars += markers.traces(sizes, len(cells.source))
    return build_figure([image, *bars], layout)


def _drift_frames(cells: Grid, ink: Palette) -> list[Part]:
    """Return a frame around each stretch of imported links that are one word off."""
    linked = cells.alpha.argmax(axis=1)
    return [
        rectangle(
            float(linked[drift.first]) - 0.5,
            float(linked[drift.last]) + 0.5,
            drift.first - 0.5,
            drift.last + 0.5,
            ink.minus,
            ROW_FRAME_WIDTH,
        )
        for drift in drifts(cells.alpha, cells.source, cells.target)
    ]


def _linked_words(
    trace: AttentionMatrix, face: Face, posterior: NDArray[np.float64] | None, weights: FloatArray | None
) -> Words:
    """Return the words, aligned by the displayed values (for the difference by the posterior)."""
    words, shares = trace.words(), weights if face == "before" else posterior
    return words if shares is None else replace(words, alignment=words.merged(shares))


def _image(cells: Grid, colours: Colours, root: bool, ink: Palette, markers: LinkMarkers | None) -> Part:
    """Return the cells; for the difference the square root is in the scale, not in the numbers."""
    is_difference, gap = cells.face == "difference", 1 if max(cells.alpha.shape) <= 32 else 0
    low, high = cells.range
    colouring = (ink.signed_root_scale if root else ink.signed_scale) if is_difference else heatmap_scale(colours)
    return {
        "type": "heatmap",
        "z": np.sqrt(cells.shown) if root and not is_difference else cells.shown,
        "zmin": low,
        "zmax": high,
        "colorscale": colouring,
        "colorbar": _colour_bar(cells, root, ink),
        "xgap": gap,
        "ygap": gap,
    } | _hover(cells, root, markers.hover_lines() if markers else {})


def _meta(trace: AttentionMatrix, cells: Grid, sizes: HeatmapSizes, alt: str) -> Part:
    """Return what code that displays the figure needs.

    These are the text alternative (`alt`), the width below which the figure should scroll (`narrowest`), and the width
    above which its cells are too wide (`widest`). For clicks and frames: the first step of each row (`steps`), the row
    of each step or None (`rows`), the same for source pieces and columns (`sources`, `columns`), and the colours of the
    frames of a row and a cell (`frame`, `selection_colour`).
    """
    return {
        "alt": alt,
        "narrowest": sizes.narrowest,
        "widest": sizes.widest,
        "steps": [steps[0] for steps in cells.steps],
        "sources": [pieces[0] for pieces in cells.pieces],
        "rows": rows_of_steps(cells, len(trace.target_pieces)),
        "columns": places_of_pieces(cells.pieces, len(trace.source_pieces)),
        "frame": ROW_FRAME,
        "selection_colour": CELL_FRAME,
    }


def _hover(cells: Grid, root: bool, marker_lines: Mapping[tuple[int, int], str]) -> Part:
    """Return the hover texts: both words, the exact alpha, and the line of `marker_lines` for the cell (row, column).

    In a very large grid, only the number.
    """
    if cells.alpha.size > MOST_TEXTS:
        root = root and cells.face != "difference"
        return {"hovertemplate": ("√" if root else "") + SYMBOLS[cells.face] + " = %{z:.4f}<extra></extra>"}
    source = [escape(shorten(name, 60)) for name in cells.source]
    target = [escape(shorten(name, 60)) for name in cells.target]
    text = [
        [
            "<br>".join(
                filter(
                    None,
                    (
                        f"{row} ← {column}",
                        number,
                        merged_cell_text(len(steps), len(pieces)),
                        marker_lines.get((r, c), ""),
                    ),
                )
            )
            for c, (column, number, pieces) in enumerate(zip(source, numbers, cells.pieces, strict=True))
        ]
        for r, (row, numbers, steps) in enumerate(zip(target, _cell_numbers(cells), cells.steps, strict=True))
    ]
    return {"text": text, "hoverinfo": "text"}


def _cell_numbers(cells: Grid) -> list[list[str]]:
    """Return the numbers of each cell in words: alpha, and for other faces also the posterior and the difference."""
    if cells.face == "before":
        return [[f"α = {decimal(alpha, 4)}" for alpha in row] for row in cells.alpha.tolist()]
    names = face_names()
    return [
        [
            f"{names['before']}: α = {decimal(alpha, 4)}<br>{names['after']}: α′ = {decimal(after, 4)}"
            f"<br>α′ − α = {signed(after - alpha, 4)}"
            for alpha, after in zip(*rows, strict=True)
        ]
        for rows in zip(cells.alpha.tolist(), cells.posterior_or_weights.tolist(), strict=True)
    ]


def cells_layout(cells: Grid, sizes: HeatmapSizes, ink: Palette) -> Part:
    """Return the layout of a heatmap of these cells, without `meta`."""
    rows, columns = cells.alpha.shape
    column_stride, row_stride = label_stride(columns), label_stride(rows)
    axis = base_axis(ink) | {"showgrid": False, "zeroline": False, "linecolor": ink.line, "mirror": True}
    return base_layout(ink) | {
        "plot_bgcolor": cell_gap_colour(cells, ink),
        "height": sizes.top + round(rows * sizes.row) + 44,
        "margin": {"l": sizes.left, "r": sizes.right, "t": sizes.top, "b": 44},
        "hovermode": "closest",
        "xaxis": axis
        | {
            "side": "top",
            "ticklabeloverflow": "allow",
            "range": [-0.5, columns - 0.5],
            "tickangle": sizes.angle,
            "tickvals": list(range(0, columns, column_stride)),
            "ticktext": axis_labels(cells.source[::column_stride]),
            "tickfont": {"size": font_size(columns), "color": ink.encoder},
        },
        "yaxis": axis
        | {
            "range": [rows - 0.5, -0.5],
            "tickvals": list(range(0, rows, row_stride)),
            "ticktext": axis_labels(cells.target[::row_stride]),
            "tickfont": {"size": font_size(rows), "color": ink.decoder},
        },
    }


def _colour_bar(cells: Grid, root: bool, ink: Palette) -> Part:
    face = cells.face
    if face == "difference":
        # The square root is in the colours, not in the positions on the bar.
        positions = np.linspace(*cells.range, 5).tolist()
        labels = [format_number(t, "+.2g") if t else "0" for t in positions[:-1]]
        labels.append(f"{SYMBOLS[face]} = {significant(positions[-1])}")
    else:
        ticks = [0, 0.05, 0.25, 0.5, 1] if root else [0, 0.25, 0.5, 0.75, 1]
        positions = [float(np.sqrt(t)) if root else t for t in ticks]
        labels = [f"{SYMBOLS[face]} = 0", *(significant(t) for t in ticks[1:])]
    return colour_bar(positions, labels, ink)


def colour_bar(positions: Sequence[float], labels: Sequence[str], ink: Palette) -> Part:
    """Return the colour bar below a heatmap, with `labels` at `positions` of its scale."""
    return {
        "orientation": "h",
        "x": 0,
        "xanchor": "left",
        "y": 0,
        "yanchor": "top",
        "xpad": 0,
        "ypad": 8,
        "thickness": 8,
        "lenmode": "pixels",
        "len": COLOUR_BAR_LENGTH,
        "outlinewidth": 1,
        "outlinecolor": ink.line,
        "tickvals": [*positions],
        "ticktext": [*labels],
        "tickfont": {"size": 11, "color": ink.quiet},
    }


def heatmap_alt(
    trace: AttentionMatrix,
    *,
    by: By = "words",
    face: Face = "before",
    posterior: NDArray[np.float64] | None = None,
    end: bool = True,
    weights: FloatArray | None = None,
    gold: GoldLinks | None = None,
) -> str:
    """Return the text alternative: size, and the strongest cell of each row, or of the difference the largest gains.

    Args:
        trace: The record.
        by: As in `heatmap`.
        face: As in `heatmap`.
        posterior: As in `heatmap`.
        end: As in `heatmap`.
        weights: As in `heatmap`.
        gold: Gold links; with them, it mentions marked links.
    """
    cells = grid(trace, by, end, face, posterior, weights)
    links = [
        gettext(
            "{target} on {source}: {alpha}",
            target=shorten(word, 30),
            source=shorten(cells.source[int(row.argmax())], 30),
            alpha=_amount(cells, float(row.max())),
        )
        for word, row in zip(cells.target, cells.shown, strict=True)
    ]
    shown = "; ".join(links[:60]) + ("; …" if len(links) > 60 else "")
    if gold:
        shown += ". " + gettext(
            "The heatmap also shows {sure} and {possible}, marked by hand",
            **link_count_texts(len(gold.sure), len(gold.possible)),
        )
    fields = {"size": size_text(by, len(cells.target), len(cells.source)), "shown": shown}
    if cells.face == "after":
        return gettext("Posterior attention (after the word) of {size}. Largest values: {shown}.", **fields)
    if cells.face == "difference":
        return gettext(
            "Change of the alignment of {size}, α′ (after the word) minus α (before the word). Largest gains: {shown}.",
            **fields,
        )
    return gettext("Alignment of {size}. Largest weights: {shown}.", **fields)


def _amount(cells: Grid, number: float) -> str:
    return signed(number) if cells.face == "difference" else decimal(number)


def heatmap_table(
    trace: AttentionMatrix,
    *,
    by: By = "words",
    face: Face = "before",
    posterior: NDArray[np.float64] | None = None,
    end: bool = True,
    margins: bool = False,
    weights: FloatArray | None = None,
) -> pd.DataFrame:
    """Return the numbers of the heatmap as a table.

    Args:
        trace: The record.
        by: As in `heatmap`.
        face: As in `heatmap`.
        posterior: As in `heatmap`.
        end: As in `heatmap`.
        margins: Whether to add a last column, the entropy of each row in bits, and a last row, the sum of each column,
            both of the displayed `face`.
        weights: As in `heatmap`.

    Returns:
        Target down, source across, each name preceded by its number.

    Raises:
        AttnvizError: A face lacks its posterior.
        AttnvizError: A choice is unknown.
    """
    cells = grid(trace, by, end, face, posterior, weights)
    table = pd.DataFrame(
        cells.shown,
        index=pd.Index(
            [f"{i} {isolated(name)}" for i, name in enumerate(cells.target, 1)], name=gettext("target \\ source")
        ),
        columns=[f"{j} {isolated(name)}" for j, name in enumerate(cells.source, 1)],
    )
    if margins:
        table[("Δ" if face == "difference" else "") + gettext("H, bits")] = cells.entropies
        table.loc["Σ (α′ − α)" if face == "difference" else f"Σ {SYMBOLS[face]}"] = [*cells.covered, np.nan]
    return table
