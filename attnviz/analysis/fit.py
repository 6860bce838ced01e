"""Check that the weights of RNNsearch fit a trace; `MisfitError`, and the check of shapes that all models share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.numpy_scorers import scorer_of
from attnviz.errors import AttnvizError
from attnviz.languages import gettext
from attnviz.trace import Computation, Trace
from attnviz.trace.trace import check_shapes, sizes

_ATTENTION = "decoder.attention."


class MisfitError(AttnvizError):
    """Trace and weights are of models of different kinds or sizes, or the trace's arrays do not fit its pieces."""


def check_fit(trace: Trace, weights: Mapping[str, NDArray[Any]]) -> None:
    """Raise MisfitError unless `weights`, by parameter name, and the arrays of `trace` have the expected shapes."""
    try:
        check_shapes(trace)
    except (ValueError, KeyError, IndexError) as error:
        raise MisfitError(misfit_message(trace, error)) from error
    check_model(trace, weights)


def check_model(trace: Trace, weights: Mapping[str, NDArray[Any]]) -> None:
    """Raise MisfitError unless `weights` are of the kind and the sizes of the model that made `trace`."""
    try:
        expected = _weight_shapes(trace, weights, np.shape(weights["decoder.embedding.weight"])[-1])
    except (ValueError, KeyError, IndexError) as error:
        raise MisfitError(misfit_message(trace, error)) from error
    check_weight_shapes(trace, weights, expected)


def check_weight_shapes(
    trace: Computation, weights: Mapping[str, NDArray[Any]], expected: Mapping[str, tuple[int, ...]]
) -> None:
    """Raise MisfitError, naming a difference, unless `weights` have exactly the `expected` names and shapes."""
    for name in sorted(set(expected) | set(weights)):
        if name not in weights:
            raise MisfitError(misfit_message(trace, gettext("the weight {name} is missing", name=name)))
        if name not in expected:
            raise MisfitError(misfit_message(trace, gettext("the weight {name} is unexpected", name=name)))
        found = np.shape(weights[name])
        if found != expected[name]:
            reason = gettext(
                "the weight {name} has shape {found}, not {expected}", name=name, found=found, expected=expected[name]
            )
            raise MisfitError(misfit_message(trace, reason))


def misfit_message(trace: Computation, reason: object) -> str:
    """Return the message that a trace does not fit the weights, with the `reason`; a KeyError names what is missing."""
    if isinstance(reason, KeyError):
        reason = gettext("{name} is missing", name=reason.args[0])
    return gettext("This translation does not fit the weights of “{model}”: {what}.", model=trace.model, what=reason)


def _weight_shapes(trace: Trace, weights: Mapping[str, NDArray[Any]], m: int) -> dict[str, tuple[int, ...]]:
    """Return the shape of every weight of the network that made `trace`, with embeddings of size `m`."""
    size = sizes(trace)
    n, half, c, wide, vocabulary = size["n"], size["2m"] // 2, size["c"], 2 * size["l"], size["K"]
    shapes: dict[str, tuple[int, ...]] = {
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
    if scorer_of(trace.config).missing:  # which weights a user's own kind has is known to its torch class alone
        return shapes | {name: np.shape(array) for name, array in weights.items() if name.startswith(_ATTENTION)}
    positions = trace.config.get("alignment_size", size["n'"])
    attention = scorer_of(trace.config).weight_shapes(n, size["n'"], positions)
    return shapes | {f"decoder.{name}": shape for name, shape in attention.items()}
