"""The step view in other people's Streamlit apps."""

from __future__ import annotations

import functools
from typing import Any, Unpack

from attnviz.analysis.recomputation import Weights
from attnviz.extras import naming_extra
from attnviz.trace.drawing import DetailLevel, HeatmapOptions
from attnviz.ui.embedded_view import guest_script, packed_view
from attnviz.ui.embedding import theme_name
from attnviz.view.opened import opened_view

with naming_extra():
    import streamlit as st


@functools.cache
def _command() -> Any:
    """Return the command that mounts a view, registered at the first call."""
    return st.components.v2.component("attnviz_step_view", js=f"{guest_script()}\n{_ENTRY}", isolate_styles=False)


_ENTRY = """
export default ({ data, parentElement }) =>
  attnvizModule("ui/components/guest.js").default.render({
    el: parentElement,
    model: {
      get: (name) => data[name === "view" ? 0 : 1],
      set() {},
      save_changes() {},
      on() {},
      off() {},
    },
  });
"""
"""Gives Streamlit's component the form of an anywidget front-end module."""


def show(
    trace: Any,
    *,
    level: DetailLevel = "numbers",
    weights: Weights | None = None,
    key: str = "attnviz",
    **named: Unpack[HeatmapOptions],
) -> None:
    """Draw the step view of a trace in a Streamlit app: player, heatmap, diagram and stages.

    The browser steps by itself; nothing is sent to the server. Streamlit's theme decides between light and dark.

    Args:
        trace: A translation, imported attention, or another record.
        level: Level of detail: "idea", "numbers" or "everything".
        weights: Weights of the model that made the trace (`load_weights`), for posterior attention and logit
            attributions; without, those of the installed model of that name.
        key: Key of the component, unique in the app.
        **named: How the heatmap is drawn, and the `step` at which the view opens: the arguments of `trace.heatmap`.

    Raises:
        AttnvizError: There is no such step, or an option does not exist.
    """
    theme = theme_name()
    text = packed_view(opened_view(trace, level, weights, **named), theme)
    _command()(key=key, data=[text, theme])
