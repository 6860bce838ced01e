"""`Record`: base class of the traces of translations by every architecture."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from attnviz.arguments import check_whole_argument
from attnviz.languages import gettext
from attnviz.text import BOS, typed_surfaces
from attnviz.trace import storage
from attnviz.trace.aligned import Aligned
from attnviz.trace.drawing import step_index
from attnviz.trace.interventions import Intervention, attended_positions, check_interventions
from attnviz.trace.parts import FloatArray, Hypothesis, IntArray, Search
from attnviz.trace.saved import Computation

SEARCH_METHODS = ("greedy", "beam", "forced")
STORED_CANDIDATES = 100
"""Number of likeliest pieces stored of each step."""


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Record(Aligned, Computation):
    """The translation of one sentence, how it was found, and by which model.

    Tx and Ty count pieces, `</s>` included. Row i of a target-side array belongs to step i + 1 of the equations, which
    chose `target_pieces[i]`.
    """

    source_text: str
    """The sentence as typed."""
    translation: str
    source_ids: tuple[int, ...]
    target_ids: tuple[int, ...]
    source_surfaces: tuple[str, ...]
    """The source pieces, with the typed characters in place of each `<unk>`."""
    unknown_characters: tuple[str, ...]
    """The character sequences that the tokenizer does not know, each once; each occurrence is an `<unk>` piece."""

    log_probabilities: FloatArray
    """Log probability log p(y_i | y_<i, x) of each target piece, (Ty,), in nats."""
    top_ids: IntArray
    """Ids of the likeliest pieces of each step, likeliest first, (Ty, min(100, K)), int32."""
    top_probabilities: FloatArray
    """The probabilities of `top_ids`, (Ty, min(100, K))."""
    top_pieces: tuple[tuple[str, ...], ...]

    search: Search
    score: float
    """Log probability of the target, in nats, divided by Ty^length_penalty."""
    hypotheses: tuple[Hypothesis, ...]
    """The finished hypotheses, best first; one for greedy and forced decoding."""
    interventions: tuple[Intervention, ...] = ()
    """The interventions, in their order; `energies` are those before them, `alignment` is after them."""

    if TYPE_CHECKING:
        # For type checkers only: at run time, dataclasses would take a property for a field's default.
        @property
        def readouts(self) -> FloatArray:
            """Readouts t_i, from which the logits of step i are computed."""

    @property
    def vocabulary_size(self) -> int:
        """Vocabulary size K, the number of pieces that a step chooses from."""
        return int(self.config["vocabulary_size"])

    @property
    def source_vocabulary_size(self) -> int:
        """Number of pieces for source sentences: K, unless the model has two vocabularies."""
        return int(self.config.get("source_vocabulary_size", self.vocabulary_size))

    def check_texts(self) -> None:
        """Raise ValueError, KeyError or IndexError unless pieces, candidates, search and interventions agree."""
        rows, columns = len(self.target_pieces), len(self.source_pieces)
        if [len(pieces) for pieces in self.top_pieces] != [self.top_ids.shape[1]] * rows:
            raise ValueError("the candidates do not fit their probabilities")
        if {len(self.source_ids), len(self.source_surfaces)} != {columns} or len(self.target_ids) != rows:
            raise ValueError("the ids do not fit the pieces")
        pieces = (self.source_pieces, self.source_surfaces, self.target_pieces, *self.top_pieces)
        storage.check_characters(*pieces, self.unknown_characters)
        storage.check_ids(self.source_ids, self.source_vocabulary_size)
        storage.check_ids((*self.target_ids, *self.top_ids.ravel().tolist()), self.vocabulary_size)
        if self.search.method not in SEARCH_METHODS:
            raise ValueError("it was found by an unknown search")
        check_interventions(
            self.interventions,
            source_pieces=columns,
            attends=self.attends_once,
            vocabulary_size=self.config["vocabulary_size"],
            positions=attended_positions(self.config),
        )

    @cached_property
    def typed_target(self) -> tuple[str, ...]:
        """The target pieces, with the characters of a given translation in place of each `<unk>`."""
        return typed_surfaces(self.target_pieces, self.translation)

    @property
    def previous_pieces(self) -> tuple[str, ...]:
        """Previous piece y_{i-1} of each step: `<s>`, then the target pieces without the last."""
        return ("<s>", *self.target_pieces[:-1])

    @property
    def previous_ids(self) -> tuple[int, ...]:
        """Id of the previous piece y_{i-1} of each step."""
        return (BOS, *self.target_ids[:-1])

    @property
    def probabilities(self) -> FloatArray:
        """Probability p(y_i | y_<i, x) of each target piece, (Ty,)."""
        return np.exp(self.log_probabilities)

    def top(self, i: int, k: int = 10) -> list[tuple[str, float]]:
        """Return the likeliest pieces at a step.

        Args:
            i: Step, 0-based.
            k: Number of pieces, at most the number stored (100, or the size of a smaller vocabulary).

        Returns:
            Pieces with their probabilities, likeliest first.

        Raises:
            AttnvizError: There is no such step, or `k` is out of range.
        """
        i = step_index(self, i)
        check_whole_argument(gettext("number of candidates k"), k, 1, len(self.top_pieces[i]))
        return [(piece, float(p)) for piece, p in zip(self.top_pieces[i][:k], self.top_probabilities[i], strict=False)]
