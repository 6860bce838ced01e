"""Base classes of translation traces: of every architecture (`Record`) and of recurrent translators (`Recurrent`)."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from attnviz.text import BOS, SPACE, typed_surfaces
from attnviz.trace import storage
from attnviz.trace.aligned import Aligned
from attnviz.trace.drawing import drawing, step_index
from attnviz.trace.interventions import Intervention, check_interventions
from attnviz.trace.parts import FloatArray, Hypothesis, IntArray, Search
from attnviz.trace.saved import Computation

METHODS = ("greedy", "beam", "forced")
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
        return self.vocabulary_size

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
        if self.search.method not in METHODS:
            raise ValueError("it was found by an unknown search")
        check_interventions(
            self.interventions,
            source_pieces=columns,
            attends=self.attends_once,
            vocabulary_size=self.config["vocabulary_size"],
        )

    @cached_property
    def typed_target(self) -> tuple[str, ...]:
        """The target pieces, with the characters of a given translation in place of each `<unk>`."""
        return typed_surfaces(self.target_pieces, self.translation)

    @property
    def unknown_target_characters(self) -> tuple[str, ...]:
        """The character sequences of a given translation that the tokenizer does not know, each once."""
        typed = zip(self.target_pieces, self.typed_target, strict=True)
        return tuple(dict.fromkeys(surface.strip(SPACE) for piece, surface in typed if piece != surface))

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
        """Return the `k` likeliest pieces at step index `i` (0-based) with their probabilities, likeliest first.

        Raise IndexError where there is no such step, and ValueError unless 1 <= k <= the number stored (100, or the
        size of a smaller vocabulary).
        """
        stored = len(self.top_pieces[i])
        if not 1 <= k <= stored:
            raise ValueError(f"k must be from 1 to {stored}, the number of candidates a trace keeps, not {k}")
        return [(piece, float(p)) for piece, p in zip(self.top_pieces[i][:k], self.top_probabilities[i], strict=False)]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Recurrent(Record):
    """A translation by an encoder that makes annotations and a recurrent decoder that attends to them.

    m is the encoder's size in each direction, n the decoder's, n' the alignment size. In RNNsearch m is n, but n / 2
    with *dot* attention.
    """

    recurrent: ClassVar[bool] = True
    context_symbol: ClassVar[str] = "c"
    """Symbol of `contexts`."""

    annotations: FloatArray
    """Annotations h_j = [forward h_j ; backward h_j], (Tx, 2m)."""
    initial_state: FloatArray
    """Initial decoder state s_0, (n,)."""
    keys: FloatArray
    """Keys U_a h_j (additive, (Tx, n')) or P h_j (general, (Tx, n)); (Tx, 0) without attention."""
    queries: FloatArray
    """Queries W_a s_{i-1} (additive, (Ty, n')) or s_{i-1} (general, (Ty, n)); (Ty, 0) without attention.

    Imported models of some families query with s_i: see their trace.
    """
    score_vector: FloatArray
    """Score vector v_a of additive attention, (n',); (0,) for other kinds and where it is unknown."""
    energies: FloatArray
    """Energies e_ij, (Ty, Tx); without attention 0 for the last source piece and -inf for every other."""
    alignment: FloatArray
    """Attention alpha_ij = softmax_j e_ij, (Ty, Tx); rows sum to 1."""
    contexts: FloatArray
    """Context vectors c_i = sum_j alpha_ij h_j, (Ty, 2m); without attention the forward half of h_Tx, (Ty, n)."""
    readouts: FloatArray
    """Readouts t_i, from which the logits of step i are computed."""

    if TYPE_CHECKING:
        # For type checkers only: at run time, dataclasses would take a property for a field's default.
        @property
        def states(self) -> FloatArray:
            """Decoder states s_i of the last layer, (Ty, n)."""

        @property
        def kept_shares(self) -> FloatArray:
            """Share of the old state that each unit keeps, (Ty, n), in (0, 1).

            The update gate of a GRU or the forget gate of an LSTM.
            """

    @property
    def values(self) -> FloatArray:
        """What a context is the weighted sum of: the annotations, or without attention their forward half, (Tx, c)."""
        return self.annotations[:, : self.contexts.shape[1]]

    @property
    def queries_previous_state(self) -> bool:
        """Whether the query of a step is computed from the state before it, s_{i-1}, rather than from s_i."""
        return True

    @property
    def linear(self) -> bool:
        """Whether a logit is exactly the sum of contributions of state, context and previous word."""
        return True

    @property
    def reads_backwards(self) -> bool:
        """Whether the encoder also reads backwards, so that the second half of an annotation comes from this."""
        return True

    @property
    def previous_states(self) -> FloatArray:
        """Previous decoder state s_{i-1} of each step, (Ty, n)."""
        return np.concatenate([self.initial_state[None], self.states[:-1]])

    def features_at(self, step: int) -> FloatArray:  # noqa: ARG002
        """Return the features f_ij of 0-based `step`, (Tx, r): here r is 0."""
        return np.zeros((len(self.source_pieces), 0), np.float32)

    def keys_at(self, step: int) -> FloatArray:  # noqa: ARG002
        """Return the keys that the energies of 0-based `step` are computed from, (Tx, n')."""
        return self.keys

    def heatmap(self, **choices: Any) -> Any:
        """Return the alignment as a Plotly figure; `choices` as for `figures.heatmap`."""
        return drawing().heatmap(self, **choices)

    def step_figure(self, i: int, picture: str = "attention", **choices: Any) -> Any:
        """Return the figure `picture` of step index `i` (0-based), a name from `figures.STEP_FIGURES`.

        Some figures need the model's weights: pass `weights=analysis.load_weights(folder)`. Raise AttnvizError where
        there is no such step or picture.
        """
        return drawing().step_figure(self, step_index(self, i), picture, **choices)

    def _repr_html_(self) -> str:
        """Return the heatmap as an HTML table without scripts, which notebooks display."""
        return drawing().table_html(self)
