"""What-ifs: the effect of a change on a step, its figure and sentences; weights taken from links or another model."""

import dataclasses
import json
import math

import numpy as np
import plotly.graph_objects as go
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import (
    AttnvizError,
    ExcludePosition,
    ForceWords,
    ReplaceEnergies,
    ReplaceWeights,
    Temperature,
    Trace,
    figures,
)
from attnviz.analysis.labels import decimal, quoted_name
from attnviz.analysis.what_if_effects import (
    cards,
    change_alt,
    change_sentence,
    changed_words,
    intervention_text,
    interventions_text,
    probability_change_text,
    probability_text,
    step_change,
    weights_from_links,
    weights_from_trace,
)
from attnviz.figures.encoding import to_json
from attnviz.figures.registry import CHANGED
from attnviz.figures.subject import Subject
from attnviz.text import SPACE
from attnviz.trace import WhatIf, WhatIfs
from attnviz.trace.interventions import Intervention, forced_prefix
from attnviz.trace.word_link_text import parse_links
from tests.figures.synthetic import trace
from tests.letters import CUTS, shares
from tests.snapshots import without_numbers

SENTENCE, STEP = "Two dogs play in the snow.", 1


@pytest.fixture(scope="module")
def first(translator) -> Trace:
    return translator.translate(SENTENCE, beam=1)


@pytest.fixture(scope="module")
def changed(translator, first) -> Trace:
    """Return the translation with all attention on the last piece at STEP."""
    count = len(first.source_pieces)
    row = ReplaceWeights(tuple(float(j == count - 1) for j in range(count)), STEP)
    return translator.translate(SENTENCE, interventions=[*forced_prefix(first.target_ids, STEP), row], beam=1)


@pytest.fixture(scope="module")
def other_word(translator, first) -> Trace:
    """Return the translation in which STEP writes its second likeliest piece."""
    foil = next(piece for piece in first.top_ids[STEP].tolist() if piece != first.target_ids[STEP] and piece > 3)
    return translator.translate(
        SENTENCE, interventions=[*forced_prefix(first.target_ids, STEP), ForceWords((foil,), STEP)], beam=1
    )


def test_context_and_state_changes_are_relative_norms_and_drawn(first, changed) -> None:
    change = step_change(first, changed, STEP)
    assert change.moment == "same"
    expected = first.annotations[-1].astype(float)  # all weight is there
    before = first.alignment[STEP].astype(float) @ first.annotations.astype(float)
    assert change.context == pytest.approx(np.linalg.norm(expected - before) / np.linalg.norm(before), rel=1e-4)
    moved = np.linalg.norm(changed.states[STEP] - first.states[STEP]) / np.linalg.norm(first.states[STEP])
    assert change.state == pytest.approx(float(moved), rel=1e-4)
    assert not change.unchanged
    change, subject = step_change(first, changed, STEP), Subject(changed, STEP, parent=first)
    checked = go.Figure(figures.step_figure(subject, "changed").draw(subject).plotly())  # checks every property
    probabilities, moved = (trace.x for trace in checked.data if trace.type == "bar")
    assert list(probabilities) == [one.before or 0 for one in change.pieces] + [one.after or 0 for one in change.pieces]
    assert list(moved) == pytest.approx([change.context, change.state])
    assert max(moved) <= checked.layout.xaxis2.range[1]
    assert quoted_name(change.written.piece) in checked.layout.meta["alt"]


def test_words_forced_and_translations_that_have_ended_are_compared(
    each_language, first, other_word, snapshot, translator
) -> None:
    change = step_change(first, other_word, STEP)
    assert (change.context, change.state) == (pytest.approx(0, abs=1e-6), pytest.approx(0, abs=1e-6))
    assert not change.unchanged
    assert change.written.piece_id == other_word.target_ids[STEP]
    assert change.written_before is not None
    assert change.written_before.piece_id == first.target_ids[STEP]
    after = step_change(first, other_word, STEP + 1)
    assert after.moment == "other words"
    assert [without_numbers(change_sentence(one)) for one in (change, after)] == snapshot
    ended = translator.translate(
        SENTENCE, interventions=[*forced_prefix(first.target_ids, 1), ForceWords((3,), 1)], beam=1
    )
    change = step_change(ended, first, 3)
    assert (change.moment, change.written_before) == ("none", None)
    assert [without_numbers(change_sentence(change)), without_numbers(change_alt(change))] == snapshot
    assert go.Figure(json.loads(to_json(CHANGED.draw(Subject(first, 3, parent=ended)).plotly()))).layout.meta["alt"]
    with pytest.raises(IndexError):
        step_change(first, ended, 5)


def with_pieces(source: tuple[str, ...], target: tuple[str, ...], seed: int) -> Trace:
    """Return a trace of these pieces whose rows are random weights."""
    rows = np.random.default_rng(seed).dirichlet(np.ones(len(source)), size=len(target)).astype(np.float32)
    return dataclasses.replace(
        trace(),
        source_pieces=source,
        source_surfaces=source,
        target_pieces=target,
        alignment=rows,
        source_ids=tuple(range(4, 4 + len(source))),
        target_ids=tuple(range(4, 4 + len(target))),
    )


@given(st.lists(CUTS, min_size=4, max_size=4), st.lists(st.booleans(), min_size=32, max_size=32), st.integers(0, 99))
def test_weights_of_another_segmentation_are_mapped_by_letters(sides, spaced: list[bool], seed: int) -> None:
    source, target, other_source, other_target = ([*map(len, side), 1] for side in sides)
    marks = iter(spaced)
    pieces = [(*(SPACE * next(marks) + piece for piece in side), "</s>") for side in sides]
    ours, other = with_pieces(*pieces[:2], seed), with_pieces(*pieces[2:], seed + 1)
    rows = shares(other_target, target).T  # the means of the letters of each step
    expected = rows @ other.alignment @ shares(source, other_source).T
    for step in range(len(target)):
        np.testing.assert_allclose(weights_from_trace(ours, step, other), expected[step], atol=1e-6)


def test_blank_pieces_are_merged_and_links_share_weight_equally() -> None:
    ours = with_pieces((SPACE + "a", "</s>"), (SPACE + "x", "</s>"), 0)
    other = with_pieces((SPACE, "a", "</s>"), (SPACE, "x", "</s>"), 1)
    expected = other.alignment[1, :2].sum(), other.alignment[1, 2]
    np.testing.assert_allclose(weights_from_trace(ours, 0, other), expected, atol=1e-6)
    assert weights_from_trace(other, 0, ours).tolist() == weights_from_trace(other, 1, ours).tolist()
    assert weights_from_trace(other, 0, ours)[0] == 0
    found = trace()
    words = found.words()
    assert [len(group) for group in words.source_groups] == [1, 2, 1, 1, 1, 1]
    for step, piece in enumerate(found.target_pieces[:-1]):
        word = next(i for i, group in enumerate(words.target_groups) if step in group)
        weights = weights_from_links(found, step, [(0, word), (1, word), (3, (word + 1) % 5)])
        assert weights.tolist() == [0.5, 0.25, 0.25, 0, 0, 0, 0], piece
    with pytest.raises(AttnvizError, match="different source sentence"):
        weights_from_trace(trace(), 0, trace(source="Another sentence ."))
    for link in ((5, 0), (0, len(trace().words().target) - 1), (99, 0)):
        with pytest.raises(AttnvizError, match=f"{link[0]}-{link[1]}"):
            weights_from_links(trace(), 0, [(0, 0), link])
    for text in ("", " ", "0", "0-", "0-1 x", "1–2", "0-1;1-1", "-1-2", "0-1 9999999-1"):
        with pytest.raises(AttnvizError, match="is not a link|does not exist" if text.strip() else "None of the links"):
            weights_from_links(trace(), 0, parse_links(text).all)


CHANGES: list[Intervention] = [
    *(
        ReplaceWeights((1, 2), 4, *lender)
        for lender in ((), ("step", "1"), ("posterior",), ("links",), ("model", "small"))
    ),
    ReplaceWeights((0, 2), 4),
    ReplaceWeights((2, 2), 4),
    ReplaceWeights((1, 2), None, "step", "1"),
    ReplaceWeights((1, 2)),
    ReplaceEnergies((1, 2)),
    ReplaceEnergies((1, 2), 4),
    Temperature(math.inf),
    Temperature(2.5),
    Temperature(2.5, 4),
    ExcludePosition(2),
    ExcludePosition(2, 4),
    ForceWords((9, 9, 3)),
    ForceWords((9,), 1, 2),
    ForceWords((9, 9), 2, 1),
]


def test_every_change_and_its_effect_is_a_text(each_language, snapshot) -> None:
    parent, child = trace(target="Le contrat a été signé ."), trace()
    assert [intervention_text(change, child, parent) for change in CHANGES] == snapshot
    several = dataclasses.replace(child, interventions=(CHANGES[0], CHANGES[14], CHANGES[17]))
    assert [interventions_text(several, step) for step in (0, 4)] == snapshot(name="of a step")
    assert [probability_change_text("▁a", 0.561, after) for after in (0.561, 0.564, 0.1)] == snapshot(name="changes")
    assert [probability_text(*one) for one in ((0.561, 0.1), (None, 0.1), (None, 0.101), (None, 0))] == snapshot(
        name="least"
    )


def test_cards_compare_the_words_with_those_of_the_first_translation(each_language, snapshot) -> None:
    first, other = trace(), trace(target="L' accord est signé .", seed=1)
    what_ifs = (WhatIf(0, CHANGES[5], held=True), WhatIf(1, CHANGES[6]), WhatIf(2, CHANGES[16], held=True))
    found = cards(WhatIfs(first, what_ifs, (first, other, other)))
    assert [(one.description, one.on) for one in found] == snapshot
    assert [one.per_word for one in found[1:3]] == [
        decimal(float(one.log_probabilities.sum()) / count) for one, count in ((first, 6), (other, 5))
    ]
    kinds = [("L'", "same"), ("accord", "same"), ("est", "other"), ("signé", "same"), (".", "same")]
    assert [(word.text, word.kind) for word in found[2].words] == kinds


def test_words_stand_where_they_were_and_new_and_left_out_ones_are_marked() -> None:
    """Mark a new word with a plus, and one that is left out with a minus."""
    pieces = (SPACE + "it", "'", SPACE + "s", ".", "<unk>", SPACE + "b", "!", "</s>")
    (card,) = cards(WhatIfs(with_pieces((SPACE + "a", "</s>"), pieces, 0)))
    assert "".join(" " * word.space + word.text for word in card.words) == "it' s. <unk> b!"
    many = " ".join("ab" * 150)  # words that are frequent in a long sentence are words all the same
    for before, after in (
        ("a b c d b e", "a b -c d b +x e +x"),
        ("a b", "a b"),
        ("a b c", "-a b c"),
        (f"y {many}", f"+x {many}"),
        ("à la fin de la rue", "à la +la fin de la rue"),
        ("très très belle maison", "très -très belle maison"),
        ("la rue et la place", "la rue et +le place"),
        ("il est là là", "il est là -là"),
        ("un chat noir dort", "+le chat noir dort"),
    ):
        new = [(word.removeprefix("+"), "+" not in word) for word in after.split() if not word.startswith("-")]
        changed = [*changed_words(new, [(word, True) for word in before.split()])]
        assert " ".join({"same": "", "other": "+", "gone": "-"}[word.kind] + word.text for word in changed) == after
        assert [word.space for word in changed] == ["+" not in word for word in after.split()]


def test_pieces_of_a_change_are_the_ten_likeliest_and_the_written_ones() -> None:
    for seed in range(8):
        before, after = trace(seed=seed), trace(seed=seed + 1)
        if seed % 2:  # the least likely of the recorded pieces are written
            after = dataclasses.replace(after, target_ids=tuple(after.top_ids[:, -1].tolist()))
        for step in range(len(after.target_ids)):
            sides = [
                {one.target_ids[step]: float(one.probabilities[step])}
                | dict(zip(one.top_ids[step].tolist(), map(float, one.top_probabilities[step]), strict=True))
                for one in (before, after)
            ]
            most = {piece: max(side.get(piece, 0.0) for side in sides) for piece in {*sides[0], *sides[1]}}
            written = [after.target_ids[step], before.target_ids[step]]
            chosen = {*written}
            for piece in sorted(most, key=lambda piece: -most[piece]):
                if len(chosen) < 10:
                    chosen.add(piece)
            order = sorted(chosen, key=lambda piece: (-sides[1].get(piece, 0.0), -sides[0].get(piece, 0.0)))
            found = step_change(before, after, step)
            assert {one.piece_id for one in found.pieces} == chosen
            assert [one.after or 0 for one in found.pieces] == [sides[1].get(piece, 0) for piece in order]
            assert {one.piece_id: (one.before, one.after) for one in found.pieces} == {
                piece: (sides[0].get(piece), sides[1].get(piece)) for piece in chosen
            }
            assert [found.written.piece_id, found.written_before and found.written_before.piece_id] == written
            assert found.least == tuple(float(one.top_probabilities[step].min()) for one in (before, after))
            still = step_change(after, after, step)
            assert still.unchanged
            assert [dataclasses.replace(still, state=moved).unchanged for moved in (1e-4, 2e-4)] == [True, False]
            likelier = [still.written._replace(before=0.0, after=share) for share in (1e-4, 2e-4)]
            assert [dataclasses.replace(still, pieces=(one,)).unchanged for one in likelier] == [True, False]
