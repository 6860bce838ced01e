"""Example attention scorers as a user would write them in a module of their own."""

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from attnviz.analysis import numpy_scorers
from attnviz.network import ModelConfig
from attnviz.network.scorers import Scorer

Array = NDArray[np.float64]


class Cosine(Scorer):
    """e_ij = 5 cos(s_{i-1}, P h_j)."""

    recomputation = "tests.own_scorers:ExactCosine"

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(2 * config.encoder_size)
        self.key = nn.Linear(2 * config.encoder_size, config.hidden_size, bias=False)

    def keys(self, annotations: Tensor) -> Tensor:
        found: Tensor = self.key(annotations)
        return found / found.norm(dim=-1, keepdim=True)

    def queries(self, states: Tensor, products: Tensor) -> Tensor:
        return states / states.norm(dim=-1, keepdim=True)

    def energies(self, queries: Tensor, keys: Tensor, features: Tensor | None = None) -> Tensor:
        return 5 * (keys @ queries.unsqueeze(-1)).squeeze(-1)


class ExactCosine(numpy_scorers.ProductRecomputation):
    """The same in NumPy."""

    shapes = (("key.weight", ("n", "2m")),)

    def keys(self, decoder: Any, annotations: Array) -> Array:
        found = annotations @ decoder["attention.key.weight"].T
        return found / np.linalg.norm(found, axis=-1, keepdims=True)

    def query(self, decoder: Any, state: Array) -> Array:
        return state / np.linalg.norm(state)

    def score_vector(self, decoder: Any, units: int) -> Array:
        return np.full(units, 5.0)


class Forward(Scorer):
    """Looks further on the longer it has written, by the weights before; there is no NumPy class of it."""

    reads_before = True

    def __init__(self, config: ModelConfig) -> None:
        super().__init__(2 * config.encoder_size)
        self.pull = nn.Parameter(torch.zeros(1))

    def keys(self, annotations: Tensor) -> Tensor:
        return annotations[..., :1]

    def queries(self, states: Tensor, products: Tensor) -> Tensor:
        return states[..., :1]

    def features(self, before: Tensor) -> Tensor:
        return torch.cat([before[..., :1] * 0 + 0.5, before[..., :-1]], -1).unsqueeze(-1)

    def energies(self, queries: Tensor, keys: Tensor, features: Tensor | None = None) -> Tensor:
        return (queries.unsqueeze(-2) * keys)[..., 0] + (3 + self.pull) * features[..., 0]


class NoScorer:
    """A class of another kind."""
