"""Texts about weights: each says whether it is of a piece, of a word, or of a word written in several steps."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.labels import merged_cell_text, summed_pieces_text
from attnviz.analysis.numbers import percent
from attnviz.architectures import narrate
from attnviz.figures import heatmap
from attnviz.trace import Trace
from tests.figures.synthetic import trace as make_trace

EACH_LANGUAGE = pytest.mark.usefixtures("each_language")


def nearest() -> Trace:
    """Return a trace in which "proche", written in two steps (pro·che), attends to near·est (two pieces)."""
    trace = make_trace("the nearest house", "maison proche.......")
    assert [len(group) for group in trace.words().source_groups] == [1, 2, 1, 1]
    alpha = np.full((len(trace.target_pieces), len(trace.source_pieces)), 0.01, dtype=np.float32)
    alpha[:, 1], alpha[:, 2] = 0.9, 0.07
    return dataclasses.replace(trace, alignment=alpha)


@EACH_LANGUAGE
def test_merged_weight_texts_name_the_steps_and_pieces(snapshot: SnapshotAssertion) -> None:
    assert merged_cell_text(1, 1) == ""
    assert [merged_cell_text(2, 1), merged_cell_text(1, 3), merged_cell_text(2, 3)] == snapshot(name="steps and pieces")
    assert summed_pieces_text(1) == ""
    assert [summed_pieces_text(2), summed_pieces_text(3)] == snapshot(name="pieces")


@EACH_LANGUAGE
def test_softmax_sentence_distinguishes_a_piece_from_its_word(snapshot: SnapshotAssertion) -> None:
    outcome = narrate(nearest(), 1)[1].outcome
    assert percent(0.9) in outcome
    assert percent(0.97) in outcome
    assert outcome == snapshot


def test_heatmap_cells_say_which_weights_they_merge() -> None:
    trace = make_trace("the nearest house", "la maison extraordinaire")
    by_words, by_pieces = (heatmap(trace, by=by).figure().data[0].text for by in ("words", "steps"))
    assert by_words[0][0].count("<br>") == 1
    assert by_words[0][1].endswith(f"<br>{merged_cell_text(1, 2)}")
    assert by_words[2][0].endswith(f"<br>{merged_cell_text(2, 1)}")
    assert by_words[2][1].endswith(f"<br>{merged_cell_text(2, 2)}")
    assert all(text.count("<br>") == 1 for row in by_pieces for text in row)
