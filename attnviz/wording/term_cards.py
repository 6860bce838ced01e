"""Explanations of the terms in the sentences at the level *Idea*: one card each, with a drawing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from attnviz.languages import gettext
from attnviz.trace import Recurrent

Drawing = Literal["piece", "annotation", "energy", "weight", "context", "state", "probability"]


@dataclass(frozen=True)
class TermCard:
    """The explanation of a term."""

    name: str
    forms: str
    """Words that stand for the term in a sentence, separated by |."""
    sentence: str
    drawing: Drawing
    """Name of the drawing, in `ui/components/terms/card.js`."""
    stage: int | None = None
    """Number of the stage that computes it."""


def recurrent_terms(trace: Recurrent) -> tuple[TermCard, ...]:
    """Return the terms of a recurrent translator; those of attention only where it has attention."""
    cards = (
        TermCard(
            gettext("Piece"),
            gettext("piece|pieces"),
            gettext("A frequent word, or a part of a rarer word. The translator reads and writes pieces."),
            "piece",
        ),
        TermCard(
            gettext("Memory (decoder state)"),
            gettext("state"),
            gettext("The translator’s memory, a list of numbers. It changes at every step."),
            "state",
            4,
        ),
        TermCard(
            gettext("Probability"),
            gettext("probability|probabilities"),
            gettext("How likely a piece is as the next one. The probabilities of all pieces add up to 100 %."),
            "probability",
            5,
        ),
    )
    if not trace.attends:
        return cards
    return (
        *cards,
        TermCard(
            gettext("Annotation"),
            gettext("annotation|annotations"),
            gettext("The list of numbers for one English piece, computed while reading the sentence from both ends.")
            if trace.reads_backwards
            else gettext("The list of numbers for one English piece, computed while reading up to this piece."),
            "annotation",
        ),
        TermCard(
            gettext("Fit (energy)"),
            gettext("energy|energies"),
            gettext(
                "A number for each English piece: how well its annotation fits the translator’s state. A higher "
                "energy means more attention."
            ),
            "energy",
            1,
        ),
        TermCard(
            gettext("Share (attention weight)"),
            gettext("attention|attention weight"),
            gettext("The share that one English piece gets. The shares of all pieces add up to 100 % at every step."),
            "weight",
            2,
        ),
        TermCard(
            gettext("Mixture (context vector)"),
            gettext("mixture|mixtures|context vector"),
            gettext("All annotations, each multiplied by its share, and added up. Every step gets a new mixture."),
            "context",
            3,
        ),
    )
