"""Beam search over several sentences at once; greedy search is the beam of width 1."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import torch
from torch import Tensor

from attnviz.network.stepping import Memory, Step, StepDecoder
from attnviz.text import BOS, EOS, PAD, UNK

Record = list[tuple[Step, Tensor]]
"""Each step of a search, with the hypothesis (by its place in the step) that each hypothesis of the next continues,
(S, k)."""


@dataclass(frozen=True)
class Finished:
    """A hypothesis that ended."""

    ids: tuple[int, ...]
    """Target pieces, EOS last."""
    score: float
    """Sum of log probabilities divided by Ty^length_penalty."""
    place: int
    """Its place among the hypotheses of its last step: the way back to what was computed for it."""


@dataclass
class _Sentence:
    """The hypotheses of one sentence."""

    limit: int
    finished: list[Finished] = field(default_factory=list)
    prefixes: list[tuple[int, ...]] = field(default_factory=lambda: [()])
    """Pieces of the hypotheses that live."""

    def extend(
        self, scores: list[float], parents: list[int], pieces: list[int], beam: int, length_penalty: float
    ) -> list[int]:
        """Take the continuations, best first; return the ranks of those that live on, none where the search is over."""
        chosen: list[int] = []
        for rank, (score, parent, piece) in enumerate(zip(scores, parents, pieces, strict=True)):
            if score == float("-inf") or len(chosen) == beam:
                break
            if piece != EOS:
                chosen.append(rank)
            elif rank < beam and len(self.finished) < beam:
                ids = (*self.prefixes[parent], EOS)
                self.finished.append(Finished(ids, score / len(ids) ** length_penalty, parent))
        if len(self.finished) == beam:
            return []
        self.prefixes = [(*self.prefixes[parents[rank]], pieces[rank]) for rank in chosen]
        return chosen


def longest_target(source_pieces: int) -> int:
    """Return the number of target pieces at which a hypothesis is made to end: ample, so that only a translation that
    runs in circles meets it."""
    return 2 * source_pieces + 20


@torch.inference_mode()
def search(
    decoder: StepDecoder,
    memory: Memory,
    limits: list[int],
    beam: int = 1,
    length_penalty: float = 1.0,
    record: Record | None = None,
) -> list[list[Finished]]:
    """Return the finished hypotheses of each sentence of `memory`, best first; append each step to `record`.

    `limits` holds the most pieces each target may have. At each step the `beam` likeliest unfinished continuations of
    a sentence live on; those that end among its `beam` best leave it. A sentence is over when `beam` of its hypotheses
    have ended. Pieces that stand for no text (PAD, BOS) or for unknown text (UNK) are never chosen.
    """
    device = memory.annotations.device
    sentences = [_Sentence(limit) for limit in limits]
    living = sentences
    state = decoder.start(memory)
    previous = torch.full((len(limits), 1), BOS, device=device)
    totals = torch.zeros(len(limits), 1, device=device)
    for length in itertools.count(1):
        step, state = decoder.step(memory, state, previous)
        must_end = [sentence.limit <= length for sentence in living]
        scores, parents, pieces = _continuations(step.logits, totals, must_end, 2 * beam)
        lists = zip(living, scores.tolist(), parents.tolist(), pieces.tolist(), strict=True)
        kept = [sentence.extend(s, p, w, beam, length_penalty) for sentence, s, p, w in lists]
        rows = torch.tensor([row for row, ranks in enumerate(kept) if ranks], dtype=torch.long, device=device)
        if len(rows) < len(living):
            living = [sentence for sentence, ranks in zip(living, kept, strict=True) if ranks]
            memory = memory.select(rows)
        if not living:
            break
        # Where fewer than `beam` live, places are filled up with a hypothesis that cannot win.
        ranks = torch.tensor([(r + [-1] * beam)[:beam] for r in kept if r], device=device)
        filler, ranks = ranks < 0, ranks.clamp_min(0)
        totals = scores[rows].gather(1, ranks).masked_fill_(filler, float("-inf"))
        previous, parents = pieces[rows].gather(1, ranks), parents[rows].gather(1, ranks)
        state = state.select(rows[:, None], parents)
        if record is not None:
            record.append((step, parents))
    if record is not None:
        record.append((step, parents))
    return [sorted(sentence.finished, key=lambda f: f.score, reverse=True) for sentence in sentences]


def _continuations(logits: Tensor, totals: Tensor, must_end: list[bool], count: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the `count` best continuations of each sentence: total log probability, parent and piece, each (S, count).

    `logits` (S, k, K), `totals` (S, k). Where `must_end`, EOS alone continues.
    """
    scores = torch.log_softmax(logits, -1)
    scores[..., [PAD, UNK, BOS]] = float("-inf")
    if any(must_end):
        ending = torch.tensor(must_end, device=logits.device)
        only = torch.full_like(scores[0, 0], float("-inf"))
        only[EOS] = 0
        scores[ending] += only
    scores += totals[..., None]
    vocabulary = logits.shape[-1]
    best, places = scores.flatten(1).topk(min(count, vocabulary * totals.shape[1]), dim=1)
    return best, places // vocabulary, places % vocabulary
