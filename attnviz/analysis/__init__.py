"""What can be said of a `Trace` with NumPy alone: measures of its alignment, and its recomputation from the weights."""

from attnviz.model_folder import load_weights

__all__ = ["load_weights"]
