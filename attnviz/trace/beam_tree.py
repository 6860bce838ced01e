"""`BeamTree`: every hypothesis of one sentence's beam search, and why each was dropped."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, Unpack

from attnviz.arguments import check_piece_ids, check_whole_argument
from attnviz.languages import gettext
from attnviz.palette import ThemeName
from attnviz.text import join_pieces
from attnviz.trace.drawing import BeamTreeOptions, drawing
from attnviz.trace.interventions import ForceWords, Intervention, forced_prefix
from attnviz.trace.parts import Hypothesis, OneLine

Fate = Literal["continued", "finished", "outside", "overtaken", "pruned", "late"]
"""What happened to a hypothesis.

- "continued": it stayed in the beam, and a continuation of it stayed as well or finished.
- "finished": it ended among the `beam` likeliest and was compared with the other finished ones.
- "outside": at least `beam` other hypotheses of the same step were likelier.
- "overtaken": it stayed in the beam, but none of its continuations did at the next step.
- "pruned": it was in the beam, unfinished, when the search stopped because `beam` hypotheses had finished.
- "late": it ended after `beam` other hypotheses had finished.
"""


@dataclass(frozen=True, slots=True)
class BeamNode:
    """One hypothesis of a beam search: the pieces on the path to it, ending with `piece`."""

    parent: int | None
    """Index in `BeamTree.nodes` of the hypothesis that this one extends; None at the first step."""
    step: int
    """0-based step that wrote the last piece; the hypothesis has `step` + 1 pieces."""
    piece_id: int
    piece: str
    log_probability: float
    """log p(y_i | y_<i, x) of that piece, in nats."""
    total: float
    """log p(y_1 .. y_i | x), the sum over all its pieces, in nats; the beam is ranked by it."""
    rank: int
    """0-based rank among the hypotheses of its step, likeliest first."""
    fate: Fate


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class BeamTree(OneLine):
    """All hypotheses that a beam search considered, as a tree in which shared beginnings appear once.

    At each step the search takes the 2 `beam` likeliest continuations of the hypotheses in the beam; greedy search
    (`beam` 1) takes the likeliest. Continuations that end finish if they are among the `beam` likeliest. Of those that
    do not end, the `beam` likeliest stay in the beam; the others are dropped. The search stops when `beam` hypotheses
    have finished. The winner has the largest

        score = log p(y | x) / Ty^length_penalty.
    """

    source_text: str
    nodes: tuple[BeamNode, ...]
    """Hypotheses by step, then by rank; a parent comes before its continuations."""
    hypotheses: tuple[Hypothesis, ...]
    """The finished hypotheses, best first, as in the trace of the translation."""
    beam: int
    length_penalty: float
    model: str
    weights_digest: str
    """SHA-256 of the weights, as in a trace."""
    interventions: tuple[Intervention, ...] = ()

    @property
    def steps(self) -> int:
        """Number of steps of the search, at least the length of the longest finished hypothesis in pieces."""
        return self.nodes[-1].step + 1

    @cached_property
    def finished(self) -> tuple[int, ...]:
        """Indices of the finished nodes, best first, in the order of `hypotheses`."""
        ended = [index for index, node in enumerate(self.nodes) if node.fate == "finished"]
        return tuple(sorted(ended, key=self.score, reverse=True))

    @property
    def winner(self) -> int:
        """Index of the last node of the translation."""
        return self.finished[0]

    @property
    def likeliest(self) -> int:
        """Index of the finished node with the largest log probability, which wins without a length penalty."""
        return max(self.finished, key=lambda index: self.nodes[index].total)

    @cached_property
    def children(self) -> tuple[tuple[int, ...], ...]:
        """For each node, the indices of its continuations, likeliest first."""
        children: list[list[int]] = [[] for _ in self.nodes]
        for index, node in enumerate(self.nodes):
            if node.parent is not None:
                children[node.parent].append(index)
        return tuple(map(tuple, children))

    def score(self, index: int) -> float:
        """Return log p / length^length_penalty of a node; finished nodes are compared by it.

        Args:
            index: Index of the node. Its length is counted in pieces.
        """
        node = self._node(index)
        return node.total / float((node.step + 1) ** self.length_penalty)

    def dropped_at(self, index: int) -> int | None:
        """Return the step at which a node was dropped.

        Args:
            index: Index of the node.

        Returns:
            The 0-based step; None for the winner and for continued nodes.
        """
        node = self._node(index)
        if node.fate == "continued" or index == self.winner:
            return None
        if node.fate == "finished":  # finished hypotheses are compared when the search stops
            return self.steps - 1
        return node.step + 1 if node.fate == "overtaken" else node.step

    def path(self, index: int) -> tuple[int, ...]:
        """Return the indices of the nodes from the first step to a node.

        Args:
            index: Index of the node.
        """
        self._node(index)
        indices: list[int] = []
        current: int | None = index
        while current is not None:
            indices.append(current)
            current = self.nodes[current].parent
        return tuple(reversed(indices))

    def ids(self, index: int) -> tuple[int, ...]:
        """Return the ids of the pieces of a hypothesis.

        Args:
            index: Index of its last node.
        """
        return tuple(self.nodes[node].piece_id for node in self.path(index))

    def pieces(self, index: int) -> tuple[str, ...]:
        """Return the pieces of a hypothesis.

        Args:
            index: Index of its last node.
        """
        return tuple(self.nodes[node].piece for node in self.path(index))

    def text(self, index: int) -> str:
        """Return the text of a hypothesis, without `</s>`.

        Args:
            index: Index of its last node.
        """
        return join_pieces(piece for piece in self.pieces(index) if piece != "</s>")

    def find(self, ids: Sequence[int]) -> int | None:
        """Return the index of a hypothesis, or None where the search did not consider it.

        Args:
            ids: Ids of its pieces.
        """
        check_piece_ids(ids)
        current, candidates = None, [index for index, node in enumerate(self.nodes) if node.parent is None]
        for piece in ids:
            current = next((index for index in candidates if self.nodes[index].piece_id == piece), None)
            if current is None:
                return None
            candidates = list(self.children[current])
        return current

    def forced_path(self, index: int) -> tuple[ForceWords, ...]:
        """Return the interventions that force the pieces of a hypothesis and let a search continue from there.

        Args:
            index: Index of its last node.
        """
        return forced_prefix(self.ids(index), self._node(index).step + 1)

    def _node(self, index: int) -> BeamNode:
        """Return a node; raise AttnvizError where there is none of this index."""
        check_whole_argument(gettext("node"), index, 0, len(self.nodes) - 1)
        return self.nodes[index]

    def figure(self, *, theme: ThemeName = "light", **options: Unpack[BeamTreeOptions]) -> Any:
        """Return the tree as a Plotly figure.

        Args:
            theme: "light" or "dark".
            **options: Options of `figures.beam_tree`.

        Returns:
            The figure.
        """
        return drawing().draw_beam_tree(self, theme, **options)
