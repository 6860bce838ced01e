"""Declaration of the transformer: many attention heads at each step; the page displays one, or the mean of several."""

from __future__ import annotations

from attnviz.analysis.transformer_verification import TransformerVerifier, check_transformer_fit
from attnviz.architectures.declaration import Architecture, StepTexts
from attnviz.architectures.recurrent import EVERY_TRANSLATION
from attnviz.languages import gettext
from attnviz.trace import TransformerTrace
from attnviz.wording import transformer_equations, transformer_idea, transformer_stages

IDEA_FIGURES = {"scores": 1, "weights": 2, "looks": 3, "stream": 4, "candidates": 5}
"""Figures of a step at the level *Idea*, with the numbers of their stages."""

TRANSFORMER = Architecture(
    "transformer",
    TransformerTrace,
    TransformerVerifier,
    check_transformer_fit,
    StepTexts(
        transformer_stages.head_stage_titles,
        transformer_stages.narrate_head,
        transformer_idea.transformer_idea_titles,
        transformer_idea.transformer_idea_stages,
        transformer_equations.head_equations,
        transformer_equations.head_texts_of_step,
        transformer_equations.head_texts_of_source,
        transformer_equations.head_texts_of_cells,
        transformer_stages.shown_heads,
    ),
    {1: "scores", 2: "weights", 3: "values", 4: "stream", 5: "word of heads"},
    lambda _: dict(IDEA_FIGURES),
    EVERY_TRANSLATION | {"word", "values", "scores", "weights", "stream"} | {f"idea-{name}" for name in IDEA_FIGURES},
    {
        "lab": lambda: gettext(
            "Attributions and perturbation tests need a model with one attention distribution per step. This "
            "model is a transformer, which has many distributions per step."
        ),
    },
)
