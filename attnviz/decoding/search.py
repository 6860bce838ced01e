"""Beam search over several sentences at once; greedy search is the beam of width 1."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic, Literal, NamedTuple

import torch
from torch import Tensor

from attnviz.decoding.interventions import check_limit, check_reached, constrained, energy_change
from attnviz.errors import AttnvizError
from attnviz.network.searchable import MemoryT, StateT, Stepping, StepT
from attnviz.text import BOS, EOS
from attnviz.trace.interventions import Intervention, forced_words


class SearchStep(NamedTuple, Generic[StepT]):
    """A step of a search, with its backpointers."""

    step: StepT
    sentences: list[int]
    """The sentence of each row of the step: those that are over have none."""
    parents: list[list[int]]
    """For each row of the next step, the index in this one of the hypothesis that each hypothesis continues."""
    log_probabilities: Tensor
    """Log p(y_i), (S, k, K)."""


@dataclass(frozen=True)
class Finished:
    """A hypothesis that ended."""

    ids: tuple[int, ...]
    """Target pieces, EOS last."""
    score: float
    """Sum of log probabilities divided by Ty^length_penalty."""
    parent: int
    """Its index among the hypotheses of its last step: the way back to what was computed for it."""


Verdict = Literal["lives", "ends", "falls", "late"]


class Candidate(NamedTuple):
    """A continuation that a step of the search considered, and what became of it."""

    parent: int
    """The hypothesis it continues, counted among those of its step."""
    piece: int
    log_probability: float
    """Log p(y_i) of the piece, in nats."""
    total: float
    """That of all pieces up to this one."""
    verdict: Verdict
    """Lives on in the beam, ends and is finished, falls out of the beam, or ends late: as many as the beam is wide had
    finished before it."""


class _Continuation(NamedTuple):
    """A hypothesis with one more piece."""

    score: float
    parent: int
    piece: int


_COLUMN = 16
"""How many numbers the sieve of `largest` judges by their maximum."""

_WIDEST_BEAM = 100

_NONE = _Continuation(float("-inf"), 0, EOS)
"""Where fewer hypotheses live than the beam is wide, one that cannot win stands in."""


@dataclass
class _Sentence:
    """The hypotheses of one sentence."""

    limit: int
    finished: list[Finished] = field(default_factory=list)
    prefixes: list[tuple[int, ...]] = field(default_factory=lambda: [()])
    """Pieces of the hypotheses that live."""
    over: bool = False
    verdicts: list[Verdict] = field(default_factory=list)
    """On the likeliest continuations taken last; those that are not among them fall."""

    def extend(
        self, scores: list[float], choices: list[int], vocabulary: int, beam: int, length_penalty: float
    ) -> list[_Continuation]:
        """Take the continuations, best first; return those that live, unless the search is `over`.

        `choices` tells the hypothesis and the piece: hypothesis x `vocabulary` + piece.
        """
        living: list[_Continuation] = []
        self.verdicts = []
        for rank, (score, choice) in enumerate(zip(scores, choices, strict=True)):
            if score == float("-inf") or len(living) == beam:
                break
            parent, piece = divmod(choice, vocabulary)
            if piece != EOS:
                living.append(_Continuation(score, parent, piece))
                self.verdicts.append("lives")
            elif rank < beam and len(self.finished) < beam:
                ids = (*self.prefixes[parent], EOS)
                self.finished.append(Finished(ids, score / len(ids) ** length_penalty, parent))
                self.verdicts.append("ends")
            else:
                self.verdicts.append("late" if rank < beam else "falls")
        self.over = len(self.finished) == beam or not living
        self.prefixes = [(*self.prefixes[parent], piece) for _, parent, piece in living]
        return living


def longest_target(source_pieces: int) -> int:
    """Return the number of target pieces at which a hypothesis is made to end: ample, so that only a translation that
    runs in circles meets it."""
    return 2 * source_pieces + 20


def check_beam(beam: int) -> None:
    """Raise AttnvizError unless a search may be so wide."""
    if not 1 <= beam <= _WIDEST_BEAM:
        raise AttnvizError(f"The beam must be from 1 to {_WIDEST_BEAM} wide, not {beam}.")


@torch.inference_mode()
def search(
    decoder: Stepping[MemoryT, StateT, StepT],
    memory: MemoryT,
    limits: list[int],
    beam: int = 1,
    length_penalty: float = 1.0,
    history: list[SearchStep[StepT]] | None = None,
    interventions: Sequence[Intervention] = (),
    growth: list[list[Candidate]] | None = None,
) -> list[list[Finished]]:
    """Return the finished hypotheses of each sentence of `memory`, best first; append each step to `history`, and to
    `growth`, where there is one sentence alone, what each step considered, likeliest first.

    `limits` holds the most pieces each target may have. At each step the `beam` likeliest unfinished continuations of
    a sentence live on; those that end among its `beam` best leave it. A sentence is over when `beam` of its hypotheses
    have ended. Pieces that stand for no text (PAD, BOS) or for unknown text (UNK) are never chosen. `interventions` act
    on every hypothesis at their steps. Raise AttnvizError where one names a step that the search does not reach.
    """
    device, vocabulary = memory.annotations.device, decoder.config.vocabulary_size
    sentences = [_Sentence(limit) for limit in limits]
    living, places = sentences, list(range(len(limits)))
    state = decoder.start(memory)
    previous = torch.full((len(limits), 1), BOS, device=device)
    totals = torch.zeros(len(limits), 1, device=device)
    check_limit(words := forced_words(interventions), min(limits))
    for length in itertools.count(1):
        step, state = decoder.step(memory, state, previous, energy_change(interventions, length - 1))
        must_end = [sentence.limit <= length for sentence in living]
        likely = decoder.output.log_probabilities(step.readout.flatten(0, 1)).view(*previous.shape, vocabulary)
        scores, choices = _continuations(constrained(likely, words, length - 1), totals, must_end, beam)
        lists = zip(living, scores.tolist(), choices.tolist(), strict=True)
        kept = [sentence.extend(s, p, vocabulary, beam, length_penalty) for sentence, s, p in lists]
        if growth is not None:
            growth.append(_considered(living[0].verdicts, scores[0], choices[0], likely[0]))
        rows = [row for row, sentence in enumerate(living) if not sentence.over]
        filled = [(kept[row] + [_NONE] * beam)[:beam] for row in rows]
        parents = [[continuation.parent for continuation in row] for row in filled]
        if history is not None:
            history.append(SearchStep(step, places, parents, likely))
        if not rows:
            break
        state = state.select(rows, parents)
        if len(rows) < len(living):
            living, places = [living[row] for row in rows], [places[row] for row in rows]
            memory = memory.select(rows)
        totals = torch.tensor([[continuation.score for continuation in row] for row in filled], device=device)
        previous = torch.tensor([[continuation.piece for continuation in row] for row in filled], device=device)
    check_reached(interventions, length)
    return [sorted(sentence.finished, key=lambda f: f.score, reverse=True) for sentence in sentences]


def _considered(verdicts: list[Verdict], scores: Tensor, choices: Tensor, likely: Tensor) -> list[Candidate]:
    """Return what a step considered for a sentence: its continuations, `scores` and `choices` (C,) of the pieces that
    were `likely` (k, K), with the `verdicts` on the first of them. All others fall."""
    possible = [score for score in scores.tolist() if score > float("-inf")]
    numbers = likely.flatten()[choices].tolist()
    places = [divmod(choice, likely.shape[-1]) for choice in choices.tolist()]
    falling: list[Verdict] = ["falls"] * (len(possible) - len(verdicts))
    return [
        Candidate(parent, piece, number, total, verdict)
        for total, (parent, piece), number, verdict in zip(possible, places, numbers, verdicts + falling, strict=False)
    ]


def _continuations(log_probabilities: Tensor, totals: Tensor, must_end: list[bool], beam: int) -> tuple[Tensor, Tensor]:
    """Return the best continuations of each sentence: total log probability, and hypothesis x K + piece, each (S, .).

    `log_probabilities` (S, k, K), `totals` (S, k). They are twice as many as the `beam` is wide, since as many may end
    (greedy search needs one). Where `must_end`, EOS alone continues.
    """
    if beam == 1 and not any(must_end):
        best, indices = log_probabilities[:, 0, EOS:].max(1, keepdim=True)
        return totals + best, indices + EOS
    scores = log_probabilities + totals[..., None]
    scores[..., :EOS] = float("-inf")  # PAD, UNK and BOS come before it
    if any(must_end):
        ending = torch.tensor(must_end, device=scores.device)
        scores[..., EOS + 1 :].masked_fill_(ending[:, None, None], float("-inf"))
    scores = scores.flatten(1)
    return largest(scores, min(2 * beam, scores.shape[1]))


def largest(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the `count` largest of each row of `scores` (R, N), largest first, and their indices, each (R, count).

    It is torch.topk behind a cheap sieve: with the numbers of a row arranged in columns, the largest stand in those
    columns whose maxima are largest.
    """
    rows, width = scores.shape
    columns = width // _COLUMN
    if width % _COLUMN or columns < 4 * count:
        best, indices = scores.topk(count)
        return best, indices
    table = scores.view(rows, _COLUMN, columns)
    # NumPy looks for the largest without waking threads, which takes longer than to look.
    maxima = torch.from_numpy(table.numpy().max(1)) if table.device.type == "cpu" else table.amax(1)
    chosen = maxima.topk(count).indices
    best, indices = table.gather(2, chosen[:, None].expand(-1, _COLUMN, -1)).flatten(1).topk(count)
    return best, chosen.gather(1, indices % count) + columns * (indices // count)
