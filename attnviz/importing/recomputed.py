"""Somebody's recurrent translator, recomputed in NumPy float64: what all families share, the loop over the steps."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from attnviz.errors import AttnvizError
from attnviz.importing.checkpoint import Array, Vocabulary
from attnviz.languages import say
from attnviz.trace import MOST_TOKENS, Attention, attention

STARTS, STOPS, UNKNOWN = ("<sos>", "<s>", "<bos>", "<SOS>"), ("<eos>", "</s>", "<EOS>"), ("<unk>", "<UNK>")
PADDING = ("<pad>", "<PAD>", "<blank>")


@dataclass(frozen=True, eq=False)
class Course:
    """One translation, step by step, in float64. Tx counts what marks the ends of the source; n is the decoder's
    size."""

    source: tuple[str, ...]
    target: tuple[str, ...]
    """What was written, the mark of the end last where it was reached."""
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


class Recomputed(ABC):
    """A checkpoint with its vocabularies."""

    family: str
    """Whose network it is, for people."""

    def __init__(self, source: Vocabulary, target: Vocabulary, rows: tuple[int, int], name: str) -> None:
        """Take the vocabularies, and of how many tokens the checkpoint embeds; raise AttnvizError where they differ."""
        self.source, self.target, self.name = source, target, name
        for vocabulary, count in zip((source, target), rows, strict=True):
            if count != len(vocabulary.tokens):
                raise AttnvizError(say("The vocabulary {name} has {count} tokens, but the checkpoint embeds {rows}.",
                                       name=vocabulary.name, count=len(vocabulary.tokens), rows=count))  # fmt: skip

    @abstractmethod
    def read(self, ids: Sequence[int]) -> list[int]:
        """Return the ids of a source sentence with the marks that the encoder reads."""

    @abstractmethod
    def encode(self, ids: Sequence[int]) -> tuple[Array, Any]:
        """Return h_j, (Tx, 2m), and what the first step of the decoder begins with."""

    @abstractmethod
    def step(self, annotations: Array, before: Any, previous: int) -> tuple[dict[str, Array], Any]:
        """Return the arrays of a `Course` at one step, given h, (Tx, 2n), what the step before left and the token it
        wrote; and what this one leaves."""

    @abstractmethod
    def ledger(self, course: Course, step: int, token: int) -> tuple[Array, dict[str, float]]:
        """Return the logit of a token id at 0-based `step` as a sum: what each source token gives it, (Tx,), and what
        state, previous word and bias give; raise AttnvizError where it does not split."""

    def chosen(self, logits: Array, step: int) -> int:  # noqa: ARG002  some forbid tokens at the beginning
        """Return the token that greedy search writes at 0-based `step`, from its logits, (K,)."""
        return int(logits.argmax())

    def attention(self, text: str, target: str | None = None) -> Attention:
        """Return where each token that the model writes for `text`, tokens with blanks between them, looked in it, with
        energies and states; with a `target` the decoder is led through its tokens. Raise AttnvizError as `course`."""
        found = self.course(text.split(), None if target is None else target.split())
        return attention(
            found.source, found.target, found.alignment, energies=found.energies, states=found.states,
            origin=f"{self.name[:80]}, {self.family}",
        )  # fmt: skip

    def course(self, source: Sequence[str], target: Sequence[str] | None = None) -> Course:
        """Return a translation with all its numbers: greedy, or led through a `target`; raise AttnvizError where there
        are no tokens, or too many."""
        if not source or (target is not None and not target) or max(len(source), len(target or ())) > MOST_TOKENS - 2:
            raise AttnvizError(say("There must be tokens, and at most {most} on a side.", most=MOST_TOKENS - 2))
        stop = self.target.special(*STOPS)
        read, given = self.read(_ids(self.source, source)), [*_ids(self.target, target), stop] if target else None
        annotations, before = self.encode(read)
        steps, written = list[dict[str, Array]](), [self.target.special(*STARTS)]
        while len(steps) < (len(given) if given else min(2 * len(read) + 20, MOST_TOKENS)):
            arrays, before = self.step(annotations, before, written[-1])
            written.append(given[len(steps)] if given else self.chosen(arrays["logits"], len(steps)))
            steps.append(arrays)
            if not given and written[-1] == stop:
                break
        return Course(
            source=tuple(self.source.tokens[i] for i in read), target=tuple(self.target.tokens[i] for i in written[1:]),
            target_ids=tuple(written[1:]), annotations=annotations,
            **{name: np.stack([arrays[name] for arrays in steps]) for name in steps[0]},
        )  # fmt: skip


def _ids(vocabulary: Vocabulary, tokens: Sequence[str]) -> list[int]:
    known = (vocabulary.known(token) for token in tokens)
    return [vocabulary.special(*UNKNOWN) if form is None else vocabulary.ids[form] for form in known]


def attend(annotations: Array, energies: Array) -> tuple[Array, Array]:
    """Return alpha_i = softmax(e_i), (Tx,), and c_i = sum_j alpha_ij h_j, (2m,)."""
    powers = np.exp(energies - energies.max())
    alignment: Array = powers / powers.sum()
    return alignment, alignment @ annotations


def other_structure(reason: str) -> AttnvizError:
    """Return what is said of a checkpoint that is of no family known here."""
    return AttnvizError(say(
        "This checkpoint is of another structure: {reason}. Understood are the recurrent translators of the seq2seq "
        "tutorial (bidirectional GRU, additive attention asked by the state before, GRU, linear readout of state, "
        "context and previous word) and of Joey NMT (bidirectional GRU or LSTM, attention asked by the new state, "
        "input feeding).", reason=reason,
    ))  # fmt: skip
