"""Check whether the lab can analyse a translation; if not, give the reason as a sentence."""

from __future__ import annotations

from attnviz import Trace
from attnviz.analysis.fit import MisfitError, check_fit
from attnviz.architectures import architecture_of
from attnviz.figures.figure_input import Subject
from attnviz.figures.requirements import PERTURBATION_WEIGHTS
from attnviz.languages import gettext
from attnviz.ui.resources import weights_of


def unavailable_reason(trace: Trace) -> str:
    """Return why `trace` has no attributions and perturbation tests, as a sentence; empty where it has."""
    if sentence := architecture_of(trace).missing.get("lab"):
        return sentence()
    if not trace.attends:
        return gettext(
            "This model has no attention: it writes all its words from one context vector. So this model has no "
            "attention weights to change and no posterior attention."
        )
    weights = weights_of(trace)
    if weights is None:
        return PERTURBATION_WEIGHTS.sentence(Subject(trace, 0))
    try:
        check_fit(trace, weights)
    except MisfitError as error:  # altered, or not made by this model
        return str(error)
    return ""
