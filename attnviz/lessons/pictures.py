"""The pictures of a question, and which of them give away which answer."""

from __future__ import annotations

from attnviz.figures.registry import STEP_FIGURES
from attnviz.lessons.lesson import HEATMAP

PICTURES = (HEATMAP, *STEP_FIGURES)
"""Names of the pictures of a question."""
_WITHOUT_ATTENTION = {"state", "maxout", "candidates", "stream"}
_WITHOUT_WORD = set(STEP_FIGURES) - {
    "candidates",
    "maxout",
    "stream",
    "posterior",
    "logit-attribution",
    "contrast",
    "perturbation-tests",
    "changed",
}
HARMLESS = {
    "attends": _WITHOUT_ATTENTION,
    "energy": _WITHOUT_ATTENTION,
    "attention": {*_WITHOUT_ATTENTION, "energy", "energy-decomposition", "scores", "products"},
    "next": _WITHOUT_WORD,
    "probability": {*_WITHOUT_WORD, HEATMAP},
    "choice": set(PICTURES),
    "": set(PICTURES),
}
"""The pictures that do not give the answer away, by `Question.kind`."""
