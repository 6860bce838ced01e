"""The blocks of a view: components, texts and boxes, collected on the server and drawn in the browser by one component.

`view_blocks` collects what is drawn within it, and mounts it as one Streamlit component. Outside it, a component is
mounted by itself; boxes and texts stand in views only. The browser's side is `blocks.js`.
"""

from __future__ import annotations

import base64
import functools
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import TracebackType
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from attnviz import lazy_streamlit as st
from attnviz.browser_modules import APP_MODULES
from attnviz.ui.payloads import take_requests

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
