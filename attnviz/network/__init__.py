"""The network: torch modules whose docstrings give shapes and the paper's equations."""

from attnviz.network.config import ModelConfig
from attnviz.network.rnnsearch import RNNsearch

__all__ = ["ModelConfig", "RNNsearch"]
