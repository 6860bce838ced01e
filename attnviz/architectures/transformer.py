"""The transformer: many attentions at each step, of which one head, or the mean of several, is on show."""

from __future__ import annotations

from attnviz.analysis.transformer_verification import TransformerVerifier, check_transformer_fit
from attnviz.architectures.declaration import Architecture, Told
from attnviz.architectures.recurrent import EVERY_TRANSLATION
from attnviz.languages import gettext
from attnviz.trace import TransformerTrace
from attnviz.wording import transformer_equations, transformer_idea, transformer_stages

IDEA = {"scores": 1, "weights": 2, "looks": 3, "stream": 4, "candidates": 5}
"""Figures of a step for somebody who knows no formula, with their stages."""

TRANSFORMER = Architecture(
    "transformer",
    TransformerTrace,
    TransformerVerifier,
    check_transformer_fit,
    Told(
        transformer_stages.head_stage_titles,
        transformer_stages.narrate_head,
        transformer_idea.many_looks_titles,
        transformer_idea.many_looks_stages,
        transformer_equations.head_equations,
        transformer_equations.head_texts_of_step,
        transformer_equations.head_texts_of_source,
        transformer_equations.head_texts_of_cells,
        transformer_stages.shown_heads,
    ),
    {1: "scores", 2: "weights", 3: "values", 4: "stream", 5: "word of heads"},
    lambda _: dict(IDEA),
    EVERY_TRANSLATION | {"word", "values", "scores", "weights", "stream"} | {f"idea-{name}" for name in IDEA},
    {
        "lab": lambda: gettext(
            "Attributions and perturbation tests need a model with one attention distribution per step. This "
            "model is a transformer and has many per step."
        ),
    },
)
