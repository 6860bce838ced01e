"""The network: torch modules whose docstrings give shapes and the paper's equations."""

from typing import overload

from attnviz.network.config import (
    AnyConfig,
    DecomposableConfig,
    ModelConfig,
    TrainableConfig,
    TransformerConfig,
    read_fields,
)
from attnviz.network.decomposable import Decomposable
from attnviz.network.rnnsearch import RNNsearch
from attnviz.network.seq2seq import Seq2Seq
from attnviz.network.seq2seq_config import Seq2SeqConfig
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
    "build",
    "read_fields",
]

Trainable = RNNsearch | Transformer
"""A translator's network that is trained here."""
Network = Trainable | Seq2Seq
"""A translator's network of whatever architecture."""
AnyNetwork = Network | Decomposable
"""A translator's, or a detector's."""


@overload
def build(config: ModelConfig | TransformerConfig) -> Trainable: ...
@overload
def build(config: Seq2SeqConfig) -> Seq2Seq: ...
@overload
def build(config: DecomposableConfig) -> Decomposable: ...
def build(config: AnyConfig) -> AnyNetwork:
    """Return a network of these sizes, its weights not yet set."""
    if isinstance(config, DecomposableConfig):
        return Decomposable(config)
    if isinstance(config, Seq2SeqConfig):
        return Seq2Seq(config)
    return Transformer(config) if isinstance(config, TransformerConfig) else RNNsearch(config)
