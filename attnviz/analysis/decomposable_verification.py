"""Verify a result of decomposable attention: recompute every number in NumPy, without code of the network.

Each number is computed from the saved weights and the recorded operands.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from attnviz.analysis.decomposable_recomputation import Array, recompute_decomposable
from attnviz.analysis.fit import MisfitError, check_weight_shapes, misfit_message
from attnviz.analysis.verification import Pairs, Verification, Verifier
from attnviz.trace import Judgement
from attnviz.trace.quantity import check_shapes


class JudgementVerifier(Verifier):
    """Verifies a verdict, which has one step."""

    def __init__(self, trace: Judgement, weights: Mapping[str, NDArray[Any]]) -> None:
        """Take the verdict and the weights of its detector (`load_weights`).

        Raise MisfitError where they are of a model of another kind or size.
        """
        check_judgement_fit(trace, weights)
        self.trace, self.weights = trace, weights

    def pairs(self, step: int = 0, pieces: Sequence[int] = (), *, reading: bool = False) -> Pairs:  # noqa: ARG002
        """Return every recorded quantity, as recorded and as recomputed from the quantities recorded before it.

        These are embeddings, features, energies, both alignments, weighted sums, comparisons, their sums, and the
        probabilities. The arguments have no effect.
        """

        def recorded(name: str, _: Array) -> Array:
            return np.asarray(getattr(self.trace, name), dtype=np.float64)

        recomputed = recompute_decomposable(self.weights, self.trace.source_ids, self.trace.target_ids, recorded)
        return {name: (getattr(self.trace, name), array) for name, array in recomputed.by_name().items()}


def verify_judgement(judgement: Judgement, weights: Mapping[str, NDArray[Any]]) -> Verification:
    """Return the comparison of every quantity of a verdict; raise MisfitError for weights of another model."""
    return JudgementVerifier(judgement, weights).verify(0)


def check_judgement_fit(judgement: Judgement, weights: Mapping[str, NDArray[Any]]) -> None:
    """Raise MisfitError unless `weights`, by parameter name, and the arrays of `judgement` have the expected shapes."""
    try:
        check_shapes(judgement)
        expected = _weight_shapes(judgement.config)
    except (ValueError, KeyError, IndexError) as error:
        raise MisfitError(misfit_message(judgement, error)) from error
    check_weight_shapes(judgement, weights, expected)


def _weight_shapes(config: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """Return the shape of every weight of a detector with this config."""
    m, d = int(config["embedding_size"]), int(config["model_size"])
    shapes: dict[str, tuple[int, ...]] = {
        "embedding.weight": (int(config["vocabulary_size"]), m),
        "source_projection.weight": (d, m),
        "target_projection.weight": (d, m),
        "aggregate.weight": (d, 2 * d),
        "aggregate.bias": (d,),
        "output.weight": (2, d),
        "output.bias": (2,),
    }
    for name, inputs in (("attend", d), ("compare", 2 * d)):
        shapes |= {f"{name}.inner.weight": (d, inputs), f"{name}.inner.bias": (d,)}
        shapes |= {f"{name}.outer.weight": (d, d), f"{name}.outer.bias": (d,)}
    return shapes
