"""Mount the script that loads Plotly once for all charts of a page."""

from __future__ import annotations

from attnviz.browser_programs import PLOTLY
from attnviz.ui.components.loader import component


def load_library() -> None:
    """Run Plotly's script in the browser, which fetches it from `attnviz.ui.server`."""
    component("plotly", isolate=False)(key="library", data=PLOTLY.file_name, height=1)
