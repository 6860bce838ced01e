r"""Convert checkpoints of Joey NMT's recurrent translator.

    h_j = [forward RNN ; backward RNN] of the last layer over x_1 … x_n </s>
    s_0 = tanh(W_b [forward h_last ; backward h_first] + b_b), or the last forward state, or 0
    s_i = RNN([E y_{i-1} ; t_{i-1}], s_{i-1}),  t_0 = 0                                 (input feeding)
    e_ij = v . tanh(W_q s_i + W_k h_j)  or  s_i . W_k h_j,  alpha_i = softmax(e_i),  c_i = sum_j alpha_ij h_j
    t_i = tanh(W_t [s_i ; c_i] + b_t),  logits = W_o t_i

Unlike RNNsearch, the query is s_i, which depends on the word before the one that is predicted. A tanh lies between
context and logits, so logits do not split into a sum of parts. Joey NMT's configuration names other activations, but
its recurrent decoder always uses tanh.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from attnviz.errors import AttnvizError
from attnviz.importing.checkpoint import Stored
from attnviz.importing.program import Program, Weights, rnn_names
from attnviz.languages import gettext

_ACTIVATION = "tanh"


def _adapt(stored: Stored, weights: Weights) -> Mapping[str, Any]:
    """Return the settings that the configuration names; raise AttnvizError as `_model_section`."""
    encoder, decoder = _model_section(stored.folder / "config.yaml")
    activation, start = decoder.get("activation", _ACTIVATION), decoder.get("init_hidden", "bridge")
    if activation != _ACTIVATION or start not in ("bridge", "last", "zero"):
        raise ValueError(
            gettext(
                "its activation is {activation} and its init_hidden is {start}",
                activation=repr(activation)[:20],
                start=repr(start)[:20],
            )
        )
    source_scaled, target_scaled = (
        bool((side.get("embeddings") or {}).get("scale", False)) for side in (encoder, decoder)
    )
    return {
        "attention": "additive" if "decoder.query.weight" in weights else "general",
        "first_state": start,
        "source_scaled": source_scaled,
        "target_scaled": target_scaled,
    }


def _model_section(path: Path) -> tuple[Mapping[str, Any], Mapping[str, Any]]:
    """Return the fields of encoder and decoder in a configuration; raise AttnvizError where it cannot be read."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        message = gettext(
            "{path} cannot be read ({kind}). This Joey NMT configuration must name the activation and the first "
            "decoder state, which the checkpoint does not contain.",
            path=path,
            kind=type(error).__name__,
        )
        raise AttnvizError(message) from error
    model = content.get("model") if isinstance(content, Mapping) else None
    sides = [model.get(side, {}) for side in ("encoder", "decoder")] if isinstance(model, Mapping) else []
    maps = [side for side in sides if isinstance(side, Mapping) and isinstance(side.get("embeddings") or {}, Mapping)]
    if len(maps) < 2:
        raise AttnvizError(gettext("{path} has no section “model” with an encoder and a decoder.", path=path))
    return maps[0], maps[1]


PROGRAM = Program(
    family="joey",
    identifying_tensor="src_embed.lut.weight",
    names={
        "src_embed.lut.weight": "encoder.embedding.weight",
        "trg_embed.lut.weight": "decoder.embedding.weight",
        "decoder.bridge_layer.weight": "decoder.bridge.weight",
        "decoder.bridge_layer.bias": "decoder.bridge.bias",
        "decoder.attention.key_layer.weight": "decoder.key.weight",
        "decoder.attention.query_layer.weight": "decoder.query.weight",
        "decoder.attention.energy_layer.weight": "decoder.score",
        "decoder.att_vector_layer.weight": "decoder.readout.weight",
        "decoder.att_vector_layer.bias": "decoder.readout.bias",
        "decoder.output_layer.weight": "decoder.output.weight",
        **rnn_names("encoder.rnn.{gate}_l{layer}{way}", "encoder"),
        **rnn_names("decoder.rnn.{gate}_l{layer}{way}", "decoder"),
    },
    settings={"directions": 2, "query": "new", "readout": "tanh"},
    adapt=_adapt,
)
