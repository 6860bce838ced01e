"""Effect of an intervention on one step: comparison of both translations, its figure and its sentence."""

from __future__ import annotations

import dataclasses
import json
from typing import get_args

import numpy as np
import plotly.graph_objects as go
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz import Trace, Translator, figures
from attnviz.analysis.labels import quoted_name
from attnviz.analysis.what_if_effects import StepChange, change_alt, change_sentence, step_change
from attnviz.figures.encoding import to_json
from attnviz.figures.registry import CHANGED
from attnviz.figures.subject import Subject
from attnviz.palette import ThemeName
from attnviz.trace.interventions import ForceWords, ReplaceWeights, forced_prefix
from tests.snapshots import without_numbers

SENTENCE, STEP = "Two dogs play in the snow.", 1
EACH_LANGUAGE = pytest.mark.usefixtures("each_language")


@pytest.fixture(scope="module")
def first(translator: Translator) -> Trace:
    return translator.translate(SENTENCE, beam=1)


@pytest.fixture(scope="module")
def changed(translator: Translator, first: Trace) -> Trace:
    """Return the translation with all attention on the last piece at STEP."""
    count = len(first.source_pieces)
    row = ReplaceWeights(tuple(float(j == count - 1) for j in range(count)), STEP)
    return translator.translate(SENTENCE, interventions=[*forced_prefix(first.target_ids, STEP), row], beam=1)


@pytest.fixture(scope="module")
def other_word(translator: Translator, first: Trace) -> Trace:
    """Return the translation in which STEP writes its second likeliest piece."""
    foil = next(piece for piece in first.top_ids[STEP].tolist() if piece != first.target_ids[STEP] and piece > 3)
    return translator.translate(
        SENTENCE, interventions=[*forced_prefix(first.target_ids, STEP), ForceWords((foil,), STEP)], beam=1
    )


def test_context_and_state_changes_are_relative_norms(first: Trace, changed: Trace) -> None:
    change = step_change(first, changed, STEP)
    assert change.moment == "same"
    expected = first.annotations[-1].astype(float)  # all weight is there
    before = first.alignment[STEP].astype(float) @ first.annotations.astype(float)
    assert change.context == pytest.approx(np.linalg.norm(expected - before) / np.linalg.norm(before), rel=1e-4)
    moved = np.linalg.norm(changed.states[STEP] - first.states[STEP]) / np.linalg.norm(first.states[STEP])
    assert change.state == pytest.approx(float(moved), rel=1e-4)
    assert not change.unchanged


def test_sentence_names_a_piece_that_is_likelier_than_the_written_one(first: Trace, other_word: Trace) -> None:
    change = step_change(first, other_word, STEP)
    likeliest = max(change.pieces, key=lambda one: one.after or 0)
    assert likeliest.piece_id != change.written.piece_id
    named = change_sentence(change).count(quoted_name(likeliest.piece))
    changed_back = step_change(other_word, first, STEP)
    assert named == 2, "once as the previous choice"
    assert change_sentence(changed_back).count(quoted_name(likeliest.piece)) == 1


@EACH_LANGUAGE
def test_steps_before_the_intervention_are_unchanged(first: Trace, changed: Trace, snapshot: SnapshotAssertion) -> None:
    change = step_change(first, changed, STEP - 1)
    assert change.unchanged
    assert change_sentence(change) == snapshot


def test_a_translation_compared_with_itself_is_unchanged(first: Trace) -> None:
    assert all(step_change(first, first, step).unchanged for step in range(len(first.target_ids)))


@EACH_LANGUAGE
def test_a_forced_word_leaves_context_and_state_unchanged(
    first: Trace, other_word: Trace, snapshot: SnapshotAssertion
) -> None:
    change = step_change(first, other_word, STEP)
    assert (change.context, change.state) == (pytest.approx(0, abs=1e-6), pytest.approx(0, abs=1e-6))
    assert not change.unchanged
    assert change.written.piece_id == other_word.target_ids[STEP]
    assert change.written_before is not None
    assert change.written_before.piece_id == first.target_ids[STEP]
    after = step_change(first, other_word, STEP + 1)
    assert after.moment == "other words"
    assert without_numbers(change_sentence(after)) == snapshot


def test_pieces_include_the_likeliest_and_the_written_ones(translator: Translator, first: Trace) -> None:
    unlikely = ForceWords((int(first.top_ids[STEP][50]),), STEP)
    changed = translator.translate(SENTENCE, interventions=[*forced_prefix(first.target_ids, STEP), unlikely], beam=1)
    change = step_change(first, changed, STEP)
    piece_ids = {one.piece_id for one in change.pieces}
    assert len(change.pieces) == 10
    assert {first.target_ids[STEP], changed.target_ids[STEP]} <= piece_ids
    both = [
        dict(zip(one.top_ids[STEP].tolist(), one.top_probabilities[STEP].tolist(), strict=True))
        for one in (first, changed)
    ]
    for one in change.pieces:
        assert (one.before, one.after) == tuple(probabilities.get(one.piece_id) for probabilities in both)
    likeliest = sorted(set(both[0]) | set(both[1]), key=lambda piece: -max(one.get(piece, 0) for one in both))
    assert likeliest[0] in piece_ids


@EACH_LANGUAGE
def test_unrecorded_pieces_are_below_the_least_probability(
    first: Trace, changed: Trace, snapshot: SnapshotAssertion
) -> None:
    short = dataclasses.replace(
        first,
        top_ids=first.top_ids[:, :2],
        top_probabilities=first.top_probabilities[:, :2],
        top_pieces=tuple(row[:2] for row in first.top_pieces),
    )
    change = step_change(short, changed, STEP)
    missing = [one for one in change.pieces if one.before is None]
    assert missing
    assert change.least[0] == pytest.approx(float(first.top_probabilities[STEP, 1]))
    assert "nan" in CHANGED.draw(Subject(changed, STEP, parent=short)).frame().to_csv(na_rep="nan")
    assert without_numbers(change_alt(change)) == snapshot


@EACH_LANGUAGE
def test_comparison_is_empty_after_the_end_of_the_other_translation(
    translator: Translator, first: Trace, snapshot: SnapshotAssertion
) -> None:
    ended = translator.translate(
        SENTENCE, interventions=[*forced_prefix(first.target_ids, 1), ForceWords((3,), 1)], beam=1
    )
    change = step_change(ended, first, 3)
    assert (change.moment, change.written_before) == ("none", None)
    assert without_numbers(change_sentence(change)) == snapshot(name="sentence")
    assert without_numbers(change_alt(change)) == snapshot(name="alternative text")
    assert go.Figure(json.loads(to_json(CHANGED.draw(Subject(first, 3, parent=ended)).plotly))).layout.meta["alt"]
    with pytest.raises(IndexError):
        step_change(first, ended, 5)


@pytest.mark.parametrize("theme", get_args(ThemeName))
def test_figure_draws_both_probabilities_and_is_valid(first: Trace, changed: Trace, theme: ThemeName) -> None:
    change = step_change(first, changed, STEP)
    subject = Subject(changed, STEP, parent=first, theme=theme)
    checked = go.Figure(figures.step_figure(subject, "changed").draw(subject).plotly)  # checks every property
    shares, moved = (trace.x for trace in checked.data if trace.type == "bar")
    sides = [one.before for one in change.pieces], [one.after for one in change.pieces]
    assert list(shares) == [share or 0 for side in sides for share in side]
    assert list(moved) == pytest.approx([change.context, change.state])
    assert max(moved) <= checked.layout.xaxis2.range[1]
    assert quoted_name(change.written.piece) in checked.layout.meta["alt"]


@EACH_LANGUAGE
def test_figure_is_available_only_after_an_intervention(
    first: Trace, changed: Trace, snapshot: SnapshotAssertion
) -> None:
    assert CHANGED.missing(Subject(first, STEP)) == snapshot
    assert not CHANGED.missing(Subject(changed, STEP, parent=first))


@EACH_LANGUAGE
def test_the_sentence_names_both_words(first: Trace, changed: Trace, snapshot: SnapshotAssertion) -> None:
    change: StepChange = step_change(first, changed, STEP)
    sentence = change_sentence(change)
    assert quoted_name(changed.target_pieces[STEP]) in sentence
    assert without_numbers(sentence) == snapshot
