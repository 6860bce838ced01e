"""Cards that explain the terms in the sentences of the level *Idea*."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from attnviz.analysis.stages import recurrent_stages
from attnviz.languages import gettext
from attnviz.trace import Trace

_Drawing = Literal["piece", "annotation", "energy", "weight", "context", "state", "probability"]


@dataclass(frozen=True)
class TermCard:
    """The explanation of a term."""

    name: str
    forms: str
    """Words that stand for the term in a sentence, separated by |."""
    sentence: str
    drawing: _Drawing
    """Name of the drawing, in `ui/components/terms/card.js`."""
    stage: int | None = None
    """Number of the stage that computes it."""


def _cell_sentence(trace: Trace) -> str:
    if trace.config.get("cell") == "lstm":
        return gettext("A gated LSTM (long short-term memory) computes the state.")
    return gettext("A gated recurrent unit (GRU) computes the state.")


def _maxout_sentence() -> str:
    return gettext("Before the probabilities, a maxout layer keeps the larger number of each pair.")


def recurrent_terms(trace: Trace) -> tuple[TermCard, ...]:
    """Return the terms of a recurrent translator; those of attention only where it has attention."""
    titles = {stage.number: stage.title() for stage in recurrent_stages(trace)}
    cards = (
        TermCard(
            gettext("Piece"),
            gettext("piece|pieces"),
            gettext("A frequent word, or a part of a rarer word. The translator reads and writes pieces."),
            "piece",
        ),
        TermCard(
            gettext("End mark"),
            gettext("end mark"),
            gettext("The piece </s>, the last of every sentence. It gets attention like any other piece."),
            "piece",
        ),
        TermCard(
            titles[4],
            gettext("state"),
            gettext("The translator’s memory, a list of numbers that changes every step.")
            + " "
            + _cell_sentence(trace),
            "state",
            4,
        ),
        TermCard(
            gettext("Probability"),
            gettext("probability|probabilities"),
            gettext("How likely a piece is to come next. The probabilities of all pieces add up to 100 %.")
            + (f" {_maxout_sentence()}" if trace.has_maxout else ""),
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
            titles[1],
            gettext("energy|energies"),
            gettext(
                "A number for each English piece: how well its annotation fits the translator’s state. A higher "
                "energy means more attention."
            ),
            "energy",
            1,
        ),
        TermCard(
            titles[2],
            gettext("attention|attention weight"),
            gettext("One English piece’s share of attention. At every step, the shares of all pieces total 100 %."),
            "weight",
            2,
        ),
        TermCard(
            titles[3],
            gettext("mixture|mixtures|context vector"),
            gettext("The sum of all annotations, each multiplied by its share. Every step has its own sum."),
            "context",
            3,
        ),
    )
