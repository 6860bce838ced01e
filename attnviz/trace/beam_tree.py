"""`BeamTree`: the record of a whole beam search of one sentence, every hypothesis with what became of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

from attnviz.text import join_pieces
from attnviz.trace.drawing import drawing
from attnviz.trace.interventions import ForceWord, Intervention, keep_words
from attnviz.trace.parts import Hypothesis

Fate = Literal["continued", "finished", "outside", "overtaken", "pruned", "late"]
"""What became of a hypothesis.

- "continued": it lived in the beam, and so did a continuation of it, or one of them finished.
- "finished": it ended among the likeliest, and was compared with the others that did.
- "outside": as many others as the beam is wide were likelier at its own step, and it fell out.
- "overtaken": it lived in the beam, but at the next step none of its continuations did.
- "pruned": it was in the beam, unfinished, when the search was over: as many as the beam is wide had finished.
- "late": it ended, but as many others had finished before it.
"""


@dataclass(frozen=True, slots=True)
class BeamNode:
    """A hypothesis of a beam search: the pieces on the way to it, of which `piece` is the last."""

    parent: int | None
    """The index in `BeamTree.nodes` of the hypothesis that it continues; None at the first step."""
    step: int
    """The 0-based step that wrote its last piece: it has `step` + 1 pieces."""
    piece_id: int
    piece: str
    log_probability: float
    """log p(y_i | y_<i, x) of that piece, in nats."""
    total: float
    """log p(y_1 .. y_i | x), the sum over all its pieces, in nats: by this a beam chooses."""
    rank: int
    """Its place among those that its step considered, from 0, the likeliest first."""
    fate: Fate


@dataclass(frozen=True, eq=False, kw_only=True)
class BeamTree:
    """All hypotheses that a beam search considered, as a tree: the pieces that two of them share stand in it once.

    At each step the search takes the 2 `beam` likeliest continuations of those that live (greedy search, `beam` 1, the
    likeliest). Of these, those finish that end and are among the `beam` likeliest; of those that do not end, the `beam`
    likeliest live on; the others fall. It is over when `beam` have finished, and the best of these has the largest

        score = log p(y | x) / Ty^length_penalty.
    """

    source_text: str
    nodes: tuple[BeamNode, ...]
    """Step by step, those of a step by their rank: a parent comes before its continuations."""
    hypotheses: tuple[Hypothesis, ...]
    """Those that finished, best first, as the record of the translation has them."""
    beam: int
    length_penalty: float
    model: str
    weights_digest: str
    """As in the record of a translation."""
    interventions: tuple[Intervention, ...] = ()

    @property
    def steps(self) -> int:
        """How many steps the search took: at least as many as the longest finished hypothesis has pieces."""
        return self.nodes[-1].step + 1

    @cached_property
    def finished(self) -> tuple[int, ...]:
        """The indices of the nodes that finished, best first, in the order of `hypotheses`."""
        ended = [index for index, node in enumerate(self.nodes) if node.fate == "finished"]
        return tuple(sorted(ended, key=self.score, reverse=True))

    @property
    def winner(self) -> int:
        """The index of the node that ends the translation."""
        return self.finished[0]

    @property
    def likeliest(self) -> int:
        """The index of the finished node that would have won by log probability alone, without a length penalty."""
        return max(self.finished, key=lambda index: self.nodes[index].total)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """For each node the indices of those that continue it, likeliest first."""
        found: list[list[int]] = [[] for _ in self.nodes]
        for index, node in enumerate(self.nodes):
            if node.parent is not None:
                found[node.parent].append(index)
        return tuple(map(tuple, found))

    def score(self, index: int) -> float:
        """Return log p / length^length_penalty of a node, its length in pieces: what finished ones are compared by."""
        node = self.nodes[index]
        return node.total / float((node.step + 1) ** self.length_penalty)

    def dropped_at(self, index: int) -> int | None:
        """Return the 0-based step at which a node was dropped; None for the winner, and for one whose continuations
        went on."""
        node = self.nodes[index]
        if node.fate == "continued" or index == self.winner:
            return None
        if node.fate == "finished":  # compared with the others once all were there
            return self.steps - 1
        return node.step + 1 if node.fate == "overtaken" else node.step

    def path(self, index: int) -> tuple[int, ...]:
        """Return the indices of the nodes from the first step to this one."""
        way: list[int] = []
        here: int | None = index
        while here is not None:
            way.append(here)
            here = self.nodes[here].parent
        return tuple(reversed(way))

    def ids(self, index: int) -> tuple[int, ...]:
        """Return the ids of the pieces of a hypothesis."""
        return tuple(self.nodes[one].piece_id for one in self.path(index))

    def pieces(self, index: int) -> tuple[str, ...]:
        """Return the pieces of a hypothesis."""
        return tuple(self.nodes[one].piece for one in self.path(index))

    def text(self, index: int) -> str:
        """Return what a hypothesis says, so far as it goes, without `</s>`."""
        return join_pieces(piece for piece in self.pieces(index) if piece != "</s>")

    def find(self, ids: Sequence[int]) -> int | None:
        """Return the index of the hypothesis of these pieces, or None where the search considered none such."""
        here, among = None, [index for index, node in enumerate(self.nodes) if node.parent is None]
        for piece in ids:
            here = next((index for index in among if self.nodes[index].piece_id == piece), None)
            if here is None:
                return None
            among = list(self.children[here])
        return here

    def going_on(self, index: int) -> tuple[ForceWord, ...]:
        """Return the interventions with which a search writes the pieces of a hypothesis and goes on from there."""
        return keep_words(self.ids(index), self.nodes[index].step + 1)

    def figure(self, **choices: Any) -> Any:
        """Return the tree as a Plotly figure, which a notebook shows; choices: `figures.beam_tree_figure`."""
        return drawing().beam_tree(self, **choices)
