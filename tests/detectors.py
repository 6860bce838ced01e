"""Small detectors of random weights, large enough for attention to be far from uniform."""

import torch
from hypothesis import strategies as st

from attnviz.network import Decomposable, DecomposableConfig


def random_detector(config: DecomposableConfig, seed: int) -> Decomposable:
    network = Decomposable(config)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.5)
    return network.requires_grad_(False).eval()


@st.composite
def sizes(draw: st.DrawFn, vocabulary: int = 30) -> DecomposableConfig:
    return DecomposableConfig(vocabulary, draw(st.integers(1, 9)), draw(st.integers(1, 9)))
