"""NumPy analyses of a trace: measures, posterior attention, attributions, perturbations, comparison, verification."""

import warnings
from typing import Any

from attnviz.analysis.adversary import adversary
from attnviz.analysis.agreement import Agreement, agreement
from attnviz.analysis.attribution_methods import (
    ATTRIBUTION_METHODS,
    AttributionMethods,
    added_logits,
    attribution_methods,
)
from attnviz.analysis.best_attention import best_attention
from attnviz.analysis.comparison import Comparison, compare
from attnviz.analysis.minimal_change import MinimalChange, minimal_change
from attnviz.analysis.perturbation_tests import PerturbationTests, perturbation_tests
from attnviz.analysis.posterior import likelihood, posterior
from attnviz.analysis.posterior_attention import PosteriorAttention, posterior_attention
from attnviz.analysis.shuffled import Shuffled, shuffled
from attnviz.analysis.step_evaluation import Trial
from attnviz.model_folder import load_weights

__all__ = [
    "ATTRIBUTION_METHODS",
    "Agreement",
    "AttributionMethods",
    "Comparison",
    "MinimalChange",
    "PerturbationTests",
    "PosteriorAttention",
    "Shuffled",
    "Trial",
    "added_logits",
    "adversary",
    "agreement",
    "attribution_methods",
    "best_attention",
    "compare",
    "likelihood",
    "load_weights",
    "minimal_change",
    "perturbation_tests",
    "posterior",
    "posterior_attention",
    "shuffled",
]

_FORMER_NAMES = {
    "ANSWERS": "ATTRIBUTION_METHODS",
    "AfterWord": "PosteriorAttention",
    "Answers": "AttributionMethods",
    "Firmness": "MinimalChange",
    "Trials": "PerturbationTests",
    "after_word": "posterior_attention",
    "answers": "attribution_methods",
    "best_look": "best_attention",
    "firmness": "minimal_change",
    "trials": "perturbation_tests",
}
"""Names of version 0.2, which go with version 0.4."""


def __getattr__(name: str) -> Any:
    """Return what a former name meant, with a DeprecationWarning that gives the new one; raise AttributeError."""
    if name not in _FORMER_NAMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    new = _FORMER_NAMES[name]
    warnings.warn(f"attnviz.analysis.{name} is now attnviz.analysis.{new}", DeprecationWarning, stacklevel=2)
    return globals()[new]
