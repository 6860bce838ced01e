"""Two translations side by side on common axes: both heatmaps, their difference, and the probability of each word."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from attnviz.analysis.comparison import Comparison, Side
from attnviz.analysis.grid import scale_end
from attnviz.analysis.shared_words import SharedAxis
from attnviz.figures.build import PRINT_WIDTH, Spec, build, rectangle
from attnviz.figures.comparison_layout import WORDS, Sheet, colour_axis, gaps, sheet_layout
from attnviz.figures.comparison_table import comparison_alt
from attnviz.figures.heatmap import MOST_TEXTS
from attnviz.figures.labels import literal
from attnviz.palette import CELL_FRAME, ROW_FRAME, ROW_FRAME_WIDTH, Colours, Palette, ThemeName, palette, scale
from attnviz.wording.comparison import cell_lines, plain_names, word_lines

Array = NDArray[np.float64]


def comparison(
    compared: Comparison,
    names: tuple[str, str] | None = None,
    *,
    end: bool = True,
    root: bool = False,
    colours: Colours = "paper",
    across: int = 2,
    step: int | None = None,
    leads: Side = "first",
    width: int = PRINT_WIDTH,
    theme: ThemeName = "light",
) -> go.Figure:
    """Draw the result of `analysis.compare` as panels with the same axes, `across` of them side by side.

    The panels are both heatmaps with one scale, other minus first (blue more, red less), and log p of each word. Cells
    of words that one side lacks are hatched; where a model has no attention, there is only log p.

    `names` label the two translations. `root` colours by the square root, `end=False` leaves out `</s>`, `step`
    (0-based, of the side that `leads`) frames its row. `layout.meta` has, as that of `heatmap`, `alt`, `narrowest`,
    `widest`, `rows`, `columns`, `frame` and `mark`, for steps and source pieces of the leading side; `steps` and
    `sources` are None where it lacks a word. `panels` are the axes of the heatmaps by kind, `beside` those of the
    others, `stacked` whether all are in one column. Raise ValueError unless `across` is at least 1.
    """
    if across < 1:
        raise ValueError(f"across must be at least 1, not {across!r}")
    ink, labels = palette(theme), names or plain_names()
    sheet = Sheet.of(compared, end=end, across=across, width=width)
    layout = sheet_layout(compared, sheet, labels, ink)
    traces: list[Spec] = []
    if compared.both_attend:
        layout |= _colour_axes(compared, sheet, root, colours, ink)
        traces += _heatmaps(compared, sheet, labels, root, ink)
    layout["meta"] |= _meta(compared, sheet, leads) | {"alt": comparison_alt(compared, labels, end=end)}
    row = None if step is None else layout["meta"]["rows"][step]
    if row is not None:
        layout["shapes"] += row_frames(sheet, row)
    return build([*traces, *_words(compared, sheet, labels, ink)], layout)


def row_frames(sheet: Sheet, row: int) -> list[Spec]:
    """Return the frames of a row, one in each panel."""
    return [
        rectangle(0, 1, row - 0.5, row + 0.5, ROW_FRAME, ROW_FRAME_WIDTH)
        | {"xref": f"{axes['xaxis']} domain", "yref": axes["yaxis"]}
        for axes in sheet.axes.values()
    ]


def _meta(compared: Comparison, sheet: Sheet, leads: Side) -> Spec:
    all_steps, all_pieces = compared.steps[leads], compared.pieces[leads]
    return {
        "steps": [steps[0] if steps else None for steps in all_steps[: sheet.rows]],
        "sources": [pieces[0] if pieces else None for pieces in all_pieces[: sheet.columns]],
        "rows": _places(all_steps, sheet.rows),
        "columns": _places(all_pieces, sheet.columns),
        "panels": {kind: axes for kind, axes in sheet.axes.items() if kind != WORDS},
        "beside": [sheet.axes[WORDS]],
        "stacked": sheet.across == 1,
        "frame": ROW_FRAME,
        "mark": CELL_FRAME,
    }


def _places(groups: tuple[tuple[int, ...], ...], shown: int) -> list[int | None]:
    """Return the position of each step or piece on the common axis; None where it is not drawn."""
    places = {index: place for place, group in enumerate(groups) for index in group}
    return [places[index] if places[index] < shown else None for index in range(len(places))]


def _colour_axes(compared: Comparison, sheet: Sheet, root: bool, colours: Colours, ink: Palette) -> Spec:
    """Return the colour scales of both heatmaps and of their difference.

    For signed values the square root is in the scale, not in the numbers.
    """
    signs = compared.face == "difference"
    rooted = ink.signed_root if root else ink.signed
    both = scale_end(_largest(compared.first, compared.other)) if signs else 1.0
    apart = scale_end(_largest(compared.difference))
    return {
        "coloraxis": colour_axis(sheet, "first", compared.face, rooted if signs else scale(colours), both, root, ink),
        "coloraxis2": colour_axis(sheet, "difference", compared.face, rooted, apart, root, ink),
    }


def _heatmaps(compared: Comparison, sheet: Sheet, names: tuple[str, str], root: bool, ink: Palette) -> list[Spec]:
    """Return both heatmaps, their difference, and the hatching of missing words."""
    displayed = np.s_[: sheet.rows, : sheet.columns]
    shown = {
        "first": compared.first[displayed],
        "other": compared.other[displayed],
        "difference": compared.difference[displayed],
    }
    texts: Spec = {"hoverinfo": "skip"}
    if compared.first.size <= MOST_TEXTS:
        cells = [
            [_hover_text(cell_lines(compared, names, i, j)) for j in range(sheet.columns)] for i in range(sheet.rows)
        ]
        texts = {"text": cells, "hoverinfo": "text"}
    traces: list[Spec] = []
    hatched: list[Spec] = []
    for kind, values in shown.items():
        rooted = root and kind != "difference" and compared.face != "difference"
        traces.append(
            {
                "type": "heatmap",
                "name": kind,
                "z": np.sqrt(values) if rooted else values,
                "hoverongaps": False,
                "coloraxis": "coloraxis2" if kind == "difference" else "coloraxis",
                "xgap": sheet.seam,
                "ygap": sheet.seam,
                "customdata": values,
            }
            | texts
            | sheet.axes[kind]
        )
        rows = _absent(compared.target, kind)[: sheet.rows]
        columns = _absent(compared.source, kind)[: sheet.columns]
        if rows.any() or columns.any():
            hatched.append(gaps(rows, columns, ink) | sheet.axes[kind])
    return [*traces, *hatched]


def _absent(axis: SharedAxis, kind: str) -> NDArray[np.bool_]:
    """Return at which positions a panel has no values."""
    if kind == "difference":
        return ~axis.shared
    return np.array([place is None for place in (axis.first if kind == "first" else axis.other)], dtype=bool)


def _largest(*matrices: Array) -> float:
    return max(float(np.abs(np.nan_to_num(values)).max()) for values in matrices)


def _words(compared: Comparison, sheet: Sheet, names: tuple[str, str], ink: Palette) -> list[Spec]:
    """Return log p of each word: a ring for the first, a dot for the other, and a line in the colour of the sign."""
    first, other = (logs[: sheet.rows] for logs in (compared.first_log_probabilities, compared.other_log_probabilities))
    axes, places = sheet.axes[WORDS], np.arange(sheet.rows)
    traces: list[Spec] = []
    for name, colour, chosen in (("likelier", ink.plus, other > first), ("less likely", ink.minus, other < first)):
        ends = np.stack([first, other, np.full(len(first), np.nan)], axis=1)[chosen]
        traces.append(
            {
                "type": "scatter",
                "mode": "lines",
                "name": name,
                "x": ends.ravel(),
                "y": np.repeat(places[chosen], 3),
                "line": {"color": colour, "width": 3},
                "hoverinfo": "skip",
            }
            | axes
        )
    texts = [_hover_text(word_lines(compared, names, row)) for row in range(sheet.rows)]
    rings: tuple[tuple[str, Array, Spec], ...] = (
        ("first", first, {"color": ink.paper, "line": {"color": ink.decoder, "width": 2}}),
        ("other", other, {"color": ink.decoder}),
    )
    for name, logs, marker in rings:
        traces.append(
            {
                "type": "scatter",
                "mode": "markers",
                "name": f"log p, {name}",
                "x": logs,
                "y": places,
                "text": texts,
                "hoverinfo": "text",
                "marker": marker | {"size": 9},
                "cliponaxis": False,
            }
            | axes
        )
    return traces


def _hover_text(lines: list[str]) -> str:
    """Return the lines of a hover text, with markup escaped."""
    return "<br>".join(literal(line) for line in lines)
