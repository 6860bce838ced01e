"""The recurrent translator of the widespread tutorial, recomputed in NumPy float64 from its checkpoint.

It is that of "Neural Machine Translation by Jointly Learning to Align and Translate" in bentrevett/pytorch-seq2seq and
its many copies:

    h_j = [forward GRU ; backward GRU] over <sos> x_1 … x_n <eos>
    s_0 = tanh(W_0 [forward h_last ; backward h_first] + b_0)
    e_ij = v . tanh(W_s s_{i-1} + W_h h_j + b),  alpha_i = softmax(e_i),  c_i = sum_j alpha_ij h_j
    s_i = GRU([E y_{i-1} ; c_i], s_{i-1})
    logits = F [s_i ; c_i ; E y_{i-1}] + b_F

As in RNNsearch the query is s_{i-1}; other than there the readout is linear, and of s_i, so that a logit is a sum of
parts with nothing to be fixed first.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from attnviz.importing.cells import both_ways, cell, names
from attnviz.importing.checkpoint import Array, Vocabulary, below
from attnviz.importing.recomputed import STARTS, STOPS, Course, Recomputed, attend, other_structure
from attnviz.languages import say

_OWN = (
    "encoder.embedding.weight", "encoder.fc.weight", "encoder.fc.bias", "decoder.embedding.weight",
    *(f"encoder.rnn.{name}" for way in ("", "_reverse") for name in names(0, way)),
    *(f"decoder.rnn.{name}" for name in names(0)),
)  # fmt: skip
_EITHER = {
    "energy.weight": ("decoder.attention.attn_fc.weight", "decoder.attention.attn.weight", "attention.attn.weight"),
    "energy.bias": ("decoder.attention.attn_fc.bias", "decoder.attention.attn.bias", "attention.attn.bias"),
    "score": ("decoder.attention.v_fc.weight", "decoder.attention.v.weight", "decoder.attention.v",
              "attention.v.weight"),
    "readout.weight": ("decoder.fc_out.weight", "decoder.out.weight"),
    "readout.bias": ("decoder.fc_out.bias", "decoder.out.bias"),
}  # fmt: skip
"""What versions of the tutorial call alike things."""


class TutorialModel(Recomputed):
    """A checkpoint of the tutorial with its vocabularies."""

    family = "seq2seq tutorial"

    def __init__(self, tensors: Mapping[str, Array], source: Vocabulary, target: Vocabulary, name: str) -> None:
        """Take the tensors of a checkpoint by their names; raise AttnvizError, saying what was found and what is
        understood, where they are of another structure."""
        self._weights = _understood(tensors)
        rows = (len(self._weights["encoder.embedding.weight"]), len(self._weights["decoder.embedding.weight"]))
        super().__init__(source, target, rows, name)

    def read(self, ids: Sequence[int]) -> list[int]:
        """Return the ids between `<sos>` and `<eos>`."""
        return [self.source.special(*STARTS), *ids, self.source.special(*STOPS)]

    def encode(self, ids: Sequence[int]) -> tuple[Array, Array]:
        """Return h_j, (Tx, 2m), and s_0, (n,)."""
        words = self._weights["encoder.embedding.weight"][list(ids)]
        annotations, ends = both_ways(below(self._weights, "encoder.rnn."), words, 1)
        return annotations, np.tanh(self._weights["encoder.fc.weight"] @ ends + self._weights["encoder.fc.bias"])

    def step(self, annotations: Array, before: Array, previous: int) -> tuple[dict[str, Array], Array]:
        """Return the arrays of one step, from h, (Tx, 2n), and s_{i-1}, (n,), and s_i."""
        weights, word = self._weights, self._weights["decoder.embedding.weight"][previous]
        query, key = np.split(weights["energy.weight"], [len(before)], axis=1)
        energies = np.tanh(query @ before + annotations @ key.T + weights["energy.bias"]) @ weights["score"].ravel()
        alignment, context = attend(annotations, energies)
        gates = [weights[f"decoder.rnn.{name}"] for name in names(0)]
        state, _ = cell(gates, np.concatenate([word, context]), before, np.zeros(0))
        seen = np.concatenate([state, context, word])
        arrays = {
            "energies": energies, "alignment": alignment, "contexts": context, "states": state, "words": word,
            "logits": weights["readout.weight"] @ seen + weights["readout.bias"],
        }  # fmt: skip
        return arrays, state

    def ledger(self, course: Course, step: int, token: int) -> tuple[Array, dict[str, float]]:
        """Return the logit of a token id at 0-based `step` as a sum: what each source token gives it, (Tx,), and what
        state, previous word and bias give; all together they are the logit, exactly."""
        row = self._weights["readout.weight"][token]
        state, context, word = np.split(row, np.cumsum([course.states.shape[1], course.contexts.shape[1]]))
        by_source: Array = course.alignment[step] * (course.annotations @ context)
        return by_source, {
            "state": float(state @ course.states[step]), "word": float(word @ course.words[step]),
            "bias": float(self._weights["readout.bias"][token]),
        }  # fmt: skip


def _understood(tensors: Mapping[str, Array]) -> dict[str, Array]:
    """Return the tensors by the names used here; raise AttnvizError where they are of another structure."""
    found = {name: tensors[name] for name in _OWN if name in tensors}
    for name, several in _EITHER.items():
        if present := [tensors[other] for other in several if other in tensors]:
            found[name] = present[0]
    missing = [name for name in (*_OWN, *_EITHER) if name not in found]
    known = {*_OWN, *(other for several in _EITHER.values() for other in several)}
    if missing:
        raise other_structure(say("it lacks {names}", names=", ".join(missing[:4])))
    if others := sorted(set(tensors) - known):
        told = say("it has {count} tensors more, such as {names}", count=len(others), names=", ".join(others[:3]))
        raise other_structure(told)
    if wrong := _wrong_shape(found):
        raise other_structure(say("{name} has the shape {shape}", name=wrong, shape=found[wrong].shape))
    return found


def _wrong_shape(found: Mapping[str, Array]) -> str:
    """Return the name of a tensor whose shape does not fit the others'; nothing where all do."""
    if flat := [name for name in found if "weight" in name and found[name].ndim != 2]:
        return flat[0]
    embedded, hidden = found["encoder.embedding.weight"].shape[1], found["encoder.rnn.weight_hh_l0"].shape[1]
    state, (words, word) = found["decoder.rnn.weight_hh_l0"].shape[1], found["decoder.embedding.weight"].shape
    size = found["energy.weight"].shape[0]
    shapes: dict[str, tuple[int, ...]] = {
        "encoder.fc.weight": (state, 2 * hidden), "encoder.fc.bias": (state,), "energy.bias": (size,),
        "energy.weight": (size, state + 2 * hidden), "readout.bias": (words,),
        "readout.weight": (words, state + 2 * hidden + word),
    }  # fmt: skip
    for prefix, ways, width, given in (("encoder", ("", "_reverse"), hidden, embedded),
                                       ("decoder", ("",), state, word + 2 * hidden)):  # fmt: skip
        for way in ways:
            gates = ((3 * width, given), (3 * width, width), (3 * width,), (3 * width,))
            shapes |= {f"{prefix}.rnn.{name}": shape for name, shape in zip(names(0, way), gates, strict=True)}
    if found["score"].size != size:
        return "score"
    return next((name for name, shape in shapes.items() if found[name].shape != shape), "")
