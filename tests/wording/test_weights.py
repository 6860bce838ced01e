"""One look, three numbers: of a piece, of a word's pieces, of a written word's steps. Each says which it is."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz.figures import heatmap
from attnviz.trace import Trace
from attnviz.wording.numbers import percent
from attnviz.wording.stages import narrate
from attnviz.wording.weight_names import merged, summed
from tests.figures.synthetic import trace as make_trace

EACH_LANGUAGE = pytest.mark.usefixtures("each_language")


def nearest() -> Trace:
    """Return "proche" written in two steps (pro·che) while looking at near·est (two pieces)."""
    trace = make_trace("the nearest house", "maison proche.......")
    assert [len(group) for group in trace.words().source_groups] == [1, 2, 1, 1]
    alpha = np.full((len(trace.target_pieces), len(trace.source_pieces)), 0.01, dtype=np.float32)
    alpha[:, 1], alpha[:, 2] = 0.9, 0.07
    return dataclasses.replace(trace, alignment=alpha)


@EACH_LANGUAGE
def test_what_a_weight_is_made_of(snapshot: SnapshotAssertion) -> None:
    assert merged(1, 1) == ""
    assert [merged(2, 1), merged(1, 3), merged(2, 3)] == snapshot(name="steps and pieces")
    assert summed(1) == ""
    assert [summed(2), summed(3)] == snapshot(name="pieces")


@EACH_LANGUAGE
def test_the_softmax_tells_a_piece_from_its_word(snapshot: SnapshotAssertion) -> None:
    outcome = narrate(nearest(), 1)[1].outcome
    assert percent(0.9) in outcome
    assert percent(0.97) in outcome
    assert outcome == snapshot


def test_the_heatmap_says_what_a_cell_is_made_of() -> None:
    trace = make_trace("the nearest house", "la maison extraordinaire")
    by_words, by_pieces = (heatmap(trace, by=by).data[0].text for by in ("words", "pieces"))
    assert by_words[0][0].count("<br>") == 1
    assert by_words[0][1].endswith(f"<br>{merged(1, 2)}")
    assert by_words[2][0].endswith(f"<br>{merged(2, 1)}")
    assert by_words[2][1].endswith(f"<br>{merged(2, 2)}")
    assert all(text.count("<br>") == 1 for row in by_pieces for text in row)
