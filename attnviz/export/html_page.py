"""A record as one HTML file: the interactive step view, with everything that it needs."""

from __future__ import annotations

from dataclasses import replace
from typing import Unpack, get_args

from attnviz.analysis.recomputation import Weights
from attnviz.arguments import check_choice
from attnviz.figures.heatmap import heatmap
from attnviz.trace import Aligned, WhatIfs
from attnviz.trace.drawing import DetailLevel, HeatmapChoices, HeatmapOptions, drawing, heatmap_choices, step_index


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
