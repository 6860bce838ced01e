"""Check that weights fit a trace of a recurrent translator; `MisfitError`, and the check that all models share."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
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


def linear_shapes(name: str, rows: int, columns: int) -> Shapes:
    """Return the shapes of the weight, (rows, columns), and the bias, (rows,), of a linear layer."""
    return {f"{name}.weight": (rows, columns), f"{name}.bias": (rows,)}


def _gate_shapes(names: Iterable[str], rows: int, units: int, inputs: int) -> Shapes:
    """Return the shapes of the four weights of a recurrent layer, in torch's order."""
    return dict(zip(names, ((rows, inputs), (rows, units), (rows,), (rows,)), strict=True))


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
        **linear_shapes("decoder.initial", n, half),
        **linear_shapes("decoder.readout_state", wide, n),
        "decoder.readout_word.weight": (wide, m),
        "decoder.readout_context.weight": (wide, c),
        **linear_shapes("decoder.output", vocabulary, size["l"]),
    }
    for direction in ("", "_reverse"):
        names = (f"encoder.gru.{name}" for name in rnn_weight_names(0, direction))
        shapes |= _gate_shapes(names, 3 * half, half, m)
    names = (f"decoder.gru.{name.removesuffix('_l0')}" for name in rnn_weight_names(0))
    shapes |= _gate_shapes(names, 3 * n, n, m + c)
    if scorer_of(trace.config).missing:
        return shapes | {name: np.shape(array) for name, array in weights.items() if name.startswith(_ATTENTION)}
    positions = trace.config.get("alignment_size", size["n'"])
    return shapes | _attention_shapes(trace.config, {**size, "positions": positions})


def _attention_shapes(config: Mapping[str, Any], sizes: Mapping[str, int], prefix: str = _ATTENTION) -> Shapes:
    """Return the shapes of the weights of attention, whose names begin with `prefix`, by the `sizes` of their axes."""
    return {
        prefix + name: tuple(sizes[axis] if isinstance(axis, str) else axis for axis in axes)
        for name, axes in scorer_of(config).shapes
    }


def imported_weight_shapes(config: Mapping[str, Any]) -> Shapes:
    """Return the shape of every weight of an imported translator; raise KeyError where its config lacks a size."""
    directions = ("", "_reverse")[: int(config["directions"])]
    m, n, units = (int(config[name]) for name in ("encoder_size", "hidden_size", "alignment_size"))
    context_size = len(directions) * m
    words, source_words = int(config["embedding_size"]), int(config["source_embedding_size"])
    vocabulary, first = int(config["vocabulary_size"]), config["first_state"]
    readout_size = n + context_size + words if config["readout"] == "joined" else n
    shapes: Shapes = {
        "encoder.embedding.weight": (int(config["source_vocabulary_size"]), source_words),
        "decoder.embedding.weight": (vocabulary, words),
        **linear_shapes("decoder.output", vocabulary, readout_size),
    }
    positions = int(config.get("source_length", 0))
    shapes |= _attention_shapes(config, {"n": n, "n'": units, "2m": context_size, "positions": positions}, "decoder.")
    if "decoder.key.weight" in shapes:
        shapes["decoder.key.bias"] = (units,)
    if config["combined"]:
        shapes |= linear_shapes("decoder.combine", n, words + context_size)
    rows, columns = (int(config["layers"]) * m,) * 2 if first == "rectified" else (n, context_size)
    if first in ("bridge", "projected", "rectified"):
        shapes |= linear_shapes("decoder.bridge", rows, columns)
    if first in ("projected", "rectified") and config["cell"] == "lstm":
        shapes |= linear_shapes("decoder.memory_bridge", rows, columns)
    if config["readout"] in ("affine", "tanh"):
        shapes |= linear_shapes("decoder.readout", n, n + context_size)
    decoder_inputs = words + (n * bool(config["input_feeding"]) if config["query"] == "new" else context_size)
    decoder_inputs = n if config["combined"] else decoder_inputs
    for side, prefix, ways, size, inputs in (
        ("encoder", "encoder_", directions, m, source_words),
        ("decoder", "", ("",), n, decoder_inputs),
    ):
        rows = size * (3 if config[f"{prefix}cell"] == "gru" else 4)
        for layer in range(int(config[f"{prefix}layers"])):
            for direction in ways:
                names = (f"{side}.rnn.{name}" for name in rnn_weight_names(layer, direction))
                shapes |= _gate_shapes(names, rows, size, size * len(ways) if layer else inputs)
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
    found = {name: np.shape(weight) for name, weight in weights.items()}
    for name in sorted({*expected, *found}):
        if found.get(name) != expected.get(name):
            reason = gettext(
                "the weight {name} is missing"
                if name not in found
                else "the weight {name} is unexpected"
                if name not in expected
                else "the weight {name} has shape {found}, not {expected}",
                name=name,
                found=found.get(name),
                expected=expected.get(name),
            )
            raise MisfitError(_misfit_message(trace, reason))


def _misfit_message(trace: Computation, reason: object) -> str:
    """Return the message that a trace does not fit the weights, with the `reason`; a KeyError names what is missing."""
    if isinstance(reason, KeyError):
        reason = gettext("{name} is missing", name=reason.args[0])
    return gettext("This translation does not fit the weights of “{model}”: {what}.", model=trace.model, what=reason)
