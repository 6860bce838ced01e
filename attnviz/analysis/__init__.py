"""NumPy analyses of a recorded translation: posterior attention, attributions, perturbations, comparison of two."""

from attnviz.analysis.attribution_methods import (
    ATTRIBUTION_METHODS,
    Agreement,
    AttributionMethods,
    added_logits,
    agreement,
    attribution_methods,
)
from attnviz.analysis.comparison import Comparison, compare
from attnviz.analysis.perturbation_tests import (
    PermutationEffects,
    PerturbationTests,
    adversary,
    perturbation_tests,
    shuffled,
)
from attnviz.analysis.posterior import PosteriorAttention, likelihood, posterior, posterior_attention
from attnviz.analysis.step_evaluation import MinimalChange, PerturbedStep, best_attention, minimal_change
from attnviz.installed_models import load_weights

__all__ = [
    "ATTRIBUTION_METHODS",
    "Agreement",
    "AttributionMethods",
    "Comparison",
    "MinimalChange",
    "PermutationEffects",
    "PerturbationTests",
    "PerturbedStep",
    "PosteriorAttention",
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
