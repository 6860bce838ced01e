"""Draw fields of a view's display options, whose values the browser owns, and texts that depend on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import streamlit as st

from attnviz.ui.components.field import field
from attnviz.ui.view import View


def option_segments(view: View, name: str, label: str, options: Mapping[str, str]) -> None:
    """Draw the values of the option `name`, each with its text, as adjacent buttons."""
    _option(view, name, "segments", label, options=[*options.items()])


def option_select(view: View, name: str, label: str, options: Mapping[str, str], width: int) -> None:
    """Draw the values of the option `name`, each with its text, as a box of choices; `width` is in pixels."""
    _option(view, name, "select", label, width, options=[*options.items()])


def option_switch(view: View, name: str, label: str, help: str) -> None:  # noqa: A002  as Streamlit's
    """Draw the option `name` as a switch."""
    _option(view, name, "switch", label, help=help)


def option_disclosure(view: View, name: str, label: str) -> None:
    """Draw a button that opens and closes a section by the option `name`; page.css hides the closed section."""
    _option(view, name, "disclosure", label, "stretch")


def shown_if(condition: str, text: str) -> str:
    """Return `text` as HTML that is shown only under a `condition`, a class in page.css that starts with `if-`."""
    return f'<span class="if-{condition}">{text}</span>'


def by_unit(words: str, pieces: str) -> str:
    """Return as HTML the text for a heatmap by words and that for one by pieces, of which one is shown."""
    return shown_if("words", words) + shown_if("pieces", pieces)


def _option(
    view: View, name: str, kind: str, label: str, width: int | Literal["stretch", "content"] = "content", **data: Any
) -> None:
    key = view.key(name)
    with st.container(key=key, width=width):
        field(key, data | {"kind": kind, "option": name, "label": label}, width)
