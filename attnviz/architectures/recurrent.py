"""Names of figures and payloads that the declarations of translators share: all of them, or the recurrent ones."""

from __future__ import annotations

from attnviz.trace import Recurrent

IDEA_FIGURES = {"energy": 1, "softmax": 2, "mixtures": 3, "units": 3, "context": 3, "state": 4, "candidates": 5}
"""Figures of a step at the level *Idea*, with the numbers of their stages."""
EVERY_TRANSLATION = frozenset(
    ["facts", "verification", "foils", "tour", "tour-idea", "candidates", "idea-facts", "idea-candidates"]
    + [f"equation-{stage}" for stage in range(1, 6)]
)
"""Payloads of the translations of every architecture."""
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
    | {f"idea-{name}" for name in IDEA_FIGURES}
)


def idea_figures(trace: Recurrent) -> dict[str, int]:
    """Return the figures of a step: "context" instead of "mixtures" and "units" where there is no attention."""
    left_out = {"context"} if trace.attends else {"mixtures", "units"}
    return {name: stage for name, stage in IDEA_FIGURES.items() if name not in left_out}
