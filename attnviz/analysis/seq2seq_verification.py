"""Verify a step of an imported recurrent translator in NumPy float64, and check the shapes of its weights.

Each number is computed from the saved weights, the recorded annotations and keys, and the recorded step before.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis import seq2seq_recomputation
from attnviz.analysis.cells import names
from attnviz.analysis.energy_decomposition import energy_decomposition
from attnviz.analysis.fit import MisfitError, check_weight_shapes, misfit_message
from attnviz.analysis.logit_attribution import logit_attributions
from attnviz.analysis.measures import coverage, entropy
from attnviz.analysis.recomputation import log_softmax, softmax
from attnviz.analysis.verification import LIKELIEST, Pairs, Verifier
from attnviz.trace import Seq2SeqTrace
from attnviz.trace.quantity import check_shapes

Array = NDArray[np.float64]


class Seq2SeqVerifier(Verifier):
    """Verifies the steps of one trace; the encoder's numbers are recomputed once for all steps."""

    def __init__(self, trace: Seq2SeqTrace, weights: Mapping[str, NDArray[Any]]) -> None:
        """Take the trace and the weights of its model (`load_weights`).

        Raise MisfitError where they are of a model of another kind or size.
        """
        check_seq2seq_fit(trace, weights)
        self.trace, self.weights = trace, seq2seq_recomputation.to_float64(weights)

    def pairs(self, step: int, pieces: Sequence[int] = (), *, reading: bool = False) -> Pairs:  # noqa: ARG002
        """Return all numbers of 0-based `step`, as displayed and as recomputed.

        These are annotations, first state, keys, query, energies and their units, alignment with entropy and coverage,
        context, gates, cell states and states of all layers, readout, probabilities and, where logits are linear, the
        logit attributions of the chosen piece, the likeliest ones and `pieces`. `reading` has no effect: imports have
        no posterior attention.
        """
        trace, recomputed = self.trace, self._steps[step]
        probabilities = softmax(recomputed["logits"])
        pairs: dict[str, tuple[Any, Array]] = dict(self._by_encoder)
        pairs |= {name: (getattr(trace, name)[step], values) for name, values in recomputed.items() if name != "logits"}
        pairs["top_probabilities"] = trace.top_probabilities[step], probabilities[trace.top_ids[step]]
        wanted = log_softmax(recomputed["logits"])[trace.target_ids[step]]
        pairs["log_probabilities"] = trace.log_probabilities[step], wanted
        alignment = recomputed["alignment"]
        positive = alignment[alignment > 0]
        pairs["entropy"] = entropy(trace.alignment[step]), np.asarray(-(positive @ np.log2(positive)))
        total = np.stack([arrays["alignment"] for arrays in self._steps]).sum(axis=0)
        pairs["coverage"] = coverage(trace.alignment), total
        units = [energy_decomposition(trace, self.weights, step, j) for j in range(len(trace.source_pieces))]
        pairs["energy sums"] = [decomposition.energy for decomposition in units], recomputed["energies"]
        if trace.linear:
            shown = list(dict.fromkeys([trace.target_ids[step], *trace.top_ids[step, :LIKELIEST].tolist(), *pieces]))
            entries = logit_attributions(trace, self.weights, [(step, piece) for piece in shown])
            pairs["attribution sums"] = [entry.logit for entry in entries], recomputed["logits"][shown]
        return pairs

    @cached_property
    def _by_encoder(self) -> dict[str, tuple[Any, Array]]:
        """Numbers that are the same at every step, as displayed and as recomputed."""
        trace, weights = self.trace, self.weights
        encoded = seq2seq_recomputation.encode(weights, trace.config, trace.source_ids)
        first = seq2seq_recomputation.start_state(weights, trace.config, encoded)
        return {
            "annotations": (trace.annotations, encoded.annotations),
            "initial_state": (trace.initial_state, first.states[-1]),
            "initial_states": (trace.initial_states, first.states),
            "initial_memories": (trace.initial_memories, first.memories),
            "keys": (trace.keys, seq2seq_recomputation.keys_of(weights, _float64(trace.annotations))),
            "score_vector": (trace.score_vector, seq2seq_recomputation.score_of(weights)),
        }

    @cached_property
    def _steps(self) -> list[dict[str, Array]]:
        """Every step, recomputed from the recorded step before it."""
        trace, annotations, keys = self.trace, _float64(self.trace.annotations), _float64(self.trace.keys)
        previous_state, steps = (
            seq2seq_recomputation.DecoderState(
                _float64(trace.initial_states), _float64(trace.initial_memories), np.zeros_like(trace.initial_state)
            ),
            [],
        )
        for i, previous_id in enumerate(trace.previous_ids):
            steps.append(
                seq2seq_recomputation.step(self.weights, trace.config, annotations, keys, previous_state, previous_id)[
                    0
                ]
            )
            previous_state = seq2seq_recomputation.DecoderState(
                *map(_float64, (trace.layer_states[i], trace.memories[i], trace.readouts[i]))
            )
        return steps


def check_seq2seq_fit(trace: Seq2SeqTrace, weights: Mapping[str, NDArray[Any]]) -> None:
    """Raise MisfitError unless `weights`, by parameter name, and the arrays of `trace` have the expected shapes."""
    try:
        check_shapes(trace)
        expected = weight_shapes(trace.config)
    except (ValueError, KeyError, IndexError, TypeError) as error:
        raise MisfitError(misfit_message(trace, error)) from error
    check_weight_shapes(trace, weights, expected)


def weight_shapes(config: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the shape of every weight of an imported translator with this config."""
    directions = ("", "_reverse")[: int(config["directions"])]
    m, n, units = (int(config[name]) for name in ("encoder_size", "hidden_size", "alignment_size"))
    context_size = len(directions) * m
    words, source_words = int(config["embedding_size"]), int(config["source_embedding_size"])
    vocabulary = int(config["vocabulary_size"])
    shapes: dict[str, tuple[int, ...]] = {
        "encoder.embedding.weight": (int(config["source_vocabulary_size"]), source_words),
        "decoder.embedding.weight": (vocabulary, words),
        "decoder.output.bias": (vocabulary,),
        "decoder.output.weight": (vocabulary, n + context_size + words if config["readout"] == "joined" else n),
    }
    if config["attention"] == "location":
        shapes["decoder.place.weight"] = (int(config["source_length"]), units)
    if config["combined"]:
        shapes |= {"decoder.combine.weight": (n, words + context_size), "decoder.combine.bias": (n,)}
    if config["attention"] in ("additive", "general"):
        shapes |= {"decoder.key.weight": (units, context_size), "decoder.key.bias": (units,)}
    if config["attention"] == "additive":
        shapes |= {"decoder.query.weight": (units, n), "decoder.score": (units,)}
    if config["first_state"] in ("bridge", "projected"):
        shapes |= {"decoder.bridge.weight": (n, context_size), "decoder.bridge.bias": (n,)}
    if config["first_state"] == "projected" and config["cell"] == "lstm":
        shapes |= {"decoder.memory_bridge.weight": (n, context_size), "decoder.memory_bridge.bias": (n,)}
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
                named = zip(names(layer, direction), gate_shapes, strict=True)
                shapes |= {f"{side}.rnn.{name}": shape for name, shape in named}
    return shapes


def _float64(values: NDArray[Any]) -> Array:
    return np.asarray(values, dtype=np.float64)
