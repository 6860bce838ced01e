"""The step view in notebooks: JupyterLab, VS Code, Colab and marimo, through anywidget."""

from __future__ import annotations

import json
from typing import Any, ClassVar, Unpack

from attnviz import export
from attnviz.analysis.recomputation import Weights
from attnviz.extras import naming_extra
from attnviz.palette import ThemeName
from attnviz.trace.drawing import DetailLevel, HeatmapOptions
from attnviz.ui.embedded_view import guest_script, packed_view
from attnviz.view.opened import opened_view

with naming_extra():
    import anywidget
    import traitlets


class StepView(anywidget.AnyWidget):
    """An interactive view of a trace in a notebook: player, heatmap, diagram and stages.

    Args:
        trace: A translation, imported attention, or another record.
        level: Level of detail: "idea", "numbers" or "everything".
        translator: The translator that made the trace. With it, a reader can change weights and words by hand.
        weights: Weights of the model that made the trace (`load_weights`), for posterior attention and logit
            attributions; without, those of the installed model of that name.
        **named: How the heatmap is drawn, and the `step` at which the view opens: the arguments of `trace.heatmap`.

    Raises:
        AttnvizError: There is no such step, or an option does not exist.
    """

    _esm: ClassVar[str] = f'{guest_script()}export default attnvizModule("ui/components/guest.js").default;\n'
    view = traitlets.Unicode().tag(sync=True)
    """Blocks and payloads, as JSON."""
    theme = traitlets.Unicode().tag(sync=True)
    """The theme of the page, "light" or "dark", which the browser finds."""

    request = traitlets.Unicode().tag(sync=True)
    """The last request for a what-if, as JSON."""

    def __init__(
        self,
        trace: Any,
        *,
        level: DetailLevel = "numbers",
        translator: Any = None,
        weights: Weights | None = None,
        **named: Unpack[HeatmapOptions],
    ) -> None:
        self._opened = opened_view(trace, level, weights, translator, **named)
        self._answers = 0
        super().__init__(view=packed_view(self._opened, "light"), theme="light")

    def _repr_mimebundle_(self, **kinds: Any) -> Any:
        """Return the widget and, for what shows no widgets, the alignment as a table, by media types."""
        bundle = super()._repr_mimebundle_(**kinds)
        data, metadata = bundle if isinstance(bundle, tuple) else (bundle or {}, {})
        return {**data, "text/html": export.heatmap_html(self._opened.trace)}, metadata

    @traitlets.observe("theme")
    def _draw(self, _: Any) -> None:
        """Draw the view in the theme of the page."""
        theme: ThemeName = "dark" if self.theme == "dark" else "light"
        self.view = packed_view(self._opened, theme, self._answers)

    @traitlets.observe("request")
    def _answer(self, change: Any) -> None:
        """Make the what-if that the reader asks for, and draw it."""
        self._opened.answer(json.loads(change["new"]))
        self._answers += 1
        self._draw(change)
