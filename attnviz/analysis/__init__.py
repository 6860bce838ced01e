"""What can be said of a `Trace` with NumPy alone: measures of its alignment, its reading after the word, and its
recomputation from the weights."""

from attnviz.analysis.posterior import likelihood, posterior
from attnviz.model_folder import load_weights

__all__ = ["likelihood", "load_weights", "posterior"]
