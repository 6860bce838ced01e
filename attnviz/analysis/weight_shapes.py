"""Check that weights fit a trace of a recurrent translator; `MisfitError`, and the check that all models share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from attnviz.analysis.numpy_scorers import scorer_of
from attnviz.analysis.recomputation import Weights, rnn_weight_names
from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace import Computation, Trace

Shapes = dict[str, tuple[int, ...]]
"""The shape of each weight, by its parameter name."""
_ATTENTION = "decoder.attention."


class MisfitError(AttnvizError):
    """Trace and weights are of models of different kinds or sizes, or the trace's arrays do not fit its pieces."""


def recurrent_weight_shapes(trace: Trace, weights: Weights) -> Shapes:
    """Return the shape of every weight of the recurrent translator that made `trace`.

    Those of a user's own kind of attention, which its torch class alone knows, and the size of RNNsearch's embeddings
    are taken from `weights`. Raise KeyError where the config lacks a size.
    """
    if trace.imported:
        return imported_weight_shapes(trace.config)
    size, m = trace.sizes(), np.shape(weights["decoder.embedding.weight"])[-1]
    n, half, c, wide, vocabulary = size["n"], size["2m"] // 2, size["c"], 2 * size["l"], size["K"]
    shapes: Shapes = {
        "encoder.embedding.weight": (vocabulary, m),
        "decoder.embedding.weight": (vocabulary, m),
        "decoder.initial.weight": (n, half),
        "decoder.initial.bias": (n,),
        "decoder.readout_state.weight": (wide, n),
        "decoder.readout_state.bias": (wide,),
        "decoder.readout_word.weight": (wide, m),
        "decoder.readout_context.weight": (wide, c),
        "decoder.output.weight": (vocabulary, size["l"]),
        "decoder.output.bias": (vocabulary,),
    }
    grus = (("encoder.gru.{}_l0", half, m), ("encoder.gru.{}_l0_reverse", half, m), ("decoder.gru.{}", n, m + c))
    for name, units, inputs in grus:
        shapes |= {
            name.format("weight_ih"): (3 * units, inputs),
            name.format("weight_hh"): (3 * units, units),
            name.format("bias_ih"): (3 * units,),
            name.format("bias_hh"): (3 * units,),
        }
    if scorer_of(trace.config).missing:
        return shapes | {name: np.shape(array) for name, array in weights.items() if name.startswith(_ATTENTION)}
    positions = trace.config.get("alignment_size", size["n'"])
    attention = scorer_of(trace.config).weight_shapes(n, size["n'"], positions)
    return shapes | {f"decoder.{name}": shape for name, shape in attention.items()}


def imported_weight_shapes(config: Mapping[str, Any]) -> Shapes:
    """Return the shape of every weight of an imported translator; raise KeyError where its config lacks a size."""
    directions = ("", "_reverse")[: int(config["directions"])]
    m, n, units = (int(config[name]) for name in ("encoder_size", "hidden_size", "alignment_size"))
    context_size = len(directions) * m
    words, source_words = int(config["embedding_size"]), int(config["source_embedding_size"])
    vocabulary = int(config["vocabulary_size"])
    shapes: Shapes = {
        "encoder.embedding.weight": (int(config["source_vocabulary_size"]), source_words),
        "decoder.embedding.weight": (vocabulary, words),
        "decoder.output.weight": (vocabulary, n + context_size + words if config["readout"] == "joined" else n),
        "decoder.output.bias": (vocabulary,),
    }
    if config["attention"] == "location":
        shapes["decoder.place.weight"] = (int(config["source_length"]), units)
    if config["combined"]:
        shapes |= {"decoder.combine.weight": (n, words + context_size), "decoder.combine.bias": (n,)}
    if config["attention"] in ("additive", "general"):
        shapes |= {"decoder.key.weight": (units, context_size), "decoder.key.bias": (units,)}
    if config["attention"] == "additive":
        shapes |= {"decoder.query.weight": (units, n), "decoder.score": (units,)}
    first = config["first_state"]
    rows, columns = (int(config["layers"]) * m,) * 2 if first == "rectified" else (n, context_size)
    if first in ("bridge", "projected", "rectified"):
        shapes |= {"decoder.bridge.weight": (rows, columns), "decoder.bridge.bias": (rows,)}
    if first in ("projected", "rectified") and config["cell"] == "lstm":
        shapes |= {"decoder.memory_bridge.weight": (rows, columns), "decoder.memory_bridge.bias": (rows,)}
    if config["readout"] in ("affine", "tanh"):
        shapes |= {"decoder.readout.weight": (n, n + context_size), "decoder.readout.bias": (n,)}
    blocks = {"encoder": config["encoder_cell"], "decoder": config["cell"]}
    decoder_inputs = words + (n * bool(config["input_feeding"]) if config["query"] == "new" else context_size)
    decoder_inputs = n if config["combined"] else decoder_inputs
    for side, ways, size, first in (("encoder", directions, m, source_words), ("decoder", ("",), n, decoder_inputs)):
        for layer in range(int(config["encoder_layers" if side == "encoder" else "layers"])):
            inputs = first if layer == 0 else size * len(ways)
            for direction in ways:
                rows = size * (3 if blocks[side] == "gru" else 4)
                gate_shapes = ((rows, inputs), (rows, size), (rows,), (rows,))
                named = zip(rnn_weight_names(layer, direction), gate_shapes, strict=True)
                shapes |= {f"{side}.rnn.{name}": shape for name, shape in named}
    return shapes


def check_fit(
    trace: Any,
    weights: Weights,
    weight_shapes: Callable[[Any, Weights], Shapes] = recurrent_weight_shapes,
) -> None:
    """Raise MisfitError, naming a difference, unless the arrays of `trace` and the `weights` have the expected shapes.

    `weights` are by parameter name; `weight_shapes` returns the shape that each of them must have.
    """
    try:
        trace.check_shapes()
        expected = weight_shapes(trace, weights)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise MisfitError(_misfit_message(trace, error)) from error
    for name in sorted(set(expected) | set(weights)):
        if name not in weights:
            raise MisfitError(_misfit_message(trace, gettext("the weight {name} is missing", name=name)))
        if name not in expected:
            raise MisfitError(_misfit_message(trace, gettext("the weight {name} is unexpected", name=name)))
        found = np.shape(weights[name])
        if found != expected[name]:
            reason = gettext(
                "the weight {name} has shape {found}, not {expected}", name=name, found=found, expected=expected[name]
            )
            raise MisfitError(_misfit_message(trace, reason))


def _misfit_message(trace: Computation, reason: object) -> str:
    """Return the message that a trace does not fit the weights, with the `reason`; a KeyError names what is missing."""
    if isinstance(reason, KeyError):
        reason = gettext("{name} is missing", name=reason.args[0])
    return gettext("This translation does not fit the weights of “{model}”: {what}.", model=trace.model, what=reason)
