"""Plotly's own program, brought to the browser once for all charts."""

from __future__ import annotations

import functools
import gzip

from plotly.offline import get_plotlyjs

from attnviz.ui.components.loader import component


def load_library() -> None:
    """Bring Plotly's own program to the browser; Streamlit sends it once and afterwards only its hash."""
    component("plotly", isolate=False)(key="library", data=_library(), height=1)


@functools.cache
def _library() -> bytes:
    return gzip.compress(get_plotlyjs().encode("utf-8"), mtime=0)
