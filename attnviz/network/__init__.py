"""The network: torch modules whose docstrings give shapes and the paper's equations."""

from attnviz.network.config import ModelConfig, TransformerConfig, read_fields
from attnviz.network.rnnsearch import RNNsearch
from attnviz.network.transformer import Transformer

__all__ = ["ModelConfig", "Network", "RNNsearch", "Transformer", "TransformerConfig", "build", "read_fields"]

Network = RNNsearch | Transformer
"""A translator's network of either architecture."""


def build(config: ModelConfig | TransformerConfig) -> Network:
    """Return a network of these sizes, its weights not yet set."""
    return Transformer(config) if isinstance(config, TransformerConfig) else RNNsearch(config)
