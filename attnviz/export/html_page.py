"""A record as one HTML file: the interactive step view, with everything that it needs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from html import escape
from typing import Unpack, get_args

from attnviz.analysis.grid import Bracket, grid
from attnviz.analysis.labels import shorten
from attnviz.analysis.numbers import decimal
from attnviz.analysis.recomputation import Weights
from attnviz.arguments import check_choice
from attnviz.figures.heatmap import heatmap
from attnviz.languages import gettext
from attnviz.text import isolated
from attnviz.trace import Aligned, WhatIfs
from attnviz.trace.drawing import By, DetailLevel, HeatmapChoices, HeatmapOptions, drawing, heatmap_choices, step_index


def page_html(
    trace: Aligned,
    choices: HeatmapChoices | None = None,
    *,
    level: DetailLevel = "numbers",
    weights: Weights | None = None,
    what_ifs: WhatIfs | None = None,
    **named: Unpack[HeatmapOptions],
) -> str:
    """Return an HTML page with the step view of a trace, which needs no network.

    It is the view of the app, in every language; its theme is that of the browser.

    Args:
        trace: The record.
        choices: How the heatmap is drawn. The page opens at its `step`, 0-based, and its `face`.
        level: Level of detail: "idea", "numbers" or "everything".
        weights: Weights of the model that made the trace (`load_weights`). With them, posterior attention and logit
            attributions are shown, and numbers are verified. None uses those of the installed model of that name, if
            they made the trace.
        what_ifs: The what-ifs that `trace` belongs to; each gets a card that displays it. Their heatmaps have no `gold`
            links, since their words may differ.
        **named: As in `figures.heatmap`.

    Returns:
        The page.

    Raises:
        AttnvizError: There is no such step or level, or the heatmap cannot be drawn with these choices.
    """
    check_choice("level", level, get_args(DetailLevel))
    chosen = heatmap_choices(choices, **named)
    step = None if chosen.step is None else step_index(trace, chosen.step)
    heatmap(trace, chosen, weights=weights)  # raises where a choice is invalid
    chosen = replace(chosen, step=step)
    return str(drawing().draw_page(trace, chosen, level=level, weights=weights, what_ifs=what_ifs))


_CELL_STYLE = "width:1.4em;min-width:1.4em;height:1.4em;padding:0;border:1px solid #3b3935"
_COLUMN_LABEL_STYLE = (
    "writing-mode:vertical-rl;transform:rotate(180deg);text-align:left;padding:0.3em 0;font-weight:normal"
)
_ROW_LABEL_STYLE = "text-align:right;padding:0 0.4em;font-weight:normal;white-space:nowrap"
_TABLE_STYLE = "border-collapse:collapse;width:auto;font:13px/1.2 sans-serif"


def heatmap_html(trace: Aligned, *, by: By = "steps", end: bool = False) -> str:
    """Return the heatmap as a table element, black 0 and white 1, with each weight as a tooltip.

    All styles are inline, and labels inherit their colours, so that it fits light and dark pages.

    Args:
        trace: The record.
        by: As in `figures.heatmap`. By steps, the name of a word spans the rows of its steps, or columns of its pieces.
        end: Whether to draw `</s>`.

    Returns:
        HTML; without attention, a sentence that says so.
    """
    if not trace.attends:
        sentence = gettext("This model has no attention and no alignment: every step gets the same context vector.")
        return f"<p>{escape(trace.translation)}</p><p>{escape(sentence)}</p>"
    cells = grid(trace, by, end)
    header = "".join(_headings(cells.source, cells.source_brackets, "col", _COLUMN_LABEL_STYLE))
    row_headings = _headings(cells.target, cells.target_brackets, "row", _ROW_LABEL_STYLE)
    rows = "".join(
        f"<tr>{heading}"
        + "".join(_cell(word, name, alpha) for name, alpha in zip(cells.source, row, strict=True))
        + "</tr>"
        for heading, word, row in zip(row_headings, cells.target, cells.alpha.tolist(), strict=True)
    )
    return (
        f'<table style="{_TABLE_STYLE}"><caption style="text-align:left">{escape(trace.translation)}</caption>'
        f'<thead><tr style="vertical-align:bottom"><td></td>{header}</tr></thead><tbody>{rows}</tbody></table>'
    )


def _headings(names: Sequence[str], brackets: Sequence[Bracket], scope: str, style: str) -> list[str]:
    """Return the heading of each row or column; one of several has its text at the first, and the others have none."""
    spans = {first: (last - first + 1, word) for first, last, word in brackets}
    inner = {place for first, last, _ in brackets for place in range(first + 1, last + 1)}
    headings = []
    for place, name in enumerate(names):
        count, label = spans.get(place, (1, name))
        group = f'scope="{scope}group" {scope}span="{count}"' if count > 1 else f'scope="{scope}"'
        headings.append("" if place in inner else f'<th {group} style="{style}">{escape(shorten(label))}</th>')
    return headings


def _cell(word: str, name: str, alpha: float) -> str:
    grey = f"{round(255 * min(max(alpha, 0), 1)):02x}" * 3
    tip = escape(f"{isolated(word)} ← {isolated(name)}: {decimal(alpha, 4)}")
    return f'<td title="{tip}" style="background:#{grey};{_CELL_STYLE}"></td>'
