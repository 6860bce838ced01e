"""One look, three numbers: of a piece, of a word's pieces, of a written word's steps. Each says which it is."""

from __future__ import annotations

import dataclasses

import numpy as np

from attnviz.figures import heatmap
from attnviz.trace import Trace
from attnviz.wording.stages import narrate
from attnviz.wording.weights import merged, summed
from tests.figures.synthetic import trace as make_trace


def nearest() -> Trace:
    """Return "proche" written in two steps (pro·che) while looking at near·est (two pieces)."""
    trace = make_trace("the nearest house", "maison proche.......")
    assert [len(group) for group in trace.words().source_groups] == [1, 2, 1, 1]
    alpha = np.full((len(trace.target_pieces), len(trace.source_pieces)), 0.01, dtype=np.float32)
    alpha[:, 1], alpha[:, 2] = 0.9, 0.07
    return dataclasses.replace(trace, alignment=alpha)


def test_what_a_weight_is_made_of() -> None:
    assert merged(1, 1) == ""
    assert merged(2, 1) == "mean of 2 steps"
    assert merged(1, 3) == "sum of 3 pieces"
    assert merged(2, 3) == "mean of 2 steps, sum of 3 pieces"
    assert (summed(1), summed(2), summed(3)) == ("", "both pieces", "all 3 pieces")


def test_the_softmax_tells_a_piece_from_its_word() -> None:
    outcome = narrate(nearest(), 1)[1].outcome
    assert outcome == "“near” gets 90\u00a0% of the weight, both pieces of “nearest” 97\u00a0%"


def test_the_heatmap_says_what_a_cell_is_made_of() -> None:
    trace = make_trace("the nearest house", "la maison extraordinaire")
    by_words, by_pieces = (heatmap(trace, by=by).data[0].text for by in ("words", "pieces"))
    assert by_words[0][0].count("<br>") == 1
    assert by_words[0][1].endswith("<br>sum of 2 pieces")
    assert by_words[2][0].endswith("<br>mean of 2 steps")
    assert by_words[2][1].endswith("<br>mean of 2 steps, sum of 2 pieces")
    assert not any("sum of" in text or "mean of" in text for row in by_pieces for text in row)
