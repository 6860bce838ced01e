"""Build the nodes of a `BeamTree` from the candidates of a beam search."""

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
