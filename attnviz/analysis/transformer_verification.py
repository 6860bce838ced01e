"""Verify a transformer's step: recompute every number in NumPy float64, without code of the network.

Each number is computed from the saved weights and the recorded operands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.fit import MisfitError, check_weight_shapes, misfit_message
from attnviz.analysis.transformer_recomputation import Array, expected_arrays, recompute_transformer
from attnviz.analysis.verification import Pairs, Verifier
from attnviz.trace import TransformerTrace
from attnviz.trace.quantity import check_shapes
from attnviz.trace.transformer_trace import QUANTITIES

_SINGLE = ("annotations", "readouts")
"""Quantities without an axis for layers or blocks."""


class TransformerVerifier(Verifier):
    """Verifies the steps of one trace."""

    def __init__(self, trace: TransformerTrace, weights: Mapping[str, NDArray[Any]]) -> None:
        """Take the trace and the weights of its model (`load_weights`).

        Raise MisfitError where they are of a model of another kind or size.
        """
        check_transformer_fit(trace, weights)
        self.trace, self.weights = trace, weights

    def pairs(self, step: int, pieces: Sequence[int] = (), *, reading: bool = False) -> Pairs:  # noqa: ARG002
        """Return all numbers of the source and of 0-based `step`, as displayed and as recomputed.

        These are queries, keys, values, scores and weights of every head, the residual stream after every block,
        readout and probabilities. `pieces` and `reading` have no effect: there are no logit attributions and no
        posterior attention.
        """
        return {
            name: (_of_step(name, getattr(self.trace, name), step), _of_step(name, values, step))
            for name, values in self._expected.items()
        }

    @cached_property
    def _expected(self) -> dict[str, Array]:
        """The expected value of each array, computed from the arrays recorded before it."""
        trace = self.trace

        def recorded(name: str, place: int, _: Array) -> Array:
            array = getattr(trace, name)
            return np.asarray(array if name in _SINGLE else array[place], dtype=np.float64)

        recomputed = recompute_transformer(self.weights, trace.config, trace.source_ids, trace.target_ids, recorded)
        return expected_arrays(trace, recomputed)


def check_transformer_fit(trace: TransformerTrace, weights: Mapping[str, NDArray[Any]]) -> None:
    """Raise MisfitError unless `weights`, by parameter name, and the arrays of `trace` have the expected shapes."""
    try:
        check_shapes(trace)
        expected = _weight_shapes(trace.config)
    except (ValueError, KeyError, IndexError) as error:
        raise MisfitError(misfit_message(trace, error)) from error
    check_weight_shapes(trace, weights, expected)


def _weight_shapes(config: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the shape of every weight of a transformer with this config."""
    d, wide = int(config["model_size"]), int(config["feedforward_size"])
    vocabulary = int(config["vocabulary_size"])
    shapes: dict[str, tuple[int, ...]] = {"output.weight": (vocabulary, d), "output.bias": (vocabulary,)}
    norms, attentions, blocks = ["encoder_norm", "decoder_norm"], [], []
    for layer in range(int(config["layers"])):
        for side, kinds in (("encoder", ("attention",)), ("decoder", ("attention", "cross"))):
            within = f"{side}.{layer}"
            attentions += [f"{within}.{kind}" for kind in kinds]
            norms += [f"{within}.{kind}_norm" for kind in (*kinds, "feedforward")]
            blocks.append(f"{within}.feedforward")
    for name in norms:
        shapes |= {f"{name}.weight": (d,), f"{name}.bias": (d,)}
    for name in attentions:
        shapes |= {f"{name}.{matrix}.weight": (d, d) for matrix in ("query", "key", "value", "projection")}
    for name in blocks:
        shapes |= {
            f"{name}.inner.weight": (wide, d),
            f"{name}.inner.bias": (wide,),
            f"{name}.outer.weight": (d, wide),
            f"{name}.outer.bias": (d,),
        }
    return shapes


def _of_step(name: str, values: NDArray[Any], step: int) -> NDArray[Any]:
    """Return the numbers of one 0-based step, or all where the quantity has no axis for steps."""
    axes = [axis for axis, size in enumerate(QUANTITIES[name].shape) if size == "Ty"]
    return np.take(values, step, axis=axes[0]) if axes else values
