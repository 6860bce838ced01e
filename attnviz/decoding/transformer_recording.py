"""Record a transformer's translation in one pass over source and target.

A search caches keys and values only. One pass over the whole target recomputes the numbers of its steps: the causal
mask hides later words, so that the numbers differ by rounding only.
"""

from __future__ import annotations

from collections.abc import Sequence

import torch
from torch import Tensor

from attnviz.decoding.search import largest
from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.network.config import TransformerConfig
from attnviz.network.output import OutputLayer
from attnviz.network.transformer import Attended, Transformer
from attnviz.text import BOS
from attnviz.trace import STORED_CANDIDATES
from attnviz.trace.storage import LARGEST


@torch.inference_mode()
def recorded_pass(
    network: Transformer, output: OutputLayer, source: Sequence[int], target: Sequence[int]
) -> dict[str, Tensor]:
    """Return the numbers of one sentence and its translation, named and shaped as in `TransformerTrace`.

    `source` and `target` are ids with EOS last. Raise AttnvizError where the numbers take too much memory.
    """
    _check_size(network.config, len(source), len(target))
    device = network.output.weight.device
    lengths = torch.tensor([len(source)], device=device)
    encoded = network.encode(torch.tensor([list(source)], device=device), lengths)
    previous = torch.tensor([[BOS, *target[:-1]]], device=device)
    decoded = network.decode(encoded.annotations, lengths, previous)
    readouts = decoded.readouts[0]
    log_probabilities = output.log_probabilities(readouts)
    top, top_ids = largest(log_probabilities, min(STORED_CANDIDATES, log_probabilities.shape[-1]))
    chosen = log_probabilities.gather(1, torch.tensor(list(target), device=device)[:, None])[:, 0]
    return {
        **_of_layers("encoder", encoded.attention),
        **_of_layers("decoder", decoded.attention),
        **_of_layers("cross", decoded.cross),
        "encoder_streams": torch.cat(encoded.streams),
        "annotations": encoded.annotations[0],
        "decoder_streams": torch.cat(decoded.streams),
        "readouts": readouts,
        "log_probabilities": chosen,
        "top_ids": top_ids.int(),
        "top_probabilities": top.exp(),
    }


def _of_layers(kind: str, layers: Sequence[Attended]) -> dict[str, Tensor]:
    """Return the numbers of one kind of attention, with the layers stacked."""
    return {f"{kind}_{name}": torch.cat([getattr(one, name) for one in layers]) for name in Attended._fields}


def _check_size(config: TransformerConfig, source_pieces: int, target_pieces: int) -> None:
    """Raise AttnvizError where scores and weights of all heads, four bytes each, exceed half the limit of a trace."""
    cells = source_pieces**2 + target_pieces**2 + source_pieces * target_pieces
    if 8 * config.layers * config.heads * cells > LARGEST // 2:
        raise AttnvizError(
            gettext(
                "The attention of all heads, over {source} source pieces and {target} target pieces, is too "
                "large to store. Shorten the sentence.",
                source=source_pieces,
                target=target_pieces,
            )
        )
