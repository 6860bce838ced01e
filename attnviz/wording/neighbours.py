"""Vectors of a corpus that are near one of a translation, in words."""

from __future__ import annotations

from attnviz.analysis.neighbours import Metric, Neighbour, PrincipalMap
from attnviz.analysis.vectors import VectorKind
from attnviz.languages import gettext
from attnviz.trace import Trace
from attnviz.wording.labels import quoted_name
from attnviz.wording.numbers import decimal, percent


def kind_names() -> dict[str, str]:
    """Return what each kind of vector is called."""
    return {"state": gettext("State s"), "context": gettext("Context vector c"), "annotation": gettext("Annotation h")}


def metric_names() -> dict[str, str]:
    """Return what each measure of nearness is called."""
    return {"cosine": gettext("By angle (cosine)"), "euclid": gettext("By distance (Euclid)")}


def about_neighbours() -> str:
    """Say what is searched, and what that does not show."""
    return gettext(
        "Of every piece of the corpus the model made vectors of the same kind as those of this step. Those nearest to "
        "this step’s are listed with their sentences: what the model holds for alike here. All of them are looked at; "
        "those of this very sentence are left out. That two vectors are near says nothing of which of their numbers is "
        "used."
    )


def which_vector(trace: Trace, kind: VectorKind, step: int, source: int) -> str:
    """Return which vector of 0-based `step` is searched for; an annotation is that of the 0-based `source` piece."""
    piece = quoted_name(trace.target_pieces[step])
    if kind == "state":
        return gettext("The state of step {step}, which wrote {piece}", piece=piece, step=step + 1)
    if kind == "context":
        return gettext("The context vector of step {step}, which wrote {piece}", piece=piece, step=step + 1)
    return gettext(
        "The annotation of {source}, at which step {step} looked most",
        source=quoted_name(trace.source_surfaces[source]),
        step=step + 1,
    )


def nearness(metric: Metric, found: Neighbour) -> str:
    """Return how near a vector is."""
    if metric == "cosine":
        return f"cos = {decimal(found.cosine, 3)}"
    return gettext("distance {distance}", distance=decimal(found.distance, 2))


def map_sentence(found: PrincipalMap, drawn: int, whole: int) -> str:
    """Return how much of what the vectors differ in the map shows, and how many of them."""
    first, second = found.shares
    told = gettext(
        "The plane in which these vectors differ most (principal components): {first} of their variance lies across, "
        "{second} up, and the other {rest} is not seen. What is near here may be far apart in truth.",
        first=percent(first),
        second=percent(second),
        rest=percent(max(1 - first - second, 0)),
    )
    if drawn < whole:
        told += " " + gettext("Drawn are {drawn} of {whole}, evenly taken.", drawn=drawn, whole=whole)
    return told


def model_is_missing(trace: Trace) -> str:
    """Say that there is nothing to compare with."""
    return gettext(
        "Vectors can be compared with those of the same model alone, “{model}”, and it is not here.", model=trace.model
    )


def without_vectors() -> str:
    """Say that a transformer has no such vectors."""
    return gettext(
        "This model is a transformer: it has no state and no one context vector a step whose neighbours could be found."
    )
