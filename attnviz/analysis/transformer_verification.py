"""Recompute a transformer in NumPy float64, verify a step of a translation by it, and check that weights fit a trace.

Written from the equations of Vaswani et al. (2017), with normalisation before each block, x_{b+1} = x_b +
Block_b(LayerNorm(x_b)), and without code of `attnviz.network`.

Sizes are those of `trace.transformer_trace`.

The verifier computes each number from the saved weights and the recorded operands, so errors do not add up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.recomputation import Operand, RecomputedPass, Weights, softmax, submodule_weights
from attnviz.analysis.verification import ComparedNumbers, Verifier
from attnviz.analysis.weight_shapes import Shapes, linear_shapes
from attnviz.text import BOS
from attnviz.trace import Array, Head, TransformerTrace, float64
from attnviz.trace.transformer_trace import TRANSFORMER_ARRAYS, TRANSFORMER_QUANTITIES

_EPSILON = 1e-5
"""The epsilon of torch.nn.LayerNorm."""
_SINGLE = ("annotations", "readouts")
"""Quantities without an axis for layers or blocks."""


def recompute_transformer(
    weights: Weights,
    config: Mapping[str, Any],
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    operand: Operand = lambda _name, _place, computed: computed,
) -> dict[str, Array]:
    """Return every quantity of the translation of `source_ids` into `target_ids`, both with `</s>`, in float64.

    Names and shapes are those of `trace.transformer_trace`.

    `weights` maps parameter names to arrays; `heads` and `layers` of `config` are used. `operand` may replace each
    quantity by another value, such as the recorded one, before the next is computed from it.
    """
    network, layers = _Pass(weights, int(config["heads"]), operand), int(config["layers"])
    stream = network.blocks("encoder", network.embed(source_ids), layers)
    annotations = network.store("annotations", network.normalised("encoder_norm", stream))
    stream = network.blocks("decoder", network.embed((BOS, *target_ids[:-1])), layers, annotations)
    readouts = network.store("readouts", network.normalised("decoder_norm", stream))
    logits = readouts @ network.weight("output.weight").T + network.weight("output.bias")
    computed = {name: places[0] if name in _SINGLE else np.stack(places) for name, places in network.quantities.items()}
    return computed | {"logits": logits, "distributions": softmax(logits)}


class _Pass(RecomputedPass):
    """One pass through the network with `heads` heads of each layer."""

    def __init__(self, weights: Weights, heads: int, operand: Operand) -> None:
        super().__init__(weights, operand)
        self.heads = heads

    def weight(self, name: str) -> Array:
        """Return one of the weights in float64."""
        return float64(self.weights[name])

    def embed(self, pieces: Sequence[int]) -> Array:
        """Return sqrt(d) E y + p with p_{2k} = sin(i / 10000^(2k/d)) and p_{2k+1} the cosine: (T, d)."""
        rows = float64(self.weights["output.weight"][list(pieces)])
        count, size = rows.shape
        unit = np.arange(size)
        angles = np.arange(count)[:, None] / 10_000.0 ** ((unit - unit % 2) / size)
        return np.sqrt(size) * rows + np.where(unit % 2, np.cos(angles), np.sin(angles))

    def normalised(self, name: str, vectors: Array) -> Array:
        """Return g (x - mean x) / sqrt(var x + 1e-5) + b: (T, d) to (T, d)."""
        centred = vectors - vectors.mean(axis=-1, keepdims=True)
        deviations = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + _EPSILON)
        return self.weight(f"{name}.weight") * centred / deviations + self.weight(f"{name}.bias")

    def attend(self, kind: str, name: str, query_inputs: Array, key_inputs: Array) -> Array:
        """Return [head_1 ; ... ; head_H] W_O with head = softmax(q k^T / sqrt(d/H)) v: (Ty, d), (Tx, d) to (Ty, d)."""
        matrices = submodule_weights(self.weights, f"{name}.")
        queries, keys, values = (
            self.store(f"{kind}_{plural}", self._heads(vectors @ float64(matrices[f"{matrix}.weight"]).T))
            for plural, matrix, vectors in (
                ("queries", "query", query_inputs),
                ("keys", "key", key_inputs),
                ("values", "value", key_inputs),
            )
        )
        energies = np.einsum("hid,hjd->hij", queries, keys) / np.sqrt(queries.shape[-1])
        if kind == "decoder":  # causal mask
            energies = np.where(np.tri(len(query_inputs), dtype=bool), energies, -np.inf)
        alignment = self.store(f"{kind}_alignment", softmax(self.store(f"{kind}_energies", energies)))
        heads = np.einsum("hij,hjd->ihd", alignment, values)
        return heads.reshape(len(query_inputs), -1) @ float64(matrices["projection.weight"]).T

    def blocks(self, side: str, stream: Array, layers: int, annotations: Array | None = None) -> Array:
        """Return the residual stream (T, d) after all blocks of a side; a decoder attends to `annotations` (Tx, d)."""
        stream = self.store(f"{side}_streams", stream)
        attended = [(side, "attention", None), ("cross", "cross", annotations)][: 1 + (annotations is not None)]
        for prefix in (f"{side}.{layer}" for layer in range(layers)):
            for kind, name, keys in attended:
                normal = self.normalised(f"{prefix}.{name}_norm", stream)
                added = self.attend(kind, f"{prefix}.{name}", normal, normal if keys is None else keys)
                stream = self.store(f"{side}_streams", stream + added)
            stream = self.store(f"{side}_streams", stream + self.feed_forward(prefix, stream))
        return stream

    def feed_forward(self, prefix: str, stream: Array) -> Array:
        """Return max(0, x W_1 + b_1) W_2 + b_2 of the normalised stream: (T, d) to (T, d)."""
        normal, name = self.normalised(f"{prefix}.feedforward_norm", stream), f"{prefix}.feedforward"
        inner = normal @ self.weight(f"{name}.inner.weight").T + self.weight(f"{name}.inner.bias")
        return np.maximum(inner, 0) @ self.weight(f"{name}.outer.weight").T + self.weight(f"{name}.outer.bias")

    def _heads(self, vectors: Array) -> Array:
        """Return (T, d) split into heads, (H, T, d/H)."""
        return vectors.reshape(len(vectors), self.heads, -1).swapaxes(0, 1)


class TransformerVerifier(Verifier):
    """Verifies the steps of one trace."""

    @staticmethod
    def weight_shapes(trace: TransformerTrace, weights: Weights) -> Shapes:  # noqa: ARG004
        """Return the shape of every weight of the transformer that made `trace`."""
        config = trace.config
        d, wide = int(config["model_size"]), int(config["feedforward_size"])
        vocabulary = int(config["vocabulary_size"])
        shapes = linear_shapes("output", vocabulary, d)
        norms = ["encoder_norm", "decoder_norm"]
        for layer in range(int(config["layers"])):
            for side, kinds in (("encoder", ("attention",)), ("decoder", ("attention", "cross"))):
                within = f"{side}.{layer}"
                norms += [f"{within}.{kind}_norm" for kind in (*kinds, "feedforward")]
                shapes |= linear_shapes(f"{within}.feedforward.inner", wide, d)
                shapes |= linear_shapes(f"{within}.feedforward.outer", d, wide)
                matrices = ("query", "key", "value", "projection")
                shapes |= {f"{within}.{kind}.{matrix}.weight": (d, d) for kind in kinds for matrix in matrices}
        return shapes | {f"{name}.{part}": (d,) for name in norms for part in ("weight", "bias")}

    def pairs(self, step: int, *_: object, **__: object) -> ComparedNumbers:
        """Return all numbers of the source and of 0-based `step`, as displayed and as recomputed.

        These are queries, keys, values, energies and alignment of every head, the residual stream after every block,
        readout and probabilities. Other arguments have no effect: there are no logit attributions and no posterior
        attention.
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
            return float64(array if name in _SINGLE else array[place])

        recomputed = recompute_transformer(self.weights, trace.config, trace.source_ids, trace.target_ids, recorded)
        distributions, steps = recomputed["distributions"], np.arange(len(trace.target_ids))
        recomputed |= {
            "top_probabilities": np.take_along_axis(distributions, trace.top_ids.astype(np.int64), axis=1),
            "log_probabilities": np.log(distributions[steps, list(trace.target_ids)]),
        }
        return {one.name: recomputed[one.name] for one in TRANSFORMER_ARRAYS if one.name in recomputed}


class HeadVerifier(TransformerVerifier):
    """Verifies the rows of one head: its kind of attention, and the residual stream that it adds to."""

    def __init__(self, head: Head, weights: Mapping[str, NDArray[Any]]) -> None:
        """Take a head and the weights of its model; raise MisfitError where they are of another kind or size."""
        super().__init__(head.record, weights)
        self.kind = head.kind

    def pairs(self, step: int, *_: object, **__: object) -> ComparedNumbers:
        """Return the numbers of 0-based row `step`, as displayed and as recomputed; in the encoder those of all rows.

        They are those of all heads of the kind.
        """
        row, side = (0, "encoder") if self.kind == "encoder" else (step, "decoder")
        prefixes = (f"{self.kind}_", f"{side}_streams")
        return {name: pair for name, pair in super().pairs(row).items() if name.startswith(prefixes)}


def _of_step(name: str, values: NDArray[Any], step: int) -> NDArray[Any]:
    """Return the numbers of one 0-based step, or all where the quantity has no axis for steps."""
    axes = [axis for axis, size in enumerate(TRANSFORMER_QUANTITIES[name].shape) if size == "Ty"]
    return np.take(values, step, axis=axes[0]) if axes else values
