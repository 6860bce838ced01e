"""Faces of the heatmap grid (before, after, difference), by words and by pieces."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import AttnvizError
from attnviz.analysis.grid import FACES, grid
from attnviz.analysis.measures import coverage, entropy
from attnviz.trace.drawing import By
from tests.figures import synthetic
from tests.snapshots import refusal

TEXTS = st.sampled_from(["The agreement was signed .", "Extraordinary happenings .", "A", "Nobody knows nothing today"])


def some_posterior(shape: tuple[int, int], seed: int) -> np.ndarray:
    return np.random.default_rng(seed).dirichlet(np.full(shape[1], 0.3), size=shape[0])


@given(source=TEXTS, target=TEXTS, by=st.sampled_from(["words", "steps"]), seed=st.integers(0, 99))
def test_difference_is_after_minus_before_and_its_rows_sum_to_zero(source: str, target: str, by: By, seed: int) -> None:
    trace = synthetic.trace(source, target, seed=seed)
    posterior = some_posterior(trace.alignment.shape, seed)
    before, after, difference = (grid(trace, by, face=face, posterior=posterior) for face in FACES)
    whole = grid(trace, by, face="after", posterior=posterior)
    shown = posterior if by == "steps" else trace.words().merged(posterior)
    np.testing.assert_array_equal(whole.shown, shown)
    np.testing.assert_allclose(whole.covered, coverage(shown))
    if by == "steps":
        np.testing.assert_allclose(whole.entropies, entropy(posterior))
        cut = grid(trace, by, end=False, face="after", posterior=posterior)
        np.testing.assert_array_equal(cut.shown, posterior[:-1, :-1])
        np.testing.assert_allclose(cut.covered, whole.covered[:-1])
    plain = grid(trace, by)
    for field in dataclasses.fields(plain):
        one, other = getattr(plain, field.name), getattr(before, field.name)
        assert np.array_equal(one, other) if isinstance(one, np.ndarray) else one == other
    for cells in (before, after, difference):
        np.testing.assert_array_equal(cells.alpha, before.shown)
    np.testing.assert_allclose(after.shown - before.shown, difference.shown, atol=2e-7)
    np.testing.assert_allclose(difference.posterior_or_weights, after.shown, atol=2e-7)
    np.testing.assert_allclose(after.shown.sum(axis=1), 1, atol=1e-6)
    np.testing.assert_allclose(difference.shown.sum(axis=1), 0, atol=1e-6)
    np.testing.assert_allclose(difference.covered, after.covered - before.covered, atol=1e-5)
    np.testing.assert_allclose(difference.entropies, after.entropies - before.entropies, atol=1e-9)
    low, high = difference.range
    assert low == -high
    assert np.abs(difference.shown).max() <= high <= 1
    assert before.range == after.range == (0, 1)


@pytest.mark.parametrize("face", ["after", "difference"])
def test_unavailable_faces_are_refused(face, snapshot) -> None:
    assert refusal(lambda: grid(synthetic.trace(), face=face)) == snapshot
    with pytest.raises(AttnvizError, match="sideways") as wrong:
        grid(synthetic.trace(), face="sideways")
    assert all(name in str(wrong.value) for name in FACES)


@given(source=TEXTS, target=TEXTS, seed=st.integers(0, 99))
def test_cells_of_steps_are_alpha_and_brackets_join_the_pieces_of_words(source: str, target: str, seed: int) -> None:
    trace = synthetic.trace(source, target, seed=seed)
    words, by_steps, by_words = trace.words(), grid(trace, "steps"), grid(trace, "words")
    np.testing.assert_array_equal(by_steps.shown, trace.alignment)
    assert by_steps.steps == tuple((i,) for i in range(len(trace.target_pieces)))
    assert not by_steps.merged
    for names, brackets, texts, groups in (
        (by_steps.source, by_steps.source_brackets, words.source, words.source_groups),
        (by_steps.target, by_steps.target_brackets, words.target, words.target_groups),
    ):
        longer = [(group[0], group[-1], word) for word, group in zip(texts, groups, strict=True) if len(group) > 1]
        assert list(brackets) == longer
        assert [names[group[0]] for group in groups if len(group) == 1] == [
            word for word, group in zip(texts, groups, strict=True) if len(group) == 1
        ]
    assert not by_words.source_brackets
    assert not by_words.target_brackets
    for i, steps in enumerate(words.target_groups):
        for j, pieces in enumerate(words.source_groups):
            expected = np.mean([sum(float(trace.alignment[step, piece]) for piece in pieces) for step in steps])
            assert by_words.shown[i, j] == pytest.approx(expected, abs=1e-6)
