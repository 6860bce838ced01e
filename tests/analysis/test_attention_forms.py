"""Forms of attention: the step at which they differ most, and the multiplications of each; models side by side."""

from __future__ import annotations

import numpy as np
import pytest
from syrupy.assertion import SnapshotAssertion

from attnviz.analysis.attention_forms import AttentionForm, Form, count_multiplications, instructive_step
from attnviz.analysis.models_side_by_side import bleu_gap_sentence
from attnviz.analysis.numbers import decimal
from attnviz.analysis.numpy_scorers import scorer_of


def form(*rows: tuple[float, float]) -> AttentionForm:
    return AttentionForm(np.array(rows, np.float32))


def test_step_with_the_largest_change_comes_first_if_all_forms_prefer_the_same_piece() -> None:
    forms: dict[Form, AttentionForm] = {
        "additive": form((0.6, 0.4), (0.6, 0.4), (0.6, 0.4)),
        "general": form((0.0, 1.0), (0.7, 0.3), (0.9, 0.1)),
    }
    assert instructive_step(forms) == 2


def test_step_with_the_largest_change_is_taken_if_the_forms_never_agree() -> None:
    forms: dict[Form, AttentionForm] = {
        "additive": form((0.6, 0.4), (0.6, 0.4)),
        "general": form((0.3, 0.7), (0.0, 1.0)),
    }
    assert instructive_step(forms) == 1


class Counted:
    """A number that counts all multiplications and tanh evaluations of such numbers."""

    multiplied = squashed = 0

    def __mul__(self, other: Counted) -> Counted:
        Counted.multiplied += 1
        return self

    def __add__(self, other: Counted) -> Counted:
        return self

    def tanh(self) -> Counted:
        Counted.squashed += 1
        return self


def numbers(*shape: int) -> np.ndarray:
    return np.array([Counted() for _ in range(int(np.prod(shape)))], dtype=object).reshape(shape)


@pytest.mark.parametrize(("n", "units", "source", "target"), [(3, 5, 4, 2), (4, 4, 1, 1), (2, 7, 6, 5)])
@pytest.mark.parametrize("kind", ["additive", "general"])
def test_formula_matches_the_counted_multiplications(
    kind: str, n: int, units: int, source: int, target: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    scorer = scorer_of({"attention": kind})
    decoder = {name: numbers(*shape) for name, shape in scorer.weight_shapes(n, units, source).items()}
    monkeypatch.setattr(np, "asarray", lambda values, **_: values)  # keep the objects of v_a
    Counted.multiplied = Counted.squashed = 0
    keys = scorer.keys(decoder, numbers(source, 2 * n))  # type: ignore[arg-type]
    for_keys = Counted.multiplied
    for_queries = for_pairs = 0
    for _ in range(target):
        before = Counted.multiplied
        query = scorer.query(decoder, numbers(n))  # type: ignore[arg-type]
        for_queries += Counted.multiplied - before
        before = Counted.multiplied
        found = scorer.activations(query, keys)
        if kind == "additive":  # the dot product adds up its activations without a score vector
            found = found @ scorer.score_vector(decoder, units)
        for_pairs += Counted.multiplied - before
    expected = count_multiplications({"attention": kind, "hidden_size": n, "alignment_size": units}, source, target)
    counted = (for_keys, for_queries, for_pairs, Counted.squashed)
    assert (expected.keys, expected.queries, expected.pairs, expected.tanh) == counted
    assert expected.total == for_keys + for_queries + for_pairs


@pytest.mark.usefixtures("each_language")
def test_bleu_gap_sentence_follows_from_the_scores(snapshot: SnapshotAssertion) -> None:
    sizes = 4_854_848, 4_819_520
    additive = {"1-10": 30.0, "11-20": 22.0, "21-30": 15.0}
    sentence = bleu_gap_sentence(additive, {"1-10": 31.0, "11-20": 20.5, "21-30": 12.0}, sizes)
    assert decimal(3.0, 1) in sentence
    assert [
        sentence,
        bleu_gap_sentence(additive, dict(additive), sizes),
    ] == snapshot
    assert bleu_gap_sentence(additive, {"31-40": 9.0}, sizes) == ""
