"""How a trace comes to draw itself, though pictures stand floors above it: whoever draws says so here.

The roof of the package, `attnviz/__init__.py`, names `attnviz.notebook`; a trace asks it when it is shown.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from attnviz.trace.aligned import Aligned
    from attnviz.trace.beam_tree import BeamTree


class Drawing(Protocol):
    """What a trace needs in order to be shown in a notebook."""

    def heatmap(self, trace: Aligned, **choices: Any) -> Any:
        """Return the alignment as a Plotly figure."""

    def step_figure(self, trace: Aligned, step: int, picture: str, **choices: Any) -> Any:
        """Return a picture of 0-based `step` as a Plotly figure."""

    def beam_tree(self, tree: BeamTree, **choices: Any) -> Any:
        """Return a beam search as a Plotly figure."""

    def table_html(self, trace: Aligned) -> str:
        """Return the alignment as a bare HTML table."""


_provider: Callable[[], Drawing] | None = None


def drawn_by(provider: Callable[[], Drawing]) -> None:
    """Let `provider` say who draws; it is called when something is to be drawn, not before."""
    global _provider  # one for the program, set once
    _provider = provider


def drawing() -> Drawing:
    """Return who draws; raise RuntimeError where nobody has been named."""
    if _provider is None:
        raise RuntimeError("nobody has been named to draw traces")
    return _provider()
