"""Number of multiplications for the energies: the formula against a count over the recomputation."""

from __future__ import annotations

import numpy as np
import pytest

from attnviz.analysis.numpy_scorers import scorer_of
from attnviz.analysis.transformer_exhibits import count_multiplications


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


def test_counting_is_refused_without_attention() -> None:
    with pytest.raises(ValueError, match="nothing is counted"):
        count_multiplications({"attention": "none", "hidden_size": 3, "alignment_size": 3}, 2, 2)
