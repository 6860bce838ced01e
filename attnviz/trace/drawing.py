"""`Drawing`: protocol and registry of the functions that draw traces, and make data frames of them.

`attnviz/__init__.py` registers `attnviz.notebook`, so that traces import neither Plotly, pandas nor higher layers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

from attnviz.arguments import check_whole_argument
from attnviz.languages import gettext

if TYPE_CHECKING:
    import pandas as pd


class Drawing(Protocol):
    """The functions that the methods of a record or of a beam tree call, whose classes this module does not import."""

    def draw_heatmap(self, trace: Any, **choices: Any) -> Any:
        """Return the alignment as a Plotly figure."""

    def draw_step(self, trace: Any, step: int, picture: str, **choices: Any) -> Any:
        """Return the figure `picture` of 0-based `step` as a Plotly figure."""

    def draw_beam_tree(self, tree: Any, **choices: Any) -> Any:
        """Return a beam search as a Plotly figure."""

    def table_html(self, trace: Any) -> str:
        """Return the alignment as an HTML table without scripts."""

    def to_frame(self, record: Any) -> pd.DataFrame:
        """Return one row for each step and source piece."""

    def links_frame(self, record: Any, threshold: float | None = None) -> pd.DataFrame:
        """Return one row for each link between words."""


def step_index(trace: Any, step: int) -> int:
    """Return a 0-based step, also for negative indices; raise AttnvizError where there is none."""
    steps = len(trace.target_pieces)
    check_whole_argument(gettext("step"), step, -steps, steps - 1)
    return range(steps)[step]


_provider: Callable[[], Drawing] | None = None


def register_drawing(provider: Callable[[], Drawing]) -> None:
    """Register `provider`, which returns the drawing functions; it is called when something is first drawn."""
    global _provider  # one for the whole program, set once
    _provider = provider


def drawing() -> Drawing:
    """Return the registered drawing functions; raise RuntimeError where none are registered."""
    if _provider is None:
        raise RuntimeError("nobody has been named to draw traces")
    return _provider()
