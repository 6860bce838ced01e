r"""Joey NMT's recurrent translator, recomputed in NumPy float64 from its checkpoint.

    h_j = [forward RNN ; backward RNN] of the last layer over x_1 … x_n </s>
    s_0 = tanh(W_b [forward h_last ; backward h_first] + b_b), or the last forward state, or 0
    s_i = RNN([E y_{i-1} ; t_{i-1}], s_{i-1}),  t_0 = 0                                 (input feeding)
    e_ij = v . tanh(W_q s_i + W_k h_j)  or  s_i . W_k h_j,  alpha_i = softmax(e_i),  c_i = sum_j alpha_ij h_j
    t_i = tanh(W_t [s_i ; c_i] + b_t),  logits = W_o t_i

Other than in RNNsearch the query is s_i, which knows the word before the one that is written. Between context and
logits stands a tanh: these do not split into parts. (Joey NMT's configuration names other activations, but its
recurrent decoder runs with tanh alone.)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from attnviz.errors import AttnvizError
from attnviz.importing.cells import both_ways, cell, names
from attnviz.importing.checkpoint import Array, Vocabulary, below
from attnviz.importing.recomputed import PADDING, STARTS, STOPS, Course, Recomputed, attend, other_structure
from attnviz.languages import say

MARK = "src_embed.lut.weight"
"""A tensor by which a checkpoint of Joey NMT is known."""
ACTIVATION = "tanh"
_STARTS = ("bridge", "last", "zero")


class JoeyModel(Recomputed):
    """A checkpoint of Joey NMT's recurrent model with its vocabularies and its configuration."""

    family = "Joey NMT"

    def __init__(
        self,
        tensors: Mapping[str, Array],
        settings: Mapping[str, Any],
        source: Vocabulary,
        target: Vocabulary,
        name: str,
    ) -> None:
        """Take the tensors of a checkpoint, and what stands under `model` in its config.yaml; raise AttnvizError,
        saying what was found and what is understood, where they are of another structure."""
        self._weights = dict(tensors)
        encoder, decoder = (settings.get(side) or {} for side in ("encoder", "decoder"))
        self._start = decoder.get("init_hidden", "bridge")
        self._scales = [bool((side.get("embeddings") or {}).get("scale", False)) for side in (encoder, decoder)]
        self._layers = _check(self._weights, decoder.get("activation", ACTIVATION), self._start)
        rows = (len(tensors[MARK]), len(tensors["trg_embed.lut.weight"]))
        super().__init__(source, target, rows, name)

    def read(self, ids: Sequence[int]) -> list[int]:
        """Return the ids before `</s>`."""
        return [*ids, self.source.special(*STOPS)]

    def chosen(self, logits: Array, step: int) -> int:
        """Return the likeliest token by its logits, (K,), but `<s>` and `<pad>`; nor is `</s>` written first."""
        forbidden = [self.target.special(*STARTS), self.target.special(*PADDING)]
        allowed = logits.copy()
        allowed[forbidden + ([self.target.special(*STOPS)] if step == 0 else [])] = -np.inf
        return int(allowed.argmax())

    def encode(self, ids: Sequence[int]) -> tuple[Array, Any]:
        """Return h_j, (Tx, 2m), and states and memories of all layers, with t_0."""
        words = self._weights[MARK][list(ids)]
        words = words * np.sqrt(words.shape[1]) if self._scales[0] else words
        annotations, ends = both_ways(below(self._weights, "encoder.rnn."), words, self._layers[0])
        size = self._weights["decoder.att_vector_layer.weight"].shape[0]
        if self._start == "bridge":
            first = self._weights["decoder.bridge_layer.weight"] @ ends + self._weights["decoder.bridge_layer.bias"]
            first = np.tanh(first)
        else:
            first = ends[:size] if self._start == "last" else np.zeros(size)
        return annotations, ([(first, first)] * self._layers[1], np.zeros(size))

    def step(self, annotations: Array, before: Any, previous: int) -> tuple[dict[str, Array], Any]:
        """Return the arrays of one step, from h, (Tx, 2m), states of all layers, and t_{i-1}; and those it leaves."""
        weights, (states, fed) = self._weights, before
        word = weights["trg_embed.lut.weight"][previous]
        word = word * np.sqrt(len(word)) if self._scales[1] else word
        given = np.concatenate([word, fed])[: weights["decoder.rnn.weight_ih_l0"].shape[1]]
        following = []
        for layer, (state, memory) in enumerate(states):
            following.append(cell([weights[f"decoder.rnn.{name}"] for name in names(layer)], given, state, memory))
            given = following[-1][0]
        keys = annotations @ weights["decoder.attention.key_layer.weight"].T
        if "decoder.attention.query_layer.weight" in weights:
            query = weights["decoder.attention.query_layer.weight"] @ given
            energies = np.tanh(query + keys) @ weights["decoder.attention.energy_layer.weight"].ravel()
        else:
            energies = keys @ given
        alignment, context = attend(annotations, energies)
        wide = weights["decoder.att_vector_layer.weight"] @ np.concatenate([given, context])
        readout = np.tanh(wide + weights["decoder.att_vector_layer.bias"])
        arrays = {
            "energies": energies, "alignment": alignment, "contexts": context, "states": given, "words": word,
            "logits": weights["decoder.output_layer.weight"] @ readout,
        }  # fmt: skip
        return arrays, (following, readout)

    def ledger(self, course: Course, step: int, token: int) -> tuple[Array, dict[str, float]]:  # noqa: ARG002
        """Raise AttnvizError: a tanh stands between."""
        raise AttnvizError(say("A logit of this model does not split into parts: between context and logit stands "
                               "tanh."))  # fmt: skip


def _check(weights: Mapping[str, Array], activation: object, start: object) -> tuple[int, int]:
    """Return the layers of encoder and decoder; raise AttnvizError where the structure is another."""
    if activation != ACTIVATION or start not in _STARTS:
        told = say("it has the activation {activation} and begins with {start}", activation=repr(activation)[:20],
                   start=repr(start)[:20])  # fmt: skip
        raise other_structure(told)
    layers = [
        sum(f"{side}.rnn.weight_hh_l{layer}" in weights for layer in range(64)) for side in ("encoder", "decoder")
    ]
    shapes = _shapes(weights, layers, str(start)) if MARK in weights and all(layers) else {MARK: ()}
    if missing := [name for name in shapes if name not in weights]:
        raise other_structure(say("it lacks {names}", names=", ".join(missing[:4])))
    if others := sorted(set(weights) - set(shapes)):
        told = say("it has {count} tensors more, such as {names}", count=len(others), names=", ".join(others[:3]))
        raise other_structure(told)
    for name, shape in shapes.items():
        if weights[name].shape != shape:
            raise other_structure(say("{name} has the shape {shape}", name=name, shape=weights[name].shape))
    return layers[0], layers[1]


def _shapes(weights: Mapping[str, Array], layers: Sequence[int], start: str) -> dict[str, tuple[int, ...]]:
    """Return the shapes that the tensors must have, as a few of them tell the sizes."""

    def size(name: str, place: int) -> int:
        shape = weights[name].shape if name in weights else ()
        return int(shape[place]) if len(shape) == 2 else 0

    hidden, state = size("encoder.rnn.weight_hh_l0", 1), size("decoder.rnn.weight_hh_l0", 1)
    (sources, read), (targets, word) = ((size(f"{side}_embed.lut.weight", 0), size(f"{side}_embed.lut.weight", 1))
                                        for side in ("src", "trg"))  # fmt: skip
    units = size("decoder.attention.key_layer.weight", 0)
    gates = {"encoder": size("encoder.rnn.weight_hh_l0", 0), "decoder": size("decoder.rnn.weight_hh_l0", 0)}
    fed = word if size("decoder.rnn.weight_ih_l0", 1) == word else word + state
    shapes: dict[str, tuple[int, ...]] = {
        MARK: (sources, read), "trg_embed.lut.weight": (targets, word),
        "decoder.att_vector_layer.weight": (state, state + 2 * hidden), "decoder.att_vector_layer.bias": (state,),
        "decoder.output_layer.weight": (targets, state), "decoder.attention.key_layer.weight": (units, 2 * hidden),
    }  # fmt: skip
    if "decoder.attention.query_layer.weight" in weights:
        shapes |= {"decoder.attention.query_layer.weight": (units, state),
                   "decoder.attention.energy_layer.weight": (1, units)}  # fmt: skip
    else:
        shapes["decoder.attention.key_layer.weight"] = (state, 2 * hidden)
    if start == "bridge":
        shapes |= {"decoder.bridge_layer.weight": (state, 2 * hidden), "decoder.bridge_layer.bias": (state,)}
    for side, ways, own, first in (("encoder", ("", "_reverse"), hidden, read), ("decoder", ("",), state, fed)):
        rows = gates[side] if gates[side] in (3 * own, 4 * own) else 3 * own
        for layer in range(layers[side == "decoder"]):
            given = first if layer == 0 else own * len(ways)
            for way in ways:
                named = zip(names(layer, way), ((rows, given), (rows, own), (rows,), (rows,)), strict=True)
                shapes |= {f"{side}.rnn.{name}": shape for name, shape in named}
    return shapes
