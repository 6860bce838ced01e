"""Small transformers of random weights, large enough for attention to be far from uniform."""

import torch
from hypothesis import strategies as st

from attnviz.network import Transformer, TransformerConfig


def random_transformer(config: TransformerConfig, seed: int) -> Transformer:
    """Return a network in evaluation mode whose gains are about 1 and whose other weights are normal."""
    network = Transformer(config)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.5)
            if name.endswith("norm.weight"):
                parameter.add_(1)
    return network.requires_grad_(False).eval()


@st.composite
def sizes(draw: st.DrawFn, vocabulary: int = 30) -> TransformerConfig:
    heads = draw(st.integers(1, 4))
    return TransformerConfig(
        vocabulary, heads * draw(st.sampled_from((2, 4, 6))), heads, draw(st.integers(1, 3)), draw(st.integers(1, 9))
    )
