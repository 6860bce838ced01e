"""Lab section *Attributions*: heatmaps of six attribution methods side by side, and the methods' agreement."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any, cast, get_args

from attnviz import lazy_pandas as pd
from attnviz.analysis.attribution_methods import (
    agreement,
    attribution_method_texts,
    attributions_caveat,
    colours_sentence,
    overall_agreement_sentence,
    step_agreement_sentence,
)
from attnviz.figures.attribution_figure import (
    agreement_table,
    attributions,
)
from attnviz.languages import gettext
from attnviz.trace.drawing import By
from attnviz.ui.components.chart import chart, steady_payload
from attnviz.ui.components.component import details, html, plain_text
from attnviz.ui.fields import option_field
from attnviz.ui.glossary import definitions
from attnviz.ui.lab.cached_analyses import attribution_methods_of, unavailable_reason
from attnviz.ui.page_state.selection import selection_of
from attnviz.ui.payloads import PayloadRequest, UnknownPayloadError, address, makes_payload
from attnviz.ui.step.heatmap_panel import grid_sentences, unit_names
from attnviz.ui.toolbar.downloads import OfferedFigure
from attnviz.ui.view import View

ATTRIBUTION_LAYOUTS = {"": (3, 1380), "-narrow": (2, 358)}
"""Largest number of panels side by side, and layout width in pixels, by the window size in an address."""


def attributions_panel(view: View) -> None:
    """Draw the attributions of all steps, with sentences about the current step."""
    if reason := unavailable_reason(view.trace):
        plain_text(reason)
        return
    html(f'<p class="explanation">{_how_to_read()}</p>')
    option_field(view, "by", "segments", gettext("Rows and columns"), options=unit_names())
    chart(
        view,
        address(view.trace, "attributions", every=True, options=("by",), sized=True),
        "attributions",
        waiting=gettext("Computing…"),
    )
    html(f'<p class="explanation">{attributions_caveat()}</p>')
    with details(gettext("How to read each method, and its limits"), view.key("attributions_sentence")):
        texts = [
            gettext("**{name}**, in {unit}. {sentence}", name=method.name, unit=method.unit, sentence=method.sentence)
            for method in attribution_method_texts().values()
        ]
        definitions(view.key("attributions_methods"), texts)


def _how_to_read() -> str:
    pointing = gettext("Point at a cell to see it in all heatmaps. Click a cell to go to its step.")
    return f"{grid_sentences()} {colours_sentence()} {pointing}"


@makes_payload("attributions")
def attributions_payload(request: PayloadRequest) -> dict[str, Any]:
    """Return the payload of the attributions by words or steps, for a window of one of the `ATTRIBUTION_LAYOUTS`.

    Raise UnknownPayloadError where there are none.
    """
    trace, (by, *_), size = request.trace, request.options, request.parameters.get("size", "")
    if unavailable_reason(trace) or by not in get_args(By) or size not in ATTRIBUTION_LAYOUTS:
        raise UnknownPayloadError("attributions")
    methods, (columns, width) = attribution_methods_of(trace), ATTRIBUTION_LAYOUTS[size]
    draw = partial(attributions, trace, methods, by=cast("By", by), width=width)
    for panels_per_row in range(columns, 0, -1):
        figure = draw(across=panels_per_row)
        if figure.layout["meta"]["narrowest"] <= width:
            break
    agreement_sentence = overall_agreement_sentence(agreement(methods), len(trace.target_ids))
    return steady_payload(
        figure,
        {
            step: (
                "",
                gettext("At this step: {here}", here=step_agreement_sentence(trace, methods, step))
                + f"\n{agreement_sentence}",
            )
            for step in request.steps
        },
    )


def attributions_pictures(view: View) -> Iterator[OfferedFigure]:
    """Yield the figure of the attributions as it is saved."""
    trace, selection = view.trace, selection_of(view)
    if unavailable_reason(trace):
        return
    methods, title = attribution_methods_of(trace), gettext("What each word depended on")
    draw = partial(attributions, trace, methods, by=selection.choices.by, step=selection.step)
    yield OfferedFigure(title, title, "attributions", draw)


def attributions_tables(view: View) -> Iterator[tuple[str, pd.DataFrame]]:
    """Yield the attributions of the current step, and their agreement there and over the sentence."""
    trace, step = view.trace, selection_of(view).step
    if unavailable_reason(trace):
        return
    methods = attribution_methods_of(trace)
    numbers = attributions(trace, methods).frame()
    at_step = numbers.loc[[step + 1]].drop(columns=gettext("target piece")).set_index("j")
    yield gettext("Attributions at step {step}", step=step + 1), at_step
    yield (
        gettext("Agreement between attributions at step {step}", step=step + 1),
        agreement_table(agreement(methods, step)),
    )
    yield gettext("Agreement between attributions over all steps"), agreement_table(agreement(methods))
