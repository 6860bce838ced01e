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

from attnviz.errors import user_error
from attnviz.importing.checkpoint_folder import Stored, option_fields
from attnviz.importing.program import Program, StoredWeights
from attnviz.languages import gettext


def _adapt(stored: Stored, weights: StoredWeights) -> Mapping[str, Any]:
    """Return the settings that the configuration names; raise AttnvizError as `_model_section`."""
    sides = _model_section(stored.folder / "config.yaml")
    activation, start = sides[1].get("activation", "tanh"), sides[1].get("init_hidden", "bridge")
    if activation != "tanh" or start not in ("bridge", "last", "zero"):
        raise ValueError(
            gettext(
                "its activation is {activation} and its init_hidden is {start}",
                activation=repr(activation)[:20],
                start=repr(start)[:20],
            )
        )
    source_scaled, target_scaled = (bool(side.get("embeddings", {}).get("scale", False)) for side in sides)
    return {
        "attention": "additive" if "decoder.query.weight" in weights else "general",
        "first_state": start,
        "source_scaled": source_scaled,
        "target_scaled": target_scaled,
    }


def _model_section(path: Path) -> list[Any]:
    """Return the fields of encoder and decoder in a configuration; raise AttnvizError where it cannot be read."""
    try:
        content = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError, yaml.YAMLError) as error:
        raise user_error(
            "{path} cannot be read ({kind}). This Joey NMT configuration must name the activation and the first "
            "decoder state, which the checkpoint does not contain.",
            path=path,
            kind=type(error).__name__,
        ) from error
    model = option_fields(option_fields(content).get("model"))
    sides = [model.get(side) for side in ("encoder", "decoder")]
    if not all(isinstance(side, Mapping) and isinstance(side.get("embeddings", {}), Mapping) for side in sides):
        raise user_error("{path} has no section “model” with an encoder and a decoder.", path=path)
    return sides


JOEY = Program(
    family="joey",
    identifying_tensor="src_embed.lut.weight",
    layers={
        "src_embed.lut": "encoder.embedding",
        "encoder.rnn.{gate}_l{layer}{way}": "encoder.rnn",
        "trg_embed.lut": "decoder.embedding",
        "decoder.rnn.{gate}_l{layer}{way}": "decoder.rnn",
        "decoder.bridge_layer": "decoder.bridge",
        "decoder.attention.key_layer": "decoder.key",
        "decoder.attention.query_layer": "decoder.query",
        "decoder.attention.energy_layer": "decoder.score",
        "decoder.att_vector_layer": "decoder.readout",
        "decoder.output_layer": "decoder.output",
    },
    settings={"directions": 2, "query": "new", "readout": "tanh"},
    adapt=_adapt,
)
