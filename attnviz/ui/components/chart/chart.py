"""Plotly figures on the page, each redrawn in place.

`st.plotly_chart` throws a chart away and makes a new one whenever its figure differs: that flashes at every step, and a
step then waits for the server. This component is given one template and what fills it at all steps, and calls
`Plotly.react`.
"""

from __future__ import annotations

from collections.abc import Mapping

from attnviz.ui.components.loader import component
from attnviz.ui.page_state.view import View

EVERY_STEP = "every"
"""The key of a figure that serves all steps."""


def chart(
    view: View,
    template: str,
    values: Mapping[int | str, str],
    name: str,
    captions: Mapping[int, tuple[str, str]] | None = None,
) -> None:
    """Draw the picture of the step on show in `view`, with a heading and a line of text above it where `captions` has
    them; `name` tells the chart from others of the view.

    `template` and the `values` of the steps are as `figures.template.to_json` writes them; values under EVERY_STEP
    serve all steps. In `layout.meta` a figure carries its text alternative (`alt`), the width below which its box
    scrolls (`narrowest`), and, where its rows stand for steps, `steps`, `rows` and `frame`, as
    `attnviz.figures.heatmap` writes them: then a click on a row goes to its step, and the row of the step on show is
    framed.
    """
    record = {
        "template": template,
        "values": {str(step): one for step, one in values.items()},
        "captions": {str(step): list(caption) for step, caption in (captions or {}).items()},
    }
    component("chart", isolate=False)(key=view.key(name), data=record)
