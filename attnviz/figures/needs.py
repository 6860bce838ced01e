"""Whether there is attention to draw: what several pictures ask of a trace."""

from __future__ import annotations

from attnviz.trace import Trace


def has_attention(trace: Trace) -> bool:
    """Return whether the model that made `trace` looks: without attention it has one vector for every step."""
    return bool(trace.config["attention"] != "none")
