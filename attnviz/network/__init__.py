"""The network: torch modules whose docstrings give shapes and the paper's equations."""

from typing import overload

from attnviz.network.config import AnyConfig, DecomposableConfig, ModelConfig, TransformerConfig, read_fields
from attnviz.network.decomposable import Decomposable
from attnviz.network.rnnsearch import RNNsearch
from attnviz.network.transformer import Transformer

__all__ = [
    "AnyConfig", "AnyNetwork", "Decomposable", "DecomposableConfig", "ModelConfig", "Network", "RNNsearch",
    "Transformer", "TransformerConfig", "build", "read_fields",
]  # fmt: skip

Network = RNNsearch | Transformer
"""A translator's network of either architecture."""
AnyNetwork = Network | Decomposable
"""A translator's, or a detector's."""


@overload
def build(config: ModelConfig | TransformerConfig) -> Network: ...
@overload
def build(config: DecomposableConfig) -> Decomposable: ...
def build(config: AnyConfig) -> AnyNetwork:
    """Return a network of these sizes, its weights not yet set."""
    if isinstance(config, DecomposableConfig):
        return Decomposable(config)
    return Transformer(config) if isinstance(config, TransformerConfig) else RNNsearch(config)
