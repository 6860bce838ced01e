"""`Record`: what every record of a translation holds, whatever network made it, and ways to look at it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from attnviz.text import BOS
from attnviz.trace import storage
from attnviz.trace.aligned import Aligned
from attnviz.trace.computation import Computation
from attnviz.trace.interventions import Intervention, check_interventions
from attnviz.trace.parts import FloatArray, Hypothesis, IntArray, Search

METHODS = ("greedy", "beam", "forced")
STORED_CANDIDATES = 100
"""How many of the likeliest pieces of each step a record keeps."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Record(Aligned, Computation):
    """The translation of one sentence, and who made it how.

    Tx and Ty count pieces, `</s>` included. Row i of a target-side array belongs to step i + 1 of the equations, which
    chose `target_pieces[i]`.
    """

    source_text: str
    """The sentence as typed."""
    translation: str
    source_ids: tuple[int, ...]
    target_ids: tuple[int, ...]
    source_surfaces: tuple[str, ...]
    """The source pieces, but with the characters that each `<unk>` stands for."""
    unknown_characters: tuple[str, ...]
    """The stretches of text the tokenizer never saw, each once; every one is an `<unk>` among the pieces."""

    log_probabilities: FloatArray
    """log p(y_i | y_<i, x) of each target piece, (Ty,)."""
    top_ids: IntArray
    """Ids of the likeliest pieces of each step, likeliest first, (Ty, min(100, K)), int32."""
    top_probabilities: FloatArray
    """Their probabilities, (Ty, min(100, K))."""
    top_pieces: tuple[tuple[str, ...], ...]

    search: Search
    score: float
    """Log probability of the target, divided by Ty^length_penalty."""
    hypotheses: tuple[Hypothesis, ...]
    """What the beam finished, best first; one entry for greedy and forced decoding."""
    interventions: tuple[Intervention, ...] = ()
    """What was changed by hand on the way, in its order; energies are those before it, the alignment after."""

    if TYPE_CHECKING:
        # A field where it is kept; a property here would pass for a field's default.
        @property
        def readouts(self) -> FloatArray:
            """t_i, what the words of each step are scored with: a vector each."""

    @property
    def vocabulary_size(self) -> int:
        """K, the pieces that a step chooses from."""
        return int(self.config["vocabulary_size"])

    @property
    def source_vocabulary_size(self) -> int:
        """How many pieces there are to make a source sentence of: those of both languages, but where a record has two
        vocabularies."""
        return self.vocabulary_size

    def check_texts(self) -> None:
        """Raise ValueError, KeyError or IndexError unless pieces, candidates, search and interventions make sense."""
        rows, columns = len(self.target_pieces), len(self.source_pieces)
        if [len(pieces) for pieces in self.top_pieces] != [self.top_ids.shape[1]] * rows:
            raise ValueError("the candidates do not fit their probabilities")
        if {len(self.source_ids), len(self.source_surfaces)} != {columns} or len(self.target_ids) != rows:
            raise ValueError("the ids do not fit the pieces")
        pieces = (self.source_pieces, self.source_surfaces, self.target_pieces, *self.top_pieces)
        storage.check_characters(*pieces, self.unknown_characters)
        storage.check_ids(self.source_ids, self.source_vocabulary_size)
        storage.check_ids((*self.target_ids, *self.top_ids.ravel().tolist()), self.vocabulary_size)
        if self.search.method not in METHODS:
            raise ValueError("it was found by an unknown search")
        check_interventions(
            self.interventions,
            source_pieces=columns,
            attends=self.attends_once,
            vocabulary_size=self.config["vocabulary_size"],
        )

    @property
    def previous_pieces(self) -> tuple[str, ...]:
        """y_{i-1} of each step: `<s>`, then the target pieces but the last."""
        return ("<s>", *self.target_pieces[:-1])

    @property
    def previous_ids(self) -> tuple[int, ...]:
        """Ids of y_{i-1} of each step."""
        return (BOS, *self.target_ids[:-1])

    @property
    def probabilities(self) -> FloatArray:
        """p(y_i | y_<i, x) of each target piece, (Ty,)."""
        return np.exp(self.log_probabilities)

    def top(self, i: int, k: int = 10) -> list[tuple[str, float]]:
        """Return the `k` likeliest pieces at step index `i` (0-based) with their probabilities, likeliest first.

        Raises IndexError where there is no such step and ValueError unless 1 <= k <= the number stored (100, or the
        whole vocabulary where that is smaller).
        """
        stored = len(self.top_pieces[i])
        if not 1 <= k <= stored:
            raise ValueError(f"k must be from 1 to {stored}, the number of candidates a trace keeps, not {k}")
        return [(piece, float(p)) for piece, p in zip(self.top_pieces[i][:k], self.top_probabilities[i], strict=False)]
