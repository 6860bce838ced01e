"""Torch modules and configs of all architectures, and `build_network`, which makes the network of a config.

The docstrings of the modules give shapes and the papers' equations.
"""

from typing import overload

from attnviz.network.decomposable import Decomposable
from attnviz.network.model_config import (
    AnyConfig,
    DecomposableConfig,
    ModelConfig,
    Seq2SeqConfig,
    TrainableConfig,
    TransformerConfig,
    read_fields,
)
from attnviz.network.rnnsearch import RNNsearch
from attnviz.network.seq2seq import Seq2Seq
from attnviz.network.transformer import Transformer

__all__ = [
    "AnyConfig",
    "AnyNetwork",
    "Decomposable",
    "DecomposableConfig",
    "ModelConfig",
    "Network",
    "RNNsearch",
    "Seq2Seq",
    "Seq2SeqConfig",
    "Trainable",
    "TrainableConfig",
    "Transformer",
    "TransformerConfig",
    "build_network",
    "read_fields",
]

Trainable = RNNsearch | Transformer
"""Networks of translators that this program trains."""
Network = Trainable | Seq2Seq
"""Networks of translators of every architecture."""
AnyNetwork = Network | Decomposable
"""Networks of translators and detectors."""


@overload
def build_network(config: ModelConfig | TransformerConfig) -> Trainable: ...
@overload
def build_network(config: Seq2SeqConfig) -> Seq2Seq: ...
@overload
def build_network(config: DecomposableConfig) -> Decomposable: ...
def build_network(config: AnyConfig) -> AnyNetwork:
    """Return a network of these sizes with uninitialised weights."""
    if isinstance(config, DecomposableConfig):
        return Decomposable(config)
    if isinstance(config, Seq2SeqConfig):
        return Seq2Seq(config)
    return Transformer(config) if isinstance(config, TransformerConfig) else RNNsearch(config)
