"""The heatmap of a translation (Bahdanau et al., Fig. 3): source on top, target at the side."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.gold import GoldLinks, as_gold_links, link_count_texts, link_errors, validated
from attnviz.analysis.grid import Grid, check_posterior, grid, link_markers
from attnviz.analysis.labels import LONGEST, SYMBOLS, face_names, merged_cell_text, merging_text, size_text
from attnviz.analysis.measures import drifts
from attnviz.analysis.numbers import decimal, signed, significant
from attnviz.analysis.posterior import posterior as posterior_attention
from attnviz.analysis.recomputation import Weights
from attnviz.figures.fixed_context import fixed_context
from attnviz.figures.grammar import FRAMED, cursor, row_frames, rows_layout
from attnviz.figures.heatmap_parts import (
    CELL_GAP_COLOUR,
    COLOUR_BAR_LENGTH,
    HeatmapSizes,
    add_margins,
    add_marker_legend,
    bracket_shapes,
    cell_gap_colour,
    cell_sizes,
    cell_values,
    entropy_title,
    hover_names,
    marker_lines,
    marker_traces,
    numbered_labels,
    strongest_cells,
    words_axis,
)
from attnviz.figures.spec import Part, Spec, Table, rectangle
from attnviz.languages import format_number, gettext
from attnviz.palette import ROW_FRAME_WIDTH, Colours, heatmap_scale
from attnviz.trace.drawing import Face, HeatmapChoices, HeatmapOptions, heatmap_choices, step_index

MOST_TEXTS = 10_000
"""Number of cells up to which each has a hover text."""


def heatmap(
    trace: Any,
    choices: HeatmapChoices | None = None,
    *,
    weights: Weights | None = None,
    posterior: NDArray[np.float64] | None = None,
    **named: Unpack[HeatmapOptions],
) -> Spec:
    """Draw alpha_ij: a row for each step i, a column for each source piece j, 0 dark, 1 bright.

    A bracket joins the steps, or pieces, of a word. By words, a row is the mean of the steps of its word, and a column
    the sum of the pieces of its word. A model without attention has the figure of its only context vector instead.

    Args:
        trace: The record.
        choices: How it is drawn.
        weights: Weights of the model that made the trace (`analysis.load_weights`), for a `face` other than "before".
        posterior: Posterior attention (Ty, Tx), where it is already computed.
        **named: Fields of `HeatmapChoices`, in place of those of `choices`.

    Returns:
        The figure. `layout.meta` has the width above which its cells are too wide (`widest`). For clicks and frames, it
        has the first step of each row (`steps`), the row of each step or None (`rows`), the same for source pieces and
        columns (`sources`, `columns`), and the colours of the frames of a row and a cell (`frame`,
        `selection_colour`). The table has the target down and the source across, each name preceded by its number.

    Raises:
        AttnvizError: A face lacks its posterior, the weights are another model's, or a choice is unknown, or
            a gold link is malformed or not between words of the trace.
    """
    chosen = heatmap_choices(choices, **named)
    if chosen.face != "before" and posterior is None and weights is not None:
        check_posterior(trace)
        posterior = posterior_attention(trace, weights)
    cells = grid(trace, chosen.unit, chosen.end, chosen.face, posterior)
    if not trace.attends:
        return fixed_context(trace, cells, chosen)
    is_difference, positions = cells.face == "difference", len(trace.source_pieces)
    sizes = cell_sizes(cells, chosen.longest, values=chosen.values)
    layout = cells_layout(cells, sizes, chosen.longest)
    layout |= {"plot_bgcolor": cell_gap_colour(chosen), "shapes": bracket_shapes(cells)}
    layout["meta"] |= cursor(cells.steps, cells.pieces, len(trace.target_pieces), positions)
    rows, columns = (layout["meta"][name] for name in ("rows", "columns"))

    end, gap = cells.range[1], 1 if max(cells.alpha.shape) <= 32 else 0
    image = value_scale(cells.face, end, chosen.root, chosen.colours) | {
        "type": "heatmap",
        # For the difference the square root is in the scale, not in the numbers.
        "z": np.sqrt(cells.shown) if chosen.root and not is_difference else cells.shown,
        "xgap": gap,
        "ygap": gap,
    }
    if is_difference:
        image["colorbar"]["ticktext"][-1] = f"{SYMBOLS[cells.face]} = {significant(end)}"
    data: list[Part] = []
    if chosen.values:
        data.append(cell_values(cells, image, sizes.row))
    if chosen.margins:
        data += add_margins(layout, cells, positions)
    if not trace.translated and not trace.is_self_attention:  # frames around imported links that are one word off
        words = grid(trace, "words", chosen.end)
        for drift in drifts(words.alpha, words.source, words.target):
            first, last = (words.alpha[row].argmax() for row in (drift.first, drift.last))
            left, right = columns[words.pieces[first][0]], columns[words.pieces[last][-1]]
            top, bottom = rows[words.steps[drift.first][0]], rows[words.steps[drift.last][-1]]
            layout["shapes"].append(
                rectangle(left - 0.5, right + 0.5, top - 0.5, bottom + 0.5, "minus", ROW_FRAME_WIDTH)
            )
    step = None if chosen.step is None else step_index(trace, chosen.step)
    layout["shapes"] += row_frames(layout["meta"], step)
    lines: dict[tuple[int, int], str] = {}
    gold = validated(as_gold_links(chosen.gold), trace.words()) if chosen.gold else GoldLinks()
    if gold:
        linked = trace.words()
        if posterior is not None and chosen.face != "before":  # false links of the difference are the posterior's
            linked = replace(linked, alignment=linked.merged(posterior))
        markers = link_markers(cells, linked, gold)
        lines = marker_lines(markers)
        data += marker_traces(markers, sizes, len(cells.source))
        add_marker_legend(layout, markers, len(link_errors(linked, gold).missed), sizes)
    data = [image | _hover(cells, chosen.root, lines), *data]
    return Spec(data, layout, _alt(cells, chosen, gold), _table(cells, chosen.margins))


def _hover(cells: Grid, root: bool, marker_lines: Mapping[tuple[int, int], str]) -> Part:
    """Return the hover texts: both words, the exact alpha, and the line of `marker_lines` for the cell (row, column).

    In a very large grid, only the number.
    """
    if cells.alpha.size > MOST_TEXTS:
        root = root and cells.face != "difference"
        return {"hovertemplate": ("√" if root else "") + SYMBOLS[cells.face] + " = %{z:.4f}<extra></extra>"}
    source, target = hover_names(cells)
    names, posterior = face_names(), cells.posterior_or_weights
    rows, columns = cells.alpha.shape

    def text(row: int, column: int) -> str:
        before, after = float(cells.alpha[row, column]), float(posterior[row, column])
        number = f"α = {decimal(before, 4)}"
        if cells.face != "before":
            number = f"{names['before']}: {number}<br>{names['after']}: α′ = {decimal(after, 4)}"
            number += f"<br>α′ − α = {signed(after - before, 4)}"
        merged = merged_cell_text(len(cells.steps[row]), len(cells.pieces[column]))
        lines = (f"{target[row]} ← {source[column]}", number, merged, marker_lines.get((row, column)))
        return "<br>".join(filter(None, lines))

    return {"text": [[text(row, column) for column in range(columns)] for row in range(rows)], "hoverinfo": "text"}


def cells_layout(cells: Grid, sizes: HeatmapSizes, longest: int = LONGEST) -> Part:
    """Return the layout of a heatmap of these cells, with labels of at most `longest` letters."""
    rows = words_axis(cells.target, cells.target_brackets, "decoder", longest, **FRAMED)
    top = {"across": True, "side": "top", "tickangle": sizes.angle}
    columns = words_axis(cells.source, cells.source_brackets, "encoder", longest, **FRAMED | top)
    margins = sizes.left, sizes.right, sizes.top, 44
    layout = rows_layout(rows, sizes.row, margins, sizes.narrowest, columns, widest=sizes.widest)
    return layout | {"plot_bgcolor": CELL_GAP_COLOUR}


def value_scale(face: Face, end: float, root: bool, colours: Colours, prefix: str = "z") -> Part:
    """Return the colours of shares, from 0 to `end`, or of signed differences, from -`end`, with their colour bar.

    With `root`, shares are coloured by their square root, which the heatmap draws; for differences the square root is
    in the scale. `prefix` is "z" for a heatmap, "c" for a colour axis.
    """
    if face == "difference":
        low = -end
        positions = np.linspace(-end, end, 5).tolist()
        labels = [format_number(tick, "+.2g") if tick else "0" for tick in positions]
    else:
        low = 0
        ticks = [0, 0.05, 0.25, 0.5, 1] if root else [0, 0.25, 0.5, 0.75, 1]
        positions = np.sqrt(ticks).tolist() if root else ticks
        labels = [f"{SYMBOLS[face]} = 0", *map(significant, ticks[1:])]
    signed_name, bar = "signed_root_scale" if root else "signed_scale", colour_bar(positions, labels)
    scale = signed_name if face == "difference" else heatmap_scale(colours)
    return {f"{prefix}min": low, f"{prefix}max": end, "colorscale": scale, "colorbar": bar}


def colour_bar(positions: Sequence[float], labels: Sequence[str]) -> Part:
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
        "outlinecolor": "line",
        "tickvals": [*positions],
        "ticktext": [*labels],
        "tickfont": {"size": 11, "color": "quiet"},
    }


def _alt(cells: Grid, chosen: HeatmapChoices, gold: GoldLinks) -> str:
    """Return the text alternative: size, and the strongest cell of each row, or of the difference the largest gains."""
    shown = strongest_cells(cells.target, cells.source, cells.shown, signs=cells.face == "difference")
    if gold:
        shown += ". " + gettext(
            "The heatmap also shows {sure} and {possible}, marked by hand",
            **link_count_texts(len(gold.sure), len(gold.possible)),
        )
    size = size_text(chosen.unit, len(cells.target), len(cells.source))
    if cells.merged:
        size = gettext("{size} (weights of words: {merging})", size=size, merging=merging_text())
    fields = {"size": size, "shown": shown}
    if cells.face == "after":
        return gettext("Posterior attention (after the word) of {size}. Largest values: {shown}.", **fields)
    if cells.face == "difference":
        return gettext(
            "Change of the alignment of {size}, α′ (after the word) minus α (before the word). Largest gains: {shown}.",
            **fields,
        )
    return gettext("Alignment of {size}. Largest weights: {shown}.", **fields)


def _table(cells: Grid, margins: bool) -> Table:
    """Return the numbers; with `margins`, a last column has the entropies, and a last row the sums, of the face."""
    rows, columns = map(numbered_labels, (cells.target, cells.source))
    shown: dict[str, Any] = dict(zip(columns, cells.shown.T, strict=True))
    if margins:
        rows.append("Σ (α′ − α)" if cells.face == "difference" else f"Σ {SYMBOLS[cells.face]}")
        sums = cells.covered.astype(cells.shown.dtype)
        shown = {name: np.append(shown[name], total) for name, total in zip(columns, sums, strict=True)}
        shown |= {entropy_title(cells.face): [*cells.entropies, np.nan]}
    corner = gettext("target \\ source")
    return {f"{corner} ({merging_text()})" if cells.merged else corner: rows, **shown}
