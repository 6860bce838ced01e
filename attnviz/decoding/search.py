"""Beam search and greedy search over several sentences at once, and the path and tree of a search.

`greedy` finds what `search` finds with a beam of width 1. There logits decide; probabilities are computed only where
steps are recorded.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple

import torch
from torch import Tensor

from attnviz.arguments import check_number, check_whole_argument
from attnviz.bounds import WIDEST_BEAM
from attnviz.decoding.applied_interventions import check_limit, check_reached, constrained, energy_change, first_end
from attnviz.languages import gettext
from attnviz.network.output import largest_logit
from attnviz.network.searchable import MemoryT, StateT, Stepping, StepT
from attnviz.text import BOS, EOS, UNK
from attnviz.trace.beam_tree import BeamNode, Fate
from attnviz.trace.interventions import Intervention, forced_words

_MOST_PENALTY = 10.0
"""Largest length penalty."""


class SearchStep(NamedTuple, Generic[StepT]):
    """A step of a search, with its backpointers."""

    step: StepT
    sentences: list[int]
    """The sentence of each row of the step; finished sentences have none."""
    parents: list[list[int]]
    """For each row of the next step, the index in this step of each hypothesis' parent."""
    log_probabilities: Tensor
    """log p(y_i), (S, k, K)."""


@dataclass(frozen=True)
class FinishedHypothesis:
    """A finished hypothesis."""

    ids: tuple[int, ...]
    """Ids of the target pieces, EOS last."""
    score: float
    """Sum of log probabilities divided by Ty^length_penalty."""
    parent: int
    """Index among the hypotheses of its last step, from which the steps are found."""


Verdict = Literal["lives", "ends", "falls", "late"]


class Candidate(NamedTuple):
    """A continuation that a step of the search considered, and what happened to it."""

    parent: int
    """Index of the hypothesis that it extends, among those of its step."""
    piece: int
    log_probability: float
    """log p(y_i) of the piece, in nats."""
    total: float
    """Log probability of all pieces up to this one."""
    verdict: Verdict
    """What happened to it.

    "lives": it stays in the beam; "ends": it finished; "falls": it leaves the beam; "late": it ended after `beam`
    others had finished.
    """


class _Continuation(NamedTuple):
    """A hypothesis extended by one piece."""

    score: float
    parent: int
    piece: int


_COLUMN = 16
"""How many numbers `largest` represents by their maximum."""

_NONE = _Continuation(float("-inf"), 0, EOS)
"""Filler for a beam with fewer hypotheses than its width; it cannot win."""


@dataclass
class _Sentence:
    """The hypotheses of one sentence during a search."""

    limit: int
    finished: list[FinishedHypothesis] = field(default_factory=list)
    prefixes: list[tuple[int, ...]] = field(default_factory=lambda: [()])
    """Pieces of the hypotheses in the beam."""
    over: bool = False
    verdicts: list[Verdict] = field(default_factory=list)
    """Verdicts on the first of the likeliest continuations of the last step; the others fall."""

    def extend(
        self, scores: list[float], choices: list[int], vocabulary: int, beam: int, length_penalty: float
    ) -> list[_Continuation]:
        """Process the continuations, best first; return those that stay in the beam, unless the search is `over`.

        `choices` encodes hypothesis and piece as hypothesis x `vocabulary` + piece.
        """
        active: list[_Continuation] = []
        self.verdicts = []
        for rank, (score, choice) in enumerate(zip(scores, choices, strict=True)):
            if score == float("-inf") or len(active) == beam:
                break
            parent, piece = divmod(choice, vocabulary)
            if piece != EOS:
                active.append(_Continuation(score, parent, piece))
                self.verdicts.append("lives")
            elif rank < beam and len(self.finished) < beam:
                ids = (*self.prefixes[parent], EOS)
                self.finished.append(FinishedHypothesis(ids, score / len(ids) ** length_penalty, parent))
                self.verdicts.append("ends")
            else:
                self.verdicts.append("late" if rank < beam else "falls")
        self.over = len(self.finished) == beam or not active
        self.prefixes = [(*self.prefixes[parent], piece) for _, parent, piece in active]
        return active


def longest_target(source_pieces: int) -> int:
    """Return the number of target pieces at which a hypothesis is forced to end.

    It is ample: only degenerate, repetitive translations reach it.
    """
    return 2 * source_pieces + 20


def check_search(beam: int, length_penalty: float = 1.0) -> None:
    """Raise AttnvizError unless the beam width and the length penalty are within bounds."""
    check_whole_argument(gettext("width of the beam"), beam, 1, WIDEST_BEAM)
    check_number(gettext("length penalty"), length_penalty, _MOST_PENALTY)


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
    unk: bool = False,
) -> list[list[FinishedHypothesis]]:
    """Return the finished hypotheses of each sentence of `memory`, best first.

    Each step is appended to `history`; for a single sentence, its candidates are appended to `growth`, likeliest first.

    `limits` are the largest numbers of pieces. At each step the `beam` likeliest unfinished continuations of a sentence
    stay in the beam; those that end among its `beam` best finish. A sentence is over when `beam` of its hypotheses have
    finished. PAD and BOS are never chosen, and UNK only with `unk`. `interventions` apply to every hypothesis at their
    steps. Raise AttnvizError where one names a step that the search does not reach.
    """
    device, vocabulary = memory.annotations.device, decoder.config.vocabulary_size
    sentences = [_Sentence(limit) for limit in limits]
    active, places = sentences, list(range(len(limits)))
    state = decoder.start(memory)
    previous = torch.full((len(limits), 1), BOS, device=device)
    totals = torch.zeros(len(limits), 1, device=device)
    check_limit(words := forced_words(interventions), min(limits))
    end = first_end(words, getattr(decoder.config, "family", ""))
    for length in itertools.count(1):
        step, state = decoder.step(memory, state, previous, energy_change(interventions, length - 1))
        must_end = [sentence.limit <= length for sentence in active]
        likely = decoder.output.log_probabilities(step.readout.flatten(0, 1)).view(*previous.shape, vocabulary)
        scores, choices = _continuations(constrained(likely, words, length - 1, end), totals, must_end, beam, unk)
        lists = zip(active, scores.tolist(), choices.tolist(), strict=True)
        continuations = [sentence.extend(s, p, vocabulary, beam, length_penalty) for sentence, s, p in lists]
        if growth is not None:
            growth.append(_candidates(active[0].verdicts, scores[0], choices[0], likely[0]))
        rows = [row for row, sentence in enumerate(active) if not sentence.over]
        filled = [(continuations[row] + [_NONE] * beam)[:beam] for row in rows]
        parents = [[continuation.parent for continuation in row] for row in filled]
        if history is not None:
            history.append(SearchStep(step, places, parents, likely))
        if not rows:
            break
        state = state.select(rows, parents)
        if len(rows) < len(active):
            active, places = [active[row] for row in rows], [places[row] for row in rows]
            memory = memory.select(rows)
        totals = torch.tensor([[continuation.score for continuation in row] for row in filled], device=device)
        previous = torch.tensor([[continuation.piece for continuation in row] for row in filled], device=device)
    check_reached(interventions, length)
    return [sorted(sentence.finished, key=lambda f: f.score, reverse=True) for sentence in sentences]


def _candidates(verdicts: list[Verdict], scores: Tensor, choices: Tensor, likely: Tensor) -> list[Candidate]:
    """Return the candidates of one step of a sentence.

    `scores` and `choices` (C,) are its continuations and `likely` (k, K) the log probabilities of its pieces.
    `verdicts` are those of the first continuations; all others fall.
    """
    possible = [score for score in scores.tolist() if score > float("-inf")]
    numbers = likely.flatten()[choices].tolist()
    places = [divmod(choice, likely.shape[-1]) for choice in choices.tolist()]
    falling: list[Verdict] = ["falls"] * (len(possible) - len(verdicts))
    return [
        Candidate(parent, piece, number, total, verdict)
        for total, (parent, piece), number, verdict in zip(possible, places, numbers, verdicts + falling, strict=False)
    ]


def _continuations(
    log_probabilities: Tensor, totals: Tensor, must_end: list[bool], beam: int, unk: bool
) -> tuple[Tensor, Tensor]:
    """Return the best continuations of each sentence: total log probability, and hypothesis x K + piece, each (S, .).

    `log_probabilities` (S, k, K), `totals` (S, k). There are 2 `beam` of them, since `beam` may end (greedy search
    needs one). Where `must_end`, only EOS continues. UNK is one of them only with `unk`.
    """
    if beam == 1 and not any(must_end) and not unk:
        best, indices = log_probabilities[:, 0, EOS:].max(1, keepdim=True)
        return totals + best, indices + EOS
    scores = log_probabilities + totals[..., None]
    never = [piece for piece in range(EOS) if piece != UNK or not unk]  # the ids of PAD, UNK and BOS are below EOS
    scores[..., never] = float("-inf")
    if any(must_end):
        ending = torch.tensor(must_end, device=scores.device)
        for others in (scores[..., :EOS], scores[..., EOS + 1 :]):
            others.masked_fill_(ending[:, None, None], float("-inf"))
    scores = scores.flatten(1)
    return largest(scores, min(2 * beam, scores.shape[1]))


def largest(scores: Tensor, count: int) -> tuple[Tensor, Tensor]:
    """Return the `count` largest of each row of `scores` (R, N), largest first, and their indices, each (R, count).

    Same result as torch.topk, but faster: with a row arranged in columns, the largest numbers are in the columns with
    the largest maxima.
    """
    rows, width = scores.shape
    columns = width // _COLUMN
    if width % _COLUMN or columns < 4 * count:
        best, indices = scores.topk(count)
        return best, indices
    table = scores.view(rows, _COLUMN, columns)
    # NumPy does not wake threads, which takes longer than the search itself.
    maxima = torch.from_numpy(table.numpy().max(1)) if table.device.type == "cpu" else table.amax(1)
    chosen = maxima.topk(count).indices
    best, indices = table.gather(2, chosen[:, None].expand(-1, _COLUMN, -1)).flatten(1).topk(count)
    return best, chosen.gather(1, indices % count) + columns * (indices // count)


class DecodingPath(NamedTuple):
    """Target and steps of one sentence."""

    ids: tuple[int, ...]
    """Ids of the target pieces, EOS last."""
    steps: list[Any]
    """The steps, as the decoder of the architecture returned them."""
    places: list[tuple[int, int]]
    """For each step, the row of the sentence in its batch, and the hypothesis."""
    log_probabilities: list[Tensor] | None = None
    """log p(y_i) of each step, (S, k, K), where the search computed them."""

    def rows(self, parts: Sequence[Tensor]) -> Tensor:
        """Return those of this path in `parts` of each step, (Ty, ...)."""
        return torch.stack([part[place] for part, place in zip(parts, self.places, strict=True)])

    def column(self, name: str) -> Tensor:
        """Return the values that its steps have under a name, (Ty, ...)."""
        return self.rows([getattr(step, name) for step in self.steps])


def path_of(history: Sequence[SearchStep[Any]], sentence: int, ids: tuple[int, ...], hypothesis: int) -> DecodingPath:
    """Return the steps of a search that led to `ids`, the target of the 0-based `sentence`.

    `hypothesis` is its index among those of its last step.
    """
    places: list[tuple[int, int]] = []
    for length in reversed(range(len(ids))):
        if places:  # not the last step: follow its backpointer
            hypothesis = history[length].parents[places[-1][0]][hypothesis]
        places.append((history[length].sentences.index(sentence), hypothesis))
    steps = history[: len(ids)]
    return DecodingPath(ids, [step.step for step in steps], places[::-1], [step.log_probabilities for step in steps])


_FATES: dict[str, Fate] = {"ends": "finished", "falls": "outside", "late": "late"}


def beam_nodes(growth: Sequence[Sequence[Candidate]], pieces: Sequence[str]) -> tuple[BeamNode, ...]:
    """Return the nodes of a `BeamTree`.

    `growth` has the candidates of each step of one sentence, likeliest first; `pieces` are those of the vocabulary.
    """
    nodes: list[BeamNode] = []
    beam: list[int | None] = [None]
    for step, candidates in enumerate(growth):
        after = growth[step + 1] if step + 1 < len(growth) else None
        next_beam: list[int | None] = []
        for rank, candidate in enumerate(candidates):
            fate = _FATES.get(candidate.verdict) or _fate(len(next_beam), after)
            if candidate.verdict == "lives":
                next_beam.append(len(nodes))
            nodes.append(
                BeamNode(
                    beam[candidate.parent],
                    step,
                    candidate.piece,
                    pieces[candidate.piece],
                    candidate.log_probability,
                    candidate.total,
                    rank,
                    fate,
                )
            )
        beam = next_beam
    return tuple(nodes)


def _fate(hypothesis: int, after: Sequence[Candidate] | None) -> Fate:
    """Return what happened to a hypothesis of the beam at the next step, whose candidates are `after`.

    `hypothesis` is its index in the beam; `after` is None where the search stopped.
    """
    if after is None:
        return "pruned"
    continued = any(candidate.parent == hypothesis and candidate.verdict in ("lives", "ends") for candidate in after)
    return "continued" if continued else "overtaken"


_COMPACT_BELOW = 0.75
"""Share of unfinished sentences below which a batch is compacted; compacting copies the states of the rest."""


@torch.inference_mode()
def greedy(
    decoder: Stepping[MemoryT, StateT, StepT],
    memory: MemoryT,
    limits: Sequence[int],
    history: list[SearchStep[StepT]] | None = None,
    interventions: Sequence[Intervention] = (),
    unk: bool = False,
) -> list[tuple[int, ...]]:
    """Return the target of each sentence of `memory`, EOS last; append each step to `history`.

    `limits` are the largest numbers of pieces. PAD and BOS are never chosen, and UNK only with `unk`. `interventions`
    apply to every sentence at their steps. Raise AttnvizError where one names a step that the search does not reach.
    """
    words = forced_words(interventions)
    check_limit(words, min(limits))
    end = first_end(words, getattr(decoder.config, "family", ""))
    targets: list[list[int]] = [[] for _ in limits]
    sentences = list(range(len(limits)))
    state, previous = decoder.start(memory), [BOS] * len(limits)
    for i in itertools.count():
        ids = torch.tensor(previous, device=memory.annotations.device)[:, None]
        step, state = decoder.step(memory, state, ids, energy_change(interventions, i))
        readouts, allowed = step.readout[:, 0], (EOS if i >= end else EOS + 1, UNK if unk else None)
        if history is None:
            likeliest = decoder.output.likeliest(readouts, *allowed)
        else:
            logits = decoder.output.logits(readouts)
            backpointers = [[0] for _ in sentences]
            history.append(SearchStep(step, sentences, backpointers, torch.log_softmax(logits, -1)[:, None]))
            likeliest = largest_logit(logits, *allowed)
        previous = [words[i]] * len(sentences) if i in words else likeliest
        for row, sentence in enumerate(sentences):
            target = targets[sentence]
            if not target or target[-1] != EOS:
                target.append(previous[row] if i + 1 < limits[sentence] else EOS)
        rows = [row for row, sentence in enumerate(sentences) if targets[sentence][-1] != EOS]
        if not rows:
            break
        if len(rows) <= _COMPACT_BELOW * len(sentences):
            state, memory = state.select(rows, [[0]] * len(rows)), memory.select(rows)
            sentences, previous = [sentences[row] for row in rows], [previous[row] for row in rows]
    check_reached(interventions, i + 1)
    return [tuple(target) for target in targets]
