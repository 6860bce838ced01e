"""The blocks of a view: components, texts and boxes, collected on the server and drawn in the browser by one component.

`view_blocks` collects what is drawn within it, and mounts it as one Streamlit component. Outside it, a component is
mounted by itself; boxes and texts stand in views only. The browser's side is `blocks.js`.

Plotly figures are updated in place at each step: `st.plotly_chart` discards a chart and makes a new one whenever its
figure differs, so that it flashes, and each step waits for the server. The component `chart` has one template and the
values that fill it at each step, and calls `Plotly.react`.
"""

from __future__ import annotations

import base64
import functools
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from attnviz import lazy_pandas as pd
from attnviz import lazy_streamlit as st
from attnviz.browser_modules import APP_MODULES
from attnviz.figures.encoding import common_part, to_json
from attnviz.figures.registry import StepFigure
from attnviz.figures.spec import Spec
from attnviz.figures.subject import Subject
from attnviz.languages import format_number, gettext
from attnviz.ui.embedding import embedding, theme_name
from attnviz.ui.payloads import Payload, Shown, address, shown_address, take_requests
from attnviz.ui.resources import cached_for_all
from attnviz.ui.view import View

Block = dict[str, Any]
"""What the browser draws, as JSON: its `kind`, its `key` and what else its kind needs (`Block` in `types.d.ts`)."""
Width = int | Literal["stretch", "content"]
"""Width of a block in pixels, or of the whole box, or as its contents need it."""
_GAPS = {"xsmall": 0.5, "small": 1, "medium": 2, "large": 4}
"""Distance between the blocks of a box, in rem."""
Gap = Literal["xsmall", "small", "medium", "large"]

_open_box: ContextVar[list[Block]] = ContextVar("open_box")
"""The blocks of the box that is being drawn; not set outside a view."""

_LOADER_SCRIPT = """if ((window.attnvizScript ??= name) !== name) {
  location.reload();
  await new Promise(() => {});
}
let modules;
for (let tries = 0; !modules; tries += 1) {
  try {
    modules = await import(new URL(name, document.baseURI).href);
  } catch (error) {
    if (tries > 9) throw error;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}
export default modules.default;
"""
"""Script that Streamlit gets: it imports the modules, a file of this `name` on the server.

Streamlit runs it from a `blob:` address, from which relative imports fail. While the server is busy or restarts, the
import is repeated. A page that an older version has drawn is loaded again: two versions cannot share its elements.
"""


@functools.cache
def _command() -> Any:
    """Return the command that mounts blocks, registered at the first call."""
    script = f"const name = {json.dumps(APP_MODULES.file_name)};\n{_LOADER_SCRIPT}"
    return st.components.v2.component("attnviz_view", js=script, isolate_styles=False)


def _mount(key: str, blocks: Sequence[Block], **options: Any) -> Any:
    """Mount `blocks` as one component; `options` are those of Streamlit's command, whose result is returned."""
    # Streamlit 1.67 looks for data frames among the values of a dict, and imports pandas and pyarrow to do so. It
    # sends a list as it is.
    return _command()(key=key, data=[[*blocks], *filter(None, [take_requests()])], **options)


def component(name: str, key: str, data: Any = None, *, width: Width = "stretch", **options: Any) -> Any:
    """Draw the component `name`, whose module, markup and style are in the folder of that name.

    Args:
        name: Name of the folder.
        key: Key, unique on the page.
        data: What its module gets, as JSON.
        width: Its width.
        **options: Options of Streamlit's command, for a component outside a view: its height, its state.

    Returns:
        The component's state outside a view, None within one.
    """
    if not in_view():
        return _mount(key, [{"kind": name, "key": "", "data": data}], width=width, **options)
    _add(name, key, data=data, **_sized(width))
    return None


def in_view() -> bool:
    """Return whether what is drawn now is collected by `view_blocks`."""
    return _open_box.get(None) is not None


def _sized(width: Width) -> dict[str, Any]:
    return {} if width == "stretch" else {"width": width}


class Box:
    """A box of a view; what is drawn within `with` is in it."""

    def __init__(self, blocks: list[Block]) -> None:
        self._blocks = blocks

    def __enter__(self) -> None:
        self._token = _open_box.set(self._blocks)

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        _open_box.reset(self._token)


@contextmanager
def collected() -> Iterator[list[Block]]:
    """Collect what is drawn within in a list."""
    blocks: list[Block] = []
    with Box(blocks):
        yield blocks


@contextmanager
def view_blocks(key: str, **options: Any) -> Iterator[None]:
    """Collect what is drawn within, and mount it as one component with this `key` and Streamlit's `options` for it.

    Inside another view, add it there.
    """
    if in_view():
        yield
        return
    with collected() as blocks:
        yield
    _mount(key, blocks, **options)


def _add(kind: str, key: str = "", **more: Any) -> None:
    _open_box.get().append({"kind": kind, "key": key} | more)


def _box(kind: str, key: str, **more: Any) -> Box:
    inner: list[Block] = []
    _add(kind, key, blocks=inner, **more)
    return Box(inner)


def box(key: str, *, row: bool = False, gap: Gap = "small", width: Width = "stretch") -> Box:
    """Return a box with a `key`, to draw in; in a `row`, what is in it stands side by side."""
    return _box("box", key, row=row, gap=_GAPS[gap], **_sized(width))


def columns(shares: Sequence[int], *, gap: Gap = "small") -> Sequence[Box]:
    """Return boxes side by side whose widths are these `shares`; below each other in a narrow window."""
    inner: list[list[Block]] = [[] for _ in shares]
    _add("columns", gap=_GAPS[gap], shares=[share / sum(shares) for share in shares], columns=inner)
    return [Box(one) for one in inner]


def details(label: str, key: str, *, lead: str = "", wide: bool = False) -> Box:
    """Return a box that a visitor opens and closes by its `label`, to draw in.

    Args:
        label: What a visitor presses.
        key: Key, unique on the page.
        lead: Sentence below the label, which then is a heading.
        wide: Whether the box is open at first in a window at least 1000 pixels wide.

    Returns:
        The box.
    """
    return _box("details", key, label=label, **({"lead": lead, "wide": wide} if lead else {}))


def popover_box(label: str, key: str) -> Box:
    """Return a box that a visitor opens over the page by the button `label`, to draw in."""
    return _box("popover", key, label=label)


def hidden_box(key: str) -> Box:
    """Return a box that another component of the view shows and hides, to draw in."""
    return _box("hidden", key, label=None)


def html(text: str, *, width: Width = "stretch") -> None:
    """Draw HTML, in which all that comes from outside is escaped."""
    _add("html", text=text, **_sized(width))


def plain_text(text: str) -> None:
    """Draw a text that is never markup."""
    _add("text", text=text)


def caption(text: str) -> None:
    """Draw a text in small letters, which is never markup."""
    _add("caption", text=text)


def explanation(text: str) -> None:
    """Draw a paragraph of explanation, which is HTML as in `html`."""
    html(f'<p class="explanation">{text}</p>')


def section_heading(title: str, text: str = "") -> None:
    """Draw the heading of a section, and below it a paragraph of explanation, both HTML as in `html`."""
    below = f'<p class="explanation">{text}</p>' if text else ""
    html(f'<h2 class="section">{title}</h2>{below}')


def message(text: str, key: str) -> None:
    """Draw a message in a box with a `key`; it may quote the visitor, and is never markup."""
    if in_view():
        with box(key):
            plain_text(text)
    else:
        with st.container(key=key):
            st.text(text)


def packed(values: NDArray[Any], dtype: str = "<f4") -> str:
    """Return an array of any shape as little-endian float32, or another type, in base64, as the browser reads it."""
    return base64.b64encode(np.ascontiguousarray(values, dtype=dtype).tobytes()).decode("ascii")


_EVERY_STEP = "every"
"""Key of what is the same at every step."""
Caption = str | tuple[str, ...]
"""A sentence, or a heading and sentences, above a figure."""
Captions = Caption | Mapping[int, Caption]
"""The caption of a figure at every step, or by step."""


def chart_payload(figures: Mapping[int, Spec] | Mapping[str, Spec], captions: Captions) -> Payload:
    """Return the payload of a chart with a figure for each step, or for `_EVERY_STEP`.

    Steps are 0-based. The payload has what the figures have in common once, and what is different at each step. Where
    the rows of a figure are steps, its `layout.meta` has `steps`, `rows` and `frame`, as `attnviz.figures.heatmap`
    writes them: then a click on a row goes to its step, and the row of the current step is framed.
    """
    template, values = common_part([spec.plotly(theme_name()) for spec in figures.values()]) if figures else ({}, [])
    return _filled_template(template, dict(zip(figures, values, strict=True)), captions)


def _filled_template(template: Any, values: Mapping[Any, Any], captions: Captions) -> Payload:
    by_step = captions if isinstance(captions, Mapping) else {_EVERY_STEP: captions}
    return {
        "template": to_json(template),
        "values": {str(step): to_json(own) for step, own in values.items()},
        "captions": {str(step): ("", one) if isinstance(one, str) else one for step, one in by_step.items()},
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
    """Return the payload of a chart that is the same at every step.

    The texts of the first trace are values: heatmaps with different options have the same.
    """
    template = figure.plotly(theme_name())
    first = template["data"][0] if template["data"] else {}
    texts = first.get("text")
    if texts:
        first["text"] = {"slot": 0}
    return _filled_template(template, {_EVERY_STEP: [texts]}, captions)


def caption_payload(captions: Captions) -> Payload:
    """Return the payload of a heading and a sentence without a figure."""
    blank, hidden = "rgba(0,0,0,0)", {"visible": False}
    layout = {"height": 10, "paper_bgcolor": blank, "plot_bgcolor": blank, "xaxis": hidden, "yaxis": hidden}
    return steady_payload(Spec([], layout | {"meta": {"narrowest": 1}}, ""), captions)


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


def inline_figure(view: View, name: str, draw: Callable[..., Spec], captions: Captions = "") -> None:
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


def tables(view: View, at: str, name: str) -> None:
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
    types = pd.api.types  # texts are also "yes" and "no"
    texts = [True, *(not types.is_numeric_dtype(one) or types.is_bool_dtype(one) for one in table.dtypes)]
    rows = [[_cell(value) for value in row] for row in table.itertuples(name=None)]
    return {"name": name, "columns": columns, "rows": rows, "texts": texts}


def _cell(value: Any) -> str:
    """Return the text of a cell in the current language: fractions with six digits, empty for a missing value."""
    if value is None or value is pd.NA or (isinstance(value, float) and pd.isna(value)):
        return ""
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, (int, float)):
        return format_number(value, ".6g" if isinstance(value, float) else "")
    return str(value)
