"""What RNNsearch and imported recurrent translators have in common: one attention over the source at each step."""

from __future__ import annotations

from attnviz.trace import Recurrent

IDEA = {"energy": 1, "softmax": 2, "units": 3, "context": 3, "state": 4, "candidates": 5}
"""Figures of a step for somebody who knows no formula, with their stages."""
EVERY_TRANSLATION = frozenset(
    ["facts", "verification", "foils", "tour", "candidates", "idea-facts", "idea-candidates"]
    + [f"equation-{stage}" for stage in range(1, 6)]
)
"""Payloads of every translation, whatever made it."""
PAYLOADS = (
    EVERY_TRANSLATION
    | {
        "energy",
        "softmax",
        "growth",
        "units",
        "diagram",
        "energy-decomposition",
        "state",
        "logit-attribution",
        "contrast",
    }
    | {f"idea-{name}" for name in IDEA}
)


def idea_figures(trace: Recurrent) -> dict[str, int]:
    """Return the figures of a step: those of the one vector instead of its units where there is no attention."""
    left_out = "context" if trace.attends else "units"
    return {name: stage for name, stage in IDEA.items() if name != left_out}
