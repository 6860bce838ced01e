"""Mount Plotly figures that are updated in place at each step, and make their payloads.

`st.plotly_chart` discards a chart and makes a new one whenever its figure differs: it flashes at every step, and each
step waits for the server. This component has one template and the values that fill it at each step, and calls
`Plotly.react`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go

from attnviz.figures.build import build_figure, figure_json
from attnviz.figures.template import Slot, to_json
from attnviz.ui.components.component import component
from attnviz.ui.view import Keyed, View

EVERY_STEP = "every"
"""Key of values that are the same at every step."""


class AtStep(NamedTuple):
    """The values that fill the template at a step, with the texts above the figure."""

    values: str
    """JSON text."""
    heading: str = ""
    sentence: str = ""


def chart_payload(template: str, steps: Mapping[int, AtStep]) -> dict[str, Any]:
    """Return the payload of a chart with a figure for each of `steps`.

    `template` and values are as `figures.template.to_json` writes them. In `layout.meta` a figure has its text
    alternative (`alt`) and the width below which its box scrolls (`narrowest`). Where its rows are steps, it also has
    `steps`, `rows` and `frame`, as `attnviz.figures.heatmap` writes them: then a click on a row goes to its step, and
    the row of the current step is framed.
    """
    return {
        "template": template,
        "values": {str(step): at_step.values for step, at_step in steps.items()},
        "captions": {str(step): (at_step.heading, at_step.sentence) for step, at_step in steps.items()},
    }


Captions = Mapping[int, tuple[str, str]] | Mapping[str, tuple[str, str]]
"""Heading and sentence of each step, or of `EVERY_STEP`."""


def steady_payload(figure: str, captions: Captions) -> dict[str, Any]:
    """Return the payload of a chart that is the same at every step; `figure` is JSON, `captions` are by step."""
    return {"template": figure, "values": {EVERY_STEP: "{}"}, "captions": {str(i): one for i, one in captions.items()}}


_EMPTY_LAYOUT = {
    "height": 10,
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "xaxis": {"visible": False},
    "yaxis": {"visible": False},
    "meta": {"alt": "", "narrowest": 1},
}


def caption_payload(captions: Captions) -> dict[str, Any]:
    """Return the payload of a heading and a sentence without a figure."""
    return steady_payload(figure_json(build_figure([], _EMPTY_LAYOUT)), captions)


def fitting_payload(figures: Sequence[go.Figure], captions: Captions) -> dict[str, Any]:
    """Return the payload of a chart that is the same at every step and has several layouts.

    `figures` have the same data, the widest first; the browser draws the first that fits its box.
    """
    plain = [figure.to_plotly_json() for figure in figures]
    data, texts = _with_text_slots(plain[0]["data"])
    return {
        "template": to_json({"data": data, "layout": Slot("layout")}),
        "values": {},
        "common": to_json(texts),
        "fits": [
            {"narrowest": one["layout"]["meta"]["narrowest"], "values": to_json({"layout": one["layout"]})}
            for one in plain
        ],
        "captions": {str(step): one for step, one in captions.items()},
    }


def _with_text_slots(data: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the traces of a figure with a Slot instead of each hover text, and the texts that fill the slots.

    Panels with equal hover texts share one slot, since those texts are most of the payload.
    """
    texts: list[Any] = []
    traces = []
    for trace in data:
        if "text" not in trace:
            traces.append(dict(trace))
            continue
        if trace["text"] not in texts:
            texts.append(trace["text"])
        traces.append({**trace, "text": Slot(f"text{texts.index(trace['text'])}")})
    return traces, {f"text{place}": text for place, text in enumerate(texts)}


def inline_chart(view: Keyed, payload: Mapping[str, Any], name: str) -> None:
    """Draw a figure of `view` from a payload that is sent with the page."""
    component("chart", isolate=False)(key=view.key(name), data=dict(payload))


def chart(
    view: View,
    at: str,
    name: str,
    chosen: str = "",
    *,
    waiting: str = "",
    prefetch: bool = False,
    hand: Mapping[str, str] | None = None,
    consequence: str | None = None,
    sent: Mapping[str, Any] | None = None,
) -> None:
    """Draw the figure of the current step in `view` from the payload (`chart_payload`) at the address `at`.

    Once a visitor has chosen a word or a source piece, the payload at `chosen` is used, where given. `waiting` is shown
    while the payload loads; with `prefetch`, the browser fetches that of the next step ahead. With `hand`, labels of
    the sliders, the bars named by `weights` in `layout.meta` can be dragged; the browser fetches from the address
    `consequence` what the dragged weights would do. `sent` is the payload for the default
    display options, sent with the page.
    """
    payload: dict[str, Any] = {
        "at": at,
        "chosen": chosen,
        "waiting": waiting,
        "prefetch": view.steps if prefetch else 0,
    }
    if hand is not None:
        payload |= {"hand": dict(hand), "consequence": consequence}
    if sent is not None:
        payload["sent"] = {"at": at.replace("{options}", ""), "payload": sent}
    component("chart", isolate=False)(key=view.key(name), data=payload)
