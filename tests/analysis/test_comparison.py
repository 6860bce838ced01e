"""Faces of the heatmap grid; comparison of two translations: words, gaps and differences; edits of a sentence."""

import dataclasses
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from attnviz import AttnvizError
from attnviz.analysis.comparison import compare, next_word, sentence_words, shared_axis, with_next_swapped, without_word
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


WORDS = st.lists(st.sampled_from(["a", "A", "red", "Red", "bicycle", "is", "the", ".", "</s>"]), max_size=12)

SENTENCES = st.sampled_from(
    ["The agreement was signed .", "Signed was the agreement .", "The extraordinary agreement", "A", "Nothing of it ?"]
)


def count_shared(first: list[str], other: list[str]) -> int:
    """Return the words of the longest common run, the first of several, and of those left and right of it."""
    ends = [(i, j, n) for i in range(len(first)) for j in range(len(other)) for n in range(1, len(first) - i + 1)]
    runs = [(n, -i, -j) for i, j, n in ends if first[i : i + n] == other[j : j + n]]
    n, i, j = max(runs, default=(0, 0, 0))
    return n and n + count_shared(first[:-i], other[:-j]) + count_shared(first[n - i :], other[n - j :])


@given(first=WORDS, other=WORDS)
def test_shared_axis_keeps_the_order_of_both_sentences_and_shares_runs(first: list[str], other: list[str]) -> None:
    axis = shared_axis(first, other)
    assert axis.shared.sum() == count_shared(*([word.casefold() for word in side] for side in (first, other)))
    for words, places in ((first, axis.first), (other, axis.other)):
        assert [word for word in places if word is not None] == list(range(len(words)))
    for one, two, name, shared in zip(axis.first, axis.other, axis.names, axis.shared, strict=True):
        assert shared == (one is not None and two is not None)
        written = [words[k] for words, k in ((first, one), (other, two)) if k is not None]
        assert {word.casefold() for word in written} == {name.casefold().split(" / ")[0]}
        assert name.split(" / ") == list(dict.fromkeys(written))


@given(
    texts=st.tuples(SENTENCES, SENTENCES, SENTENCES, SENTENCES),
    by=st.sampled_from(["words", "steps"]),
    seeds=st.tuples(st.integers(0, 20), st.integers(0, 20)),
)
def test_cells_hold_the_weights_of_their_words_and_gaps_are_nan(texts, by: By, seeds: tuple[int, int]) -> None:
    traces = [synthetic.trace(texts[2 * k], texts[2 * k + 1], seed=seeds[k]) for k in (0, 1)]
    found = compare(*traces, by=by)
    for k, matrix in enumerate((found.first, found.other)):
        cells = grid(traces[k], by)
        rows, columns = (axis.first if k == 0 else axis.other for axis in (found.target, found.source))
        for place in np.ndindex(matrix.shape):
            row, column = rows[place[0]], columns[place[1]]
            if row is None or column is None:
                assert math.isnan(matrix[place])
            else:
                assert matrix[place] == cells.shown[row, column]
        np.testing.assert_allclose(np.nansum(matrix), len(cells.target), rtol=1e-5)  # no weight is lost
    np.testing.assert_array_equal(np.isfinite(found.difference), np.outer(found.target.shared, found.source.shared))


@given(seeds=st.tuples(st.integers(0, 50), st.integers(0, 50)))
def test_moved_is_total_variation_and_most_changed_is_sorted(seeds: tuple[int, int]) -> None:
    found = compare(synthetic.trace(seed=seeds[0]), synthetic.trace(seed=seeds[1]))
    assert ((found.total_variation >= 0) & (found.total_variation <= 1 + 1e-6)).all()
    for row in range(len(found.total_variation)):  # the largest share of what any set of columns can differ by
        gain = np.maximum(found.difference[row], 0).sum()
        assert math.isclose(found.total_variation[row], gain, abs_tol=1e-6)
    amounts = [abs(found.difference[place]) for place in found.most_changed(4)]
    assert amounts == sorted(amounts, reverse=True)
    if amounts:
        assert amounts[0] == np.nanmax(np.abs(found.difference))


def test_aligned_steps_and_posteriors_are_compared() -> None:
    one, two = synthetic.trace(target="L' extraordinaire accord signé ."), synthetic.trace(target="Un accord signé .")
    found = compare(one, two)
    assert one.target_pieces == ("▁L'", "▁extr", "aordinaire", "▁accord", "▁signé", "▁.", "</s>")
    assert [found.aligned_step(step) for step in range(7)] == [None, None, None, 1, 2, 3, 4]
    assert [found.aligned_step(step, "other") for step in range(5)] == [None, 3, 4, 5, 6]
    for step in range(1, 5):
        assert found.row_of(step, "other") == found.row_of(step + 2)
    with pytest.raises(AttnvizError):
        found.aligned_step(99)
    one, two = synthetic.trace(seed=1), synthetic.trace(seed=2)
    posteriors = some_posterior(one.alignment.shape, 1), some_posterior(two.alignment.shape, 2)
    found = compare(one, two, by="steps", face="after", posteriors=posteriors)
    np.testing.assert_array_equal(found.difference, posteriors[1] - posteriors[0])
    shown = compare(one, two, by="steps", face="difference", posteriors=posteriors)
    np.testing.assert_allclose(shown.first, posteriors[0] - one.alignment)
    with pytest.raises(AttnvizError, match="weights"):
        compare(one, two, face="after", posteriors=(posteriors[0], None))


@pytest.mark.parametrize("which", [0, 1])
def test_comparison_without_attention_has_only_log_probabilities(which: int) -> None:
    traces = [synthetic.trace(seed=1), synthetic.trace(seed=2)]
    traces[which] = synthetic.trace(seed=3, attention="none")
    after = some_posterior(traces[0].alignment.shape, 1)
    found = compare(*traces, face="after", posteriors=(after, after))
    assert (found.both_attend, found.most_changed()) == (False, [])
    for values in ((found.first, found.other)[which], found.difference, found.total_variation):
        assert np.isnan(values).all()
    assert np.isfinite([found.first_log_probabilities, found.other_log_probabilities]).all()


@given(
    words=st.lists(st.sampled_from(["a", "red", "12.30", "bicycle", ",", "."]), min_size=1, max_size=8), data=st.data()
)
def test_edits_of_plain_sentences_change_only_the_chosen_words(words: list[str], data: st.DataObject) -> None:
    text = " ".join(words)
    k = data.draw(st.integers(0, len(words) - 1))
    assert list(sentence_words(text)) == words
    assert list(sentence_words(without_word(text, k))) == words[:k] + words[k + 1 :]
    follower = next_word(text, k)
    expected = list(words)
    if follower is not None:
        expected[k], expected[follower] = expected[follower], expected[k]
    assert list(sentence_words(with_next_swapped(text, k))) == expected


def test_edits_keep_punctuation_in_place() -> None:
    text = "Girls ride  red bicycles."
    assert without_word(text, 3) == "Girls ride red."
    assert without_word(text, 4) == "Girls ride red bicycles"
    assert without_word(text, 0) == "ride red bicycles."
    assert with_next_swapped(text, 2) == "Girls ride bicycles red."
    assert with_next_swapped(text, 3) == text.replace("  ", " ")
    assert next_word(text, 4) is None
    assert with_next_swapped("It is late, Sir!", 2) == "It is Sir, late!"
    assert without_word("He said “no”.", 3) == 'He said "".'
