"""What all networks have in common: settings within bounds, and a gradient for every weight."""

from typing import Any

import pytest
import torch
from torch import Tensor

from attnviz.attention_kinds import ATTENTION_KINDS
from attnviz.network import (
    Decomposable,
    DecomposableConfig,
    ModelConfig,
    RNNsearch,
    Transformer,
    TransformerConfig,
    read_fields,
)
from attnviz.text import BOS, EOS, PAD

CONFIGS = {
    "rnnsearch": ModelConfig(30, 12, 10, 7, 6),
    "transformer": TransformerConfig(30, 8, 2, 1, 6),
    "decomposable": DecomposableConfig(30, 8, 8),
}
REFUSED: dict[str, dict[str, list[Any]]] = {
    "rnnsearch": {"hidden_size": [0, 2.5, True, 10**12], "attention": ["soft"], "readout_state": ["next"]},
    "transformer": {
        "heads": [3, 0, 65],
        "layers": [0, True],
        "model_size": [5],
        "feedforward_size": [1.5],
        "hidden_size": [8],
    },
    "decomposable": {"embedding_size": [0], "model_size": [True], "heads": [2]},
}
"""Values of fields that an architecture refuses, besides those that all refuse."""


@pytest.mark.parametrize("architecture", CONFIGS)
def test_setting_out_of_bounds_is_named(architecture: str) -> None:
    fields = CONFIGS[architecture].to_dict()
    assert read_fields(fields) == CONFIGS[architecture]
    if architecture == "rnnsearch":
        assert read_fields(fields | {"attention": "dot", "hidden_size": 10}).encoder_size == 5
        with pytest.raises(ValueError, match="hidden_size must be even"):
            read_fields(fields | {"attention": "dot", "hidden_size": 9})
    of_all = {"dropout": [1.0, float("nan")], "vocabulary_size": [4, 1_000_001], "architecture": ["lstm"]}
    for field, values in (of_all | REFUSED[architecture]).items():
        for value in values:
            with pytest.raises(ValueError, match=field):
                pytest.fail(f"{field}={value}: {read_fields(fields | {field: value})}")


def scores(network: Any) -> Tensor:
    """Return the logits of two pieces, or of a judgement."""
    source, target = torch.tensor([[5, 6, EOS]]), torch.tensor([[BOS, 9]])
    if isinstance(network, Decomposable):
        return network(source, torch.tensor([[9, EOS, PAD]])).logits
    return network.output(network(source, torch.tensor([3]), target)[0])


@pytest.mark.parametrize("name", [*ATTENTION_KINDS, "transformer", "decomposable"])
def test_gradients_reach_every_weight(name: str) -> None:
    kinds = {"transformer": Transformer, "decomposable": Decomposable}
    config: Any = CONFIGS.get(name) or ModelConfig(30, 12, 10, 7, 6, attention=name)
    network = kinds.get(name, RNNsearch)(config).double()
    network.initialise(torch.Generator().manual_seed(1))
    scores(network).square().sum().backward()
    for weight, parameter in network.named_parameters():
        assert parameter.grad is not None, weight
        assert parameter.grad.isfinite().all(), weight
        if not (name == "transformer" and weight.endswith(("query.weight", "key.weight"))):
            assert parameter.grad.any(), weight
