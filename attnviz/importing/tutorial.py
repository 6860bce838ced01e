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
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from attnviz.errors import AttnvizError
from attnviz.importing.checkpoint import Array, Vocabulary, read_tensors, read_vocabulary
from attnviz.languages import say
from attnviz.trace import MOST_TOKENS, Attention, attention

STARTS, STOPS, UNKNOWN = ("<sos>", "<s>", "<bos>", "<SOS>"), ("<eos>", "</s>", "<EOS>"), ("<unk>", "<UNK>")
_GRU = ("weight_ih_l0", "weight_hh_l0", "bias_ih_l0", "bias_hh_l0")
_OWN = (
    "encoder.embedding.weight", "encoder.fc.weight", "encoder.fc.bias", "decoder.embedding.weight",
    *(f"encoder.rnn.{name}{way}" for way in ("", "_reverse") for name in _GRU),
    *(f"decoder.rnn.{name}" for name in _GRU),
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


@dataclass(frozen=True, eq=False)
class Course:
    """One translation, step by step, in float64. Tx counts `<sos>` and `<eos>`; n is the decoder's size."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    """What was written, `<eos>` last where it was reached."""
    target_ids: tuple[int, ...]
    annotations: Array
    """h_j, (Tx, 2m)."""
    energies: Array
    """e_ij, (Ty, Tx)."""
    alignment: Array
    """alpha_ij, (Ty, Tx), rows sum to 1."""
    contexts: Array
    """c_i, (Ty, 2m)."""
    states: Array
    """s_i, (Ty, n)."""
    words: Array
    """E y_{i-1}, (Ty, embedding size)."""
    logits: Array
    """(Ty, K)."""


class TutorialModel:
    """A checkpoint with its vocabularies."""

    def __init__(self, tensors: Mapping[str, Array], source: Vocabulary, target: Vocabulary, name: str) -> None:
        """Take the tensors of a checkpoint by their names; raise AttnvizError, saying what was found and what is
        understood, where they are of another structure."""
        self._weights, self.source, self.target, self.name = _understood(tensors), source, target, name
        for vocabulary, where in ((source, "encoder"), (target, "decoder")):
            rows = len(self._weights[f"{where}.embedding.weight"])
            if rows != len(vocabulary.tokens):
                raise AttnvizError(say("The vocabulary {name} has {count} tokens, but the checkpoint embeds {rows}.",
                                       name=vocabulary.name, count=len(vocabulary.tokens), rows=rows))  # fmt: skip

    @classmethod
    def load(cls, folder: str | Path) -> TutorialModel:
        """Read a folder with one .pt file and the vocabularies source.txt and target.txt, a token a line in the order
        of their ids; raise AttnvizError where something is missing, damaged, or of another structure."""
        folder = Path(folder)
        source, target = read_vocabulary(folder, "source"), read_vocabulary(folder, "target")
        return cls(read_tensors(folder), source, target, folder.resolve().name)

    def attention(self, text: str, target: str | None = None) -> Attention:
        """Return where each token that the model writes for `text`, tokens with blanks between them, looked in it, with
        energies and states; with a `target` the decoder is led through its tokens. Raise AttnvizError as `course`."""
        found = self.course(text.split(), None if target is None else target.split())
        return attention(
            found.source, found.target, found.alignment, energies=found.energies, states=found.states,
            origin=f"{self.name}, seq2seq tutorial",
        )  # fmt: skip

    def course(self, source: Sequence[str], target: Sequence[str] | None = None) -> Course:
        """Return a translation with all its numbers: greedy, or led through a `target`; raise AttnvizError where there
        are no tokens, or too many."""
        if not source or (target is not None and not target) or max(len(source), len(target or ())) > MOST_TOKENS - 2:
            raise AttnvizError(say("There must be tokens, and at most {most} on a side.", most=MOST_TOKENS - 2))
        start, stop = self.target.special(*STARTS), self.target.special(*STOPS)
        read = [self.source.special(*STARTS), *self._ids(self.source, source), self.source.special(*STOPS)]
        given = None if target is None else [*self._ids(self.target, target), stop]
        annotations, state = self._encode(read)
        steps, written = list[dict[str, Array]](), [start]
        longest = len(given) if given else min(2 * len(read) + 20, MOST_TOKENS)
        while len(steps) < longest and (given or written[-1] != stop or not steps):
            step = self._step(annotations, state, written[-1])
            state = step["states"]
            steps.append(step)
            written.append(given[len(steps) - 1] if given else int(step["logits"].argmax()))
        arrays = {name: np.stack([step[name] for step in steps]) for name in steps[0]}
        return Course(
            source=tuple(self.source.tokens[i] for i in read), target=tuple(self.target.tokens[i] for i in written[1:]),
            target_ids=tuple(written[1:]), annotations=annotations, **arrays,
        )  # fmt: skip

    def ledger(self, course: Course, step: int, token: int) -> tuple[Array, dict[str, float]]:
        """Return the logit of a token id at 0-based `step` as a sum: what each source token gives it, (Tx,), and what
        state, previous word and bias give; all together they are the logit."""
        row = self._weights["readout.weight"][token]
        state, context, word = np.split(row, np.cumsum([course.states.shape[1], course.contexts.shape[1]]))
        by_source: Array = course.alignment[step] * (course.annotations @ context)
        return by_source, {
            "state": float(state @ course.states[step]), "word": float(word @ course.words[step]),
            "bias": float(self._weights["readout.bias"][token]),
        }  # fmt: skip

    def _ids(self, vocabulary: Vocabulary, tokens: Sequence[str]) -> list[int]:
        known = (vocabulary.known(token) for token in tokens)
        return [vocabulary.special(*UNKNOWN) if form is None else vocabulary.ids[form] for form in known]

    def _encode(self, ids: Sequence[int]) -> tuple[Array, Array]:
        """Return h_j, (Tx, 2m), and s_0, (n,)."""
        words = self._weights["encoder.embedding.weight"][list(ids)]
        forward, backward = self._run("", words), self._run("_reverse", words[::-1])[::-1]
        ends = np.concatenate([forward[-1], backward[0]])
        state = np.tanh(self._weights["encoder.fc.weight"] @ ends + self._weights["encoder.fc.bias"])
        return np.concatenate([forward, backward], axis=1), state

    def _run(self, way: str, words: Array) -> Array:
        gates = [self._weights[f"encoder.rnn.{name}{way}"] for name in _GRU]
        state, states = np.zeros(gates[1].shape[1]), []
        for word in words:
            state = _gru(gates, word, state)
            states.append(state)
        return np.stack(states)

    def _step(self, annotations: Array, state: Array, previous: int) -> dict[str, Array]:
        weights, word = self._weights, self._weights["decoder.embedding.weight"][previous]
        query, key = np.split(weights["energy.weight"], [len(state)], axis=1)
        energies = np.tanh(query @ state + annotations @ key.T + weights["energy.bias"]) @ weights["score"].ravel()
        powers = np.exp(energies - energies.max())
        alignment = powers / powers.sum()
        context = alignment @ annotations
        gates = [weights[f"decoder.rnn.{name}"] for name in _GRU]
        following = _gru(gates, np.concatenate([word, context]), state)
        seen = np.concatenate([following, context, word])
        return {
            "energies": energies, "alignment": alignment, "contexts": context, "states": following, "words": word,
            "logits": weights["readout.weight"] @ seen + weights["readout.bias"],
        }  # fmt: skip


def _gru(gates: Sequence[Array], given: Array, state: Array) -> Array:
    """Return s' of torch.nn.GRU, (n,): the reset gate acts after the recurrent product, and z keeps the old state."""
    weight_ih, weight_hh, bias_ih, bias_hh = gates
    x_r, x_z, x_n = np.split(weight_ih @ given + bias_ih, 3)
    u_r, u_z, u_n = np.split(weight_hh @ state + bias_hh, 3)
    reset, update = (0.5 * (1 + np.tanh(0.5 * (x + u))) for x, u in ((x_r, u_r), (x_z, u_z)))
    following: Array = (1 - update) * np.tanh(x_n + reset * u_n) + update * state
    return following


def _understood(tensors: Mapping[str, Array]) -> dict[str, Array]:
    """Return the tensors by the names used here; raise AttnvizError where they are of another structure."""
    found = {name: tensors[name] for name in _OWN if name in tensors}
    for name, several in _EITHER.items():
        if present := [tensors[other] for other in several if other in tensors]:
            found[name] = present[0]
    missing = [name for name in (*_OWN, *_EITHER) if name not in found]
    extra = len(tensors) - len(found)
    if missing or extra or (wrong := _wrong_shape(found)):
        reason = say("it lacks {names}", names=", ".join(missing[:4])) if missing else (
            say("it has {count} tensors more, such as {names}", count=extra, names=", ".join(_others(tensors)[:3]))
            if extra else say("{name} has the shape {shape}", name=wrong, shape=found[wrong].shape)
        )  # fmt: skip
        raise AttnvizError(say(
            "This checkpoint is of another structure: {reason}. Understood is the recurrent translator of the seq2seq "
            "tutorial: a bidirectional GRU of one layer, additive attention asked by the state before, a GRU, and a "
            "linear readout of state, context and previous word.", reason=reason,
        ))  # fmt: skip
    return found


def _others(tensors: Mapping[str, Array]) -> list[str]:
    known = {*_OWN, *(name for several in _EITHER.values() for name in several)}
    return sorted(set(tensors) - known) or sorted(tensors)


def _wrong_shape(found: Mapping[str, Array]) -> str:
    """Return the name of a tensor whose shape does not fit the others'; nothing where all do."""
    if any(found[name].ndim != 2 for name in found if name.endswith("weight") or "weight_" in name):
        return next(name for name in found if found[name].ndim != 2 and "weight" in name)
    embedded, hidden = found["encoder.embedding.weight"].shape[1], found["encoder.rnn.weight_hh_l0"].shape[1]
    state, word = found["decoder.rnn.weight_hh_l0"].shape[1], found["decoder.embedding.weight"].shape[1]
    shapes = {
        "encoder.fc.weight": (state, 2 * hidden), "encoder.fc.bias": (state,),
        "energy.weight": (len(found["energy.bias"]), state + 2 * hidden),
        "readout.weight": (len(found["decoder.embedding.weight"]), state + 2 * hidden + word),
        "readout.bias": (len(found["decoder.embedding.weight"]),),
    }  # fmt: skip
    for prefix, ways, size, given in (("encoder", ("", "_reverse"), hidden, embedded),
                                      ("decoder", ("",), state, word + 2 * hidden)):  # fmt: skip
        for way in ways:
            gates = ((3 * size, given), (3 * size, size), (3 * size,), (3 * size,))
            shapes |= {f"{prefix}.rnn.{name}{way}": shape for name, shape in zip(_GRU, gates, strict=True)}
    if found["score"].size != len(found["energy.bias"]) or found["energy.bias"].ndim != 1:
        return "score"
    return next((name for name, shape in shapes.items() if found[name].shape != shape), "")
