"""Texts about the nearest neighbours of a vector among the vectors of a corpus: names, captions and error messages."""

from __future__ import annotations

from attnviz.analysis.neighbours import Metric, Neighbour, PrincipalMap, VectorKind
from attnviz.languages import gettext
from attnviz.trace import Trace
from attnviz.wording.labels import quoted_name
from attnviz.wording.numbers import decimal, percent


def vector_kind_names() -> dict[str, str]:
    """Return the name of each kind of vector."""
    return {"state": gettext("State s"), "context": gettext("Context vector c"), "annotation": gettext("Annotation h")}


def metric_names() -> dict[str, str]:
    """Return the name of each metric."""
    return {"cosine": gettext("By angle (cosine)"), "euclid": gettext("By distance (Euclid)")}


def neighbours_caption() -> str:
    """Return what is searched, and what the result does not show."""
    return gettext(
        "The model computed a vector of the kind chosen above for every piece of the corpus. The list shows the "
        "vectors nearest to this step’s vector, each with its sentence. The nearer two vectors are, the more similar "
        "they are for the model. The search covers all vectors of the corpus except those of your sentence. But the "
        "model may use only some of the numbers in a vector, and the list does not show which numbers."
    )


def query_vector_name(trace: Trace, kind: VectorKind, step: int, source: int) -> str:
    """Return which vector of 0-based `step` is the query; an annotation is that of 0-based source piece `source`."""
    piece = quoted_name(trace.target_pieces[step])
    if kind == "state":
        return gettext("The state of step {step} (the step that wrote {piece})", piece=piece, step=step + 1)
    if kind == "context":
        return gettext("The context vector of step {step} (the step that wrote {piece})", piece=piece, step=step + 1)
    return gettext(
        "The annotation of {source}, which step {step} attended to most",
        source=quoted_name(trace.source_surfaces[source]),
        step=step + 1,
    )


def nearness_text(metric: Metric, neighbour: Neighbour) -> str:
    """Return the cosine or distance of a vector."""
    if metric == "cosine":
        return f"cos = {decimal(neighbour.cosine, 3)}"
    return gettext("distance {distance}", distance=decimal(neighbour.distance, 2))


def principal_map_sentence(principal_map: PrincipalMap, shown: int, total: int) -> str:
    """Return the shares of variance that the map shows, and the number of vectors on it."""
    first, second = principal_map.shares
    sentence = gettext(
        "The map shows the plane in which the corpus vectors differ most (principal components). The width of the map "
        "shows {first} of the variance of the vectors, the height {second}. The map cannot show the other {rest} of "
        "the variance. Points that are close on this plane may be far apart in reality.",
        first=percent(first),
        second=percent(second),
        rest=percent(max(1 - first - second, 0)),
    )
    if shown < total:
        sentence += " " + gettext(
            "The map shows {drawn} of {whole} vectors, picked evenly across the corpus.", drawn=shown, whole=total
        )
    return sentence


def missing_model_reason(trace: Trace) -> str:
    """Return the message that the model of the vectors is not available."""
    return gettext(
        "Vectors can only be compared within the same model. “{model}” is missing: put it in the folder of models.",
        model=trace.model,
    )
