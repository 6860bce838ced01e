"""Mount Plotly figures that are updated in place at each step, and tables of their numbers; make their payloads.

`st.plotly_chart` discards a chart and makes a new one whenever its figure differs: it flashes at every step, and each
step waits for the server. This component has one template and the values that fill it at each step, and calls
`Plotly.react`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

from attnviz import lazy_pandas as pd
from attnviz.figures.encoding import common_part, to_json
from attnviz.figures.registry import StepFigure
from attnviz.figures.spec import Spec
from attnviz.figures.subject import Subject
from attnviz.languages import format_number, gettext
from attnviz.ui.components.component import component, details
from attnviz.ui.embedding import embedding, theme_name
from attnviz.ui.payloads import Payload, Shown, address, shown_address
from attnviz.ui.resources import cached_for_all
from attnviz.ui.view import Keyed, View

_EVERY_STEP = "every"
"""Key of what is the same at every step."""
Caption = str | tuple[str, ...]
"""A sentence, or a heading and sentences, above a figure."""
Captions = Caption | Mapping[int, Caption]
"""The caption of a figure at every step, or by step."""


def _by_step(captions: Captions) -> dict[str, tuple[str, ...]]:
    """Return headings and sentences as the browser gets them."""
    by_step = captions if isinstance(captions, Mapping) else {_EVERY_STEP: captions}
    return {str(step): ("", one) if isinstance(one, str) else one for step, one in by_step.items()}


def chart_payload(figures: Mapping[int, Spec] | Mapping[str, Spec], captions: Captions) -> Payload:
    """Return the payload of a chart with a figure for each step, or for `_EVERY_STEP`.

    Steps are 0-based. The payload has what the figures have in common once, and what is different at each step. Where
    the rows of a figure are steps, its `layout.meta` has `steps`, `rows` and `frame`, as `attnviz.figures.heatmap`
    writes them: then a click on a row goes to its step, and the row of the current step is framed.
    """
    template, values = common_part([spec.plotly(theme_name()) for spec in figures.values()]) if figures else ({}, [])
    return {
        "template": to_json(template),
        "values": {str(step): to_json(own) for step, own in zip(figures, values, strict=True)},
        "captions": _by_step(captions),
    }


def figure_payload(
    figure: StepFigure, subjects: Sequence[Subject], caption: Callable[[Subject], tuple[str, ...]]
) -> Payload:
    """Return the payload of a figure of several steps, each with its `caption`."""
    return chart_payload(
        {subject.step: figure.draw(subject) for subject in subjects},
        {subject.step: caption(subject) for subject in subjects},
    )


def steady_payload(figure: Spec, captions: Captions = "") -> Payload:
    """Return the payload of a chart that is the same at every step."""
    return chart_payload({_EVERY_STEP: figure}, captions)


_EMPTY_LAYOUT = {
    "height": 10,
    "paper_bgcolor": "rgba(0,0,0,0)",
    "plot_bgcolor": "rgba(0,0,0,0)",
    "xaxis": {"visible": False},
    "yaxis": {"visible": False},
    "meta": {"narrowest": 1},
}


def caption_payload(captions: Captions) -> Payload:
    """Return the payload of a heading and a sentence without a figure."""
    return steady_payload(Spec([], _EMPTY_LAYOUT, ""), captions)


def fitting_payload(figures: Sequence[Spec], captions: Captions) -> Payload:
    """Return the payload of a chart that is the same at every step and has several layouts.

    `figures` have the same data, the widest first; the browser draws the first that fits its box.
    """
    payload = chart_payload(dict(enumerate(figures)), captions)
    widths = [figure.layout["meta"]["narrowest"] for figure in figures]
    fits = zip(widths, payload["values"].values(), strict=True)
    return payload | {"values": {}, "fits": [{"narrowest": width, "values": values} for width, values in fits]}


@cached_for_all
def _figure_payload(draw: Callable[..., Spec], captions: Captions) -> Payload:
    return steady_payload(draw(), captions)


def inline_figure(view: Keyed, name: str, draw: Callable[..., Spec], captions: Captions = "") -> None:
    """Draw a figure of `view` that is the same at every step, and is sent with the page.

    `draw` is a `partial`; its result is cached for all visitors.
    """
    component("chart", view.key(name), _figure_payload(draw, captions))


def computed_chart(view: View, trace: Any, name: str, key: str = "", **parameters: Any) -> None:
    """Draw the figure `key`, by default `name`, from the payload `name` of `trace`, which takes a while to compute.

    The `parameters` are those of `address`.
    """
    chart(view, address(trace, name, **parameters), key or name, waiting=gettext("Computing…"))


def chart(view: View, at: str, name: str, **data: Any) -> None:
    """Draw the figure of the current step in `view` from the payload (`chart_payload`) at the address `at`.

    Once a visitor has chosen a word or a source piece, the payload at `chosen` is used, where given. `waiting` is shown
    while the payload loads; the page scrolls to the figure if a link has `visited` it. With `prefetch`, the number of
    steps, the browser fetches the payload of the next step ahead. With `hand`, labels of the sliders, the bars named by
    `weights` in `layout.meta` can be dragged; the browser fetches from the address `consequence` what the dragged
    weights would do. `sent` is the payload for the default display options with its address, sent with the page.
    """
    component("chart", view.key(name), {"at": at, **data})


def tables(view: Keyed, at: str, name: str) -> None:
    """Draw the tables of the payload at the address `at`, for the current selection in `view`."""
    component("tables", view.key(name), {"at": at})


def chart_tables(view: View, name: str, shown: Shown, query: str = "{selection}", **parameters: str) -> None:
    """Draw the box with the numbers of the page's charts, the tables of the payload `name`, as `table_box` does."""
    table_box(view, gettext("The charts as tables"), "tables", name, shown, query, **parameters)


def table_box(
    view: View,
    title: str,
    key: str,
    name: str,
    shown: Shown | None = None,
    query: str = "{selection}",
    **parameters: str,
) -> None:
    """Draw a box with `title` and the tables of the payload `name`, made once it is open.

    They are of `view` and what else is `shown`, by default for the current selection; with an empty `query` they are
    the same at every step. A view that embeds its payloads has none: they would be nine tenths of it.
    """
    if embedding() is not None:
        return
    with details(title, view.key(key)):
        at = shown_address(name, {"view": view, **(shown or {})}, query, **parameters)
        tables(view, at, f"{key}_rows")


def tables_payload(named_tables: Iterable[tuple[str, pd.DataFrame]]) -> Payload:
    """Return the payload of named tables."""
    return {
        "tables": [_table(name, table) for name, table in named_tables],
        "none": gettext("No figure is drawn, so there is no table of numbers."),
    }


def _table(name: str, table: pd.DataFrame) -> Payload:
    columns = [str(table.index.name or ""), *map(str, table.columns)]
    texts = [True, *map(_is_text, table.dtypes)]
    rows = [[_cell(value) for value in row] for row in table.itertuples(name=None)]
    return {"name": name, "columns": columns, "rows": rows, "texts": texts}


def _is_text(dtype: Any) -> bool:
    """Return whether a column has texts, also "yes" and "no"."""
    return not pd.api.types.is_numeric_dtype(dtype) or pd.api.types.is_bool_dtype(dtype)


def _cell(value: Any) -> str:
    """Return the text of a cell in the current language: fractions with six digits, empty for a missing value."""
    if value is None or value is pd.NA or (isinstance(value, float) and pd.isna(value)):
        return ""
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, (int, float)):
        return format_number(value, ".6g" if isinstance(value, float) else "")
    return str(value)
