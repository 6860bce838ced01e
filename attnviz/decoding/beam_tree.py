"""Build the tree of a beam search from the candidates of its steps."""

from __future__ import annotations

from collections.abc import Sequence

from attnviz.decoding.search import Candidate
from attnviz.trace.beam_tree import BeamNode, Fate

_FATES: dict[str, Fate] = {"ends": "finished", "falls": "outside", "late": "late"}


def nodes_of(growth: Sequence[Sequence[Candidate]], pieces: Sequence[str]) -> tuple[BeamNode, ...]:
    """Return the nodes of a `BeamTree`.

    `growth` has the candidates of each step of one sentence, likeliest first; `pieces` are those of the vocabulary.
    """
    nodes: list[BeamNode] = []
    living: list[int | None] = [None]
    for step, candidates in enumerate(growth):
        after = growth[step + 1] if step + 1 < len(growth) else None
        born: list[int | None] = []
        for rank, one in enumerate(candidates):
            fate = _FATES.get(one.verdict) or _fate(len(born), after)
            if one.verdict == "lives":
                born.append(len(nodes))
            nodes.append(
                BeamNode(
                    living[one.parent], step, one.piece, pieces[one.piece], one.log_probability, one.total, rank, fate
                )
            )
        living = born
    return tuple(nodes)


def _fate(hypothesis: int, after: Sequence[Candidate] | None) -> Fate:
    """Return what happened to a hypothesis of the beam at the next step, whose candidates are `after`.

    `hypothesis` is its index in the beam; `after` is None where the search stopped.
    """
    if after is None:
        return "pruned"
    went_on = any(one.parent == hypothesis and one.verdict in ("lives", "ends") for one in after)
    return "continued" if went_on else "overtaken"
