"""Plotly figures on the page, each redrawn in place.

`st.plotly_chart` throws a chart away and makes a new one whenever its figure differs: that flashes at every step, and a
step then waits for the server. This component has one template and what fills it at all steps, and calls
`Plotly.react`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import plotly.graph_objects as go

from attnviz.figures.template import Slot, to_json
from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import Keyed, View

EVERY_STEP = "every"
"""The key of values that serve all steps."""


class AtStep(NamedTuple):
    """What fills the template at a step, with the texts above the picture."""

    values: str
    """As JSON."""
    heading: str = ""
    sentence: str = ""


def chart_record(template: str, steps: Mapping[int, AtStep]) -> dict[str, Any]:
    """Return what a chart draws from: a picture of `steps`.

    `template` and values are as `figures.template.to_json` writes them. In `layout.meta` a figure carries its text
    alternative (`alt`), the width below which its box scrolls (`narrowest`), and, where its rows stand for steps,
    `steps`, `rows` and `frame`, as `attnviz.figures.heatmap` writes them: then a click on a row goes to its step, and
    the row of the step on show is framed.
    """
    return {
        "template": template,
        "values": {str(step): one.values for step, one in steps.items()},
        "captions": {str(step): (one.heading, one.sentence) for step, one in steps.items()},
    }


Captions = Mapping[int, tuple[str, str]] | Mapping[str, tuple[str, str]]
"""Heading and sentence of each step, or of `EVERY_STEP`."""


def steady_record(figure: str, captions: Captions) -> dict[str, Any]:
    """Return what a chart draws from that is the same at every step, a `figure` as JSON; heading and sentence are those
    of the step (`captions`)."""
    return {"template": figure, "values": {EVERY_STEP: "{}"}, "captions": {str(i): one for i, one in captions.items()}}


def fitting_record(figures: Sequence[go.Figure], captions: Captions) -> dict[str, Any]:
    """Return what a chart draws from that is the same at every step and can be laid out in several ways: `figures` of
    the same data, the widest first, of which the browser takes the first that its box has room for."""
    plain = [figure.to_plotly_json() for figure in figures]
    data, texts = _texts_apart(plain[0]["data"])
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


def _texts_apart(data: Sequence[Mapping[str, Any]]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """Return the traces of a figure with a Slot in the place of each hover text, and what fills these: panels that are
    pointed at alike say the same, and most of what is sent is what they say."""
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


def given_chart(view: Keyed, record: Mapping[str, Any], name: str) -> None:
    """Draw a picture of `view` from a record that goes along with the page."""
    component("chart", isolate=False)(key=view.key(name), data=dict(record))


def steady_chart(view: View, template: str, values: str, name: str) -> None:
    """Draw a picture that is the same at every step of `view`; `name` tells the chart from others of the view."""
    record = {"template": template, "values": {EVERY_STEP: values}, "captions": {}}
    component("chart", isolate=False)(key=view.key(name), data=record)


def chart(
    view: View,
    at: str,
    name: str,
    chosen: str = "",
    *,
    waiting: str = "",
    ahead: bool = False,
    hand: Mapping[str, str] | None = None,
) -> None:
    """Draw the picture of the step on show in `view`, whose record (`chart_record`) lies at the address `at`, or where
    there is one at that of what a visitor has `chosen`, once he has chosen a word or a source piece.

    `waiting` stands in its place where the record takes long to make; that of the next step is fetched `ahead`. With a
    `hand`, the names of its sliders, the bars that `weights` in its `layout.meta` speaks of can be pulled.
    """
    record = {"at": at, "chosen": chosen, "waiting": waiting, "ahead": view.steps if ahead else 0}
    pulled = {} if hand is None else {"hand": dict(hand)}
    component("chart", isolate=False)(key=view.key(name), data=record | pulled)
